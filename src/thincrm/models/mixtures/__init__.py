"""Mixtures: clusters and densities that change with a covariate."""
