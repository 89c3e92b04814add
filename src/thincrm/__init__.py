"""Bayesian nonparametrics for data that come with a covariate: thinned random measures."""
