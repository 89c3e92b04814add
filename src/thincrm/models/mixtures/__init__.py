"""Mixtures: clusters and densities that change with a covariate."""

from thincrm.models.mixtures.draws import MixtureDraw, atom_log_odds, predictive_weights
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.likelihood import MixtureLikelihood
from thincrm.models.mixtures.mixed import MixedClusters
from thincrm.models.mixtures.predict import log_joint_density, mixture_cdf, mixture_quantile
from thincrm.models.mixtures.regression import RegressionClusters
from thincrm.models.mixtures.shards import as_shards

__all__ = [
    "GaussianClusters",
    "MixedClusters",
    "MixtureDraw",
    "MixtureLikelihood",
    "RegressionClusters",
    "as_shards",
    "atom_log_odds",
    "log_joint_density",
    "mixture_cdf",
    "mixture_quantile",
    "predictive_weights",
]
