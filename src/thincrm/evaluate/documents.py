"""Which topics new documents use, given a draw's globals: the fit's token kernel, no learning."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit, softmax

from thincrm.data.counts import Tokens
from thincrm.draws import TopicDraw
from thincrm.errors import InvalidInput, check_count
from thincrm.evaluate.dates import cheap_log_score
from thincrm.evaluate.inputs import (
    check_candidates,
    check_log_prior,
    known_tokens,
    mean_words,
)
from thincrm.evaluate.lengths import log_length
from thincrm.gibbs.document_topics import DocumentTopics, share_out
from thincrm.likelihood.documents import NO_COUNTS, Corpus, redraw_documents
from thincrm.likelihood.levels import add_levels, draw_levels, level_rows, spread, sum_levels
from thincrm.likelihood.usage import Usage, log_silent_at, padded, token_rates
from thincrm.numerics.arrays import ArrayLike, Float, Int, Seed, as_generator
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import fresh_key, new_stream, uniform
from thincrm.numerics.threads import map_blocks

__all__ = ["infer_usage", "mean_rates", "time_chances"]

Pairs = tuple[Int, np.ndarray, np.ndarray]  # document, topic, tokens


def infer_usage(
    rng: Seed,
    documents: Tokens,
    log_odds_CK: ArrayLike,
    draw: TopicDraw,
    n_sweeps: int = 20,
    *,
    known: bool,
    log_prior_C: ArrayLike | None = None,
    items_D: Int | None = None,
) -> Float:
    """Return the (D, K) share of each topic in each new document's posterior mean rate of words.

    Parameters
    ----------
    rng : int or Generator
        Every document has a random stream of its own: threads do not change the result.
    documents : Tokens
        New documents, in the words of the fit. Words that no topic has are left out; a document
        without words has the shares of the words expected of it.
    log_odds_CK : (C, K) array
        Log odds of being open of the draw's topics.
    draw : TopicDraw
        The globals.
    n_sweeps : int
        Sweeps over the tokens; the later half is averaged.
    known : bool
        True: row d of log_odds_CK is at document d's covariate. False: that is not known, all rows
        are candidates, and it is inferred along with the topics.
    log_prior_C : (C,) array or None
        Log prior of the candidates; None: uniform.
    items_D : (D,) int or None
        Numbers of the documents' random streams; None: their places. With `document_items` what is
        said of a document depends on it alone.
    """
    rate_DK = mean_rates(
        rng,
        documents,
        log_odds_CK,
        draw,
        n_sweeps,
        known=known,
        log_prior_C=log_prior_C,
        items_D=items_D,
    )
    rate_DK[~rate_DK.any(axis=1)] = 1.0  # all topics shut: none has more than another
    return np.asarray(rate_DK / rate_DK.sum(axis=1, keepdims=True))


def mean_rates(
    rng: Seed,
    documents: Tokens,
    log_odds_CK: ArrayLike,
    draw: TopicDraw,
    n_sweeps: int = 20,
    *,
    known: bool,
    log_prior_C: ArrayLike | None = None,
    items_D: Int | None = None,
) -> Float:
    """Return the (D, K) posterior mean rates of words; arguments as of `infer_usage`.

    Given the topics of the tokens, the mean rate is q_k (shape_k + n_dk) where n_dk > 0, and
    u_tk = P(open | silent) shape_k q_k elsewhere. Tokens are redrawn with gates and usages
    integrated out, and an unknown t from p(t | z); of that t, u_tk is averaged. A document's level,
    if it has one, is never known: it is redrawn too, given z and t or along with t.
    """
    log_odds_CK = check_candidates(documents, log_odds_CK, draw)
    check_count("n_sweeps", n_sweeps)
    n_documents, n_rows = documents.n_documents, len(log_odds_CK)
    if known and n_rows != n_documents:
        raise InvalidInput(
            f"log_odds has {n_rows} rows, but there are {n_documents} documents: pass one row for "
            "each document, or known=False."
        )
    log_prior = check_log_prior(np.zeros(n_rows) if log_prior_C is None else log_prior_C, n_rows)
    rng, mean_CK = as_generator(rng), mean_words(draw.usage, log_odds_CK)
    documents = known_tokens(documents, draw.theta, mean_CK)
    if known:
        log_odds_CK, row_D = np.unique(log_odds_CK, axis=0, return_inverse=True)
        prior_DK = mean_CK
    else:
        prior_DK = np.tile(softmax(log_prior) @ mean_CK, (n_documents, 1))
    usage, log_odds_RK = spread(draw.usage, log_odds_CK)
    unused_RK = usage.shape * usage.q * expit(log_odds_RK + usage.log_silent)
    items_D = np.arange(n_documents) if items_D is None else items_D
    leveled = usage.log_share is not None
    steps: Iterator[tuple[Pairs, Float, Float | None]]  # topics, rates of unused ones, level's q
    if known:
        dated = _dated(rng, documents, items_D, log_odds_CK, draw, row_D)
        steps = ((pairs, unused_RK[r], usage.q[r] if leveled else None) for pairs, r in dated)
    else:
        log_prior_DC = np.tile(log_prior, (n_documents, 1))
        undated = _undated(rng, documents, items_D, log_odds_CK, draw, log_prior_DC)
        steps = ((pairs, p @ unused_RK, p @ usage.q if leveled else None) for pairs, p in undated)
    total_DK = np.zeros_like(prior_DK)
    for n, ((document, topic, size), rate_DK, q_D1) in enumerate(islice(steps, n_sweeps)):
        if n >= n_sweeps // 2:
            q = usage.q[topic] if q_D1 is None else q_D1[document, 0]
            rate_DK[document, topic] = q * (usage.shape[topic] + size)
            total_DK += rate_DK
    empty_D1 = (np.diff(documents.start) == 0)[:, None]
    return np.where(empty_D1, prior_DK, total_DK / (n_sweeps - n_sweeps // 2))


def time_chances(
    rng: Seed,
    documents: Tokens,
    log_odds_CK: ArrayLike,
    draw: TopicDraw,
    n_sweeps: int = 100,
    items_D: Int | None = None,
) -> Float:
    """Return the (D, C) posterior probabilities of the candidates, which are equally likely before.

    Gibbs on (z, t): the topics of a document's tokens given its time, then its time given the set
    of topics it uses, gates and usages integrated out of both. The later three quarters of
    p(t | z) are averaged. A document's length is not evidence: p(t | w) ~ p(w | t) / p(length | t),
    as in `log_likelihood_at`. Arguments as of `infer_usage`.
    """
    log_odds_CK = check_candidates(documents, log_odds_CK, draw)
    check_count("n_sweeps", n_sweeps)
    usage = draw.usage
    documents = known_tokens(documents, draw.theta, mean_words(usage, log_odds_CK))
    length, place_D = np.unique(np.diff(documents.start), return_inverse=True)
    log_length_DC = log_length(usage, log_odds_CK, length)[place_D]
    log_prior_DC = np.where(np.isneginf(log_length_DC), -np.inf, -log_length_DC)
    items_D = np.arange(documents.n_documents) if items_D is None else items_D
    undated = _undated(as_generator(rng), documents, items_D, log_odds_CK, draw, log_prior_DC)
    chances = [sum_levels(usage, chance) for _, chance in islice(undated, n_sweeps)]
    return np.asarray(np.mean(chances[n_sweeps // 4 :], axis=0))


def _dated(
    rng: np.random.Generator,
    documents: Tokens,
    items_D: Int,
    log_odds_CK: Float,
    draw: TopicDraw,
    row_D: Int,
) -> Iterator[tuple[Pairs, Int]]:
    """Sweep over documents of known time for ever; yield their topics and rows, with levels."""
    usage, n_levels = draw.usage, len(draw.usage.q)
    sweep, found = _sweeper(documents, items_D, log_odds_CK, draw)
    level_D = None
    if usage.log_share is not None:
        own_DB = add_levels(usage, np.zeros((row_D.size, 1)), np.diff(documents.start))
        silent_R = log_silent_at(*spread(usage, log_odds_CK)).sum(axis=1)
        level_D = np.argmax(own_DB + silent_R.reshape(-1, n_levels)[row_D], axis=1)
    while True:
        pairs = sweep(rng, level_rows(row_D, level_D, n_levels))
        if level_D is not None:
            level_D = draw_levels(
                fresh_key(rng), items_D, row_D, documents.start, found, usage, log_odds_CK
            )
        yield pairs, level_rows(row_D, level_D, n_levels)


def _undated(
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
    sweep, _ = _sweeper(documents, items_D, log_odds_CK, draw)
    length_D = np.diff(documents.start)
    score_DC = np.maximum(cheap_log_score(documents, log_odds_CK, draw), -1e300) + log_prior_DC
    start_DC = add_levels(draw.usage, score_DC, length_D)
    log_prior_DC = add_levels(draw.usage, log_prior_DC, length_D)
    usage, log_odds_CK = spread(draw.usage, log_odds_CK)
    if usage.log_share is not None:
        start_DC = start_DC + log_silent_at(usage, log_odds_CK).sum(axis=1)
    row_D = np.argmax(start_DC, axis=1)
    while True:
        document, topic, size = sweep(rng, row_D)
        found_DC = _log_chance(usage, log_odds_CK, document, topic, len(row_D)) + log_prior_DC
        found_DC[~np.isfinite(found_DC).any(axis=1)] = 0.0  # impossible everywhere: says nothing
        row_D = np.argmax(found_DC + _gumbel(fresh_key(rng), items_D, found_DC.shape[1]), axis=1)
        yield (document, topic, size), softmax(found_DC, axis=1)


def _sweeper(
    documents: Tokens, items_D: Int, log_odds_CK: Float, draw: TopicDraw
) -> tuple[Callable[[np.random.Generator, Int], Pairs], DocumentTopics]:
    """Return sweep(rng, row_D): redraw all tokens, and return the topics that documents use.

    With it comes where these are kept. Rows are pairs of a candidate and a level, if there are any.

    Tokens start in a topic that has no words and keeps none: the first sweep hands them out one
    by one, given those before, so that no token starts in a topic that is shut. A token of a word
    that no open topic has stays there, and says nothing.
    """
    n_topics = log_odds_CK.shape[1]
    words, place_N = np.unique(documents.word, return_inverse=True)
    theta_PK = np.zeros((words.size, padded(n_topics + 1)), np.float32)
    theta_PK[:, :n_topics] = draw.theta[words]
    longest = int(np.diff(documents.start).max(initial=0))
    rates = token_rates(*spread(draw.usage, log_odds_CK), theta_PK, draw.burstiness, longest)
    topic_N = np.full(place_N.size, n_topics, np.int16 if n_topics < 2**15 - 1 else np.int32)
    found, word_N = DocumentTopics.empty(documents, topic_N.dtype), place_N.astype(np.int32)

    def sweep(rng: np.random.Generator, row_D: Int) -> Pairs:
        key, order_D = fresh_key(rng), np.argsort(row_D, kind="stable")
        corpus = Corpus(order_D, row_D, items_D, documents.start, word_N)
        bounds = share_out(corpus)

        def work(block: int, _: int) -> None:
            redraw_documents(
                bounds[block], bounds[block + 1], key, corpus, rates, topic_N, *found, NO_COUNTS
            )

        map_blocks(work, len(bounds) - 1, 1)
        document, topic, size = found.pairs(documents)
        real = topic < n_topics
        return document[real], topic[real], size[real]

    return sweep, found


@compiled
def _gumbel(key: np.uint64, items_D: np.ndarray, n_rows: int) -> np.ndarray:
    """Return (D, C) standard Gumbel variates from the documents' own streams."""
    out_DC = np.empty((items_D.size, n_rows))
    for d in range(items_D.size):
        state = new_stream(key, items_D[d])
        for c in range(n_rows):
            out_DC[d, c] = -math.log(-math.log(uniform(state)))
    return out_DC


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
