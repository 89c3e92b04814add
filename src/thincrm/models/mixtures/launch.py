"""How rows are shared out between two clusters: two laws grown from one row each."""

from __future__ import annotations

from typing import Any

import numpy as np

from thincrm.models.mixtures.clusters import Clusters, Hyper, Rows, take_rows
from thincrm.numerics.arrays import Float

__all__ = ["launch_shares"]

_ROUNDS = 3
_MOST_ROWS = 2048  # that the rounds look at


def launch_shares(
    rng: np.random.Generator, law: Clusters, rows: Rows, packed: Any, ends: tuple[int, int],
    hyper: Hyper,
) -> Float:  # fmt: skip
    """Return the (S, 2) log chances of rows to be of the first or the second cluster.

    It sees the (complete) rows and the two that stand for the clusters, not how rows are shared out
    now: so that a split and the merge that undoes it have the same law of shares.
    """
    size = len(rows[0])
    some = np.arange(size)
    if size > _MOST_ROWS:
        some = np.concatenate([ends, rng.choice(size, _MOST_ROWS, replace=False)])
    few = take_rows(rows, some)
    sides = [(some == end) for end in ends]
    pair = take_rows(rows, list(ends))
    stats = law.add_rows(0, 2, np.uint64(0), 0, pair, np.arange(2, dtype=np.int32), packed, 2)
    log_weight = np.zeros(2)
    for _ in range(_ROUNDS):
        packed = law.packed(law.redraw(rng, stats, hyper))
        log_share = _log_shares(law, few, packed, log_weight)
        side = (rng.random(some.size) >= np.exp(log_share[:, 0])).astype(np.int32)
        side[sides[0]], side[sides[1]] = 0, 1
        stats = law.add_rows(0, some.size, np.uint64(0), 0, few, side, packed, 2)
        share = (side.sum() + 1.0) / (some.size + 2.0)
        log_weight = np.log([1.0 - share, share])
    return _log_shares(law, rows, law.packed(law.redraw(rng, stats, hyper)), log_weight)


def _log_shares(law: Clusters, rows: Rows, packed: Any, log_weight: Float) -> Float:
    out = np.empty((len(rows[0]), 2))
    law.log_density(0, len(out), rows, packed, out)
    out += log_weight
    return np.asarray(out - np.logaddexp(out[:, 0], out[:, 1])[:, None])
