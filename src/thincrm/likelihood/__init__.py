"""Room 3: what open atoms do to data."""

from thincrm.likelihood.negative_binomial import NegativeBinomialFactor
from thincrm.likelihood.poisson_factor import PoissonFactor

__all__ = ["NegativeBinomialFactor", "PoissonFactor"]
