"""Room 1, how heavy atoms are: the Lévy measures of completely random measures."""

from thincrm.levy.beta import BetaProcess
from thincrm.levy.gamma import GammaProcess
from thincrm.levy.generalized_gamma import GeneralizedGammaProcess
from thincrm.levy.stable import StableProcess
from thincrm.levy.stable_beta import StableBetaProcess

__all__ = [
    "BetaProcess",
    "GammaProcess",
    "GeneralizedGammaProcess",
    "StableBetaProcess",
    "StableProcess",
]
