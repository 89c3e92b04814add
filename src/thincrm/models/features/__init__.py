"""Latent features that switch on with a covariate."""
