"""GaussianClusters: tables of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from thincrm.errors import InvalidInput, check_positive
from thincrm.models.mixtures.diagonal import Diagonal
from thincrm.models.mixtures.full import Full
from thincrm.models.mixtures.table_rows import TableRows, table_rows
from thincrm.numerics.arrays import ArrayLike

__all__ = ["GaussianClusters"]


@dataclass(frozen=True, slots=True)
class GaussianClusters:
    """Normal clusters in a table of numbers, in units of the columns' standard deviations.

    Parameters
    ----------
    covariance : {"full", "diagonal"}
        Normal-inverse-Wishart clusters, or independent columns (normal-inverse-gamma).
    student : bool
        Rows have a scale of their own, w_n ~ Gamma(ν/2, ν/2), so that outliers found no clusters.
    degrees : float
        ν, of the Student rows.
    spread : float
        Prior mean of a cluster's variance in a column; it is learned for every column.
    tightness : float
        Prior mean of κ, a cluster's variance over that of the clusters' means; it is learned.
    """

    covariance: Literal["full", "diagonal"] = "full"
    student: bool = False
    degrees: float = 4.0
    spread: float = 0.2
    tightness: float = 0.1

    def __post_init__(self) -> None:
        if self.covariance not in ("full", "diagonal"):
            raise InvalidInput(f"covariance must be 'full' or 'diagonal', got {self.covariance!r}.")
        for name in ("degrees", "spread", "tightness"):
            check_positive(name, getattr(self, name))

    def rows(self, values: ArrayLike) -> TableRows:
        """Return the rows of an (N, P) table in standard units, NaN at holes."""
        return table_rows(values, student=self.student)

    def law(self) -> Diagonal | Full:
        """Return the law inside clusters."""
        degrees = self.degrees if self.student else 0.0
        spread, tightness = (1.0, 1.0 / self.spread), (1.0, 1.0 / self.tightness)
        if self.covariance == "full":
            return Full(2.0, spread, tightness, degrees)
        return Diagonal(2.0, spread, tightness, degrees)
