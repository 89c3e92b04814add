"""Two topics' words in a document, whichever words are whose."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled

__all__ = ["Law", "count_tokens", "find_tokens", "shared_out"]


class Law(NamedTuple):
    """log f(n, r) of a topic: `silent_R` if n = 0, else `heard_R` + n `step_R` + `rise_J`[n]."""

    silent_R: Float
    heard_R: Float
    step_R: Float
    rise_J: Float

    @classmethod
    def of(
        cls, shape: float, q_R: Float, log_open_R: Float, log_shut_R: Float, longest: int
    ) -> Law:
        """Return the law of NB(shape, q) behind a gate."""
        heard_R = log_open_R + shape * np.log1p(-q_R)
        rise_J = gammaln(shape + np.arange(longest + 1.0)) - gammaln(shape)
        return cls(np.logaddexp(log_shut_R, heard_R), heard_R, np.log(q_R), rise_J)

    def at(self, n_D: Int, row_D: Int) -> Float:
        """Return log f of documents."""
        heard_D = self.heard_R[row_D] + n_D * self.step_R[row_D] + self.rise_J[n_D]
        return np.where(n_D > 0, heard_D, self.silent_R[row_D])


@compiled
def shared_out(
    start_D: np.ndarray, share_N: np.ndarray, row_D: np.ndarray, a: Law, b: Law
) -> float:
    """Return sum_d log sum_n P(n words go to a) f_a(n) f_b(n_d - n).

    Word i goes to a with probability share_i: how many do is Poisson-binomial.
    """
    total = 0.0
    for d in range(row_D.size):
        r, n_words = row_D[d], start_D[d + 1] - start_D[d]
        chance = np.zeros(n_words + 1)
        chance[0] = 1.0
        for i in range(n_words):
            share = share_N[start_D[d] + i]
            for n in range(i + 1, 0, -1):
                chance[n] = chance[n] * (1.0 - share) + chance[n - 1] * share
            chance[0] *= 1.0 - share
        best, parts = -np.inf, np.empty(n_words + 1)
        for n in range(n_words + 1):
            m = n_words - n
            part = math.log(chance[n]) if chance[n] > 0.0 else -np.inf
            part += a.heard_R[r] + n * a.step_R[r] + a.rise_J[n] if n > 0 else a.silent_R[r]
            part += b.heard_R[r] + m * b.step_R[r] + b.rise_J[m] if m > 0 else b.silent_R[r]
            parts[n] = part
            best = max(best, part)
        weight = 0.0
        for n in range(n_words + 1):
            weight += math.exp(parts[n] - best)
        total += best + math.log(weight)
    return total


@compiled
def count_tokens(
    start_D: np.ndarray,
    word_N: np.ndarray,
    topic_N: np.ndarray,
    n_words: int,
    n_topics: int,
) -> np.ndarray:
    """Return the (P, K) tokens of some documents."""
    count_PK = np.zeros((n_words, n_topics), np.int32)
    for n in range(start_D[-1]):
        count_PK[word_N[n], topic_N[n]] += 1
    return count_PK


@compiled
def find_tokens(
    start_D: np.ndarray,
    word_N: np.ndarray,
    topic_N: np.ndarray,
    a: int,
    b: int,
    n_tokens: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return documents and words of the n_tokens tokens that topics a and b have there."""
    document, word, i = np.empty(n_tokens, np.int64), np.empty(n_tokens, np.int64), 0
    for d in range(start_D.size - 1):
        for n in range(start_D[d], start_D[d + 1]):
            if topic_N[n] == a or topic_N[n] == b:
                document[i], word[i] = d, word_N[n]
                i += 1
    return document, word
