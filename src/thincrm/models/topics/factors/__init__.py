"""How often a document uses its open topics: the count factors."""

from thincrm.models.topics.factors.gamma_negative_binomial import GammaNegativeBinomialFactor
from thincrm.models.topics.factors.negative_binomial import NegativeBinomialFactor
from thincrm.models.topics.factors.poisson import PoissonFactor

__all__ = ["GammaNegativeBinomialFactor", "NegativeBinomialFactor", "PoissonFactor"]
