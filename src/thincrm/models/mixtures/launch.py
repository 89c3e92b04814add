"""How rows are shared out between two clusters: two laws grown from one row each."""

from __future__ import annotations

from typing import Any

import numpy as np

from thincrm.models.mixtures.clusters import Clusters, Hyper, Rows, take_rows
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.threads import map_blocks

__all__ = ["launch_shares"]

_ROUNDS = 5
_MOST_ROWS, _BLOCK_ROWS = 1024, 4096  # that the rounds look at; that a thread has at a time


def launch_shares(
    rng: np.random.Generator, law: Clusters, rows: Rows, packed: Any, ends: tuple[int, int],
    hyper: Hyper, place_TC: Float, row_S: Int,
) -> Float:  # fmt: skip
    """Return the (S, 2) log chances of rows to be of the first or the second cluster.

    It sees the (complete) rows, their covariates and the two that stand for the clusters, not how
    rows are shared out now: so that a split and the merge that undoes it have the same law of
    shares. Where clusters lie apart along the covariates, that tells their rows apart too.
    """
    size = len(rows[0])
    some = np.arange(size)
    if size > _MOST_ROWS:
        some = np.concatenate([ends, rng.integers(size, size=_MOST_ROWS)])
    few = take_rows(rows, some)
    sides = [(some == end) for end in ends]
    pair = take_rows(rows, list(ends))
    stats = law.add_rows(0, 2, np.uint64(0), 0, pair, np.arange(2, dtype=np.int32), packed, 2)
    near = _Near(place_TC, row_S[list(ends)], np.arange(2))
    log_weight = np.zeros(2)
    for _ in range(_ROUNDS):
        packed = law.packed(law.redraw(rng, stats, hyper))
        log_share = _log_shares(law, few, packed, log_weight + near.log_T2[row_S[some]])
        side = (rng.random(some.size) >= np.exp(log_share[:, 0])).astype(np.int32)
        side[sides[0]], side[sides[1]] = 0, 1
        stats = law.add_rows(0, some.size, np.uint64(0), 0, few, side, packed, 2)
        near = _Near(place_TC, row_S[some], side)
        share = (side.sum() + 1.0) / (some.size + 2.0)
        log_weight = np.log([1.0 - share, share])
    packed = law.packed(law.redraw(rng, stats, hyper))
    return _log_shares(law, rows, packed, log_weight + near.log_T2[row_S])


class _Near:
    """Where the rows of two clusters lie: a normal law each, as wide as all rows to begin with."""

    def __init__(self, place_TC: Float, row_F: Int, side_F: np.ndarray) -> None:
        few_FC, all_C = place_TC[row_F], place_TC.var(axis=0)
        self.log_T2 = np.zeros((len(place_TC), 2))
        for place in range(2):
            own_FC = few_FC[side_F == place]
            mean_C = own_FC.mean(axis=0)
            wide_C = (((own_FC - mean_C) ** 2).sum(axis=0) + all_C) / (len(own_FC) + 1.0)
            gap_TC = place_TC - mean_C
            log_TC = -0.5 * (gap_TC * gap_TC / wide_C + np.log(wide_C))
            self.log_T2[:, place] = log_TC.sum(axis=1)


def _log_shares(law: Clusters, rows: Rows, packed: Any, log_weight: Float) -> Float:
    out = np.empty((len(rows[0]), 2))

    def work(first: int, stop: int) -> None:
        law.log_density(first, stop, rows, packed, out[first:stop])

    map_blocks(work, len(out), _BLOCK_ROWS)
    out += log_weight
    return np.asarray(out - np.logaddexp(out[:, 0], out[:, 1])[:, None])
