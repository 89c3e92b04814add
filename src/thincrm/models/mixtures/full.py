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
from scipy.special import gammaln

from thincrm.models.mixtures.full_loops import (
    FullPacked,
    FullStats,
    add_rows,
    complete_all,
    draw_params,
    factor_all,
    log_density,
    solve_rows,
)
from thincrm.models.mixtures.gaussian_seats import reseat_full
from thincrm.models.mixtures.seats import Seats, half_gammas
from thincrm.models.mixtures.table_rows import (
    TableRows,
    least_spread,
    reach_of,
    sample_weights,
    scaled_cdf,
)
from thincrm.numerics.arrays import Float
from thincrm.numerics.bounded_gamma import gamma_at_least
from thincrm.numerics.streams import fresh_key

__all__ = ["Full", "FullHyper", "FullPacked", "FullParams", "FullStats"]

_LOG_TAU = math.log(2.0 * math.pi)


class FullParams(NamedTuple):
    """μ and Λ of every cluster."""

    mean: Float  # K x P
    precision: Float  # K x P x P


class FullHyper(NamedTuple):
    """What the prior of clusters learns."""

    tightness: float  # κ
    scale: Float  # P: ψ


@dataclass(frozen=True, slots=True)
class Full:
    """The law of full covariances (see `GaussianClusters` for the parameters)."""

    extra: float  # ν0 - P, at least 1
    spread: tuple[float, float]  # Gamma prior of ψ, which is at least `least_spread`
    tightness: tuple[float, float]  # Gamma prior of κ
    degrees: float

    def draw_hyper(self, rng: np.random.Generator, rows: TableRows) -> FullHyper:
        """Draw κ and ψ."""
        kappa = rng.gamma(self.tightness[0], 1.0 / self.tightness[1])
        e, f = self.spread
        scale = gamma_at_least(rng, e, np.full(rows.value.shape[1], f), least_spread(self.spread))
        return FullHyper(kappa, scale)

    def start_hyper(self, rows: TableRows) -> FullHyper:
        """Return the prior means."""
        mean = self.spread[0] / self.spread[1]
        kappa = self.tightness[0] / self.tightness[1]
        return FullHyper(kappa, np.full(rows.value.shape[1], mean))

    def draw(self, rng: np.random.Generator, n_clusters: int, hyper: FullHyper) -> FullParams:
        """Draw Λ, then μ."""
        return self.redraw(rng, self.no_stats(n_clusters, hyper.scale.size), hyper)

    def no_stats(self, n_clusters: int, n_columns: int) -> FullStats:
        """Return the statistics of clusters without rows."""
        return FullStats(
            np.zeros(n_clusters), np.zeros(n_clusters), np.zeros((n_clusters, n_columns)),
            np.zeros((n_clusters, n_columns, n_columns)),
        )  # fmt: skip

    def packed(self, params: FullParams) -> FullPacked:
        """Return means and factors, clusters last."""
        n_columns = params.mean.shape[1]
        root_KPP = np.array(params.precision)
        factor_all(root_KPP)
        log_K = np.log(np.einsum("kpp->kp", root_KPP)).sum(1) - 0.5 * n_columns * _LOG_TAU
        return FullPacked(
            np.ascontiguousarray(params.mean.T), np.ascontiguousarray(root_KPP.transpose(1, 2, 0)),
            log_K, np.ascontiguousarray(params.precision), self.degrees,
        )  # fmt: skip

    def log_density(
        self, first: int, stop: int, rows: TableRows, packed: FullPacked, out_RK: Float
    ) -> None:
        """Fill out_RK with the marginal density of the seen cells."""
        log_density(first, stop, rows, packed, out_RK)

    def add_rows(
        self, first: int, stop: int, key: np.uint64, offset: int, rows: TableRows,
        label_N: np.ndarray, packed: FullPacked, n_clusters: int,
    ) -> FullStats:  # fmt: skip
        """Return sums over rows whose holes and scales are drawn."""
        stats = self.no_stats(n_clusters, rows.value.shape[1])
        add_rows(first, stop, key, offset, rows, label_N, packed, stats)
        return stats

    def complete(
        self, key: np.uint64, rows: TableRows, label_N: np.ndarray, packed: FullPacked
    ) -> TableRows:
        """Return rows without holes, their scales known."""
        value, weight = np.empty(rows.value.shape), np.empty(len(rows.weight))
        complete_all(key, rows, label_N, packed, 1.0, value, weight)
        return TableRows(value, np.ones(rows.seen.shape, np.uint8), weight)

    def redraw(self, rng: np.random.Generator, stats: FullStats, hyper: FullHyper) -> FullParams:
        """Draw Λ ~ Wishart(ν0 + n, Ψ_n^-1), μ ~ N(m, ((κ + W) Λ)^-1)."""
        matrix_KPP, tight_K, mean_KP = self._posterior(stats, hyper)
        degrees_K = self.extra + hyper.scale.size + stats.number
        out_KPP = np.empty(matrix_KPP.shape)
        draw_params(fresh_key(rng), matrix_KPP, degrees_K, tight_K, mean_KP, out_KPP)
        return FullParams(mean_KP, out_KPP)

    def reseat(
        self, key: np.uint64, rows: TableRows, complete: TableRows, seats: Seats,
        stats: FullStats, hyper: FullHyper,
    ) -> None:  # fmt: skip
        """Let rows choose their clusters one by one, holes summed out and filled anew."""
        given = self.seating(seats.label_N.size, hyper.scale.size)
        reseat_full(key, complete._replace(seen=rows.seen), seats, stats, hyper, *given)

    def seating(self, n_rows: int, n_columns: int) -> tuple[float, Float, FullStats]:
        """Return ν0 - P, log Γ((ν0 - P + 1 + i) / 2), and statistics of a cluster without rows."""
        log_gamma = half_gammas(0.5 * (self.extra + 1.0), n_rows + n_columns + 2)
        return self.extra, log_gamma, self.no_stats(1, n_columns)

    def redraw_hyper(
        self, rng: np.random.Generator, params: FullParams, hyper: FullHyper
    ) -> FullHyper:
        """Draw ψ ~ Gamma(e + K ν0 / 2, f + Σ Λ_pp / 2), κ ~ Gamma(g + K P / 2, h + Σ μ'Λμ / 2)."""
        n_clusters, n_columns = params.mean.shape
        (e, f), (g, h) = self.spread, self.tightness
        degrees = self.extra + n_columns
        rate_P = f + 0.5 * np.einsum("kpp->p", params.precision)
        shape = e + 0.5 * degrees * n_clusters
        scale = gamma_at_least(rng, shape, rate_P, least_spread(self.spread))
        pull = np.einsum("kp,kpq,kq->", params.mean, params.precision, params.mean)
        kappa = float(rng.gamma(g + 0.5 * n_clusters * n_columns)) / (h + 0.5 * float(pull))
        return FullHyper(kappa, scale)

    def log_marginal(self, stats: FullStats, hyper: FullHyper) -> Float:
        """Return log ∫ Π N(y_n; μ, (w_n Λ)^-1) G0(dμ, dΛ), but Σ_n P/2 log w_n."""
        matrix_KPP, tight_K, _ = self._posterior(stats, hyper)
        n_columns = hyper.scale.size
        before, after_K = self.extra + n_columns, self.extra + n_columns + stats.number
        factor_all(matrix_KPP)
        log_det_K = 2.0 * np.log(np.einsum("kpp->kp", matrix_KPP)).sum(1)
        none_K = np.full(after_K.size, before)
        value_K = _log_gamma_of(after_K, n_columns) - _log_gamma_of(none_K, n_columns)
        value_K += 0.5 * (before * np.log(hyper.scale).sum() - after_K * log_det_K)
        value_K += 0.5 * n_columns * np.log(hyper.tightness / tight_K)
        return np.asarray(value_K - 0.5 * n_columns * math.log(math.pi) * stats.number)

    def sample(self, rng: np.random.Generator, params: FullParams, label_N: np.ndarray) -> Float:
        """Draw rows of given clusters."""
        weight_N = sample_weights(rng, self.degrees, label_N.size)
        noise_NP = rng.standard_normal((label_N.size, params.mean.shape[1]))
        noise_NP /= np.sqrt(weight_N)[:, None]
        root_KPP = np.array(params.precision)
        factor_all(root_KPP)
        solve_rows(root_KPP, label_N, noise_NP)
        return np.asarray(params.mean[label_N] + noise_NP)

    def fill(
        self, key: np.uint64, rows: TableRows, label_N: np.ndarray, packed: FullPacked, noise: bool
    ) -> Float:
        """Return rows whose holes are drawn given the seen cells, or at their means."""
        value, weight = np.empty(rows.value.shape), np.empty(len(rows.weight))
        complete_all(key, rows, label_N, packed, float(noise), value, weight)
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


def _log_gamma_of(degrees_K: Float, n_columns: int) -> Float:
    """Return log Γ_P(degrees / 2) of several degrees."""
    half_KP = 0.5 * (degrees_K[:, None] - np.arange(n_columns))
    constant = 0.25 * n_columns * (n_columns - 1) * math.log(math.pi)
    return np.asarray(gammaln(half_KP).sum(1) + constant)
