"""Compiled loops of regression clusters, whose responses may be censored."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thincrm.numerics.arrays import Float
from thincrm.numerics.cholesky import factor, log_det_factor, solve_factor, solve_transposed
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream, uniform
from thincrm.numerics.variates import gamma, normal, positive_normal

__all__ = [
    "RegressionPacked",
    "RegressionRows",
    "RegressionStats",
    "add_rows",
    "complete_rows",
    "draw_params",
    "log_density",
    "log_determinants",
    "solved",
]

_ROOT_HALF = math.sqrt(0.5)
_FAR = 1e8  # standard deviations
_LOG_ROOT_TAU = 0.5 * math.log(2.0 * math.pi)
_LOG_2 = math.log(2.0)


class RegressionRows(NamedTuple):
    """Responses between two numbers (equal: exact; infinite both: not seen), and columns."""

    low: Float  # N
    high: Float  # N
    column: Float  # N x J


class RegressionPacked(NamedTuple):
    """Parameters as the loops want them, clusters last."""

    slope_JK: Float
    root_K: Float
    log_K: Float  # log τ / 2 - log(2π) / 2


class RegressionStats(NamedTuple):
    """Sums over each cluster's rows that have a response."""

    number: Float  # K: 1
    square: Float  # K: y²
    cross: Float  # K x J: y z
    gram: Float  # K x J x J: z z'


@compiled
def _log_tail(z: float) -> float:
    """Return log P(x > z) of a standard normal, at any z (a continued fraction beyond 30)."""
    if z < 30.0:
        return math.log(math.erfc(z * _ROOT_HALF)) - _LOG_2
    inverse = 1.0 / (z * z)
    series = 1.0 - inverse * (1.0 - 3.0 * inverse * (1.0 - 5.0 * inverse))
    return -0.5 * z * z - math.log(z) - _LOG_ROOT_TAU + math.log(series)


@compiled
def _log_between(low: float, high: float) -> float:
    """Return log P(low < x < high) of a standard normal, from the tail that is further out."""
    if low < 0.0 and high <= 0.0:
        low, high = -high, -low
    if low < 0.0:  # 0 lies between
        outside = math.erfc(-low * _ROOT_HALF) + math.erfc(high * _ROOT_HALF)
        return math.log1p(-0.5 * outside)
    near = _log_tail(low)
    if high == np.inf:
        return near
    return near + math.log(-math.expm1(_log_tail(high) - near))


@compiled
def _draw_between(state: np.ndarray, low: float, high: float) -> float:
    """Draw a standard normal between two numbers, by rejection that suits where they are."""
    if math.isnan(low) or math.isnan(high):
        return float(np.nan)
    if low < 0.0 and high <= 0.0:
        return -_draw_between(state, -high, -low)
    if low > _FAR:  # what is beyond is lost to rounding
        return low
    if high == np.inf:
        return low + positive_normal(state, -low)
    if low < 0.0 and high - low > 2.0:
        while True:
            x = normal(state)
            if low < x < high:
                return x
    if high - low > 2.0 / max(low, 1.0):  # a tail: the far end hardly matters
        while True:
            x = low + positive_normal(state, -low)
            if x < high:
                return x
    nearest = max(low, 0.0)
    while True:
        x = low + (high - low) * uniform(state)
        if math.log(uniform(state)) <= 0.5 * (nearest * nearest - x * x):
            return x


@compiled
def log_density(
    first: int, stop: int, rows: RegressionRows, packed: RegressionPacked, out_RK: np.ndarray
) -> None:
    """Fill out_RK for rows [first, stop)."""
    n_columns, n_clusters = packed.slope_JK.shape
    mean_K = np.empty(n_clusters)
    for n in range(first, stop):
        row_K, low, high = out_RK[n - first], rows.low[n], rows.high[n]
        row_K[:] = 0.0
        if low == -np.inf and high == np.inf:
            continue
        mean_K[:] = 0.0
        for j in range(n_columns):
            z, slope_K = rows.column[n, j], packed.slope_JK[j]
            for k in range(n_clusters):
                mean_K[k] += z * slope_K[k]
        if low == high:
            for k in range(n_clusters):
                gap = (low - mean_K[k]) * packed.root_K[k]
                row_K[k] = packed.log_K[k] - 0.5 * gap * gap
        else:
            for k in range(n_clusters):
                root = packed.root_K[k]
                row_K[k] = _log_between((low - mean_K[k]) * root, (high - mean_K[k]) * root)


@compiled
def _response(
    key: np.uint64, item: int, rows: RegressionRows, n: int, packed: RegressionPacked, k: int
) -> float:
    """Return row n's response, drawn where it is censored; NaN where it was not seen."""
    low, high = rows.low[n], rows.high[n]
    if low == high:
        return float(low)
    if low == -np.inf and high == np.inf:
        return float(np.nan)
    mean, root = 0.0, packed.root_K[k]
    for j in range(rows.column.shape[1]):
        mean += rows.column[n, j] * packed.slope_JK[j, k]
    draw = _draw_between(new_stream(key, item), (low - mean) * root, (high - mean) * root)
    return float(mean + draw / root)


@compiled
def complete_rows(
    key: np.uint64, rows: RegressionRows, label_N: np.ndarray, packed: RegressionPacked,
    out_N: np.ndarray,
) -> None:  # fmt: skip
    """Fill responses, NaN where not seen."""
    for n in range(label_N.size):
        out_N[n] = _response(key, n, rows, n, packed, label_N[n])


@compiled
def add_rows(
    first: int, stop: int, key: np.uint64, offset: int, rows: RegressionRows, label_N: np.ndarray,
    packed: RegressionPacked, stats: RegressionStats,
) -> None:  # fmt: skip
    """Add rows [first, stop) to the statistics."""
    for n in range(first, stop):
        k = label_N[n]
        y = _response(key, offset + n, rows, n, packed, k)
        if math.isnan(y):
            continue
        stats.number[k] += 1.0
        stats.square[k] += y * y
        for i in range(rows.column.shape[1]):
            stats.cross[k, i] += y * rows.column[n, i]
            for j in range(rows.column.shape[1]):
                stats.gram[k, i, j] += rows.column[n, i] * rows.column[n, j]


@compiled
def solved(
    tight_J: np.ndarray, stats: RegressionStats, k: int, root_JJ: np.ndarray, y_J: np.ndarray
) -> float:
    """Fill R, R'R = diag(κ) + Z'Z, and R^-T Z'y; return y'y - |R^-T Z'y|²."""
    left = stats.square[k]
    root_JJ[:] = stats.gram[k]
    y_J[:] = stats.cross[k]
    for j in range(y_J.size):
        root_JJ[j, j] += tight_J[j]
    factor(root_JJ)
    solve_transposed(root_JJ, y_J)
    for j in range(y_J.size):
        left -= y_J[j] * y_J[j]
    return float(max(left, 0.0))


@compiled
def draw_params(
    key: np.uint64, shape: float, rate: float, tight_J: np.ndarray, stats: RegressionStats,
    slope_KJ: np.ndarray, precision_K: np.ndarray,
) -> None:  # fmt: skip
    """Draw τ and β of every cluster."""
    size = slope_KJ.shape[1]
    root_JJ, y_J = np.empty((size, size)), np.empty(size)
    for k in range(precision_K.size):
        state = new_stream(key, k)
        left = solved(tight_J, stats, k, root_JJ, y_J)
        precision = gamma(state, shape + 0.5 * stats.number[k]) / (rate + 0.5 * left)
        for j in range(size):
            y_J[j] += normal(state) / math.sqrt(precision)
        solve_factor(root_JJ, y_J)
        precision_K[k] = precision
        slope_KJ[k] = y_J


@compiled
def log_determinants(
    tight_J: np.ndarray, stats: RegressionStats, log_det_K: np.ndarray, left_K: np.ndarray
) -> None:
    """Fill log |diag(κ) + Z'Z| and the sum of squares left."""
    size = stats.cross.shape[1]
    root_JJ, y_J = np.empty((size, size)), np.empty(size)
    for k in range(left_K.size):
        left_K[k] = solved(tight_J, stats, k, root_JJ, y_J)
        log_det_K[k] = log_det_factor(root_JJ)
