"""RegressionClusters: in every cluster a line, y | z ~ N(z'β_k, 1 / τ_k).

    τ_k ~ Gamma(a, b),   β_k | τ ~ N(0, 1 / (κ τ_k))  in every coefficient

with a, b and κ learned: a small says that some lines are far noisier than others. z may be the
covariate itself: density regression. A response known to lie between two numbers
(censored) has that interval's probability for its density, and is drawn within it, given its
cluster, for the statistics, then forgotten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from thincrm.errors import InvalidInput, check_positive
from thincrm.models.mixtures.censored import (
    RegressionPacked,
    RegressionRows,
    RegressionStats,
    add_rows,
    complete_rows,
    draw_params,
    log_density,
    log_determinants,
)
from thincrm.models.mixtures.diagonal import Diagonal, DiagonalParams
from thincrm.models.mixtures.line_seats import reseat_lines
from thincrm.models.mixtures.seats import Seats, half_gammas
from thincrm.models.mixtures.table_rows import least_spread
from thincrm.numerics.arrays import ArrayLike, Float
from thincrm.numerics.bounded_gamma import gamma_at_least
from thincrm.numerics.slice import slice_move
from thincrm.numerics.streams import fresh_key

__all__ = [
    "Regression",
    "RegressionClusters",
    "RegressionHyper",
    "RegressionParams",
    "RegressionRows",
    "RegressionStats",
]

_LOG_TAU = math.log(2.0 * math.pi)
_LEAST_SHAPE = 0.1  # of a: a gamma variable of a smaller one underflows
_ROUNDS = 3  # of a and b


class RegressionParams(NamedTuple):
    """β and τ of every cluster."""

    slope: Float  # K x J
    precision: Float  # K


class RegressionHyper(NamedTuple):
    """What the prior of clusters learns."""

    tightness: Float  # J: κ, of every coefficient
    rate: float  # b
    shape: float  # a


@dataclass(frozen=True, slots=True)
class RegressionClusters:
    """Linear regression in every cluster, responses and columns in standard units.

    Parameters
    ----------
    spread : float
        Prior mean of the variance around a cluster's line; learned, and how far it differs
        between clusters.
    tightness : float
        Prior mean of κ, that variance over the coefficients'; learned.
    """

    spread: float = 0.2
    tightness: float = 0.1

    def __post_init__(self) -> None:
        for name in ("spread", "tightness"):
            check_positive(name, getattr(self, name))

    def rows(
        self, response: ArrayLike, columns: ArrayLike, upper: ArrayLike | None = None
    ) -> RegressionRows:
        """Return rows of (N,) responses and (N, J) columns (a constant is one of them).

        NaN is a response not seen. With `upper`, a response lies between the two: equal numbers
        are exact, -inf and inf leave a side open.
        """
        low = np.array(response, float)
        high = low if upper is None else np.array(upper, float)
        z = np.array(columns, float)
        if z.ndim != 2 or low.shape != high.shape or low.shape != z.shape[:1]:
            raise InvalidInput(
                f"columns must be (N, J) and the responses (N,), got {z.shape}, {low.shape} "
                f"and {high.shape}."
            )
        if not np.isfinite(z).all():
            raise InvalidInput("columns of a regression must hold finite numbers: fill holes.")
        if np.any(low > high):
            raise InvalidInput("a response's lower end lies above its upper end: swap them.")
        unseen = np.isnan(low) | np.isnan(high)
        return RegressionRows(
            np.where(unseen, -np.inf, low), np.where(unseen, np.inf, high), np.ascontiguousarray(z)
        )

    def law(self) -> Regression:
        """Return the law inside clusters."""
        return Regression((2.0, 1.0), (1.0, 1.0 / self.spread), (1.0, 1.0 / self.tightness))


@dataclass(frozen=True, slots=True)
class Regression:
    """The law of lines (see `RegressionClusters`)."""

    shape: tuple[float, float]  # Gamma prior of a
    spread: tuple[float, float]  # of b, which is at least `least_spread`
    tightness: tuple[float, float]  # of κ

    def draw_hyper(self, rng: np.random.Generator, rows: RegressionRows) -> RegressionHyper:
        """Draw κ, b and a."""
        (c, d), (e, f), (g, h) = self.shape, self.spread, self.tightness
        kappa, shape = np.asarray(rng.gamma(g, 1.0 / h, rows.column.shape[1])), 0.0
        while shape < _LEAST_SHAPE:
            shape = float(rng.gamma(c, 1.0 / d))
        rate = gamma_at_least(rng, e, np.array([f]), least_spread(self.spread))
        return RegressionHyper(kappa, float(rate[0]), shape)

    def start_hyper(self, rows: RegressionRows) -> RegressionHyper:
        """Return the prior means."""
        (c, d), (e, f), (g, h) = self.shape, self.spread, self.tightness
        return RegressionHyper(np.full(rows.column.shape[1], g / h), e / f, c / d)

    def draw(
        self, rng: np.random.Generator, n_clusters: int, hyper: RegressionHyper
    ) -> RegressionParams:
        """Draw τ, then β."""
        return self.redraw(rng, _no_stats(n_clusters, hyper.tightness.size), hyper)

    def packed(self, params: RegressionParams) -> RegressionPacked:
        """Return parameters with clusters last."""
        return RegressionPacked(
            np.ascontiguousarray(params.slope.T), np.sqrt(params.precision),
            0.5 * (np.log(params.precision) - _LOG_TAU),
        )  # fmt: skip

    def log_density(
        self, first: int, stop: int, rows: RegressionRows, packed: RegressionPacked, out_RK: Float
    ) -> None:
        """Fill out_RK with densities of responses, or probabilities of their intervals."""
        log_density(first, stop, rows, packed, out_RK)

    def add_rows(
        self, first: int, stop: int, key: np.uint64, offset: int, rows: RegressionRows,
        label_N: np.ndarray, packed: RegressionPacked, n_clusters: int,
    ) -> RegressionStats:  # fmt: skip
        """Return sums over rows, censored responses drawn; rows without a response say nothing."""
        stats = _no_stats(n_clusters, rows.column.shape[1])
        add_rows(first, stop, key, offset, rows, label_N, packed, stats)
        return stats

    def complete(
        self, key: np.uint64, rows: RegressionRows, label_N: np.ndarray, packed: RegressionPacked
    ) -> RegressionRows:
        """Return rows whose censored responses are drawn; those not seen stay so."""
        value = np.empty(len(rows.low))
        complete_rows(key, rows, label_N, packed, value)
        unseen = np.isnan(value)
        return rows._replace(
            low=np.where(unseen, -np.inf, value), high=np.where(unseen, np.inf, value)
        )

    def redraw(
        self, rng: np.random.Generator, stats: RegressionStats, hyper: RegressionHyper
    ) -> RegressionParams:
        """Draw τ ~ Gamma(a + n/2, b + S/2), β ~ N(Q^-1 Z'y, (τ Q)^-1), Q = diag(κ) + Z'Z."""
        slope, precision = np.empty(stats.cross.shape), np.empty(len(stats.number))
        draw_params(
            fresh_key(rng), hyper.shape, hyper.rate, hyper.tightness, stats, slope, precision
        )
        return RegressionParams(slope, precision)

    def reseat(
        self, key: np.uint64, rows: RegressionRows, complete: RegressionRows, seats: Seats,
        stats: RegressionStats, hyper: RegressionHyper,
    ) -> None:  # fmt: skip
        """Let rows choose their clusters one by one; drawn responses stay as they are."""
        log_gamma = half_gammas(hyper.shape, seats.label_N.size + 2)
        none = _no_stats(1, hyper.tightness.size)
        reseat_lines(key, complete, seats, stats, hyper, log_gamma, none)

    def redraw_hyper(
        self, rng: np.random.Generator, params: RegressionParams, hyper: RegressionHyper
    ) -> RegressionHyper:
        """Draw a, b ~ Gamma(e + K a, f + Σ τ), κ_j ~ Gamma(g + K / 2, h + Σ τ β_j² / 2).

        a makes a slice step in log a, and again after b, with log density

            c log a - d a + a (K log b + Σ log τ) - K log Γ(a)
        """
        n_clusters, n_columns = params.slope.shape
        (c, d), (e, f), (g, h) = self.shape, self.spread, self.tightness
        total, logs = f + params.precision.sum(keepdims=True), float(np.log(params.precision).sum())
        shape, rate = hyper.shape, hyper.rate
        for _ in range(_ROUNDS):
            pull = n_clusters * math.log(rate) + logs - d

            def log_density(log_a: Float, pull: float = pull) -> Float:
                a = np.exp(log_a)
                value = c * log_a + a * pull - n_clusters * gammaln(a)
                return np.where(a < _LEAST_SHAPE, -np.inf, value)

            shape = math.exp(float(slice_move(rng, np.log([shape]), log_density)[0]))
            least = least_spread(self.spread)
            rate = float(gamma_at_least(rng, e + shape * n_clusters, total, least)[0])
        pull_J = 0.5 * (params.precision[:, None] * params.slope**2).sum(0)
        kappa = rng.gamma(g + 0.5 * n_clusters, 1.0, n_columns) / (h + pull_J)
        return RegressionHyper(kappa, rate, shape)

    def log_marginal(self, stats: RegressionStats, hyper: RegressionHyper) -> Float:
        """Return the (K,) log marginals of the responses."""
        log_det_K, left_K = np.empty(len(stats.number)), np.empty(len(stats.number))
        log_determinants(hyper.tightness, stats, log_det_K, left_K)
        shape_K = hyper.shape + 0.5 * stats.number
        value = gammaln(shape_K) - gammaln(hyper.shape) + hyper.shape * math.log(hyper.rate)
        value -= shape_K * np.log(hyper.rate + 0.5 * left_K)
        value += 0.5 * (np.log(hyper.tightness).sum() - log_det_K)
        return np.asarray(value - 0.5 * stats.number * _LOG_TAU)

    def at(self, params: RegressionParams, z_J: Float) -> tuple[Diagonal, DiagonalParams]:
        """Return the law of a response at columns z, as a table of one column."""
        law = Diagonal(self.shape[0], self.spread, self.tightness, 0.0)
        mean_K1 = (params.slope * z_J).sum(1, keepdims=True)
        return law, DiagonalParams(mean_K1, params.precision[:, None])

    def sample(
        self, rng: np.random.Generator, params: RegressionParams, label_N: np.ndarray, z_NJ: Float
    ) -> Float:
        """Draw (N,) responses of given clusters at given columns."""
        mean_N = (params.slope[label_N] * z_NJ).sum(1)
        return np.asarray(
            mean_N + rng.standard_normal(len(z_NJ)) / np.sqrt(params.precision[label_N])
        )


def _no_stats(n_clusters: int, n_columns: int) -> RegressionStats:
    return RegressionStats(
        np.zeros(n_clusters), np.zeros(n_clusters), np.zeros((n_clusters, n_columns)),
        np.zeros((n_clusters, n_columns, n_columns)),
    )  # fmt: skip
