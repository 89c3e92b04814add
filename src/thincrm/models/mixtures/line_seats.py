"""The loop in which rows of regression clusters choose (`seats`).

With Q = diag(κ) + Z'Z, β = Q^-1 Z'y, b the cluster's rate and h = 1 + z'Q^-1 z of a row,

    p(y | rows of k) = Γ(a + ½)/Γ(a) (2πbh)^{-½} (1 + (y - z'β)² / 2bh)^{-(a + ½)}
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thincrm.models.mixtures.censored import RegressionRows, RegressionStats, solved
from thincrm.models.mixtures.seats import Seats, leave, sit
from thincrm.numerics.cholesky import solve_transposed
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream

if TYPE_CHECKING:
    from thincrm.models.mixtures.regression import RegressionHyper

__all__ = ["reseat_lines"]

_LOG_TAU = math.log(2.0 * math.pi)
_NOTHING = 50.0  # a log density so much lower is none


class Solved(NamedTuple):
    """What the rows of clusters say so far: changed only where a row comes or goes."""

    root_KJJ: np.ndarray  # R, Q = R'R, above the diagonal
    y_KJ: np.ndarray  # R^-T Z'y
    rate_K: np.ndarray  # b
    most_K: np.ndarray  # the largest log density a row can have there


@compiled
def _solve(
    stats: RegressionStats, k: int, hyper: RegressionHyper, gamma_C: np.ndarray, now: Solved
) -> None:
    rate = hyper.rate + 0.5 * solved(hyper.tightness, stats, k, now.root_KJJ[k], now.y_KJ[k])
    number = int(stats.number[k])
    now.rate_K[k] = rate
    now.most_K[k] = gamma_C[number + 1] - gamma_C[number] - 0.5 * (math.log(rate) + _LOG_TAU)


@compiled
def _log_line(
    rows: RegressionRows, n: int, number: int, now: Solved, k: int, shape: float,
    gamma_C: np.ndarray, z_J: np.ndarray,
) -> float:  # fmt: skip
    """Return log p(y_n | the rows of k, so many); gamma_C holds log Γ(shape + i / 2)."""
    y, rate, y_J = rows.low[n], now.rate_K[k], now.y_KJ[k]
    z_J[:] = rows.column[n]
    solve_transposed(now.root_KJJ[k], z_J)
    height, gap = 1.0, y
    for j in range(z_J.size):
        height += z_J[j] * z_J[j]
        gap -= z_J[j] * y_J[j]
    value = gamma_C[number + 1] - gamma_C[number] - 0.5 * (math.log(rate * height) + _LOG_TAU)
    value -= (shape + 0.5 * (number + 1)) * math.log1p(0.5 * gap * gap / (rate * height))
    return float(value)


@compiled
def _move(rows: RegressionRows, n: int, stats: RegressionStats, k: int, sign: float) -> None:
    y = rows.low[n]
    if y == -np.inf:
        return
    stats.number[k] += sign
    stats.square[k] += sign * y * y
    for i in range(rows.column.shape[1]):
        stats.cross[k, i] += sign * y * rows.column[n, i]
        for j in range(rows.column.shape[1]):
            stats.gram[k, i, j] += sign * rows.column[n, i] * rows.column[n, j]


@compiled
def _fill(
    rows: RegressionRows, n: int, seats: Seats, stats: RegressionStats, now: Solved, first: int,
    shape: float, gamma_C: np.ndarray, z_J: np.ndarray, log_K: np.ndarray,
) -> None:  # fmt: skip
    """Fill log_K with log densities of used clusters; -inf where nothing comes of a cluster.

    That is where even the largest density a row can have there is e^-50 of what it has elsewhere;
    the cluster it comes from is looked at first.
    """
    if rows.low[n] == -np.inf:
        log_K[:] = 0.0
        return
    weight_K, best = seats.log_weight_WK[seats.place_N[n]], -np.inf
    for i in range(-1, log_K.size):
        k = first if i < 0 else i
        count = seats.count_K[k]
        if count == 0 or weight_K[k] == -np.inf or i == first:
            continue
        log_weight = weight_K[k] + seats.log_mass_KC[k, count]
        if log_weight + now.most_K[k] < best - _NOTHING:
            log_K[k] = -np.inf
            continue
        log_K[k] = _log_line(rows, n, int(stats.number[k]), now, k, shape, gamma_C, z_J)
        best = max(best, log_weight + log_K[k])


@compiled
def reseat_lines(
    key: np.uint64, rows: RegressionRows, seats: Seats, stats: RegressionStats,
    hyper: RegressionHyper, gamma_C: np.ndarray, none: RegressionStats,
) -> None:  # fmt: skip
    """Let rows choose; `none` are the statistics of one cluster without rows."""
    n_clusters, size = seats.count_K.size, rows.column.shape[1]
    log_K, scratch_K, z_J = np.empty(n_clusters), np.empty(n_clusters), np.empty(size)
    now, new = _unsolved(n_clusters, size), _unsolved(1, size)
    _solve(none, 0, hyper, gamma_C, new)
    for k in range(n_clusters):
        _solve(stats, k, hyper, gamma_C, now)
    for turn, n in enumerate(seats.order_R):
        state, old = new_stream(key, turn), leave(seats, n)
        _move(rows, n, stats, old, -1.0)
        _solve(stats, old, hyper, gamma_C, now)
        _fill(rows, n, seats, stats, now, old, hyper.shape, gamma_C, z_J, log_K)
        empty = 0.0
        if rows.low[n] > -np.inf:
            empty = _log_line(rows, n, 0, new, 0, hyper.shape, gamma_C, z_J)
        k = sit(state, seats, n, log_K, empty, scratch_K)
        _move(rows, n, stats, k, 1.0)
        _solve(stats, k, hyper, gamma_C, now)


@compiled
def _unsolved(n_clusters: int, size: int) -> Solved:
    return Solved(
        np.empty((n_clusters, size, size)), np.empty((n_clusters, size)), np.empty(n_clusters),
        np.empty(n_clusters),
    )  # fmt: skip
