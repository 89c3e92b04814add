"""Fewer covariate rows: neighbours pooled, dense places kept in detail, groups kept apart.

The curves of a model are smooth, so a few hundred rows lose nothing, while thousands of distinct
days would cost a sweep most of its time.
"""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np

from thincrm.data.covariates import Covariates
from thincrm.numerics.arrays import Float, Int

__all__ = ["FEW_VALUES", "rounded"]

FEW_VALUES = 12  # of a column beside others: it is taken to name groups, which are never pooled


def rounded(known: Covariates, most_rows: int | None) -> Covariates:
    """Return covariates with at most so many rows; every observation keeps its own value.

    Cells of neighbouring rows are cut in two, the fullest first, at the middle observation of
    their widest column. A cell is then known by the row nearest to its mean. Columns with a few
    distinct values beside others are groups: each combination of them has cells of its own, even
    if that makes more than `most_rows`.
    """
    if most_rows is None or len(known.rows) <= most_rows:
        return known
    cells = _cut(known, most_rows)
    chosen = np.array([_middle(known, cell) for cell in cells])
    order = np.argsort(chosen, kind="stable")
    new_row_T = np.empty(len(known.rows), np.int64)
    for number, place in enumerate(order):
        new_row_T[cells[place]] = number
    row = new_row_T[known.row]
    return replace(
        known,
        rows=known.rows[chosen[order]],
        row=row,
        trials=np.bincount(row, minlength=len(cells)),
        own=known.observed(),
    )


def _cut(known: Covariates, most_rows: int) -> list[Int]:
    """Return the rows of each cell."""
    rows = known.rows
    values = [np.unique(column).size for column in rows.T]
    groups = [c for c, n in enumerate(values) if len(values) > 1 and n <= FEW_VALUES]
    keys = np.unique(rows[:, groups], axis=0, return_inverse=True)[1].reshape(-1)
    waiting = [np.flatnonzero(keys == key) for key in range(keys.max() + 1)]
    spread = np.ptp(rows, axis=0)
    unit_C = np.where(spread > 0, spread, 1.0)
    heap = [(-int(known.trials[cell].sum()), i, cell) for i, cell in enumerate(waiting)]
    heapq.heapify(heap)
    done: list[Int] = []
    n_made = len(heap)
    while heap and len(heap) + len(done) < most_rows:
        cell = heapq.heappop(heap)[2]
        if cell.size == 1:
            done.append(cell)
            continue
        for part in _halves(rows[cell] / unit_C, known.trials[cell], cell):
            heapq.heappush(heap, (-int(known.trials[part].sum()), n_made, part))
            n_made += 1
    return done + [cell for _, _, cell in heap]


def _halves(scaled: Float, trials: Int, cell: Int) -> tuple[Int, Int]:
    """Cut a cell at the middle observation of its widest column."""
    column = scaled[:, int(np.argmax(np.ptp(scaled, axis=0)))]
    order = np.argsort(column, kind="stable")
    value = column[order]
    below = np.cumsum(trials[order])
    # between two different values, as near to the middle as can be
    edges = np.flatnonzero(value[1:] > value[:-1])
    cut = int(edges[np.argmin(np.abs(below[edges] - 0.5 * below[-1]))]) + 1
    return np.sort(cell[order[:cut]]), np.sort(cell[order[cut:]])


def _middle(known: Covariates, cell: Int) -> int:
    """Return the row of a cell that is nearest to the mean of its observations."""
    rows, trials = known.rows[cell], known.trials[cell]
    spread = np.ptp(rows, axis=0)
    apart = (rows - np.average(rows, axis=0, weights=trials)) / np.where(spread > 0, spread, 1.0)
    return int(cell[np.argmin((apart**2).sum(axis=1))])
