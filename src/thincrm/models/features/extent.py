"""What a feature model has beside its features: dense factors, and a level that may vary."""

from __future__ import annotations

from thincrm.data.covariates import Covariates
from thincrm.errors import check_count
from thincrm.models.features.level import Curves
from thincrm.numerics.arrays import Float

__all__ = ["Extent"]

_MOST_FACTORS = 1_000


class Extent:
    """How many dense factors, and which functions of the covariate, a model has room for."""

    background: bool
    covariates_: Covariates
    level: str
    n_factors: int
    values_: Float

    @property
    def n_dense_(self) -> int:
        """Return how many dense factors there is room for."""
        n_factors = check_count("n_factors", self.n_factors, 0, most=_MOST_FACTORS)
        return min(n_factors, (int(self.values_.shape[1]) + 1) // 2)

    @property
    def curves_(self) -> Curves:
        """Return the functions of the covariate that the level is made of."""
        return Curves.of(self.covariates_, bool(self.background) and self.level == "smooth")
