"""Mixtures: clusters and densities that change with a covariate."""

from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.likelihood import MixtureLikelihood

__all__ = ["GaussianClusters", "MixtureLikelihood"]
