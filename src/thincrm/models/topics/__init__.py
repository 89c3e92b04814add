"""Topics that come and go."""
