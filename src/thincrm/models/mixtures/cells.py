"""Between a user's cells and a law inside clusters: what results ask of both.

Cells are in the columns' units, categories as places among their levels; laws see standard units.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd

from thincrm.models.mixtures.clusters import Clusters, Params, Rows, TableClusters
from thincrm.models.mixtures.columns import Layout
from thincrm.numerics.arrays import Float, Int

__all__ = ["Cells", "ColumnLaw", "log_spread", "spreads"]


class ColumnLaw(NamedTuple):
    """The law of a new value of one column: law.cdf(params, column, (y - level) / unit)."""

    law: TableClusters
    params: Params
    column: int
    level: float
    unit: float


class Cells(Protocol):
    """What results ask of the cells and the law behind them."""

    @property
    def moves(self) -> bool:
        """Tell whether the law depends on the covariate itself."""

    @property
    def law(self) -> Clusters:
        """Return the law inside clusters."""

    @property
    def normal_places(self) -> Int:
        """Return the columns that have a normal law inside clusters."""

    def rows(self, value_NP: Float, time_NC: Float) -> Rows:
        """Return rows as the law wants them."""

    def log_units(self, value_NP: Float) -> Float:
        """Return what is to be taken off the law's (N,) log densities, in the columns' units."""

    def linear_in(self, value_NP: Float, time_NC: Float) -> Float:
        """Return the (N, J) columns that responses are linear in; no columns where none is."""

    def moments(self, params: Params, centre_KJ: Float) -> tuple[Float, Float]:
        """Return (K, E) means and standard deviations of a cluster's entries; NaN: has none.

        A response's is where the columns that it is linear in have given means.
        """

    def entries(self, names: pd.Index) -> list[str]:
        """Return the names of the entries."""

    def fill(
        self, key: np.uint64, rows: Rows, label_N: np.ndarray, params: Params, noise: bool
    ) -> Float:
        """Return (N, P) cells, holes drawn or at their means; cells seen may be anything."""

    def sample(
        self, rng: np.random.Generator, params: Params, label_N: np.ndarray, time_NC: Float
    ) -> Float:
        """Draw (N, P) new rows."""

    def column(self, params: Params, place: int, time_C: Float) -> ColumnLaw:
        """Return the law of a new value of a column at a covariate."""


def log_spread(layout: Layout, value_NP: Float) -> Float:
    """Return the (N,) sums of log spread over seen cells of moving columns."""
    seen = ~np.isnan(value_NP)[:, layout.moving]
    return np.asarray(seen @ np.log(layout.scale.spread_P[layout.moving]))


def spreads(precision: Float) -> Float:
    """Return the (K, P) standard deviations of precisions (K, P), or matrices (K, P, P)."""
    if precision.ndim == 2:
        return np.asarray(1.0 / np.sqrt(precision))
    return np.sqrt(np.diagonal(np.linalg.inv(precision), axis1=1, axis2=2))
