"""Which topics each document uses, and how the work on documents is shared out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thincrm.data.counts import Tokens
from thincrm.likelihood.documents import Corpus, count_usages
from thincrm.numerics.arrays import Int
from thincrm.numerics.threads import map_blocks, thread_count

__all__ = ["DocumentTopics", "share_out"]

_BLOCKS = 4  # of documents, for each of several threads: a slow one then takes fewer


class DocumentTopics(NamedTuple):
    """The topics of each document and their tokens, kept from its first token's place on."""

    n_used: np.ndarray  # D
    topic: np.ndarray  # N
    size: np.ndarray  # N

    @classmethod
    def empty(cls, documents: Tokens, kind: Any) -> DocumentTopics:
        """Return room for the topics of `documents`, of the integer type of a token's topic."""
        n_tokens, n_documents = documents.word.size, documents.n_documents
        size = np.zeros(n_tokens, np.int32)
        return cls(np.zeros(n_documents, np.int32), np.zeros(n_tokens, kind), size)

    def pairs(self, documents: Tokens) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (document, topic, size) of every pair of a document and a topic it uses."""
        document = np.repeat(np.arange(documents.n_documents, dtype=np.int32), self.n_used)
        gap = documents.start[:-1] - np.concatenate([[0], np.cumsum(self.n_used)])[:-1]
        place = np.arange(document.size)
        place += np.repeat(gap, self.n_used)
        return document, self.topic[place], self.size[place]

    def add_up(
        self, documents: Tokens, row_D: np.ndarray, n_rows: int, n_topics: int
    ) -> tuple[Int, Int]:
        """Return what documents at rows `row_D` use.

        (T, K) documents that use a topic, and (J, K) those with more than j tokens in it.
        """

        def work(first: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
            return count_usages(first, stop, documents.start, row_D, *self, n_rows, n_topics)

        size = max(1, -(-documents.n_documents // thread_count()))
        parts = map_blocks(work, documents.n_documents, size)
        positive = np.zeros((n_rows, n_topics), np.int64)
        sizes = np.zeros((max(len(found) for _, found in parts), n_topics), np.int64)
        for opened, found in parts:
            positive += opened
            sizes[: len(found)] += found
        return positive, np.cumsum(sizes[::-1], axis=0)[::-1]


def share_out(corpus: Corpus) -> list[int]:
    """Return where to cut the sorted documents into blocks of as many tokens, some a thread."""
    n_blocks = thread_count() * (_BLOCKS if thread_count() > 1 else 1)
    length = np.diff(corpus.start_D)[corpus.order_D]
    shares = np.linspace(0, length.sum(), n_blocks + 1)[1:-1]
    return [0, *np.searchsorted(np.cumsum(length), shares).tolist(), len(length)]
