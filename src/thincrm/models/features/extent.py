"""What a feature model has beside its features: dense factors, and a level that may vary."""

from __future__ import annotations

from thincrm.data.covariates import Covariates
from thincrm.errors import check_count
from thincrm.models.features.level import Curves
from thincrm.numerics.arrays import Float

__all__ = ["Extent"]

_MOST_FACTORS = 1_000
_FACTORS = 20  # room for dense factors beside features with real weights, if nothing is said


class Extent:
    """How many dense factors, and which functions of the covariate, a model has room for."""

    background: bool
    covariates_: Covariates
    level: str | None
    n_factors: int | None
    values_: Float
    weights: str
    _found_curves: tuple[Covariates, bool, Curves] | None = None

    @property
    def n_dense_(self) -> int:
        """Return how many dense factors there is room for."""
        wanted = self.n_factors
        if wanted is None:
            wanted = _FACTORS if self.weights == "real" else 0
        n_factors = check_count("n_factors", wanted, 0, most=_MOST_FACTORS)
        return min(n_factors, (int(self.values_.shape[1]) + 1) // 2)

    @property
    def curves_(self) -> Curves:
        """Return the functions of the covariate that the level is made of."""
        level = self.level
        if level is None:
            level = "smooth" if self.weights == "real" else "constant"
        smooth = bool(self.background) and level == "smooth"
        kept = self._found_curves
        if kept is None or kept[0] is not self.covariates_ or kept[1] != smooth:
            kept = self.covariates_, smooth, Curves.of(self.covariates_, smooth)
            self._found_curves = kept
        return kept[2]
