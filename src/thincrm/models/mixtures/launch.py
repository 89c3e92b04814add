"""How rows are shared out between two clusters: two laws grown from one row each."""

from __future__ import annotations

from typing import Any

import numpy as np

from thincrm.models.mixtures.clusters import Clusters, Hyper, Rows, take_rows
from thincrm.numerics.arrays import Float

__all__ = ["launch_shares"]

_ROUNDS = 3


def launch_shares(
    rng: np.random.Generator, law: Clusters, rows: Rows, packed: Any, ends: tuple[int, int],
    hyper: Hyper,
) -> Float:  # fmt: skip
    """Return the (S, 2) log chances of rows to be of the first or the second cluster.

    It sees the (complete) rows and the two that stand for the clusters, not how rows are shared out
    now: so that a split and the merge that undoes it have the same law of shares.
    """
    size = len(rows[0])
    pair = take_rows(rows, list(ends))
    stats = law.add_rows(0, 2, np.uint64(0), 0, pair, np.arange(2, dtype=np.int32), packed, 2)
    log_weight, out = np.zeros(2), np.empty((size, 2))
    for turn in range(_ROUNDS + 1):
        packed = law.packed(law.redraw(rng, stats, hyper))
        law.log_density(0, size, rows, packed, out)
        out += log_weight
        out -= np.logaddexp(out[:, 0], out[:, 1])[:, None]
        if turn == _ROUNDS:
            return out
        side = (rng.random(size) >= np.exp(out[:, 0])).astype(np.int32)
        side[ends[0]], side[ends[1]] = 0, 1
        stats = law.add_rows(0, size, np.uint64(0), 0, rows, side, packed, 2)
        share = (side.sum() + 1.0) / (size + 2.0)
        log_weight = np.log([1.0 - share, share])
    return out
