"""The data of a mixture: rows sorted by covariate, in shards that never cut a covariate row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from thincrm.models.mixtures.clusters import Rows, take_rows
from thincrm.models.mixtures.kernel import Groups
from thincrm.numerics.arrays import Float, Int
from thincrm.ports import Engine

__all__ = ["MixtureLocal", "MixtureShard", "as_shards", "labels_in_order", "row_blocks", "rows_at"]

_SHARD_ROWS = 2**18
_BLOCK_ROWS, _LAST_ROWS = 4096, 1024  # the last blocks are small, so that threads end together


class MixtureShard(NamedTuple):
    """Some covariate rows, and their observations."""

    rows: Rows
    groups: Groups
    order: Int  # N: place of each row in the data as given


class MixtureLocal(NamedTuple):
    """The variables of a shard's rows."""

    label: np.ndarray  # N, int32: c
    clock: Float  # N where every row has gates of its own (u), else empty


def as_shards(
    rows: Rows, row_N: Int, trials_T: Int, n_most: int = _SHARD_ROWS
) -> tuple[MixtureShard, ...]:
    """Cut rows, given in the data's order with their covariate rows, into shards."""
    order_N = np.argsort(row_N, kind="stable")
    sorted_rows = take_rows(rows, order_N)
    start_T = np.concatenate([[0], np.cumsum(trials_T)])
    cuts = _cuts(start_T, n_most)
    return tuple(
        _shard(sorted_rows, order_N, start_T, first, stop) for first, stop in pairwise(cuts)
    )


def _cuts(start_G: Int, n_most: int) -> list[int]:
    """Return where to cut groups so that runs of them hold at most `n_most` rows, or one group."""
    cuts, last = [0], start_G.size - 1
    while cuts[-1] < last:
        end = int(np.searchsorted(start_G, start_G[cuts[-1]] + n_most, side="right")) - 1
        cuts.append(min(max(end, cuts[-1] + 1), last))
    return cuts


def _shard(rows: Rows, order_N: Int, start_T: Int, first_t: int, stop_t: int) -> MixtureShard:
    begin, end = int(start_T[first_t]), int(start_T[stop_t])
    start_G = start_T[first_t : stop_t + 1] - begin
    group_N = np.repeat(np.arange(start_G.size - 1), np.diff(start_G))
    here = slice(begin, end)
    groups = Groups(start_G, group_N, first_t, begin)
    own = type(rows)(*(np.ascontiguousarray(array[here]) for array in rows))
    return MixtureShard(own, groups, order_N[here])


def row_blocks(groups: Groups, whole_groups: bool) -> list[tuple[int, int, int, int]]:
    """Return blocks (first group, last + 1, first row, last + 1), whatever the threads."""
    start_G, group_N = groups.start_G, groups.group_N
    late = max(group_N.size - 2 * _BLOCK_ROWS, 0)
    edges = [*range(0, late, _BLOCK_ROWS), *range(late, group_N.size, _LAST_ROWS), group_N.size]
    if whole_groups:
        cuts = np.unique(np.searchsorted(start_G, edges)).tolist()
        return [(g, h, int(start_G[g]), int(start_G[h])) for g, h in pairwise(cuts)]
    return [(int(group_N[a]), int(group_N[b - 1]) + 1, a, b) for a, b in pairwise(edges)]


def rows_at(engine: Engine, shards: Sequence[MixtureShard], chosen: Sequence[Int]) -> Any:
    """Return some rows of every shard, one after another."""
    _, parts = engine.map(_chosen_rows, shards, chosen, None)
    return type(parts[0])(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _chosen_rows(shard: MixtureShard, chosen: Int, _: None) -> tuple[None, Rows]:
    return None, take_rows(shard.rows, chosen)


def labels_in_order(shards: tuple[MixtureShard, ...], local: Any) -> np.ndarray:
    """Return the labels of all rows in the data's order."""
    out = np.empty(sum(shard.order.size for shard in shards), np.int32)
    for shard, own in zip(shards, local, strict=True):
        out[shard.order] = own.label
    return out
