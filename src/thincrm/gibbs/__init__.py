"""The sweep: map over observations, add up what they say, redraw the globals."""
