"""Whose words are these? The tokens of the fit, shared out among the topics by the kept draws.

A few documents at a time: all of a large corpus at once would be many gigabytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from thincrm.data.counts import lengths_of
from thincrm.models.topics.documents_kept import with_documents
from thincrm.models.topics.draw import TopicDraw
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.on_disk import let_go

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["Allocation", "Shares", "expected_tokens"]

_DRAWS = 10
_MOST_PAIRS = 2_000_000  # of a cell and a topic, at a time
_DOCUMENTS = 65_536  # that are looked at together


class Shares(NamedTuple):
    """Expected tokens of cells in topics.

    Cells are the counts that are not zero, in the order of the matrix.
    """

    cell: Int
    topic: Int
    tokens: Float


class Allocation:
    """Tokens shared out by some of the draws; of a topic that is not on the page, to nobody.

    Parameters
    ----------
    model : TopicModel
        Fitted.
    matched : list of (K,) int
        The page's topics in every draw (`matches`).
    """

    def __init__(self, model: TopicModel, matched: list[Int]) -> None:
        self.counts: sparse.csr_array = model.counts_
        self.n_topics = matched[-1].size
        known = np.array(with_documents(model.draws_, self.counts.shape[0]))
        places = known[
            np.round(np.linspace(0, known.size - 1, min(_DRAWS, known.size))).astype(int)
        ]
        self.draws = [model.draws_[place] for place in places]
        self._number = [self._numbers(matched[place], model.draws_[place]) for place in places]
        n_found_K = np.sum([matched[place] >= 0 for place in places], axis=0)
        self.n_found: Int = np.maximum(n_found_K, 1)  # of these draws, those that have a topic
        self._total = [
            draw.concentration * draw.words.shape[0] + draw.tokens for draw in self.draws
        ]
        self._first = np.concatenate([[0], np.cumsum(lengths_of(self.counts))])  # tokens before

    def _numbers(self, found: Int, draw: TopicDraw) -> Int:
        """Return the page's number of each of a draw's topics, or -1."""
        there = np.flatnonzero(found >= 0)
        number = np.full(draw.words.shape[1], -1)
        number[found[there]] = there
        return number

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Yield first and last (not included) of neighbouring documents, some at a time."""
        for edge in pairwise(self._edges()):
            yield edge
            let_go(self.counts.data, self.counts.indices)
            let_go(*(draw.labels for draw in self.draws if draw.labels is not None))

    def _edges(self) -> list[int]:
        """Return where blocks begin, and the end of the last."""
        n_documents, edges, block, before = self.counts.shape[0], list[int](), -1, 0
        for first in range(0, n_documents, _DOCUMENTS):
            some = slice(first, first + _DOCUMENTS + 1)
            n_used, n_words = (
                np.diff(table.indptr[some].astype(np.int64))
                for table in (self.draws[-1].documents, self.counts)
            )
            pairs = before + np.cumsum(np.maximum(n_words * n_used, np.diff(self._first[some])))
            block_D, before = pairs // _MOST_PAIRS, int(pairs[-1])
            edges += (first + np.flatnonzero(np.diff(block_D, prepend=block))).tolist()
            block = int(block_D[-1])
        return [*edges, n_documents]

    def shares(self, start: int, stop: int) -> Iterator[Shares]:
        """Yield, draw by draw, the shares of the words of documents start to stop."""
        for draw, number, total in zip(self.draws, self._number, self._total, strict=True):
            if draw.labels is None:
                cell, topic, tokens = expected_tokens(self.counts, draw, total, start, stop)
            else:
                first, last = self.counts.indptr[start], self.counts.indptr[stop]
                cell = np.repeat(np.arange(first, last), self.counts.data[first:last])
                topic = draw.labels[self._first[start] : self._first[stop]]
                tokens = np.ones(cell.size)
            kept = number[topic] >= 0
            yield Shares(cell[kept], number[topic][kept], tokens[kept])

    def cells(self, start: int, stop: int) -> Float:
        """Return (C, K): tokens of each cell of some documents in each topic, mean over draws."""
        first, last = self.counts.indptr[start], self.counts.indptr[stop]
        shape = (int(last - first), self.n_topics)
        total = np.zeros(shape)
        for cell, topic, tokens in self.shares(start, stop):
            place = (cell - first) * shape[1] + topic
            total += np.bincount(place, tokens, total.size).reshape(shape)
        return total / len(self.draws)


def expected_tokens(
    counts: sparse.csr_array, draw: TopicDraw, total_K: Float, start: int, stop: int
) -> Shares:
    """Return the shares of documents start to stop by a draw that keeps no labels.

    It keeps how many tokens n_dk of document d are of topic k. A token of word p is then of topic
    k with probability n_dk theta_kp / sum_j n_dj theta_jp, theta_kp = (a + n_kp) / total_k.
    """
    used = np.diff(draw.documents.indptr)[start:stop]
    first, last = counts.indptr[start], counts.indptr[stop]
    document = np.repeat(np.arange(stop - start), np.diff(counts.indptr)[start:stop])
    repeats = used[document]
    cell = first + np.repeat(np.arange(document.size), repeats)
    ends = np.cumsum(repeats)
    offset = np.arange(repeats.sum()) - np.repeat(ends - repeats, repeats)
    pair = draw.documents.indptr[start:stop][np.repeat(document, repeats)] + offset
    topic = draw.documents.indices[pair]
    code, place = np.unique(counts.indices[first:last], return_inverse=True)
    theta = (sparse.csr_array(draw.words)[code].toarray() + draw.concentration) / total_K
    weight = draw.documents.data[pair] * theta[place[cell - first], topic]
    total = np.bincount(cell - first, weight, document.size)
    return Shares(cell, topic, counts.data[cell] * weight / np.maximum(total[cell - first], 1e-300))
