"""Held-out words of the fitted documents, in shards: a map over documents as in the sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thincrm.data.counts import CountMatrix
from thincrm.inference.engine import Threads
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.kernel import Rates
from thincrm.models.topics.levels import level_rows, spread
from thincrm.models.topics.predict.rates import add_rates
from thincrm.models.topics.state import TopicShard
from thincrm.models.topics.usage import token_rates
from thincrm.numerics.arrays import Float
from thincrm.numerics.threads import map_blocks
from thincrm.ports import Engine

__all__ = ["HeldoutWords"]

_BLOCK = 4096


class _Shard(NamedTuple):
    documents: TopicShard
    start: np.ndarray  # D + 1: where the held-out cells of a document begin
    word: np.ndarray  # C


class _Labels(NamedTuple):
    topic: np.ndarray  # N: of each token
    level: np.ndarray | None  # D


class _Message(NamedTuple):
    rates: Rates
    spread_TP: Float
    q: Float  # of the levels


class HeldoutWords:
    """The cells held out of the fitted documents, with what a draw says of each.

    Parameters
    ----------
    shards : sequence of TopicShard
        The documents the model was fitted to.
    heldout : (D, P) sparse int
        Held-out counts of all of them.
    engine : Engine
        What maps over the shards; None: the threads of this process.
    """

    def __init__(
        self, shards: Sequence[TopicShard], heldout: CountMatrix, engine: Engine | None = None
    ) -> None:
        self.counts = heldout
        self._document_C = np.repeat(np.arange(heldout.shape[0]), np.diff(heldout.indptr))
        lengths = [np.diff(shard.tokens.start).max(initial=0) for shard in shards]
        self._longest = int(max(lengths, default=0))
        self._engine = Threads() if engine is None else engine
        self._shards = [_with_cells(shard, heldout) for shard in shards]

    def rates(self, draws: Sequence[TopicDraw]) -> tuple[Float, Float]:
        """Return the (C,) rates of the cells and the (D,) rates of documents, summed over draws."""
        cell_C, total_D = np.zeros(self.counts.nnz), np.zeros(self.counts.shape[0])
        for draw in draws:
            sent = _message(draw, self._longest)
            _, parts = self._engine.map(_score, self._shards, self._labels(draw), sent)
            cells, totals = zip(*parts, strict=True)
            cell_C += np.concatenate(cells)
            total_D += np.concatenate(totals)
        return cell_C, total_D

    def mean_log_share(self, cell_C: Float, total_D: Float) -> float:
        """Return the mean log probability of a held-out word, sum y log(cell / total) / sum y."""
        share_C = cell_C / total_D[self._document_C]
        return float((self.counts.data * np.log(share_C)).sum() / self.counts.sum())

    def _labels(self, draw: TopicDraw) -> list[_Labels]:
        """Return what a draw keeps of each shard's documents."""
        topic_N, first, found = draw.token_topics(), 0, []
        for shard in self._shards:
            stop = first + shard.documents.tokens.word.size
            here = slice(shard.documents.first, shard.documents.first + len(shard.documents.row))
            level = None if draw.level is None else draw.level[here]
            found.append(_Labels(topic_N[first:stop], level))
            first = stop
        return found


def _with_cells(shard: TopicShard, heldout: CountMatrix) -> _Shard:
    start = heldout.indptr[shard.first : shard.first + len(shard.row) + 1]
    return _Shard(shard, start - start[0], heldout.indices[start[0] : start[-1]])


def _message(draw: TopicDraw, longest: int) -> _Message:
    theta_PK, (usage, log_odds) = draw.theta, spread(draw.usage, draw.log_odds)
    rates = token_rates(usage, log_odds, theta_PK, draw.burstiness, longest)
    spread_TP = rates.unused_TK.astype(float) @ theta_PK.T.astype(float)
    return _Message(rates, spread_TP, draw.usage.q)


def _score(shard: _Shard, local: _Labels, message: _Message) -> tuple[_Labels, tuple[Float, Float]]:
    """Return the rates of a shard's held-out cells, and of its documents."""
    documents, level_D, q = shard.documents, local.level, message.q
    cell_C, total_D = np.zeros(len(shard.word)), np.zeros(len(documents.row))
    arguments = (
        level_rows(documents.row, level_D, len(q)),
        documents.tokens.start,
        documents.tokens.word,
        local.topic,
        shard.start,
        shard.word,
        message.rates,
        message.spread_TP,
        np.ones(len(documents.row)) if level_D is None else q[level_D, 0],
        cell_C,
        total_D,
    )
    map_blocks(partial(_add, arguments), len(documents.row), _BLOCK)
    return local, (cell_C, total_D)


def _add(arguments: tuple[Any, ...], first: int, stop: int) -> None:
    add_rates(first, stop, *arguments)
