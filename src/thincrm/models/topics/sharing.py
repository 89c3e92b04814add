"""Share the tables of two topics out between them, document by document.

Given the tables of other documents, those of one (words p_i, c_i tokens) go to topic 0 or 1 with

    q(z) ~ prod_i theta_{z_i p_i}  F_0(n_0) F_1(n_1),    theta_kp = (a + m_kp) / (P a + m_k),

m_kp other tables, and n_k the tokens that come together. With share_k of the documents so far in
which topic k is, F_k(n) = share_k P(n) n! G(s) / G(s + n) for n > 0, and 1 - share_k (1 - P(0)) for
n = 0, P being the law of the two topics taken as one. All ways to share a document out are added up
(how many tokens go to topic 0 is a Poisson-binomial number), so q is drawn from and known exactly.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thincrm.numerics.arrays import Float
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream, uniform

__all__ = ["Sharing", "share_out"]


class Sharing(NamedTuple):
    """How tables are shared out so far; `share_out` changes it in place."""

    side_I: np.ndarray  # -1: not yet
    count_2P: Float  # tables
    total_2: Float
    users_2: Float  # documents
    seen_1: Float  # documents that are shared out

    @classmethod
    def none(cls, n_tables: int, n_words: int) -> Sharing:
        """Return no table shared out yet."""
        nothing = np.zeros((2, n_words)), np.zeros(2), np.zeros(2), np.zeros(1)
        return cls(np.full(n_tables, -1, np.int64), *nothing)


@compiled
def share_out(
    key: np.uint64,
    order_D: np.ndarray,
    start_D: np.ndarray,
    row_D: np.ndarray,
    word_I: np.ndarray,
    size_I: np.ndarray,
    heard_R: np.ndarray,
    silent_R: np.ndarray,
    rise_J: np.ndarray,
    concentration: float,
    wanted_I: np.ndarray,
    sharing: Sharing,
) -> float:
    """Share out every document's tables anew, in order; return log q of how they are.

    log P(n) n! G(s) / G(s + n) is heard_R + rise_J, but for n times what either topic has, and
    P(0) is silent_R.
    wanted_I: the sides that tables are to have; empty: they are drawn.
    """
    state = new_stream(key, 0)
    n_words, forced, log_q = sharing.count_2P.shape[1], wanted_I.size > 0, 0.0
    longest, most = 0, 0
    for d in range(row_D.size):
        n_tokens = 0
        for i in range(start_D[d], start_D[d + 1]):
            n_tokens += size_I[i]
        longest, most = max(longest, start_D[d + 1] - start_D[d]), max(most, n_tokens)
    share_I, side_I, count_2P = np.empty(longest), sharing.side_I, sharing.count_2P
    chance, height = np.empty((longest + 1, most + 1)), np.empty(most + 1)
    heard, quiet = np.empty(2), np.empty(2)
    total_2, users_2, seen_1 = sharing.total_2, sharing.users_2, sharing.seen_1
    whole = n_words * concentration
    for d in order_D:
        first, stop = start_D[d], start_D[d + 1]
        if side_I[first] >= 0:
            _count(first, stop, word_I, side_I, -1.0, count_2P, total_2, users_2)
            seen_1[0] -= 1.0
        n_tokens, n_tables = 0, stop - first
        for i in range(n_tables):
            p = word_I[first + i]
            weight = (concentration + count_2P[0, p]) / (whole + total_2[0])
            other = (concentration + count_2P[1, p]) / (whole + total_2[1])
            share_I[i] = weight / (weight + other)
            n_tokens += size_I[first + i]
        # chance[i, n]: the first i tables have n tokens on side 0
        for i in range(n_tables + 1):
            for n in range(n_tokens + 1):
                chance[i, n] = 0.0
        chance[0, 0], sofar = 1.0, 0
        for i in range(n_tables):
            c, share = size_I[first + i], share_I[i]
            for n in range(sofar + 1):
                chance[i + 1, n] += chance[i, n] * (1.0 - share)
                chance[i + 1, n + c] += chance[i, n] * share
            sofar += c
        for k in range(2):
            share = (users_2[k] + 1.0) / (seen_1[0] + 2.0)
            heard[k] = math.log(share) + heard_R[row_D[d]]
            quiet[k] = math.log1p(share * (silent_R[row_D[d]] - 1.0))
        best = -np.inf
        for n in range(n_tokens + 1):
            height[n] = heard[0] + rise_J[n] if n > 0 else quiet[0]
            m = n_tokens - n
            height[n] += heard[1] + rise_J[m] if m > 0 else quiet[1]
            if chance[n_tables, n] > 0.0:
                best = max(best, height[n])
        total = 0.0
        for n in range(n_tokens + 1):
            total += chance[n_tables, n] * math.exp(height[n] - best)
        on_0 = 0
        if forced:
            for i in range(n_tables):
                side_I[first + i] = wanted_I[first + i]
                if wanted_I[first + i] == 0:
                    on_0 += size_I[first + i]
        else:
            left = uniform(state) * total
            for n in range(n_tokens + 1):
                weight = chance[n_tables, n] * math.exp(height[n] - best)
                if weight > 0.0 and left > 0.0:
                    on_0 = n
                left -= weight
            n = on_0
            for i in range(n_tables - 1, -1, -1):
                c = size_I[first + i]
                stays = chance[i, n] * (1.0 - share_I[i])
                side_I[first + i] = 1
                if n >= c:
                    goes = chance[i, n - c] * share_I[i]
                    if uniform(state) * (stays + goes) < goes:
                        side_I[first + i] = 0
                        n -= c
        log_q += height[on_0] - best - math.log(total)
        for i in range(n_tables):
            share = share_I[i] if side_I[first + i] == 0 else 1.0 - share_I[i]
            log_q += math.log(share) if share > 0.0 else -np.inf
        _count(first, stop, word_I, side_I, 1.0, count_2P, total_2, users_2)
        seen_1[0] += 1.0
    return log_q


@compiled
def _count(
    first: int,
    stop: int,
    word_I: np.ndarray,
    side_I: np.ndarray,
    sign: float,
    count_2P: np.ndarray,
    total_2: np.ndarray,
    users_2: np.ndarray,
) -> None:
    """Add a document's tables, or take them away."""
    uses_0, uses_1 = 0.0, 0.0
    for i in range(first, stop):
        k = side_I[i]
        count_2P[k, word_I[i]] += sign
        total_2[k] += sign
        uses_0, uses_1 = max(uses_0, 1.0 - k), max(uses_1, float(k))
    users_2[0] += sign * uses_0
    users_2[1] += sign * uses_1
