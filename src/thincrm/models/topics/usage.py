"""Zero-inflated negative binomial usage: what every topic model's documents have in common.

n_dk = 0 if topic k is shut in document d, else NB(shape_k, q_k): P(n) ~ q^n (1 - q)^shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, gammaln, log_expit

from thincrm.models.topics.kernel import Rates, bursts
from thincrm.models.topics.lanes import LANES
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import fresh_key, new_stream
from thincrm.numerics.variates import binomial
from thincrm.ports import GateEvidence

__all__ = [
    "MOST_SHAPE",
    "TopicEvidence",
    "Usage",
    "gate_evidence",
    "log_silence",
    "log_silent_at",
    "open_gates",
    "padded",
    "token_rates",
]

_UNDERFLOW = 1e-290
_NONE = np.zeros((2, 0), np.int64)
MOST_SHAPE = 20.0  # shapes end here, and the urns of bursty words begin


class Usage(NamedTuple):
    """Parameters of the negative binomial of each topic.

    Where documents have levels (see `levels`) q is the level's, the same for all topics.
    """

    shape: Float  # K
    q: Float  # K, or B x 1
    log_rest: Float  # log(1 - q), likewise
    log_share: Float | None = None  # B: log P(a document has the level)

    @property
    def log_silent(self) -> Float:
        """Return log P(no token | open) = shape log(1 - q): (K,), or (B, K)."""
        return self.shape * self.log_rest

    @property
    def gain(self) -> Float:
        """Return the (K,) q without a factor that a document's topics have in common."""
        return self.q if self.log_share is None else np.ones(self.shape.size)

    @property
    def mean(self) -> Float:
        """Return the (K,) expected tokens of an open topic: shape q / (1 - q)."""
        odds = self.q * np.exp(-self.log_rest)
        if self.log_share is not None:
            odds = np.exp(self.log_share) @ odds
        return np.asarray(self.shape * odds)

    def at(self, level: int) -> Usage:
        """Return the usage of documents of one level, as if there were no others."""
        like = np.ones(self.shape.size)
        return Usage(self.shape, self.q[level] * like, self.log_rest[level] * like)

    def of(self, topics: Int) -> Usage:
        """Return the usage of some of the topics."""
        if self.log_share is None:
            return Usage(self.shape[topics], self.q[topics], self.log_rest[topics])
        return self._replace(shape=self.shape[topics])


class TopicEvidence(NamedTuple):
    """What documents say of the globals: integers, so any order of adding gives the same."""

    counts: np.ndarray  # P x A, int32: tokens of word p in topic seats[a]; A padded to whole lanes
    positive: Int  # T x K: documents at t with a token in topic k
    above: Int  # J x K: documents with more than j tokens in topic k
    trials: Int  # T: documents
    seats: Int  # A: topics that took part when tokens were counted; the others have none
    long: Int = _NONE  # 2 x n: topic and tokens of pairs with so many that `above` has them not

    @property
    def total(self) -> Int:
        """Return the (K,) tokens of each topic."""
        total_K = np.asarray(self.above.sum(0))
        for k, size in self.long.T:
            total_K[k] += size
        return total_K

    @property
    def above_J(self) -> Int:
        """Return the (J,) pairs of a document and a topic with more than j tokens."""
        return self._with_long(self.above.sum(1), self.long[1])

    def above_of(self, topic: int) -> Int:
        """Return the (J,) documents with more than j tokens in a topic."""
        return self._with_long(self.above[:, topic], self.long[1, self.long[0] == topic])

    @staticmethod
    def _with_long(above_J: Int, size_L: Int) -> Int:
        if size_L.size == 0:
            return np.asarray(above_J)
        whole = np.zeros(int(size_L.max()), np.int64)
        whole[: above_J.size] = above_J
        ends = np.bincount(size_L, minlength=whole.size + 1)  # at j = size a pair is left behind
        return np.asarray(whole + size_L.size - np.cumsum(ends)[:-1])

    def long_urns(self, shape_K: Float) -> Float:
        """Return the (K,) sums of log G(shape + n) / G(shape) over long pairs."""
        topic, size = self.long
        each = gammaln(shape_K[topic] + size) - gammaln(shape_K[topic])
        return np.asarray(np.bincount(topic, each, shape_K.size), float)

    def of(self, topics: Int) -> np.ndarray:
        """Return the (P, ...) counts of topics that took part."""
        place = np.zeros(self.positive.shape[1], np.int64)
        place[self.seats] = np.arange(self.seats.size)
        return np.asarray(self.counts[:, place[topics]])


def padded(n_topics: int) -> int:
    """Return n_topics rounded up to a multiple of LANES."""
    return -(-n_topics // LANES) * LANES


def token_rates(
    usage: Usage, log_odds_TK: Float, theta_PK: np.ndarray, burstiness: float, longest: int
) -> Rates:
    """Return the weights of tokens given activations, as log odds; topics padded to whole lanes.

    The columns are topics 0, 1, ...
    """
    n_rows, n_topics = log_odds_TK.shape
    size = theta_PK.shape[1]
    gain, shape = np.zeros(size), np.ones(size)
    gain[:n_topics], shape[:n_topics] = usage.gain, usage.shape
    unused = np.zeros((n_rows, size), np.float32)
    unused[:, :n_topics] = usage.shape * usage.gain * expit(log_odds_TK + usage.log_silent)
    column = np.arange(size, dtype=np.int32)
    row, urn = np.arange(n_rows, dtype=np.int32), bursts(burstiness, longest)
    return Rates(theta_PK, gain, shape, unused, *urn, column, column, row, unused)


def gate_evidence(usage: Usage, evidence: TopicEvidence) -> GateEvidence:
    """Return what the documents say of the gates."""
    log_q = np.broadcast_to(usage.log_silent, evidence.positive.shape)
    return GateEvidence(evidence.positive, evidence.trials, np.array(log_q))


def log_silence(
    log_rest_K: Float, evidence: TopicEvidence, log_odds_TK: Float
) -> Callable[..., Float]:
    """Return f(shape) = the (K,) log probabilities of silence and openness, gates integrated out.

    f_k = shape log(1 - q_k) positive_k + sum_t silent_tk log(1 - a_tk + a_tk (1 - q_k)^shape)
    """
    positive_K = evidence.positive.sum(0)
    silent_TK = evidence.trials[:, None] - evidence.positive
    open_TK, shut_TK = expit(log_odds_TK), expit(-log_odds_TK)

    def of(shape: Float) -> Float:
        log_q0 = shape * log_rest_K
        silence_TK = shut_TK + open_TK * np.exp(log_q0)
        if silence_TK.min(initial=1.0) > _UNDERFLOW:
            silence_TK = np.log(silence_TK)
        else:
            silence_TK = np.logaddexp(log_expit(-log_odds_TK), log_expit(log_odds_TK) + log_q0)
        return np.asarray(log_q0 * positive_K + (silent_TK * silence_TK).sum(0))

    return of


def log_silent_at(usage: Usage, log_odds_TK: Float) -> Float:
    """Return the (T, K) log P(no token in topic k) = log(1 - a + a (1 - q)^shape)."""
    log_open = log_expit(log_odds_TK) + usage.log_silent
    return np.asarray(np.logaddexp(log_expit(-log_odds_TK), log_open))


def open_gates(
    rng: np.random.Generator, usage: Usage, evidence: TopicEvidence, log_odds_TK: Float
) -> Int:
    """Draw how many documents a topic is open in, (T, K): those with tokens, some silent ones."""
    chance_TK = expit(log_odds_TK + usage.log_silent)
    return _open_some(fresh_key(rng), evidence.positive, evidence.trials, chance_TK)


@compiled
def _open_some(
    key: np.uint64, positive_TK: np.ndarray, trials_T: np.ndarray, chance_TK: np.ndarray
) -> np.ndarray:
    """Return positive + Binomial(trials - positive, chance)."""
    state, open_TK = new_stream(key, 0), np.empty(positive_TK.shape, np.int64)
    for t in range(trials_T.size):
        for k in range(positive_TK.shape[1]):
            seen = positive_TK[t, k]
            open_TK[t, k] = seen + binomial(state, trials_T[t] - seen, chance_TK[t, k])
    return open_TK
