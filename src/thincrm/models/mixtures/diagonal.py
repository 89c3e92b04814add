"""Gaussian clusters with independent columns.

    τ_kp ~ Gamma(a, b_p),   μ_kp ~ N(0, 1 / (κ τ_kp)),   y_np | c_n = k ~ N(μ_kp, 1 / (w_n τ_kp))

with w_n = 1, or w_n ~ Gamma(ν/2, ν/2) (Student rows). Statistics are sums over seen cells of 1, w,
w y and w y².
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from thincrm.models.mixtures.gaussian_seats import reseat_diagonal
from thincrm.models.mixtures.seats import Seats, half_gammas
from thincrm.models.mixtures.table_rows import (
    TableRows,
    draw_weight,
    least_spread,
    log_row,
    reach_of,
    sample_weights,
    scaled_cdf,
)
from thincrm.numerics.arrays import Float
from thincrm.numerics.bounded_gamma import gamma_at_least
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import fold_key, fresh_key, new_stream
from thincrm.numerics.variates import gamma, normal

__all__ = ["Diagonal", "DiagonalHyper", "DiagonalPacked", "DiagonalParams", "DiagonalStats"]

_LOG_TAU = math.log(2.0 * math.pi)


class DiagonalParams(NamedTuple):
    """μ and τ of every cluster."""

    mean: Float  # K x P
    precision: Float  # K x P


class DiagonalHyper(NamedTuple):
    """What the prior of clusters learns: κ, and the scales of the columns' variances."""

    tightness: float  # κ
    rate: Float  # P: b


class DiagonalStats(NamedTuple):
    """Sums over the seen cells of each cluster's rows."""

    number: Float  # K x P: 1
    weight: Float  # K x P: w
    total: Float  # K x P: w y
    square: Float  # K x P: w y²


class DiagonalPacked(NamedTuple):
    """Parameters as the loops want them, clusters last."""

    mean_PK: Float
    root_PK: Float
    log_PK: Float  # log τ / 2 - log(2π) / 2
    all_K: Float  # its sum over columns
    degrees: float  # ν; 0: no Student rows


@dataclass(frozen=True, slots=True)
class Diagonal:
    """The law of independent columns (see `GaussianClusters` for the parameters)."""

    shape: float
    spread: tuple[float, float]  # Gamma prior of b, which is at least `least_spread`
    tightness: tuple[float, float]  # Gamma prior of κ
    degrees: float

    def draw_hyper(self, rng: np.random.Generator, rows: TableRows) -> DiagonalHyper:
        """Draw κ and b."""
        n_columns = rows.value.shape[1]
        kappa = rng.gamma(self.tightness[0], 1.0 / self.tightness[1])
        e, f = self.spread
        rate = gamma_at_least(rng, e, np.full(n_columns, f), least_spread(self.spread))
        return DiagonalHyper(kappa, rate)

    def start_hyper(self, rows: TableRows) -> DiagonalHyper:
        """Return the prior means."""
        mean = self.spread[0] / self.spread[1]
        kappa = self.tightness[0] / self.tightness[1]
        return DiagonalHyper(kappa, np.full(rows.value.shape[1], mean))

    def draw(
        self, rng: np.random.Generator, n_clusters: int, hyper: DiagonalHyper
    ) -> DiagonalParams:
        """Draw τ ~ Gamma(a, b), μ ~ N(0, 1 / (κ τ))."""
        return self.redraw(rng, self.no_stats(n_clusters, hyper.rate.size), hyper)

    def no_stats(self, n_clusters: int, n_columns: int) -> DiagonalStats:
        """Return the statistics of clusters without rows."""
        shape = n_clusters, n_columns
        return DiagonalStats(*(np.zeros(shape) for _ in DiagonalStats._fields))

    def packed(self, params: DiagonalParams) -> DiagonalPacked:
        """Return means, square roots of precisions and norms, clusters last."""
        log_PK = np.ascontiguousarray(0.5 * (np.log(params.precision.T) - _LOG_TAU))
        root_PK = np.ascontiguousarray(np.sqrt(params.precision.T))
        mean_PK = np.ascontiguousarray(params.mean.T)
        return DiagonalPacked(mean_PK, root_PK, log_PK, log_PK.sum(0), self.degrees)

    def log_density(
        self, first: int, stop: int, rows: TableRows, packed: DiagonalPacked, out_RK: Float
    ) -> None:
        """Fill out_RK: normal, or Student where a row's scale is summed out."""
        _log_density(first, stop, rows, packed, out_RK)

    def add_rows(
        self, first: int, stop: int, key: np.uint64, offset: int, rows: TableRows,
        label_N: np.ndarray, packed: DiagonalPacked, n_clusters: int,
    ) -> DiagonalStats:  # fmt: skip
        """Return sums over seen cells; scales of Student rows are drawn."""
        stats = self.no_stats(n_clusters, rows.value.shape[1])
        _add_rows(first, stop, key, offset, rows, label_N, packed, stats)
        return stats

    def complete(
        self, key: np.uint64, rows: TableRows, label_N: np.ndarray, packed: DiagonalPacked
    ) -> TableRows:
        """Return rows whose scales are known; holes stay holes."""
        weight_N = rows.weight.copy()
        if self.degrees > 0.0:
            _weights(key, rows, label_N, packed, weight_N)
        return rows._replace(weight=weight_N)

    def redraw(
        self, rng: np.random.Generator, stats: DiagonalStats, hyper: DiagonalHyper
    ) -> DiagonalParams:
        """Draw τ ~ Gamma(a + n/2, b + S/2), μ ~ N(m, 1 / ((κ + W) τ)), m = Σ w y / (κ + W)."""
        shape_KP, rate_KP, tight_KP, mean_KP = self._posterior(stats, hyper)
        draw_KP, noise_KP = np.empty(shape_KP.shape), np.empty(shape_KP.shape)
        _draw(fresh_key(rng), shape_KP, draw_KP, noise_KP)
        precision_KP = draw_KP / rate_KP
        return DiagonalParams(mean_KP + noise_KP / np.sqrt(tight_KP * precision_KP), precision_KP)

    def reseat(
        self, key: np.uint64, rows: TableRows, complete: TableRows, seats: Seats,
        stats: DiagonalStats, hyper: DiagonalHyper,
    ) -> None:  # fmt: skip
        """Let rows choose their clusters one by one."""
        given = self.seating(seats.label_N.size, hyper.rate.size)
        reseat_diagonal(key, complete, seats, stats, hyper, *given)

    def seating(self, n_rows: int, n_columns: int) -> tuple[float, Float, DiagonalStats]:
        """Return a, log Γ(a + i / 2) and the statistics of a cluster without rows."""
        return self.shape, half_gammas(self.shape, n_rows + 2), self.no_stats(1, n_columns)

    def redraw_hyper(
        self, rng: np.random.Generator, params: DiagonalParams, hyper: DiagonalHyper
    ) -> DiagonalHyper:
        """Draw b ~ Gamma(e + K a, f + Σ τ), κ ~ Gamma(e + K P / 2, f + Σ τ μ² / 2)."""
        n_clusters, n_columns = params.mean.shape
        (e, f), (g, h) = self.spread, self.tightness
        shape, rate_P = e + self.shape * n_clusters, f + params.precision.sum(0)
        rate = gamma_at_least(rng, shape, rate_P, least_spread(self.spread))
        pull = 0.5 * float((params.precision * params.mean**2).sum())
        kappa = float(rng.gamma(g + 0.5 * n_clusters * n_columns)) / (h + pull)
        return DiagonalHyper(kappa, rate)

    def log_marginal(self, stats: DiagonalStats, hyper: DiagonalHyper) -> Float:
        """Return Σ_p log of the Student marginal of column p's cells."""
        shape, rate, tight, _ = self._posterior(stats, hyper)
        a, b = self.shape, hyper.rate
        value = gammaln(shape) - gammaln(a) + a * np.log(b) - shape * np.log(rate)
        value += 0.5 * (np.log(hyper.tightness / tight) - stats.number * _LOG_TAU)
        return np.asarray(value.sum(1))

    def sample(
        self, rng: np.random.Generator, params: DiagonalParams, label_N: np.ndarray
    ) -> Float:
        """Draw rows of given clusters."""
        weight_N = sample_weights(rng, self.degrees, label_N.size)
        noise_NP = rng.standard_normal((label_N.size, params.mean.shape[1]))
        spread_NP = np.sqrt(weight_N[:, None] * params.precision[label_N])
        return np.asarray(params.mean[label_N] + noise_NP / spread_NP)

    def fill(
        self,
        key: np.uint64,
        rows: TableRows,
        label_N: np.ndarray,
        packed: DiagonalPacked,
        noise: bool,
    ) -> Float:
        """Return rows whose holes are cells of their cluster, independent of the others."""
        value = packed.mean_PK.T[label_N]
        if noise:
            draw_NP, weight_N = np.empty(value.shape), self.complete(key, rows, label_N, packed)[2]
            _noise(np.uint64(fold_key(key, 1)), draw_NP)
            value = value + draw_NP / (np.sqrt(weight_N)[:, None] * packed.root_PK.T[label_N])
        return np.where(rows.seen != 0, rows.value, value)

    def cdf(self, params: DiagonalParams, column: int, y_G: Float) -> Float:
        """Return the (G, K) distribution functions of a column."""
        root_K = np.sqrt(params.precision[:, column])
        return scaled_cdf(self.degrees, (y_G[:, None] - params.mean[:, column]) * root_K)

    def reach(self, params: DiagonalParams, column: int, q_Q: Float) -> tuple[float, float]:
        """Return the ends of quantiles."""
        spread_K = 1.0 / np.sqrt(params.precision[:, column])
        return reach_of(self.degrees, params.mean[:, column], spread_K, q_Q)

    def _posterior(
        self, stats: DiagonalStats, hyper: DiagonalHyper
    ) -> tuple[Float, Float, Float, Float]:
        tight = hyper.tightness + stats.weight
        left = np.maximum(stats.square - stats.total**2 / tight, 0.0)  # rounding alone goes below
        return (
            self.shape + 0.5 * stats.number, hyper.rate + 0.5 * left, tight, stats.total / tight,
        )  # fmt: skip


@compiled
def _draw(key: np.uint64, shape_KP: np.ndarray, out_KP: np.ndarray, noise_KP: np.ndarray) -> None:
    for k in range(shape_KP.shape[0]):
        state = new_stream(key, k)
        for p in range(shape_KP.shape[1]):
            out_KP[k, p] = gamma(state, shape_KP[k, p])
            noise_KP[k, p] = normal(state)


@compiled
def _noise(key: np.uint64, out_NP: np.ndarray) -> None:
    for n in range(out_NP.shape[0]):
        state = new_stream(key, n)
        for p in range(out_NP.shape[1]):
            out_NP[n, p] = normal(state)


@compiled
def _all_seen(first: int, stop: int, rows: TableRows) -> bool:
    """Tell whether rows [first, stop) have no hole."""
    n_holes = 0
    for n in range(first, stop):
        for p in range(rows.seen.shape[1]):
            n_holes += rows.seen[n, p] == 0
    return n_holes == 0


@compiled
def _log_density(
    first: int, stop: int, rows: TableRows, packed: DiagonalPacked, out_RK: np.ndarray
) -> None:
    n_columns, n_clusters = packed.mean_PK.shape
    norm_K, whole = np.empty(n_clusters), _all_seen(first, stop, rows)
    for n in range(first, stop):
        row_K = out_RK[n - first]
        if whole and rows.weight[n] == 1.0:
            for k in range(n_clusters):
                norm_K[k] = 0.0
            for p in range(n_columns):
                y = rows.value[n, p]
                for k in range(n_clusters):
                    z = (y - packed.mean_PK[p, k]) * packed.root_PK[p, k]
                    norm_K[k] += z * z
            for k in range(n_clusters):
                row_K[k] = packed.all_K[k] - 0.5 * norm_K[k]
            continue
        row_K[:] = 0.0
        n_seen = 0
        for p in range(n_columns):
            if rows.seen[n, p] == 0:
                continue
            n_seen += 1
            y, mean_K, root_K = rows.value[n, p], packed.mean_PK[p], packed.root_PK[p]
            for k in range(n_clusters):
                z = (y - mean_K[k]) * root_K[k]
                row_K[k] += z * z
        if n_seen == n_columns:
            norm_K[:] = packed.all_K
        else:
            norm_K[:] = 0.0
            for p in range(n_columns):
                if rows.seen[n, p] != 0:
                    log_K = packed.log_PK[p]
                    for k in range(n_clusters):
                        norm_K[k] += log_K[k]
        log_row(packed.degrees, rows.weight[n], n_seen, norm_K, row_K)


@compiled
def _distance(rows: TableRows, n: int, packed: DiagonalPacked, k: int) -> tuple[float, int]:
    """Return Σ τ (y - μ)² over the seen cells of row n, and their number."""
    total, n_seen = 0.0, 0
    for p in range(rows.value.shape[1]):
        if rows.seen[n, p] != 0:
            z = (rows.value[n, p] - packed.mean_PK[p, k]) * packed.root_PK[p, k]
            total += z * z
            n_seen += 1
    return total, n_seen


@compiled
def _weight(
    key: np.uint64, item: int, rows: TableRows, n: int, packed: DiagonalPacked, k: int
) -> float:
    if rows.weight[n] > 0.0:
        return float(rows.weight[n])
    distance, n_seen = _distance(rows, n, packed, k)
    return draw_weight(new_stream(key, item), packed.degrees, distance, n_seen)


@compiled
def _weights(
    key: np.uint64, rows: TableRows, label_N: np.ndarray, packed: DiagonalPacked, out_N: np.ndarray
) -> None:
    for n in range(label_N.size):
        out_N[n] = _weight(key, n, rows, n, packed, label_N[n])


@compiled
def _add_rows(
    first: int, stop: int, key: np.uint64, offset: int, rows: TableRows, label_N: np.ndarray,
    packed: DiagonalPacked, stats: DiagonalStats,
) -> None:  # fmt: skip
    n_clusters, n_columns = stats.number.shape
    whole_K, whole = np.zeros(n_clusters), _all_seen(first, stop, rows)
    for n in range(first, stop):
        k, weight = label_N[n], rows.weight[n]
        if whole and weight == 1.0:
            whole_K[k] += 1.0
            for p in range(n_columns):
                y = rows.value[n, p]
                stats.total[k, p] += y
                stats.square[k, p] += y * y
            continue
        if not weight > 0.0:  # a call is as much work as the sums
            weight = _weight(key, offset + n, rows, n, packed, k)
        for p in range(n_columns):
            if rows.seen[n, p] != 0:
                y = rows.value[n, p]
                stats.number[k, p] += 1.0
                stats.weight[k, p] += weight
                stats.total[k, p] += weight * y
                stats.square[k, p] += weight * y * y
    for k in range(n_clusters):  # whole numbers, exact in any order
        for p in range(n_columns):
            stats.number[k, p] += whole_K[k]
            stats.weight[k, p] += whole_K[k]
