"""The contract of a law inside clusters: y_n | c_n = k ~ f(· | θ_k), θ_k ~ G0(· | hyper).

Rows, parameters, hyper-parameters and statistics are named tuples of arrays. The first axis of
rows is the row, of parameters and statistics the cluster. Cells that are not seen are left out of
f exactly. What a law needs beyond the cells (filled holes, scales of rows, uncensored values) is
drawn given a row's cluster, used for the statistics and forgotten: it is never kept.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np

from thincrm.models.mixtures.seats import Seats
from thincrm.numerics.arrays import Float

__all__ = [
    "Clusters",
    "NumberClusters",
    "Params",
    "Rows",
    "Stats",
    "TableClusters",
    "add_stats",
    "take_rows",
]

Rows = Any  # named tuple of arrays, N first
Params = Any  # named tuple of arrays, K first
Hyper = Any  # named tuple: learned parameters of G0
Stats = Any  # named tuple of arrays, K first; additive
Tuple = TypeVar("Tuple", bound=tuple[Any, ...])


class Clusters(Protocol):
    """What a mixture asks of the law inside its clusters."""

    def draw_hyper(self, rng: np.random.Generator, rows: Rows) -> Hyper:
        """Draw hyper-parameters from their prior; `rows` tell the number of columns."""

    def start_hyper(self, rows: Rows) -> Hyper:
        """Return hyper-parameters to start from: their prior means."""

    def draw(self, rng: np.random.Generator, n_clusters: int, hyper: Hyper) -> Params:
        """Draw parameters from G0."""

    def packed(self, params: Params) -> Any:
        """Return parameters as the compiled loops want them: computed once a sweep."""

    def log_density(self, first: int, stop: int, rows: Rows, packed: Any, out_RK: Float) -> None:
        """Fill out_RK with log f(y_n | θ_k) of rows [first, stop), augmentations summed out."""

    def add_rows(
        self, first: int, stop: int, key: np.uint64, offset: int, rows: Rows, label_N: np.ndarray,
        packed: Any, n_clusters: int,
    ) -> Stats:  # fmt: skip
        """Return the statistics of rows [first, stop), augmentations drawn given the labels.

        Row n draws from the stream of item `offset` + n under `key`.
        """

    def complete(self, key: np.uint64, rows: Rows, label_N: np.ndarray, packed: Any) -> Rows:
        """Return rows with augmentations drawn: f is then the density of these."""

    def reseat(
        self, key: np.uint64, rows: Rows, complete: Rows, seats: Seats, stats: Stats, hyper: Hyper
    ) -> None:
        """Let rows choose their clusters one by one, θ integrated out (see `seats`).

        `complete` are the rows as `complete` has drawn them, `stats` their statistics; labels,
        augmentations and statistics are changed in place.
        """

    def redraw(self, rng: np.random.Generator, stats: Stats, hyper: Hyper) -> Params:
        """Draw parameters given statistics: their full conditional."""

    def redraw_hyper(self, rng: np.random.Generator, params: Params, hyper: Hyper) -> Hyper:
        """Draw hyper-parameters given the parameters of clusters."""

    def log_marginal(self, stats: Stats, hyper: Hyper) -> Float:
        """Return the (K,) log densities of the rows behind statistics, θ integrated out."""


class TableClusters(Clusters, Protocol):
    """A law of whole rows, which says what a new row, or a hole in one, may be."""

    def sample(self, rng: np.random.Generator, params: Params, label_N: np.ndarray) -> Float:
        """Draw (N, P) new rows of given clusters."""

    def fill(
        self, key: np.uint64, rows: Rows, label_N: np.ndarray, packed: Any, noise: bool
    ) -> Float:
        """Return the (N, P) cells with holes drawn given the seen ones and the cluster.

        Without noise holes are their conditional means.
        """

    def cdf(self, params: Params, column: int, y_G: Float) -> Float:
        """Return the (G, K) probabilities that a new value of a column is at most y."""

    def reach(self, params: Params, column: int, q_Q: Float) -> tuple[float, float]:
        """Return numbers between which all quantiles q of a column lie, in every cluster."""


class NumberClusters(TableClusters, Protocol):
    """A law of rows of numbers, which may be a part of a law of more columns."""

    def no_stats(self, n_clusters: int, n_columns: int) -> Stats:
        """Return the statistics of clusters without rows."""

    def seating(self, n_rows: int, n_columns: int) -> tuple[float, Float, Stats]:
        """Return what the loops of `reseat` want besides rows, seats and statistics."""


def take_rows(rows: Tuple, index: Any) -> Tuple:
    """Return some of the rows (or clusters), in the order of `index`."""
    return type(rows)(*(array[index] for array in rows))


def add_stats(parts: list[Tuple]) -> Tuple:
    """Add block after block, in order: floats, so the order is part of the result."""
    total = list(parts[0])
    for part in parts[1:]:
        total = [out + array for out, array in zip(total, part, strict=True)]
    return type(parts[0])(*total)
