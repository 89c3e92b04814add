"""Which topics each document uses, and how the work on documents is shared out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from thincrm.data.counts import Tokens
from thincrm.models.topics.kernel import Corpus, count_usages, more_than
from thincrm.numerics.arrays import Int
from thincrm.numerics.threads import block_ends

__all__ = ["LONG", "DocumentTopics", "UsageCounts", "add_up", "long_pairs", "share_out"]

LONG = 65_536  # tokens of a topic in a document; where there are more a pair is kept by itself
_ROUNDS = (8, 4, 2, 1, 1)  # tokens of a thread's blocks of documents, one after another


class DocumentTopics(NamedTuple):
    """The topics of each document and their tokens, kept from its first token's place on."""

    n_used: np.ndarray  # D
    topic: np.ndarray  # N
    size: np.ndarray  # N

    @classmethod
    def empty(cls, documents: Tokens, kind: DTypeLike) -> DocumentTopics:
        """Return room for the topics of `documents`, of the integer type of a token's topic."""
        n_tokens, n_documents = documents.word.size, documents.n_documents
        size = np.empty(n_tokens, np.int32)
        return cls(np.empty(n_documents, np.int32), np.empty(n_tokens, kind), size)

    def pairs(self, documents: Tokens) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (document, topic, size) of every pair of a document and a topic it uses."""
        document = np.repeat(np.arange(documents.n_documents, dtype=np.int32), self.n_used)
        gap = documents.start[:-1] - np.concatenate([[0], np.cumsum(self.n_used)])[:-1]
        place = np.arange(document.size)
        place += np.repeat(gap, self.n_used)
        return document, self.topic[place], self.size[place]


class UsageCounts(NamedTuple):
    """What some documents use: whole numbers, so that any order of adding gives the same."""

    positive: np.ndarray  # T x K: documents that use a topic
    size: np.ndarray  # J x K: documents with j + 1 tokens in a topic, J at most LONG

    @classmethod
    def none(cls, n_rows: int, n_topics: int) -> UsageCounts:
        """Return the counts of no documents."""
        return cls(np.zeros((n_rows, n_topics), np.int32), np.zeros((64, n_topics), np.int32))

    def and_of(self, first: int, stop: int, corpus: Corpus, topics: DocumentTopics) -> UsageCounts:
        """Return, in place where it can, the counts with those of order_D[first:stop]."""
        return self._replace(size=count_usages(first, stop, corpus, *topics, *self, LONG))


def add_up(parts: Iterable[UsageCounts]) -> tuple[Int, Int]:
    """Return what all documents use.

    (T, K) documents that use a topic, and (J, K) those with more than j tokens in it.
    """
    total, *others = parts
    positive, size = total
    for more in others:
        positive += more.positive
        short, size = sorted([size, more.size], key=len)
        size[: len(short)] += short
    return positive.astype(np.int64), more_than(size)


def long_pairs(corpus: Corpus, topics: DocumentTopics) -> Int:
    """Return (2, n): topic and tokens of the pairs that `UsageCounts` leave out.

    A table of all sizes would have as many cells as the longest document has tokens, times topics.
    """
    if np.diff(corpus.start_D).max(initial=0) <= LONG:
        return np.zeros((2, 0), np.int64)
    place = np.flatnonzero(topics.size > LONG)
    return np.stack([topics.topic[place], topics.size[place]]).astype(np.int64)


def share_out(corpus: Corpus) -> list[int]:
    """Return where to cut the sorted documents into blocks of ever fewer tokens."""
    length = np.diff(corpus.start_D)[corpus.order_D]
    ends = np.searchsorted(np.cumsum(length), block_ends(_ROUNDS)[:-1] * length.sum())
    return [0, *ends.tolist(), len(length)]
