"""Documents of topics: how many use each, and which are typical; a few documents at a time.

By topics, the documents of a draw would be one more table of the size of the corpus.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from thincrm.data.counts import lengths_of, row_blocks
from thincrm.models.topics.draw import TopicDraw
from thincrm.numerics.arrays import Float, Int

__all__ = ["Typical", "count_documents", "typical_documents"]


class Typical(NamedTuple):
    """Pairs of a topic and a document: by topic, period, and share, the largest first."""

    topic: Int
    period: Int
    rank: Int  # from 1, within topic and period
    document: Int
    share: Float


def count_documents(draw: TopicDraw) -> tuple[Int, Int]:
    """Return the (K,) tokens of a draw's topics, echoes among them, and documents that use each."""
    n_topics = draw.words.shape[1]
    tokens_K, documents_K = np.zeros(n_topics, np.int64), np.zeros(n_topics, np.int64)
    for _, some in row_blocks(draw.documents):
        documents_K += np.bincount(some.indices, minlength=n_topics)
        tokens_K += np.bincount(some.indices, some.data, n_topics).astype(np.int64)
    return tokens_K, documents_K


def typical_documents(
    draw: TopicDraw, topics: Int, period_of: Callable[[int, int], Int], n_periods: int, most: int
) -> Typical:
    """Return the documents with the largest shares of their words in some of a draw's topics.

    At most `most` of each topic and period; of equal shares, the first documents.

    Parameters
    ----------
    draw : TopicDraw
        That keeps documents.
    topics : (J,) int
        Its topics that are asked for; their places here are the numbers returned.
    period_of : function
        The periods, 0 to n_periods - 1, of documents from a first to a last, not included.
    """
    number_K = np.full(draw.words.shape[1], -1)
    number_K[topics] = np.arange(topics.size)
    best = _Best(topics.size * n_periods, most)
    for first, some in row_blocks(draw.documents):
        length = np.maximum(lengths_of(some), 1)
        row = np.repeat(np.arange(length.size), np.diff(some.indptr))
        period = period_of(first, first + length.size)[row]
        number = number_K[some.indices]
        key = np.where(number >= 0, number * n_periods + period, -1)
        best.add(key, first + row, some.data / length[row])
    rank = np.arange(best.key.size) - np.searchsorted(best.key, best.key) + 1
    return Typical(best.key // n_periods, best.key % n_periods, rank, best.document, best.share)


class _Best:
    """The largest values of each key so far, sorted by key and value."""

    def __init__(self, n_keys: int, most: int) -> None:
        self._most = most
        self._least = np.zeros(n_keys + 1)  # what is no larger is not among them; of key -1 nothing
        self._least[-1] = np.inf
        self.key, self.document = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.share = np.zeros(0)

    def add(self, key: Int, document: Int, share: Float) -> None:
        """Take up later documents."""
        better = share > self._least[key]
        key = np.concatenate([self.key, key[better]])
        document = np.concatenate([self.document, document[better]])
        share = np.concatenate([self.share, share[better]])
        order = np.lexsort((document, -share, key))
        key = key[order]
        rank = np.arange(key.size) - np.searchsorted(key, key)
        kept = rank < self._most
        self.key, self.document = key[kept], document[order][kept]
        self.share = share[order][kept]
        last = rank[kept] == self._most - 1
        self._least[self.key[last]] = self.share[last]
