"""Which topics each document uses, and how the work on documents is shared out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from thincrm.data.counts import Tokens
from thincrm.models.topics.kernel import (
    Corpus,
    count_documents,
    count_usages,
    more_than,
    pack_usages,
)
from thincrm.models.topics.tally import Tally
from thincrm.numerics.arrays import Int
from thincrm.numerics.threads import block_ends

__all__ = [
    "LONG",
    "DocumentTopics",
    "UsageCounts",
    "add_up",
    "long_pairs",
    "most_tokens",
    "share_out",
]

LONG = 65_536  # tokens of a topic in a document; where there are more a pair is kept by itself
_ROUNDS = (8, 4, 2, 1, 1)  # tokens of a thread's blocks of documents, one after another


class DocumentTopics(NamedTuple):
    """The topics of each document and their tokens, one document after another."""

    n_used: np.ndarray  # D
    topic: np.ndarray
    size: np.ndarray

    @classmethod
    def empty(cls, documents: Tokens, kind: DTypeLike) -> DocumentTopics:
        """Return room for the topics of `documents`, from each one's first token's place on.

        kind: the integer type of a token's topic.
        """
        n_tokens, n_documents = documents.word.size, documents.n_documents
        size = np.empty(n_tokens, np.int32)
        return cls(np.empty(n_documents, np.int32), np.empty(n_tokens, kind), size)

    @classmethod
    def unkept(cls, kind: DTypeLike) -> DocumentTopics:
        """Return no room: topics of documents are not written down."""
        nothing = np.empty(0, np.int32)
        return cls(nothing, np.empty(0, kind), nothing)

    def packed(self, start_D: np.ndarray) -> DocumentTopics:
        """Return what is in that room without what is left of it: few topics have many tokens."""
        n_pairs = int(self.n_used.sum())
        topic, size = np.empty(n_pairs, self.topic.dtype), np.empty(n_pairs, np.int32)
        pack_usages(start_D, *self, topic, size)
        return DocumentTopics(self.n_used, topic, size)

    @classmethod
    def of(cls, documents: Tokens, topic_N: np.ndarray, n_topics: int) -> DocumentTopics:
        """Return the topics of documents whose tokens have given topics."""
        room = cls.empty(documents, topic_N.dtype)
        count_documents(documents.start, topic_N, n_topics, *room)
        return room.packed(documents.start)

    @property
    def start(self) -> Int:
        """Return where the topics of each document begin, and the end."""
        return np.concatenate([[0], np.cumsum(self.n_used, dtype=np.int64)])

    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (document, topic, size) of every pair of a document and a topic it uses."""
        document = np.repeat(np.arange(self.n_used.size, dtype=np.int32), self.n_used)
        return document, self.topic, self.size


class UsageCounts(NamedTuple):
    """What some documents use: whole numbers, so that any order of adding gives the same."""

    positive: np.ndarray  # T x K: documents that use a topic
    size: np.ndarray  # J x K: documents with j + 1 tokens in a topic, J at most LONG

    @classmethod
    def of(cls, tally: Tally) -> UsageCounts:
        """Return what a thread counted."""
        return cls(tally.positive_TK, tally.size_JK[: max(1, int(tally.largest[0]))])

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


def long_pairs(start_D: np.ndarray, topic_N: np.ndarray) -> Int:
    """Return (2, n): topic and tokens of the pairs that `UsageCounts` leave out.

    A table of all sizes would have as many cells as the longest document has tokens, times topics.
    """
    found = [np.zeros((2, 0), np.int64)]
    for d in np.flatnonzero(np.diff(start_D) > LONG):
        size_K = np.bincount(topic_N[start_D[d] : start_D[d + 1]])
        topic = np.flatnonzero(size_K > LONG)
        found.append(np.stack([topic, size_K[topic]]))
    return np.hstack(found)


def most_tokens(start_D: np.ndarray) -> int:
    """Return how many tokens of a topic in a document are counted by their number."""
    return min(int(np.diff(start_D).max(initial=1)), LONG)


def share_out(corpus: Corpus) -> list[int]:
    """Return where to cut the sorted documents into blocks of ever fewer tokens."""
    length = np.diff(corpus.start_D)[corpus.order_D]
    ends = np.searchsorted(np.cumsum(length), block_ends(_ROUNDS)[:-1] * length.sum())
    return [0, *ends.tolist(), len(length)]
