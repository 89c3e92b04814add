"""Models: a likelihood of their own, and what stands on it."""
