"""The loops in which rows of numbers, counts and categories choose (`seats`).

Columns of different kinds are independent given a cluster. A count with E events in n cells so far,
and a category seen e_l times in n, have

    p(y) = Γ(a + E + y)/Γ(a + E) (r + n)^{a+E} / (r + n + 1)^{a+E+y} / y!     (e + e_l) / (L e + n)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thincrm.models.mixtures.gaussian_seats import (
    fill_full,
    log_diagonal,
    log_full,
    move_diagonal,
    move_full,
    seen_first,
)
from thincrm.models.mixtures.seats import Seats, leave, needs_density, sit
from thincrm.models.mixtures.table_rows import TableRows
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream

if TYPE_CHECKING:
    from thincrm.models.mixtures.diagonal import DiagonalHyper, DiagonalStats
    from thincrm.models.mixtures.full import FullHyper, FullStats

__all__ = ["Discrete", "reseat_mixed_diagonal", "reseat_mixed_full"]


class Discrete(NamedTuple):
    """Counts and categories of rows, their statistics and their prior."""

    events_NQ: Int
    level_NR: Int
    cells_KQ: Float
    events_KQ: Float
    levels_KL: Float
    end_R: Int  # R + 1: where the levels of a column begin
    shape: float
    rate_Q: Float
    evenness: float


@compiled
def _log_discrete(of: Discrete, n: int, k: int) -> float:
    """Return log p(counts and categories of row n | rows of k), but log y!; k < 0: no rows."""
    total = 0.0
    for q in range(of.events_NQ.shape[1]):
        y = of.events_NQ[n, q]
        if y >= 0:
            a, rate = of.shape, of.rate_Q[q]
            if k >= 0:
                a, rate = a + of.events_KQ[k, q], rate + of.cells_KQ[k, q]
            total += math.lgamma(a + y) - math.lgamma(a)
            total += a * math.log(rate) - (a + y) * math.log(rate + 1.0)
    for r in range(of.level_NR.shape[1]):
        level = of.level_NR[n, r]
        if level >= 0:
            first, stop = of.end_R[r], of.end_R[r + 1]
            seen, all_seen = of.evenness, (stop - first) * of.evenness
            if k >= 0:
                seen += of.levels_KL[k, level]
                for place in range(first, stop):
                    all_seen += of.levels_KL[k, place]
            total += math.log(seen / all_seen)
    return total


@compiled
def _move_discrete(of: Discrete, n: int, k: int, sign: float) -> None:
    for q in range(of.events_NQ.shape[1]):
        if of.events_NQ[n, q] >= 0:
            of.cells_KQ[k, q] += sign
            of.events_KQ[k, q] += sign * of.events_NQ[n, q]
    for r in range(of.level_NR.shape[1]):
        if of.level_NR[n, r] >= 0:
            of.levels_KL[k, of.level_NR[n, r]] += sign


@compiled
def reseat_mixed_diagonal(
    key: np.uint64, rows: TableRows, of: Discrete, seats: Seats, stats: DiagonalStats,
    hyper: DiagonalHyper, shape: float, gamma_C: np.ndarray, none: DiagonalStats,
) -> None:  # fmt: skip
    """Let rows choose; `none` are the numbers' statistics of one cluster without rows."""
    log_K, scratch_K = np.empty(seats.count_K.size), np.empty(seats.count_K.size)
    for turn, n in enumerate(seats.order_R):
        state, old = new_stream(key, turn), leave(seats, n)
        move_diagonal(rows, n, stats, old, -1.0)
        _move_discrete(of, n, old, -1.0)
        for k in range(log_K.size):
            if seats.count_K[k] > 0 and needs_density(seats, n, k):
                log_K[k] = log_diagonal(rows, n, stats, k, hyper, shape, gamma_C)
                log_K[k] += _log_discrete(of, n, k)
        empty = log_diagonal(rows, n, none, 0, hyper, shape, gamma_C) + _log_discrete(of, n, -1)
        k = sit(state, seats, n, log_K, empty, scratch_K)
        move_diagonal(rows, n, stats, k, 1.0)
        _move_discrete(of, n, k, 1.0)


@compiled
def reseat_mixed_full(
    key: np.uint64, rows: TableRows, of: Discrete, seats: Seats, stats: FullStats, hyper: FullHyper,
    extra: float, gamma_C: np.ndarray, none: FullStats,
) -> None:  # fmt: skip
    """Let rows choose, and fill the holes of numbers."""
    log_K, scratch_K = np.empty(seats.count_K.size), np.empty(seats.count_K.size)
    size = rows.value.shape[1]
    at_P, root_PP, gap_P = np.empty(size, np.int64), np.empty((size, size)), np.empty(size)
    for turn, n in enumerate(seats.order_R):
        state, n_seen, old = new_stream(key, turn), seen_first(rows, n, at_P), leave(seats, n)
        move_full(rows, n, stats, old, -1.0)
        _move_discrete(of, n, old, -1.0)
        for k in range(log_K.size):
            if seats.count_K[k] > 0 and needs_density(seats, n, k):
                log_K[k] = _log_discrete(of, n, k) + log_full(
                    rows, n, stats, k, hyper, extra, gamma_C, at_P, n_seen, root_PP, gap_P
                )
        empty = log_full(rows, n, none, 0, hyper, extra, gamma_C, at_P, n_seen, root_PP, gap_P)
        k = sit(state, seats, n, log_K, empty + _log_discrete(of, n, -1), scratch_K)
        fill_full(state, rows, n, stats, k, hyper, extra, at_P, n_seen, root_PP, gap_P)
        move_full(rows, n, stats, k, 1.0)
        _move_discrete(of, n, k, 1.0)
