"""The log joint density of a topic model's words and of what is drawn for each of them."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, log_expit

from thincrm.inference.updates import log_odds_of
from thincrm.models.topics.levels import spread
from thincrm.models.topics.state import TopicLocal, TopicProblem, TopicShard, TopicState
from thincrm.models.topics.sweep import usage_of
from thincrm.models.topics.usage import TopicEvidence, Usage, log_silent_at
from thincrm.numerics.arrays import Float, Int

__all__ = ["log_joint"]


def log_joint(problem: TopicProblem, state: TopicState) -> float:
    """Return log p(words, topics of tokens, fresh draws, echoes, levels | globals).

    Topics, gates and usages are integrated out. With n_dk tokens of document d in topic k, m_kp
    fresh draws of word p from it and w_dp tokens of a word in a document, the density is

        prod_d prod_p 1/w_dp!  prod_dk P_k(n_dk) n_dk!                        topics of tokens
        prod_dk s^m_dk G(s) / G(s + n_dk)                                     Polya's urns
        prod_k G(P a) / G(P a + m_k) prod_p G(a + m_kp) / G(a)                fresh draws
        prod_d share of its level,

    P_k being the zero-inflated negative binomial and G the gamma function. A token that is not
    fresh echoes one of those before it, each equally likely: which one it is belongs to what the
    density is of, so that it depends on nothing but numbers of tokens. These are whole and added
    over shards, so that however documents are cut the bits are the same.
    """
    own, seen = state.own, state.evidence
    usage, log_odds = spread(usage_of(problem, state), log_odds_of(problem, state.x))
    fit = _log_topics(problem, state, usage)
    fit += _log_gates(usage, log_odds, seen)
    fit += _log_urns(own.burstiness, int(seen.counts.sum(dtype=np.int64)), seen.above_J)
    fit += _log_fresh(own.concentration, seen.counts)
    return fit - float(problem.facts.log_orders)


def _log_topics(problem: TopicProblem, state: TopicState, usage: Usage) -> float:
    """Return the sum of log G(shape + n) / G(shape) + n log q, and of the levels' shares."""
    above_JK, own = state.evidence.above, state.own
    j, k = np.nonzero(above_JK)
    fit = float((above_JK[j, k] * np.log(usage.shape[k] + j)).sum())
    if state.evidence.long.size:
        fit += float(state.evidence.long_urns(usage.shape).sum())
    if own.log_share is None:
        held = np.flatnonzero(state.evidence.total)
        return fit + float((state.evidence.total[held] * np.log(usage.q[held])).sum())
    n_levels = own.log_share.size
    _, parts = problem.engine.map(_tokens_of_levels, problem.shards, state.local, n_levels)
    trials_B = state.evidence.trials.reshape(-1, n_levels).sum(axis=0)
    log_q_B = np.log(usage.q[:n_levels, 0])
    return fit + float(np.sum(parts, axis=0) @ log_q_B + trials_B @ own.log_share)


def _tokens_of_levels(
    shard: TopicShard, local: TopicLocal, n_levels: int
) -> tuple[TopicLocal, Int]:
    """Return the (B,) tokens of a shard's documents of each level."""
    length_D = np.diff(shard.tokens.start)
    return local, np.array([length_D[local.level == b].sum() for b in range(n_levels)])


def _log_gates(usage: Usage, log_odds_RK: Float, seen: TopicEvidence) -> float:
    """Return the sum of log a (1 - q)^shape where a topic is used, of log P(silent) elsewhere."""
    r, k = np.nonzero(seen.positive)
    log_open_RK = np.broadcast_to(usage.log_silent, log_odds_RK.shape)
    heard = log_expit(log_odds_RK[r, k]) + log_open_RK[r, k]
    silent_RK = seen.trials[:, None] - seen.positive
    quiet = silent_RK * log_silent_at(usage, log_odds_RK)
    return float((seen.positive[r, k] * heard).sum() + quiet.sum())


def _log_urns(burstiness: float, n_fresh: int, above_J: Int) -> float:
    """Return the sum of log s^m G(s) / G(s + n), s = 1 / burstiness; 0 without bursts."""
    if burstiness == 0.0:
        return 0.0
    n_echoes = int(above_J.sum()) - n_fresh
    fade = float(above_J @ np.log1p(burstiness * np.arange(above_J.size)))
    return n_echoes * math.log(burstiness) - fade


def _log_fresh(concentration: float, counts_PA: np.ndarray) -> float:
    """Return the log density of fresh draws of words, topics integrated out."""
    total_A, whole = counts_PA.sum(axis=0, dtype=np.int64), len(counts_PA) * concentration
    fit = (gammaln(whole) - gammaln(whole + total_A[total_A > 0])).sum()
    cells = counts_PA[counts_PA > 0]
    return float(fit + (gammaln(concentration + cells) - gammaln(concentration)).sum())
