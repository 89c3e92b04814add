"""MixedClusters: numbers, counts and categories side by side, any of them missing.

The numbers are normal, together or (independent columns) each on its own, as in `full` and
`diagonal`; other columns are independent given the cluster:

    counts       λ ~ Gamma(a', a' / m_p), y ~ Poisson(λ), m_p the column's mean
    categories   ρ ~ Dirichlet(e, ..., e), y ~ Categorical(ρ)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import gammaln, pdtr

from thincrm.errors import check_positive
from thincrm.models.mixtures.clusters import NumberClusters
from thincrm.models.mixtures.diagonal import (
    Diagonal,
    DiagonalHyper,
    DiagonalParams,
    DiagonalStats,
)
from thincrm.models.mixtures.full import Full, FullHyper, FullParams, FullStats
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.mixed_seats import (
    Discrete,
    reseat_mixed_diagonal,
    reseat_mixed_full,
)
from thincrm.models.mixtures.seats import Seats
from thincrm.models.mixtures.table_rows import TableRows, table_rows
from thincrm.numerics.arrays import ArrayLike, Float, Int
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import fresh_key, new_stream
from thincrm.numerics.variates import log_dirichlet, log_gamma

__all__ = ["Mixed", "MixedClusters", "MixedHyper", "MixedParams", "MixedRows", "MixedStats"]


class MixedRows(NamedTuple):
    """Rows of three kinds of columns."""

    value: Float  # N x P: numbers; 0 at a hole
    seen: np.ndarray  # N x P, uint8
    weight: Float  # N: ones
    events: Int  # N x Q: counts; -1 at a hole
    level: Int  # N x R: a category's place among all categories of all columns; -1 at a hole


class MixedParams(NamedTuple):
    """Parameters of every cluster."""

    mean: Float  # K x P
    precision: Float  # K x P, or K x P x P
    log_rate: Float  # K x Q
    log_level: Float  # K x L: log ρ, columns one after another


class MixedHyper(NamedTuple):
    """What the prior of clusters learns, and what it takes from the data."""

    tightness: float  # κ
    rate: Float  # P: b, or ψ
    mean: Float  # Q: mean counts


class MixedStats(NamedTuple):
    """Sums over the seen cells of each cluster's rows; of numbers as their law has them."""

    number: Float
    weight: Float
    total: Float
    square: Float
    cells: Float  # K x Q: counts seen
    events: Float  # K x Q: their sum
    levels: Float  # K x L: categories seen


class _Packed(NamedTuple):
    numbers: Any  # the numbers' law's
    log_rate_QK: Float
    rate_QK: Float
    log_level_LK: Float


@dataclass(frozen=True, slots=True)
class MixedClusters:
    """Clusters in a table of numbers, counts and categories.

    Parameters
    ----------
    covariance : {"full", "diagonal"}
        Of the numbers, as in `GaussianClusters`.
    spread, tightness : float
        Of the numbers, as in `GaussianClusters`.
    shape : float
        Of the gamma prior of counts' rates; its mean is the column's.
    evenness : float
        Of the Dirichlet prior of categories.
    """

    covariance: Literal["full", "diagonal"] = "full"
    spread: float = 0.2
    tightness: float = 0.1
    shape: float = 0.5
    evenness: float = 0.5

    def __post_init__(self) -> None:
        self._numbers()
        for name in ("shape", "evenness"):
            check_positive(name, getattr(self, name))

    def _numbers(self) -> GaussianClusters:
        return GaussianClusters(self.covariance, spread=self.spread, tightness=self.tightness)

    def rows(
        self, numbers: ArrayLike, counts: ArrayLike, categories: ArrayLike,
        n_levels: tuple[int, ...],
    ) -> MixedRows:  # fmt: skip
        """Return rows of (N, P) numbers in standard units, (N, Q) counts and (N, R) categories.

        Holes are NaN. Categories are 0, 1, ..., n_levels - 1 in every column.
        """
        table: TableRows = table_rows(numbers)
        count, code = (_whole(part) for part in (counts, categories))
        start = np.cumsum([0, *n_levels]).astype(np.int64)[:-1]
        level = np.where(code >= 0, code + start, -1)
        return MixedRows(*table, count, level)

    def law(self, n_levels: tuple[int, ...]) -> Mixed:
        """Return the law inside clusters, of categorical columns with so many levels each."""
        return Mixed(self._numbers().law(), self.shape, self.evenness, n_levels)


_NUMBERS: dict[type, dict[type, Any]] = {
    Diagonal: {MixedParams: DiagonalParams, MixedHyper: DiagonalHyper, MixedStats: DiagonalStats},
    Full: {MixedParams: FullParams, MixedHyper: FullHyper, MixedStats: FullStats},
}


def _whole(values: ArrayLike) -> Int:
    part = np.array(values, float, ndmin=2)
    return np.where(np.isnan(part), -1.0, part).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Mixed:
    """The law of mixed columns (see `MixedClusters`)."""

    numbers: NumberClusters
    shape: float
    evenness: float
    n_levels: tuple[int, ...]

    def _of(self, part: Any) -> Any:
        """Return the numbers' part of parameters, hyper-parameters or statistics."""
        kind = _NUMBERS[type(self.numbers)][type(part)]
        return kind(*part[: len(kind._fields)])

    def _mean_counts(self, rows: MixedRows) -> Float:
        seen = rows.events >= 0
        total = np.where(seen, rows.events, 0).sum(0)
        return np.asarray((total + 0.5) / (seen.sum(0) + 1.0))

    def draw_hyper(self, rng: np.random.Generator, rows: MixedRows) -> MixedHyper:
        """Draw κ and b; mean counts are the rows'."""
        hyper = self.numbers.draw_hyper(rng, TableRows(*rows[:3]))
        return MixedHyper._make((*hyper, self._mean_counts(rows)))

    def start_hyper(self, rows: MixedRows) -> MixedHyper:
        """Return the prior means."""
        hyper = self.numbers.start_hyper(TableRows(*rows[:3]))
        return MixedHyper._make((*hyper, self._mean_counts(rows)))

    def _no_stats(self, n_clusters: int, hyper: MixedHyper) -> MixedStats:
        Q, L = hyper.mean.size, sum(self.n_levels)
        discrete = (np.zeros((n_clusters, size)) for size in (Q, Q, L))
        return MixedStats(*self.numbers.no_stats(n_clusters, hyper.rate.size), *discrete)

    def draw(self, rng: np.random.Generator, n_clusters: int, hyper: MixedHyper) -> MixedParams:
        """Draw parameters from their priors."""
        return self.redraw(rng, self._no_stats(n_clusters, hyper), hyper)

    def packed(self, params: MixedParams) -> _Packed:
        """Return parameters with clusters last."""
        log_rate = np.ascontiguousarray(params.log_rate.T)
        return _Packed(
            self.numbers.packed(self._of(params)), log_rate, np.exp(log_rate),
            np.ascontiguousarray(params.log_level.T),
        )  # fmt: skip

    def log_density(
        self, first: int, stop: int, rows: MixedRows, packed: _Packed, out_RK: Float
    ) -> None:
        """Fill out_RK: numbers, then counts and categories added."""
        self.numbers.log_density(first, stop, TableRows(*rows[:3]), packed.numbers, out_RK)
        _add_discrete(
            first, stop, rows.events, rows.level, packed.log_rate_QK, packed.rate_QK,
            packed.log_level_LK, out_RK,
        )  # fmt: skip

    def add_rows(
        self, first: int, stop: int, key: np.uint64, offset: int, rows: MixedRows,
        label_N: np.ndarray, packed: _Packed, n_clusters: int,
    ) -> MixedStats:  # fmt: skip
        """Return sums over seen cells."""
        numbers = self.numbers.add_rows(
            first, stop, key, offset, TableRows(*rows[:3]), label_N, packed.numbers, n_clusters
        )
        cells, events = (np.zeros((n_clusters, rows.events.shape[1])) for _ in range(2))
        levels = np.zeros((n_clusters, sum(self.n_levels)))
        _count_discrete(first, stop, rows.events, rows.level, label_N, cells, events, levels)
        return MixedStats._make((*numbers, cells, events, levels))

    def complete(
        self, key: np.uint64, rows: MixedRows, label_N: np.ndarray, packed: _Packed
    ) -> MixedRows:
        """Return the rows, holes among the numbers drawn where their law needs it."""
        table = self.numbers.complete(key, TableRows(*rows[:3]), label_N, packed.numbers)
        return MixedRows._make((*table, rows.events, rows.level))

    def reseat(
        self, key: np.uint64, rows: MixedRows, complete: MixedRows, seats: Seats,
        stats: MixedStats, hyper: MixedHyper,
    ) -> None:  # fmt: skip
        """Let rows choose their clusters one by one."""
        ends = np.cumsum([0, *self.n_levels]).astype(np.int64)
        discrete = Discrete(
            rows.events, rows.level, stats.cells, stats.events, stats.levels, ends, self.shape,
            self.shape / hyper.mean, self.evenness,
        )  # fmt: skip
        run = reseat_mixed_full if isinstance(self.numbers, Full) else reseat_mixed_diagonal
        table = TableRows(complete.value, rows.seen, complete.weight)
        first, log_gamma, none = self.numbers.seating(seats.label_N.size, hyper.rate.size)
        run(key, table, discrete, seats, self._of(stats), self._of(hyper), first, log_gamma, none)

    def redraw(self, rng: np.random.Generator, stats: MixedStats, hyper: MixedHyper) -> MixedParams:
        """Draw numbers' parameters, λ ~ Gamma(a' + Σ y, a'/m + n), ρ ~ Dirichlet(e + n)."""
        numbers = self.numbers.redraw(rng, self._of(stats), self._of(hyper))
        log_rate, log_level = np.empty(stats.cells.shape), np.empty(stats.levels.shape)
        ends = np.cumsum([0, *self.n_levels]).astype(np.int64)
        _draw_discrete(
            fresh_key(rng), self.shape + stats.events, self.evenness + stats.levels, ends,
            log_rate, log_level,
        )  # fmt: skip
        log_rate -= np.log(self.shape / hyper.mean + stats.cells)
        return MixedParams._make((*numbers, log_rate, log_level))

    def redraw_hyper(
        self, rng: np.random.Generator, params: MixedParams, hyper: MixedHyper
    ) -> MixedHyper:
        """Draw κ and b given the numbers' parameters."""
        numbers = self.numbers.redraw_hyper(rng, self._of(params), self._of(hyper))
        return MixedHyper._make((*numbers, hyper.mean))

    def log_marginal(self, stats: MixedStats, hyper: MixedHyper) -> Float:
        """Return the (K,) log marginals, but Σ log y! of counts."""
        value = self.numbers.log_marginal(self._of(stats), self._of(hyper))
        a, rate = self.shape, self.shape / hyper.mean
        counts = gammaln(a + stats.events) - gammaln(a) + a * np.log(rate)
        counts -= (a + stats.events) * np.log(rate + stats.cells)
        value = value + counts.sum(1)
        start = 0
        for size in self.n_levels:
            part = stats.levels[:, start : start + size]
            full, e = size * self.evenness, self.evenness
            value += gammaln(full) - gammaln(full + part.sum(1))
            value += (gammaln(e + part) - gammaln(e)).sum(1)
            start += size
        return np.asarray(value)

    def sample(self, rng: np.random.Generator, params: MixedParams, label_N: np.ndarray) -> Float:
        """Draw (N, P + Q + R) cells: numbers, counts, categories."""
        numbers = self.numbers.sample(rng, self._of(params), label_N)
        counts = rng.poisson(np.exp(params.log_rate[label_N])).astype(float)
        parts, start = [numbers, counts], 0
        for size in self.n_levels:
            edge = np.cumsum(np.exp(params.log_level[label_N, start : start + size]), axis=1)
            draw = rng.random((label_N.size, 1)) * edge[:, -1:]
            parts.append((draw > edge).sum(1, keepdims=True).astype(float))
            start += size
        return np.hstack(parts)

    def fill(
        self, key: np.uint64, rows: MixedRows, label_N: np.ndarray, packed: _Packed, noise: bool
    ) -> Float:
        """Return (N, P + Q + R) cells; without noise means of counts, likeliest categories."""
        rng = np.random.Generator(np.random.Philox(int(key)))
        table = TableRows(*rows[:3])
        numbers = self.numbers.fill(key, table, label_N, packed.numbers, noise)
        mean = packed.rate_QK.T[label_N]
        counts = np.where(rows.events >= 0, rows.events, rng.poisson(mean) if noise else mean)
        parts, start = [numbers, counts.astype(float)], 0
        for r, size in enumerate(self.n_levels):
            log_NL = packed.log_level_LK.T[label_N, start : start + size]
            if noise:
                log_NL = log_NL + rng.gumbel(size=log_NL.shape)
            seen = rows.level[:, r]
            parts.append(np.where(seen >= 0, seen - start, log_NL.argmax(1))[:, None].astype(float))
            start += size
        return np.hstack(parts)

    def cdf(self, params: MixedParams, column: int, y_G: Float) -> Float:
        """Return the (G, K) distribution functions of a column of numbers or counts."""
        n_numbers = params.mean.shape[1]
        if column < n_numbers:
            return self.numbers.cdf(self._of(params), column, y_G)
        rate_K = np.exp(params.log_rate[:, column - n_numbers])
        known = pdtr(np.maximum(np.floor(y_G), 0.0)[:, None], rate_K)
        return np.where(y_G[:, None] >= 0.0, known, 0.0)

    def reach(self, params: MixedParams, column: int, q_Q: Float) -> tuple[float, float]:
        """Return the ends of quantiles."""
        n_numbers = params.mean.shape[1]
        if column < n_numbers:
            return self.numbers.reach(self._of(params), column, q_Q)
        rate = float(np.exp(params.log_rate[:, column - n_numbers].max()))
        return -1.0, rate + 40.0 * (np.sqrt(rate) + 1.0)


@compiled
def _add_discrete(
    first: int, stop: int, count_NQ: np.ndarray, level_NR: np.ndarray, log_rate_QK: np.ndarray,
    rate_QK: np.ndarray, log_level_LK: np.ndarray, out_RK: np.ndarray,
) -> None:  # fmt: skip
    """Add log Poisson (but log y!) and log categorical densities."""
    n_clusters = out_RK.shape[1]
    for n in range(first, stop):
        row_K = out_RK[n - first]
        for q in range(count_NQ.shape[1]):
            y = count_NQ[n, q]
            if y >= 0:
                for k in range(n_clusters):
                    row_K[k] += y * log_rate_QK[q, k] - rate_QK[q, k]
        for r in range(level_NR.shape[1]):
            level = level_NR[n, r]
            if level >= 0:
                for k in range(n_clusters):
                    row_K[k] += log_level_LK[level, k]


@compiled
def _count_discrete(
    first: int, stop: int, count_NQ: np.ndarray, level_NR: np.ndarray, label_N: np.ndarray,
    cells_KQ: np.ndarray, events_KQ: np.ndarray, levels_KL: np.ndarray,
) -> None:  # fmt: skip
    for n in range(first, stop):
        k = label_N[n]
        for q in range(count_NQ.shape[1]):
            if count_NQ[n, q] >= 0:
                cells_KQ[k, q] += 1.0
                events_KQ[k, q] += count_NQ[n, q]
        for r in range(level_NR.shape[1]):
            if level_NR[n, r] >= 0:
                levels_KL[k, level_NR[n, r]] += 1.0


@compiled
def _draw_discrete(
    key: np.uint64, shape_KQ: np.ndarray, level_KL: np.ndarray, end_R: np.ndarray,
    log_rate_KQ: np.ndarray, log_level_KL: np.ndarray,
) -> None:  # fmt: skip
    for k in range(level_KL.shape[0]):
        state = new_stream(key, k)
        for q in range(shape_KQ.shape[1]):
            log_rate_KQ[k, q] = log_gamma(state, shape_KQ[k, q])
        for r in range(end_R.size - 1):
            here = slice(end_R[r], end_R[r + 1])
            log_dirichlet(state, level_KL[k, here], log_level_KL[k, here])
