"""Room 3: what open atoms do to data."""

from thincrm.likelihood.gamma_negative_binomial import GammaNegativeBinomialFactor
from thincrm.likelihood.negative_binomial import NegativeBinomialFactor
from thincrm.likelihood.poisson_factor import PoissonFactor

__all__ = ["GammaNegativeBinomialFactor", "NegativeBinomialFactor", "PoissonFactor"]
