"""Maps over shards of new documents: pure functions (shard, None, message) -> (None, result).

Shards are fixed by the documents, and linear algebra is done on one thread: the bits are the same
wherever an engine runs them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from thincrm.data.counts import Tokens
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.predict.dater import Method
from thincrm.models.topics.predict.dates import cheap_log_score, log_likelihood_at
from thincrm.models.topics.predict.inputs import document_items
from thincrm.models.topics.predict.new_documents import DatedTopics, date_topics, infer_usage
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import sweep_generator
from thincrm.numerics.threads import one_blas_thread
from thincrm.ports import Engine

__all__ = ["NewDocuments", "dates_of", "new_shards", "shares_of"]

_DOCUMENTS = 4096  # of a shard


class NewDocuments(NamedTuple):
    """Some of the new documents, one after another."""

    tokens: Tokens
    row: Int | None  # D: place among the candidates; None: not known


class _Asked(NamedTuple):
    """What is asked of new documents: a draw's globals, and where its random streams are."""

    draw: TopicDraw
    log_odds: Float  # C x K
    log_prior: Float  # C
    address: tuple[int, ...]
    how: Method | None = None


def new_shards(
    documents: Tokens, row_D: Int | None = None, size: int = _DOCUMENTS
) -> list[NewDocuments]:
    """Return the documents in shards; one, if there are none."""
    found = []
    for first in range(0, max(1, documents.n_documents), size):
        start = documents.start[first : first + size + 1]
        word = documents.word[start[0] : start[-1]]
        row = None if row_D is None else row_D[first : first + size]
        found.append(NewDocuments(Tokens(start - start[0], word, documents.n_words), row))
    return found


def shares_of(
    engine: Engine,
    shards: list[NewDocuments],
    draw: TopicDraw,
    log_odds_CK: Float,
    log_prior_C: Float,
    address: tuple[int, ...],
) -> Float:
    """Return the (D, K) shares of a draw's topics (`infer_usage`)."""
    asked = _Asked(_globals_of(draw), log_odds_CK, log_prior_C, address)
    _, parts = engine.map(_infer, shards, [None] * len(shards), asked)
    return np.concatenate(parts)


def dates_of(
    engine: Engine,
    shards: list[NewDocuments],
    draw: TopicDraw,
    log_odds_CK: Float,
    log_prior_C: Float,
    address: tuple[int, ...],
    how: Method,
) -> DatedTopics:
    """Return what a draw's topics say of the dates: log-likelihoods, unless by Gibbs sampling."""
    asked = _Asked(_globals_of(draw), log_odds_CK, log_prior_C, address, how)
    _, parts = engine.map(_date, shards, [None] * len(shards), asked)
    chance, used = zip(*parts, strict=True)
    return DatedTopics(np.concatenate(chance), sparse.csr_array(sparse.vstack(used, format="csr")))


def _globals_of(draw: TopicDraw) -> TopicDraw:
    """Return a draw without what it keeps of the fitted documents."""
    nothing = sparse.csr_array((0, draw.words.shape[1]), dtype=np.int64)
    return replace(draw, documents=nothing, labels=None, level=None)


def _infer(shard: NewDocuments, _: None, asked: _Asked) -> tuple[None, Float]:
    rng, known = sweep_generator(*asked.address), shard.row is not None
    log_odds = asked.log_odds if shard.row is None else asked.log_odds[shard.row]
    log_prior = None if known else asked.log_prior
    items = document_items(shard.tokens)
    with one_blas_thread():
        return None, infer_usage(
            rng, shard.tokens, log_odds, asked.draw, known=known, log_prior_C=log_prior,
            items_D=items,
        )  # fmt: skip


def _date(shard: NewDocuments, _: None, asked: _Asked) -> tuple[None, DatedTopics]:
    rng, (tokens, _row), how = sweep_generator(*asked.address), shard, asked.how
    draw, log_odds = asked.draw, asked.log_odds
    assert how is not None
    with one_blas_thread():
        if how.name == "gibbs":
            items = document_items(tokens)
            return None, date_topics(
                rng, tokens, log_odds, draw, how.n_steps, items, asked.log_prior
            )
        if how.name == "cheap":
            value = cheap_log_score(tokens, log_odds, draw)
        else:
            value = log_likelihood_at(rng, tokens, log_odds, draw, how.n_steps)
        return None, DatedTopics(value, sparse.csr_array((len(value), draw.words.shape[1])))
