"""Sweeps over the tokens of new documents, given a draw's globals: nothing is learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy import sparse
from scipy.special import log_expit, softmax

from thincrm.data.counts import Tokens
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.kernel import Corpus, redraw_documents
from thincrm.models.topics.levels import add_levels, draw_levels, level_rows, spread
from thincrm.models.topics.predict.dates import cheap_log_score
from thincrm.models.topics.predict.inputs import mean_words
from thincrm.models.topics.tally import NO_TALLY
from thincrm.models.topics.usage import Usage, log_silent_at, padded, token_rates
from thincrm.models.topics.usage_counts import DocumentTopics, share_out
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import fresh_key, new_stream, uniform
from thincrm.numerics.threads import map_blocks

__all__ = ["Pairs", "dated", "undated"]

Pairs = tuple[Int, np.ndarray, np.ndarray]  # document, topic, tokens


def dated(
    rng: np.random.Generator,
    documents: Tokens,
    items_D: Int,
    log_odds_CK: Float,
    draw: TopicDraw,
    row_D: Int,
) -> Iterator[tuple[Pairs, Int]]:
    """Sweep over documents of known time for ever; yield their topics and rows, with levels."""
    usage, n_levels = draw.usage, len(draw.usage.q)
    sweep, found = _sweeper(rng, documents, items_D, row_D, log_odds_CK, draw)
    level_D = _first_levels(documents, usage, log_odds_CK, row_D)
    while True:
        pairs = sweep(rng, level_rows(row_D, level_D, n_levels))
        if level_D is not None:
            level_D = draw_levels(
                fresh_key(rng), items_D, row_D, documents.start, found, usage, log_odds_CK
            )
        yield pairs, level_rows(row_D, level_D, n_levels)


def undated(
    rng: np.random.Generator,
    documents: Tokens,
    items_D: Int,
    log_odds_CK: Float,
    draw: TopicDraw,
    log_prior_DC: Float,
) -> Iterator[tuple[Pairs, Float]]:
    """Sweep over documents of unknown time for ever; yield their topics, and p(t | z) as (D, C).

    Where documents have levels, C stands for pairs of a time and a level.
    """
    score_DC = np.maximum(cheap_log_score(documents, log_odds_CK, draw), -1e300)
    row_D = np.argmax(np.where(np.isneginf(log_prior_DC), -np.inf, score_DC), axis=1)
    sweep, _ = _sweeper(rng, documents, items_D, row_D, log_odds_CK, draw)
    level_D = _first_levels(documents, draw.usage, log_odds_CK, row_D)
    row_D = level_rows(row_D, level_D, len(draw.usage.q))
    log_prior_DC = add_levels(draw.usage, log_prior_DC, np.diff(documents.start))
    usage, log_odds_CK = spread(draw.usage, log_odds_CK)
    while True:
        document, topic, size = sweep(rng, row_D)
        found_DC = _log_chance(usage, log_odds_CK, document, topic, len(row_D)) + log_prior_DC
        found_DC[~np.isfinite(found_DC).any(axis=1)] = 0.0  # impossible everywhere: says nothing
        chance_DC = softmax(found_DC, axis=1)
        row_D = _choose(fresh_key(rng), items_D, chance_DC)
        yield (document, topic, size), chance_DC


def _first_levels(
    documents: Tokens, usage: Usage, log_odds_CK: Float, row_D: Int
) -> np.ndarray | None:
    """Return the levels that are likeliest before any topic is known; None if there are none."""
    if usage.log_share is None:
        return None
    own_DB = add_levels(usage, np.zeros((row_D.size, 1)), np.diff(documents.start))
    silent_R = log_silent_at(*spread(usage, log_odds_CK)).sum(axis=1)
    return np.asarray(np.argmax(own_DB + silent_R.reshape(-1, len(usage.q))[row_D], axis=1))


def _sweeper(
    rng: np.random.Generator,
    documents: Tokens,
    items_D: Int,
    row_D: Int,
    log_odds_CK: Float,
    draw: TopicDraw,
) -> tuple[Callable[[np.random.Generator, Int], Pairs], DocumentTopics]:
    """Return sweep(rng, row_D): redraw all tokens, and return the topics that documents use.

    With it comes where these are kept. Rows are pairs of a candidate and a level, if there are any.
    Tokens start in topics that are likely at candidate row_D (`_first_topics`). A token of a word
    that no open topic has is in a topic of its own, and says nothing.
    """
    n_topics = log_odds_CK.shape[1]
    words, place_N = np.unique(documents.word, return_inverse=True)
    theta_PK = np.zeros((words.size, padded(n_topics + 1)), np.float32)
    theta_PK[:, :n_topics] = draw.theta[words]
    longest = int(np.diff(documents.start).max(initial=0))
    rates = token_rates(*spread(draw.usage, log_odds_CK), theta_PK, draw.burstiness, longest)
    topic_N = np.empty(place_N.size, np.int16 if n_topics < 2**15 - 1 else np.int32)
    found, word_N = DocumentTopics.empty(documents, topic_N.dtype), place_N.astype(np.int32)
    mean_CK, key = mean_words(draw.usage, log_odds_CK), fresh_key(rng)
    _first_topics(key, items_D, row_D, documents.start, word_N, theta_PK, mean_CK, topic_N)

    def sweep(rng: np.random.Generator, row_D: Int) -> Pairs:
        key, order_D = fresh_key(rng), np.argsort(row_D, kind="stable")
        corpus = Corpus(order_D, row_D, items_D, documents.start, word_N)
        bounds = share_out(corpus)

        def work(block: int, _: int) -> None:
            redraw_documents(
                bounds[block], bounds[block + 1], key, corpus, rates, topic_N, *found, NO_TALLY
            )

        map_blocks(work, len(bounds) - 1, 1)
        document, topic, size = found.packed(documents.start).pairs()
        real = topic < n_topics
        return document[real], topic[real], size[real]

    return sweep, found


@compiled
def _first_topics(
    key: np.uint64,
    items_D: np.ndarray,
    row_D: np.ndarray,
    start_D: np.ndarray,
    word_N: np.ndarray,
    theta_PK: np.ndarray,
    mean_CK: np.ndarray,
    topic_N: np.ndarray,
) -> None:
    """Draw the topic of each token by itself: P(k) ~ mean_tk theta_kp; K where no topic is open.

    Were tokens handed out one after the other, the first few might open a topic that suits a
    document badly, and a thousand tokens that follow them seldom leave it again.
    """
    n_topics = mean_CK.shape[1]
    for d in range(row_D.size):
        state, mean_K = new_stream(key, items_D[d]), mean_CK[row_D[d]]
        for n in range(start_D[d], start_D[d + 1]):
            theta_K, total = theta_PK[word_N[n]], 0.0
            for k in range(n_topics):
                total += mean_K[k] * theta_K[k]
            left, k = uniform(state) * total, -1
            topic_N[n] = n_topics
            while total > 0.0 and left >= 0.0 and k + 1 < n_topics:
                k += 1
                left -= mean_K[k] * theta_K[k]
                if mean_K[k] * theta_K[k] > 0.0:
                    topic_N[n] = k


@compiled
def _choose(key: np.uint64, items_D: np.ndarray, chance_DC: np.ndarray) -> np.ndarray:
    """Draw a row for each document from its chances, by the document's own stream."""
    row_D = np.empty(items_D.size, np.int64)
    for d in range(items_D.size):
        left, row = uniform(new_stream(key, items_D[d])) * chance_DC[d].sum(), 0
        for c in range(chance_DC.shape[1]):
            if chance_DC[d, c] > 0.0:
                row = c
                left -= chance_DC[d, c]
                if left < 0.0:
                    break
        row_D[d] = row
    return row_D


def _log_chance(
    usage: Usage, log_odds_CK: Float, document: Int, topic: np.ndarray, n_documents: int
) -> Float:
    """Return the (D, C) log p(z | t), up to what t does not change.

    prod_used a_tk prod_unused silent_tk, silent_tk = P(no token in topic k); with levels, and
    prod_used (1 - q_b)^shape_k.
    """
    log_silent_CK = log_silent_at(usage, log_odds_CK)
    shape = (n_documents, log_odds_CK.shape[1])
    used = sparse.csr_array((np.ones(topic.size), (document, topic)), shape=shape)
    odds_KC = (log_expit(log_odds_CK) - log_silent_CK).T
    if usage.log_share is not None:
        odds_KC = odds_KC + usage.log_silent.T
    return np.asarray(used @ odds_KC + log_silent_CK.sum(axis=1))
