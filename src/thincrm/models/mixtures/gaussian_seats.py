"""Predictive densities of Gaussian clusters, and the loops in which rows choose by them (`seats`).

Of a cluster with tight = κ + W, mean m and, of a row with weight w, c = w tight / (w + tight):

    independent columns   Γ(a + ½)/Γ(a) √(c / 2πb) (1 + c (y - m)² / 2b)^{-(a + ½)}
    full covariances      Γ((ν+o)/2)/Γ(ν/2) (c/π)^{o/2} |Ψ_oo|^{-½} (1 + c q)^{-(ν+o)/2}

with a, b, ν = ν0 - P + 1 + n and Ψ those of the cluster's posterior, o the number of seen cells and
q = (y - m)_o' Ψ_oo^-1 (y - m)_o. Holes are then filled given the seen cells and the cluster:
with Ψ = R'R (seen cells first) and z = R^-T (y - m), z_m / √(1/c + |z_o|²) is N(0, I) / √χ²_{ν+o}.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from thincrm.models.mixtures.seats import Seats, leave, needs_density, sit
from thincrm.models.mixtures.table_rows import TableRows
from thincrm.numerics.cholesky import factor, log_det_factor, solve_transposed
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream
from thincrm.numerics.variates import gamma, normal

if TYPE_CHECKING:
    from thincrm.models.mixtures.diagonal import DiagonalHyper, DiagonalStats
    from thincrm.models.mixtures.full import FullHyper, FullStats

__all__ = [
    "fill_full",
    "log_diagonal",
    "log_full",
    "move_diagonal",
    "move_full",
    "reseat_diagonal",
    "reseat_full",
    "seen_first",
]

_LOG_TAU = math.log(2.0 * math.pi)
_LOG_PI = math.log(math.pi)


@compiled
def log_diagonal(
    rows: TableRows,
    n: int,
    stats: DiagonalStats,
    k: int,
    hyper: DiagonalHyper,
    shape: float,
    gamma_C: np.ndarray,
) -> float:
    """Return log p(y_n | rows of k), columns independent; gamma_C holds log Γ(shape + i / 2)."""
    total, w = 0.0, rows.weight[n]
    for p in range(rows.value.shape[1]):
        if rows.seen[n, p] == 0:
            continue
        number, tight = int(stats.number[k, p]), hyper.tightness + stats.weight[k, p]
        mean = stats.total[k, p] / tight
        rate = hyper.rate[p] + 0.5 * max(stats.square[k, p] - stats.total[k, p] * mean, 0.0)
        c, gap = w * tight / (w + tight), rows.value[n, p] - mean
        total += gamma_C[number + 1] - gamma_C[number] + 0.5 * (math.log(c / rate) - _LOG_TAU)
        total -= (shape + 0.5 * number + 0.5) * math.log1p(0.5 * c * gap * gap / rate)
    return total


@compiled
def move_diagonal(rows: TableRows, n: int, stats: DiagonalStats, k: int, sign: float) -> None:
    """Add row n to the statistics of cluster k, or (sign -1) take it out."""
    w = sign * rows.weight[n]
    for p in range(rows.value.shape[1]):
        if rows.seen[n, p] != 0:
            y = rows.value[n, p]
            stats.number[k, p] += sign
            stats.weight[k, p] += w
            stats.total[k, p] += w * y
            stats.square[k, p] += w * y * y


@compiled
def reseat_diagonal(
    key: np.uint64, rows: TableRows, seats: Seats, stats: DiagonalStats, hyper: DiagonalHyper,
    shape: float, gamma_C: np.ndarray, none: DiagonalStats,
) -> None:  # fmt: skip
    """Let rows choose; `none` are the statistics of one cluster without rows."""
    log_K, scratch_K = np.empty(seats.count_K.size), np.empty(seats.count_K.size)
    for turn, n in enumerate(seats.order_R):
        state = new_stream(key, turn)
        move_diagonal(rows, n, stats, leave(seats, n), -1.0)
        for k in range(log_K.size):
            if seats.count_K[k] > 0 and needs_density(seats, n, k):
                log_K[k] = log_diagonal(rows, n, stats, k, hyper, shape, gamma_C)
        empty = log_diagonal(rows, n, none, 0, hyper, shape, gamma_C)
        move_diagonal(rows, n, stats, sit(state, seats, n, log_K, empty, scratch_K), 1.0)


@compiled
def _gaps(
    rows: TableRows, n: int, stats: FullStats, k: int, hyper: FullHyper, at_P: np.ndarray,
    size: int, n_seen: int, root_PP: np.ndarray, gap_P: np.ndarray,
) -> float:  # fmt: skip
    """Factor Ψ at the first `size` cells of `at_P`, solve for the seen ones' gaps; return tight."""
    tight = hyper.tightness + stats.weight[k]
    for i in range(size):
        p = at_P[i]
        if i < n_seen:
            gap_P[i] = rows.value[n, p] - stats.total[k, p] / tight
        for j in range(i, size):
            q = at_P[j]
            root_PP[i, j] = stats.square[k, p, q] - stats.total[k, p] * stats.total[k, q] / tight
        root_PP[i, i] = max(root_PP[i, i], 0.0) + hyper.scale[p]
    factor(root_PP[:size, :size])
    solve_transposed(root_PP[:n_seen, :n_seen], gap_P[:n_seen])
    return float(tight)


@compiled
def seen_first(rows: TableRows, n: int, at_P: np.ndarray) -> int:
    """Fill the columns of row n, seen ones first; return how many are seen."""
    n_seen, last = 0, at_P.size - 1
    for p in range(at_P.size):
        if rows.seen[n, p] != 0:
            at_P[n_seen] = p
            n_seen += 1
        else:
            at_P[last] = p
            last -= 1
    return n_seen


@compiled
def log_full(
    rows: TableRows, n: int, stats: FullStats, k: int, hyper: FullHyper, extra: float,
    gamma_C: np.ndarray, at_P: np.ndarray, n_seen: int, root_PP: np.ndarray, gap_P: np.ndarray,
) -> float:  # fmt: skip
    """Return log p(seen cells of y_n | rows of k); gamma_C holds log Γ((extra + 1 + i) / 2)."""
    if n_seen == 0:
        return 0.0
    w, number = rows.weight[n], int(stats.number[k])
    tight = _gaps(rows, n, stats, k, hyper, at_P, n_seen, n_seen, root_PP, gap_P)
    c, distance = w * tight / (w + tight), 0.0
    for i in range(n_seen):
        distance += gap_P[i] * gap_P[i]
    value = gamma_C[number + n_seen] - gamma_C[number] + 0.5 * n_seen * (math.log(c) - _LOG_PI)
    value -= 0.5 * log_det_factor(root_PP[:n_seen, :n_seen])
    value -= 0.5 * (extra + 1.0 + number + n_seen) * math.log1p(c * distance)
    return float(value)


@compiled
def fill_full(
    state: np.ndarray, rows: TableRows, n: int, stats: FullStats, k: int, hyper: FullHyper,
    extra: float, at_P: np.ndarray, n_seen: int, root_PP: np.ndarray, gap_P: np.ndarray,
) -> None:  # fmt: skip
    """Fill the holes of row n as one of cluster k."""
    size = at_P.size
    if n_seen == size:
        return
    w, degrees = rows.weight[n], extra + 1.0 + stats.number[k]
    tight = _gaps(rows, n, stats, k, hyper, at_P, size, n_seen, root_PP, gap_P)
    spread = (w + tight) / (w * tight)
    for i in range(n_seen):
        spread += gap_P[i] * gap_P[i]
    spread = math.sqrt(0.5 * spread / gamma(state, 0.5 * (degrees + n_seen)))
    for i in range(n_seen, size):
        gap_P[i] = spread * normal(state)
    for i in range(n_seen, size):
        value = stats.total[k, at_P[i]] / tight
        for j in range(i + 1):
            value += root_PP[j, i] * gap_P[j]
        rows.value[n, at_P[i]] = value


@compiled
def move_full(rows: TableRows, n: int, stats: FullStats, k: int, sign: float) -> None:
    """Add row n, holes filled, to the statistics of cluster k, or (sign -1) take it out."""
    w = sign * rows.weight[n]
    stats.number[k] += sign
    stats.weight[k] += w
    for p in range(rows.value.shape[1]):
        scaled = w * rows.value[n, p]
        stats.total[k, p] += scaled
        for q in range(rows.value.shape[1]):
            stats.square[k, p, q] += scaled * rows.value[n, q]


@compiled
def reseat_full(
    key: np.uint64, rows: TableRows, seats: Seats, stats: FullStats, hyper: FullHyper, extra: float,
    gamma_C: np.ndarray, none: FullStats,
) -> None:  # fmt: skip
    """Let rows choose by their seen cells, and fill their holes (values of unseen cells)."""
    log_K, scratch_K = np.empty(seats.count_K.size), np.empty(seats.count_K.size)
    size = rows.value.shape[1]
    at_P, root_PP, gap_P = np.empty(size, np.int64), np.empty((size, size)), np.empty(size)
    for turn, n in enumerate(seats.order_R):
        state, n_seen = new_stream(key, turn), seen_first(rows, n, at_P)
        move_full(rows, n, stats, leave(seats, n), -1.0)
        for k in range(log_K.size):
            if seats.count_K[k] > 0 and needs_density(seats, n, k):
                log_K[k] = log_full(
                    rows, n, stats, k, hyper, extra, gamma_C, at_P, n_seen, root_PP, gap_P
                )
        empty = log_full(rows, n, none, 0, hyper, extra, gamma_C, at_P, n_seen, root_PP, gap_P)
        k = sit(state, seats, n, log_K, empty, scratch_K)
        fill_full(state, rows, n, stats, k, hyper, extra, at_P, n_seen, root_PP, gap_P)
        move_full(rows, n, stats, k, 1.0)
