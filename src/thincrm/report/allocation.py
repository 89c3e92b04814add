"""Whose words are these? The tokens of the fit, shared out among the topics by the kept draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from thincrm.models.topics.draw import TopicDraw
from thincrm.numerics.arrays import Float, Int

__all__ = ["allocated"]

_DRAWS = 10
_MOST_PAIRS = 4_000_000  # at a time


def allocated(model: Any, matched: list[Int]) -> Any:
    """Return (C, K) sparse: the expected tokens of each cell of the counts in each topic.

    Cells are the counts that are not zero, in the order of the matrix. The mean is over some of the
    draws; tokens of a topic that is not on the page (`matches`) are nobody's.
    """
    counts, n_topics = model.counts_, matched[-1].size
    places = np.linspace(0, len(model.draws_) - 1, min(_DRAWS, len(model.draws_)))
    total = sparse.csr_array((counts.nnz, n_topics))
    for place in np.round(places).astype(int):
        draw = model.draws_[place]
        found = matched[place]
        there = np.flatnonzero(found >= 0)
        number = np.full(draw.words.shape[1], -1)
        number[found[there]] = there
        total = total + _cells(counts, draw, number, n_topics)
    return total / len(places)


def _cells(counts: Any, draw: TopicDraw, number: Int, n_topics: int) -> Any:
    if draw.labels is not None:
        topic = number[draw.labels]
        cell = np.repeat(np.arange(counts.nnz), counts.data)
        return _matrix(cell, topic, np.ones(topic.size), (counts.nnz, n_topics))
    total = sparse.csr_array((counts.nnz, n_topics))
    pairs = np.cumsum(np.diff(counts.indptr) * np.diff(draw.documents.indptr))
    block = pairs // _MOST_PAIRS
    for start in np.unique(block, return_index=True)[1]:
        stop = np.searchsorted(block, block[start], "right")
        cell, topic, expected = _expected(counts, draw, int(start), int(stop))
        total = total + _matrix(cell, number[topic], expected, total.shape)
    return total


def _expected(counts: Any, draw: TopicDraw, start: int, stop: int) -> tuple[Int, Int, Float]:
    """Return cells, topics and expected tokens of documents start to stop.

    A draw without labels keeps how many tokens n_dk of document d are of topic k. A token of
    word p is then of topic k with probability n_dk theta_kp / sum_j n_dj theta_jp.
    """
    used = np.diff(draw.documents.indptr)[start:stop]
    first = counts.indptr[start]
    document = np.repeat(np.arange(stop - start), np.diff(counts.indptr)[start:stop])
    repeats = used[document]
    cell = first + np.repeat(np.arange(document.size), repeats)
    ends = np.cumsum(repeats)
    offset = np.arange(repeats.sum()) - np.repeat(ends - repeats, repeats)
    pair = draw.documents.indptr[start:stop][np.repeat(document, repeats)] + offset
    topic = draw.documents.indices[pair]
    weight = draw.documents.data[pair] * draw.theta[counts.indices[cell], topic].astype(float)
    total = np.bincount(cell - first, weight, document.size)
    return cell, topic, counts.data[cell] * weight / np.maximum(total[cell - first], 1e-300)


def _matrix(cell: Int, topic: Int, value: Float, shape: tuple[int, int]) -> Any:
    kept = topic >= 0
    return sparse.coo_array((value[kept], (cell[kept], topic[kept])), shape=shape).tocsr()
