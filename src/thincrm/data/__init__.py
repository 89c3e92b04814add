"""Observations and their covariates, checked before any work is done."""
