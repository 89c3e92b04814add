"""Which topics new documents use, given a draw's globals: the fit's token kernel, no learning."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from thincrm.data.counts import Tokens
from thincrm.errors import InvalidInput, check_count
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.levels import spread, sum_levels
from thincrm.models.topics.predict.inputs import (
    check_candidates,
    check_log_prior,
    known_tokens,
    mean_words,
)
from thincrm.models.topics.predict.lengths import log_length
from thincrm.models.topics.predict.sweeps import Pairs, dated, undated
from thincrm.numerics.arrays import ArrayLike, Float, Int, Seed, as_generator

__all__ = ["DatedTopics", "date_topics", "infer_usage", "mean_rates"]


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
        known_rows = dated(rng, documents, items_D, log_odds_CK, draw, row_D)
        steps = ((pairs, unused_RK[r], usage.q[r] if leveled else None) for pairs, r in known_rows)
    else:
        log_prior_DC = np.tile(log_prior, (n_documents, 1))
        all_rows = undated(rng, documents, items_D, log_odds_CK, draw, log_prior_DC)
        steps = ((pairs, p @ unused_RK, p @ usage.q if leveled else None) for pairs, p in all_rows)
    total_DK = np.zeros_like(prior_DK)
    for n, ((document, topic, size), rate_DK, q_D1) in enumerate(islice(steps, n_sweeps)):
        if n >= n_sweeps // 2:
            q = usage.q[topic] if q_D1 is None else q_D1[document, 0]
            rate_DK[document, topic] = q * (usage.shape[topic] + size)
            total_DK += rate_DK
    empty_D1 = (np.diff(documents.start) == 0)[:, None]
    return np.where(empty_D1, prior_DK, total_DK / (n_sweeps - n_sweeps // 2))


class DatedTopics(NamedTuple):
    """What sampling of topics and times together says of new documents.

    Attributes
    ----------
    chance : (D, C) float
        Posterior probabilities of the candidates.
    used : (D, K) sparse float
        Posterior probabilities that the document has words of the topic.
    """

    chance: Float
    used: sparse.csr_array


def date_topics(
    rng: Seed,
    documents: Tokens,
    log_odds_CK: ArrayLike,
    draw: TopicDraw,
    n_sweeps: int = 100,
    items_D: Int | None = None,
    log_prior_C: ArrayLike | None = None,
) -> DatedTopics:
    """Date documents by their topics.

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
    n_rows = len(log_odds_CK)
    log_prior_C = check_log_prior(np.zeros(n_rows) if log_prior_C is None else log_prior_C, n_rows)
    log_prior_DC = np.where(np.isneginf(log_length_DC), -np.inf, log_prior_C - log_length_DC)
    items_D = np.arange(documents.n_documents) if items_D is None else items_D
    found = undated(as_generator(rng), documents, items_D, log_odds_CK, draw, log_prior_DC)
    shape = (documents.n_documents, log_odds_CK.shape[1])
    chance_DC, used = np.zeros((shape[0], len(log_odds_CK))), sparse.csr_array(shape)
    first = n_sweeps // 4
    for (document, topic, _), chance in islice(found, first, n_sweeps):
        chance_DC += sum_levels(usage, chance)
        used = used + sparse.csr_array((np.ones(topic.size), (document, topic)), shape=shape)
    n_kept = n_sweeps - first
    return DatedTopics(chance_DC / n_kept, sparse.csr_array(used / n_kept))
