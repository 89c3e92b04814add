"""The loop in which rows of regression clusters choose (`seats`).

With Q = diag(κ) + Z'Z, β = Q^-1 Z'y, b the cluster's rate and h = 1 + z'Q^-1 z of a row,

    p(y | rows of k) = Γ(a + ½)/Γ(a) (2πbh)^{-½} (1 + (y - z'β)² / 2bh)^{-(a + ½)}
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thincrm.models.mixtures.censored import RegressionRows, RegressionStats, solved
from thincrm.models.mixtures.seats import Seats, leave, needs_density, sit
from thincrm.numerics.cholesky import solve_transposed
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream

__all__ = ["reseat_lines"]

_LOG_TAU = math.log(2.0 * math.pi)


@compiled
def _log_line(
    rows: RegressionRows, n: int, stats: RegressionStats, k: int, hyper: Any, shape: float,
    gamma_C: np.ndarray, root_JJ: np.ndarray, y_J: np.ndarray, z_J: np.ndarray,
) -> float:  # fmt: skip
    """Return log p(y_n | rows of k); gamma_C holds log Γ(shape + i / 2)."""
    y, number = rows.low[n], int(stats.number[k])
    if y == -np.inf:
        return 0.0
    rate = hyper.rate + 0.5 * solved(hyper.tightness, stats, k, root_JJ, y_J)
    z_J[:] = rows.column[n]
    solve_transposed(root_JJ, z_J)
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
def reseat_lines(
    key: np.uint64, rows: RegressionRows, seats: Seats, stats: RegressionStats, hyper: Any,
    shape: float, gamma_C: np.ndarray, none: RegressionStats,
) -> None:  # fmt: skip
    """Let rows choose; `none` are the statistics of one cluster without rows."""
    log_K, scratch_K = np.empty(seats.count_K.size), np.empty(seats.count_K.size)
    size = rows.column.shape[1]
    root_JJ, y_J, z_J = np.empty((size, size)), np.empty(size), np.empty(size)
    for n in seats.order_R:
        state = new_stream(key, n)
        _move(rows, n, stats, leave(seats, n), -1.0)
        for k in range(log_K.size):
            if seats.count_K[k] > 0 and needs_density(seats, n, k):
                log_K[k] = _log_line(rows, n, stats, k, hyper, shape, gamma_C, root_JJ, y_J, z_J)
        empty = _log_line(rows, n, none, 0, hyper, shape, gamma_C, root_JJ, y_J, z_J)
        _move(rows, n, stats, sit(state, seats, n, log_K, empty, scratch_K), 1.0)
