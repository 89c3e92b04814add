"""How chains run: engines, the updates that all models share, the driver and its run log."""
