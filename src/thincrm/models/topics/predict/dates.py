"""When is a document from? Its likelihood at every candidate covariate, given a draw's globals."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, gammaln, logsumexp, softmax

from thincrm.data.counts import Tokens
from thincrm.errors import InvalidInput, check_count
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.kernel import bursts
from thincrm.models.topics.levels import add_levels, spread, sum_levels
from thincrm.models.topics.predict.cloud import Candidates
from thincrm.models.topics.predict.inputs import (
    check_candidates,
    check_log_prior,
    known_tokens,
    mean_words,
    word_counts,
)
from thincrm.models.topics.predict.lengths import log_length
from thincrm.models.topics.predict.particles import weigh_documents
from thincrm.models.topics.usage import Usage, log_silent_at
from thincrm.numerics.arrays import ArrayLike, Float, Seed, as_generator
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.threads import map_blocks

__all__ = ["cheap_log_score", "log_likelihood_at", "time_distribution"]

_BLOCK = 8  # documents a thread takes at a time


def log_likelihood_at(
    rng: Seed,
    documents: Tokens,
    log_odds_CK: ArrayLike,
    draw: TopicDraw,
    n_particles: int = 200,
    given_length: bool = True,
) -> Float:
    """Estimate the log-likelihood of new documents at every candidate, all from the same particles.

    With P_k(n) the zero-inflated negative binomial of topic k at the candidate,

        p(w | t) = prod_p 1/w_p! sum_z prod_k P_k(n_k) n_k! prod_i P(w_i | z_i, tokens before)

    is estimated without bias (see `particles`); gates and usages are integrated out exactly, and
    the last factor is theta_{z_i, w_i} unless words are bursty (see `likelihood.documents`).

    Parameters
    ----------
    rng : int or Generator
        Every document has a random stream of its own: threads do not change the result.
    documents : Tokens
        New documents, in the words of the fit. Words that no topic has at any candidate are
        left out.
    log_odds_CK : (C, K) array
        Log odds of being open of the draw's topics at each candidate.
    draw : TopicDraw
        The globals.
    n_particles : int
        The standard error falls as its square root, the price rises in proportion.
    given_length : bool
        Divide by P(length | t), so that length does not count as evidence (then empty documents
        have 0 everywhere).

    Returns
    -------
    (D, C) array
        -inf where a document is impossible, or 1e-300 times less likely than elsewhere.
    """
    log_odds_CK = check_candidates(documents, log_odds_CK, draw)
    n_particles = check_count("n_particles", n_particles)
    theta_PK = draw.theta
    documents = known_tokens(documents, theta_PK, mean_words(draw.usage, log_odds_CK))
    usage, log_odds_RK = spread(draw.usage, log_odds_CK)
    words, word_N = np.unique(documents.word, return_inverse=True)
    length, place_D = np.unique(np.diff(documents.start), return_inverse=True)
    bursty = bursts(draw.burstiness, int(length.max(initial=0)))
    model = _candidates(usage, log_odds_RK, theta_PK[words], bursty)
    log_prior_DC = np.zeros((documents.n_documents, len(log_odds_CK)))
    if given_length:
        log_length_NC = log_length(draw.usage, log_odds_CK, length)
        log_length_NC[np.isneginf(log_length_NC)] = np.inf  # the document is impossible, too
        log_prior_DC -= log_length_NC[place_D]
    out_DR = add_levels(draw.usage, log_prior_DC, length[place_D])
    out_DR = log_silent_at(usage, log_odds_RK).sum(axis=1) + out_DR
    key = fresh_key(as_generator(rng))

    def work(first: int, stop: int) -> None:
        weigh_documents(first, stop, key, n_particles, documents.start, word_N, model, out_DR)

    map_blocks(work, documents.n_documents, _BLOCK)
    out_DC = sum_levels(draw.usage, out_DR, logsumexp)
    counts = word_counts(documents)
    counts.data = gammaln(counts.data + 1.0)
    return np.asarray(out_DC - counts.sum(axis=1)[:, None])


def _candidates(
    usage: Usage, log_odds_CK: Float, theta_PK: np.ndarray, bursty: tuple[Float, Float]
) -> Candidates:
    """Return what tokens weigh at each candidate."""
    unused_CK = usage.shape * usage.gain * expit(log_odds_CK + usage.log_silent)
    unused_KC = unused_CK.T.copy()
    total_PC = theta_PK @ unused_KC
    return Candidates(theta_PK, unused_CK, unused_KC, total_PC, usage.shape, usage.gain, *bursty)


def cheap_log_score(documents: Tokens, log_odds_CK: ArrayLike, draw: TopicDraw) -> Float:
    """Return a (D, C) quick score: the log-likelihood of words drawn from the mean of candidate t.

    sum_p w_p log( sum_k theta_kp m_tk / sum_k m_tk ), m_tk = a_tk shape_k q_k / (1 - q_k). As it
    takes a document's words to be independent it is far too sure of itself, but ranks candidates.
    """
    log_odds_CK = check_candidates(documents, log_odds_CK, draw)
    theta_PK, mean_CK = draw.theta, mean_words(draw.usage, log_odds_CK)
    documents = known_tokens(documents, theta_PK, mean_CK)
    counts = word_counts(documents)
    words = np.unique(documents.word)
    share_CK = mean_CK / np.maximum(mean_CK.sum(axis=1, keepdims=True), 1e-300)
    log_chance = np.zeros((documents.n_words, len(mean_CK)))
    with np.errstate(divide="ignore"):
        log_chance[words] = np.log(theta_PK[words] @ share_CK.T)
    return np.asarray(counts @ log_chance)


def time_distribution(log_likelihood_BDC: ArrayLike, log_prior_C: ArrayLike) -> Float:
    """Return the (D, C) posterior probabilities of the candidates, averaged over B draws.

    p(t | w) ~ prior(t) 1/B sum_b p(w | t, draw b). A document without words, or impossible at
    every candidate, has the prior.
    """
    log_likelihood = np.asarray(log_likelihood_BDC, float)
    if log_likelihood.ndim != 3 or 0 in (log_likelihood.shape[0], log_likelihood.shape[2]):
        raise InvalidInput(
            "log_likelihood must have one (D, C) table for each of at least one draw, got shape "
            f"{log_likelihood.shape}."
        )
    if not (log_likelihood < np.inf).all():
        raise InvalidInput("log_likelihood must be below infinity and not NaN.")
    log_prior = check_log_prior(log_prior_C, log_likelihood.shape[2])
    joint_DC = logsumexp(log_likelihood, axis=0) + log_prior
    impossible_D = ~np.isfinite(joint_DC).any(axis=1)
    joint_DC[impossible_D] = log_prior
    return np.asarray(softmax(joint_DC, axis=1))
