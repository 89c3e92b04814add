"""Gaussian clusters with full covariance matrices.

    Λ_k ~ Wishart(ν0, Ψ^-1),  Ψ = diag(ψ),   μ_k ~ N(0, (κ Λ_k)^-1),   y_n ~ N(μ_k, (w_n Λ_k)^-1)

A row's density is that of its seen cells. With o seen, m holes, x = y - μ and g = Λ_.o x_o,

    (y - μ)' Σ_oo^-1 (y - μ) = x_o'g_o - g_m' Λ_mm^-1 g_m,     |Σ_oo|^-1 = |Λ| / |Λ_mm|
    y_m | y_o ~ N(μ_m - Λ_mm^-1 g_m, (w Λ_mm)^-1)

Holes are filled by the last line, given the row's cluster, for the statistics and forgotten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, multigammaln

from thincrm.models.mixtures.tables import (
    TableRows,
    draw_weight,
    log_row,
    reach_of,
    sample_weights,
    scaled_cdf,
)
from thincrm.numerics.arrays import Float
from thincrm.numerics.compiled import compiled
from thincrm.numerics.linear import factor, log_det_factor, solve_factor, solve_transposed
from thincrm.numerics.streams import fresh_key, new_stream
from thincrm.numerics.variates import gamma, normal

__all__ = ["Full", "FullHyper", "FullParams", "FullStats"]

_LOG_TAU = math.log(2.0 * math.pi)


class FullParams(NamedTuple):
    """μ and Λ of every cluster."""

    mean: Float  # K x P
    precision: Float  # K x P x P


class FullHyper(NamedTuple):
    """What the prior of clusters learns."""

    tightness: float  # κ
    scale: Float  # P: ψ


class FullStats(NamedTuple):
    """Sums over each cluster's rows, holes filled."""

    number: Float  # K: 1
    weight: Float  # K: w
    total: Float  # K x P: w y
    square: Float  # K x P x P: w y y'


class _Packed(NamedTuple):
    mean_PK: Float
    root_PPK: Float  # R, Λ = R'R, above the diagonal
    log_K: Float  # log |Λ| / 2 - P log(2π) / 2
    precision_KPP: Float
    degrees: float


@dataclass(frozen=True, slots=True)
class Full:
    """The law of full covariances (see `GaussianClusters` for the parameters)."""

    extra: float  # ν0 - P, at least 1
    spread: tuple[float, float]  # Gamma prior of ψ
    tightness: tuple[float, float]  # Gamma prior of κ
    degrees: float

    def draw_hyper(self, rng: np.random.Generator, rows: TableRows) -> FullHyper:
        """Draw κ and ψ."""
        kappa = rng.gamma(self.tightness[0], 1.0 / self.tightness[1])
        scale = np.asarray(rng.gamma(self.spread[0], 1.0 / self.spread[1], rows.value.shape[1]))
        return FullHyper(kappa, scale)

    def start_hyper(self, rows: TableRows) -> FullHyper:
        """Return the prior means."""
        mean = self.spread[0] / self.spread[1]
        kappa = self.tightness[0] / self.tightness[1]
        return FullHyper(kappa, np.full(rows.value.shape[1], mean))

    def draw(self, rng: np.random.Generator, n_clusters: int, hyper: FullHyper) -> FullParams:
        """Draw Λ, then μ."""
        return self.redraw(rng, _no_stats(n_clusters, hyper.scale.size), hyper)

    def packed(self, params: FullParams) -> _Packed:
        """Return means and factors, clusters last."""
        n_columns = params.mean.shape[1]
        root_KPP = np.array(params.precision)
        _factor_all(root_KPP)
        log_K = np.log(np.einsum("kpp->kp", root_KPP)).sum(1) - 0.5 * n_columns * _LOG_TAU
        return _Packed(
            np.ascontiguousarray(params.mean.T), np.ascontiguousarray(root_KPP.transpose(1, 2, 0)),
            log_K, np.ascontiguousarray(params.precision), self.degrees,
        )  # fmt: skip

    def log_density(
        self, first: int, stop: int, rows: TableRows, packed: _Packed, out_RK: Float
    ) -> None:
        """Fill out_RK with the marginal density of the seen cells."""
        _log_density(first, stop, rows, packed, out_RK)

    def add_rows(
        self, first: int, stop: int, key: np.uint64, offset: int, rows: TableRows, label_N: np.ndarray,
        packed: _Packed, n_clusters: int,
    ) -> FullStats:  # fmt: skip
        """Return sums over rows whose holes and scales are drawn."""
        stats = _no_stats(n_clusters, rows.value.shape[1])
        _add_rows(first, stop, key, offset, rows, label_N, packed, stats)
        return stats

    def complete(
        self, key: np.uint64, rows: TableRows, label_N: np.ndarray, packed: _Packed
    ) -> TableRows:
        """Return rows without holes, their scales known."""
        value, weight = np.empty(rows.value.shape), np.empty(len(rows.weight))
        _complete_all(key, rows, label_N, packed, 1.0, value, weight)
        return TableRows(value, np.ones(rows.seen.shape, np.uint8), weight)

    def redraw(self, rng: np.random.Generator, stats: FullStats, hyper: FullHyper) -> FullParams:
        """Draw Λ ~ Wishart(ν0 + n, Ψ_n^-1), μ ~ N(m, ((κ + W) Λ)^-1)."""
        matrix_KPP, tight_K, mean_KP = self._posterior(stats, hyper)
        degrees_K = self.extra + hyper.scale.size + stats.number
        out_KPP = np.empty(matrix_KPP.shape)
        _draw(fresh_key(rng), matrix_KPP, degrees_K, tight_K, mean_KP, out_KPP)
        return FullParams(mean_KP, out_KPP)

    def redraw_hyper(
        self, rng: np.random.Generator, params: FullParams, hyper: FullHyper
    ) -> FullHyper:
        """Draw ψ ~ Gamma(e + K ν0 / 2, f + Σ Λ_pp / 2), κ ~ Gamma(g + K P / 2, h + Σ μ'Λμ / 2)."""
        n_clusters, n_columns = params.mean.shape
        (e, f), (g, h) = self.spread, self.tightness
        degrees = self.extra + n_columns
        scale = rng.gamma(e + 0.5 * degrees * n_clusters, 1.0, n_columns)
        scale /= f + 0.5 * np.einsum("kpp->p", params.precision)
        pull = np.einsum("kp,kpq,kq->", params.mean, params.precision, params.mean)
        kappa = float(rng.gamma(g + 0.5 * n_clusters * n_columns)) / (h + 0.5 * float(pull))
        return FullHyper(kappa, scale)

    def log_marginal(self, stats: FullStats, hyper: FullHyper) -> Float:
        """Return log ∫ Π N(y_n; μ, (w_n Λ)^-1) G0(dμ, dΛ), but Σ_n P/2 log w_n."""
        matrix_KPP, tight_K, _ = self._posterior(stats, hyper)
        n_columns = hyper.scale.size
        before, after_K = self.extra + n_columns, self.extra + n_columns + stats.number
        _factor_all(matrix_KPP)
        log_det_K = 2.0 * np.log(np.einsum("kpp->kp", matrix_KPP)).sum(1)
        value_K = multigammaln_of(after_K, n_columns) - multigammaln(0.5 * before, n_columns)
        value_K += 0.5 * (before * np.log(hyper.scale).sum() - after_K * log_det_K)
        value_K += 0.5 * n_columns * np.log(hyper.tightness / tight_K)
        return np.asarray(value_K - 0.5 * n_columns * math.log(math.pi) * stats.number)

    def log_prior(self, params: FullParams, hyper: FullHyper) -> Float:
        """Return the log density of (μ, Λ)."""
        n_columns = hyper.scale.size
        degrees, packed = self.extra + n_columns, self.packed(params)
        log_det_K = 2.0 * packed.log_K + n_columns * _LOG_TAU
        trace_K = np.einsum("kpp,p->k", params.precision, hyper.scale)
        pull_K = np.einsum("kp,kpq,kq->k", params.mean, params.precision, params.mean)
        norm = 0.5 * degrees * (np.log(hyper.scale).sum() - n_columns * math.log(2.0))
        value_K = norm - multigammaln(0.5 * degrees, n_columns) - 0.5 * trace_K
        value_K += 0.5 * (degrees - n_columns - 1.0) * log_det_K + 0.5 * log_det_K
        value_K += 0.5 * n_columns * (math.log(hyper.tightness) - _LOG_TAU)
        return np.asarray(value_K - 0.5 * hyper.tightness * pull_K)

    def sample(self, rng: np.random.Generator, params: FullParams, label_N: np.ndarray) -> Float:
        """Draw rows of given clusters."""
        weight_N = sample_weights(rng, self.degrees, label_N.size)
        noise_NP = rng.standard_normal((label_N.size, params.mean.shape[1]))
        noise_NP /= np.sqrt(weight_N)[:, None]
        root_KPP = np.array(params.precision)
        _factor_all(root_KPP)
        _solve_rows(root_KPP, label_N, noise_NP)
        return np.asarray(params.mean[label_N] + noise_NP)

    def fill(
        self, key: np.uint64, rows: TableRows, label_N: np.ndarray, packed: _Packed, noise: bool
    ) -> Float:
        """Return rows whose holes are drawn given the seen cells, or at their means."""
        value, weight = np.empty(rows.value.shape), np.empty(len(rows.weight))
        _complete_all(key, rows, label_N, packed, float(noise), value, weight)
        return value

    def _spread(self, params: FullParams, column: int) -> Float:
        """Return the (K,) standard deviations of a column."""
        return np.asarray(np.sqrt(np.linalg.inv(params.precision)[:, column, column]))

    def cdf(self, params: FullParams, column: int, y_G: Float) -> Float:
        """Return the (G, K) distribution functions of a column."""
        spread_K = self._spread(params, column)
        return scaled_cdf(self.degrees, (y_G[:, None] - params.mean[:, column]) / spread_K)

    def reach(self, params: FullParams, column: int, q_Q: Float) -> tuple[float, float]:
        """Return the ends of quantiles."""
        spread_K = self._spread(params, column)
        return reach_of(self.degrees, params.mean[:, column], spread_K, q_Q)

    def _posterior(self, stats: FullStats, hyper: FullHyper) -> tuple[Float, Float, Float]:
        """Return Ψ + Σ w y y' - (Σ w y)(Σ w y)' / (κ + W), κ + W, and Σ w y / (κ + W)."""
        tight_K = hyper.tightness + stats.weight
        mean_KP = stats.total / tight_K[:, None]
        matrix_KPP = stats.square - stats.total[:, :, None] * mean_KP[:, None, :]
        return matrix_KPP + np.diag(hyper.scale), tight_K, mean_KP


def multigammaln_of(degrees_K: Float, n_columns: int) -> Float:
    """Return log Γ_P(degrees / 2) of several degrees."""
    half_KP = 0.5 * (degrees_K[:, None] - np.arange(n_columns))
    constant = 0.25 * n_columns * (n_columns - 1) * math.log(math.pi)
    return np.asarray(gammaln(half_KP).sum(1) + constant)


def _no_stats(n_clusters: int, n_columns: int) -> FullStats:
    return FullStats(
        np.zeros(n_clusters), np.zeros(n_clusters), np.zeros((n_clusters, n_columns)),
        np.zeros((n_clusters, n_columns, n_columns)),
    )  # fmt: skip


@compiled
def _factor_all(matrix_KPP: np.ndarray) -> None:
    for k in range(matrix_KPP.shape[0]):
        factor(matrix_KPP[k])


@compiled
def _solve_rows(root_KPP: np.ndarray, label_N: np.ndarray, x_NP: np.ndarray) -> None:
    for n in range(label_N.size):
        solve_factor(root_KPP[label_N[n]], x_NP[n])


@compiled
def _draw(
    key: np.uint64, matrix_KPP: np.ndarray, degrees_K: np.ndarray, tight_K: np.ndarray,
    mean_KP: np.ndarray, out_KPP: np.ndarray,
) -> None:  # fmt: skip
    """Draw Λ = R^-1 T T' R^-T, Ψ_n = R'R, T T' a standard Wishart (Bartlett), and add to means."""
    size = mean_KP.shape[1]
    column_P, root_PP = np.empty(size), np.empty((size, size))
    for k in range(degrees_K.size):
        state = new_stream(key, k)
        factor(matrix_KPP[k])
        out_KPP[k] = 0.0
        for j in range(size):
            column_P[:] = 0.0
            column_P[j] = math.sqrt(2.0 * gamma(state, 0.5 * (degrees_K[k] - j)))
            for i in range(j + 1, size):
                column_P[i] = normal(state)
            solve_factor(matrix_KPP[k], column_P)
            for p in range(size):
                for q in range(size):
                    out_KPP[k, p, q] += column_P[p] * column_P[q]
        root_PP[:] = out_KPP[k]
        factor(root_PP)
        for p in range(size):
            column_P[p] = normal(state)
        solve_factor(root_PP, column_P)
        for p in range(size):
            mean_KP[k, p] += column_P[p] / math.sqrt(tight_K[k])


@compiled
def _holed(
    rows: TableRows, n: int, packed: _Packed, k: int, hole_M: np.ndarray, root_PP: np.ndarray,
    pull_P: np.ndarray,
) -> tuple[float, float]:  # fmt: skip
    """Return (q, log |Λ_mm| / 2) of a row with holes; fill R of Λ_mm = R'R and R^-T g_m.

    `root_PP` and `pull_P` are scratch of at least that size.
    """
    n_columns, n_holes = rows.value.shape[1], hole_M.size
    matrix_PP = packed.precision_KPP[k]
    distance = 0.0
    for i in range(n_holes):
        pull_P[i] = 0.0
        for j in range(i, n_holes):
            root_PP[i, j] = matrix_PP[hole_M[i], hole_M[j]]
    for p in range(n_columns):
        if rows.seen[n, p] == 0:
            continue
        x = rows.value[n, p] - packed.mean_PK[p, k]
        for q in range(n_columns):
            if rows.seen[n, q] != 0:
                distance += x * matrix_PP[p, q] * (rows.value[n, q] - packed.mean_PK[q, k])
        for i in range(n_holes):
            pull_P[i] += matrix_PP[hole_M[i], p] * x
    inner = root_PP[:n_holes, :n_holes]
    factor(inner)
    solve_transposed(inner, pull_P[:n_holes])
    for i in range(n_holes):
        distance -= pull_P[i] * pull_P[i]
    return max(distance, 0.0), 0.5 * log_det_factor(inner)


@compiled
def _log_density(
    first: int, stop: int, rows: TableRows, packed: _Packed, out_RK: np.ndarray
) -> None:
    n_columns, n_clusters = packed.mean_PK.shape
    norm_K, z_K = np.empty(n_clusters), np.empty(n_clusters)
    root_PP, pull_P = np.empty((n_columns, n_columns)), np.empty(n_columns)
    for n in range(first, stop):
        row_K, hole_M = out_RK[n - first], np.flatnonzero(rows.seen[n] == 0)
        norm_K[:] = packed.log_K
        row_K[:] = 0.0
        if hole_M.size == 0:
            for i in range(n_columns):
                z_K[:] = 0.0
                for j in range(i, n_columns):
                    y, mean_K, root_K = rows.value[n, j], packed.mean_PK[j], packed.root_PPK[i, j]
                    for k in range(n_clusters):
                        z_K[k] += root_K[k] * (y - mean_K[k])
                for k in range(n_clusters):
                    row_K[k] += z_K[k] * z_K[k]
        elif hole_M.size < n_columns:
            for k in range(n_clusters):
                row_K[k], half = _holed(rows, n, packed, k, hole_M, root_PP, pull_P)
                norm_K[k] += 0.5 * hole_M.size * _LOG_TAU - half
        else:
            norm_K[:] = 0.0
        log_row(packed.degrees, rows.weight[n], n_columns - hole_M.size, norm_K, row_K)


@compiled
def _complete(
    key: np.uint64, item: int, rows: TableRows, n: int, packed: _Packed, k: int,
    noise: float, root_PP: np.ndarray, pull_P: np.ndarray, out_P: np.ndarray,
) -> float:  # fmt: skip
    """Fill `out_P` with row n, its holes drawn (noise 0: their means); return its weight."""
    n_columns, hole_M = rows.value.shape[1], np.flatnonzero(rows.seen[n] == 0)
    weight = rows.weight[n]
    out_P[:] = rows.value[n]
    if weight > 0.0 and hole_M.size == 0:
        return float(weight)
    state = new_stream(key, item)
    distance, _ = _holed(rows, n, packed, k, hole_M, root_PP, pull_P)
    if not weight > 0.0:
        weight = draw_weight(state, packed.degrees, distance, n_columns - hole_M.size)
    inner, move_M = root_PP[: hole_M.size, : hole_M.size], pull_P[: hole_M.size]
    for i in range(hole_M.size):
        move_M[i] = noise * normal(state) / math.sqrt(weight) - move_M[i]
    solve_factor(inner, move_M)
    for i in range(hole_M.size):
        out_P[hole_M[i]] = packed.mean_PK[hole_M[i], k] + move_M[i]
    return float(weight)


@compiled
def _complete_all(
    key: np.uint64, rows: TableRows, label_N: np.ndarray, packed: _Packed, noise: float,
    out_NP: np.ndarray, weight_N: np.ndarray,
) -> None:  # fmt: skip
    size = rows.value.shape[1]
    root_PP, pull_P = np.empty((size, size)), np.empty(size)
    for n in range(label_N.size):
        weight_N[n] = _complete(
            key, n, rows, n, packed, label_N[n], noise, root_PP, pull_P, out_NP[n]
        )


@compiled
def _add_rows(
    first: int, stop: int, key: np.uint64, offset: int, rows: TableRows, label_N: np.ndarray,
    packed: _Packed, stats: FullStats,
) -> None:  # fmt: skip
    size = rows.value.shape[1]
    root_PP, pull_P, y_P = np.empty((size, size)), np.empty(size), np.empty(size)
    for n in range(first, stop):
        k = label_N[n]
        weight = _complete(key, offset + n, rows, n, packed, k, 1.0, root_PP, pull_P, y_P)
        stats.number[k] += 1.0
        stats.weight[k] += weight
        for p in range(size):
            scaled = weight * y_P[p]
            stats.total[k, p] += scaled
            for q in range(size):
                stats.square[k, p, q] += scaled * y_P[q]
