"""Topics: theta_k ~ Dirichlet(concentration + counts), many small shapes at once."""

from __future__ import annotations

import math

import numpy as np

from thincrm.numerics.compiled import compiled
from thincrm.numerics.powers import powers
from thincrm.numerics.streams import new_stream, uniform
from thincrm.numerics.variates import gamma, log_dirichlet

__all__ = ["draw_gammas", "normalise", "tally"]

_VANISHED = 1e-6  # shares of a smaller sum may need numbers below the least float32


@compiled
def draw_gammas(
    first: int,
    stop: int,
    key: np.uint64,
    count_PK: np.ndarray,
    concentration: float,
    topic_U: np.ndarray,
    out_PU: np.ndarray,
) -> None:
    """Fill rows first..stop-1 of `out_PU` with Gamma(concentration + count); a stream a word.

    Where there is no count, as in most cells, Gamma(a < 1) by rejection (Ahrens and Dieter 1974,
    GS): with b = 1 + a / e and u = b V propose x = u^(1 / a) where u <= 1, x = -log((b - u) / a)
    elsewhere, and accept it with probability exp(-x), or exp(-(1 - a) log x). Chances exp(-c_1),
    exp(-c_2), ... are tossed with one Exponential(1) that c_1, c_2, ... are taken from: the first
    that it does not last for is rejected.
    """
    n_topics, a = topic_U.size, concentration
    inverse, bound, small = 1.0 / a, 1.0 + a * math.exp(-1.0), a < 1.0
    u_U, x_U, scratch_U = np.zeros(n_topics), np.zeros(n_topics), np.empty(n_topics)
    held_U = np.empty(n_topics + 1, np.int64)
    for p in range(first, stop):
        state, n_held = new_stream(key, p), 0
        lasts = -math.log(uniform(state))
        if small:
            for i in range(n_topics):
                u_U[i] = uniform(state) * bound
            powers(u_U, inverse, x_U, scratch_U)
        for i in range(n_topics):
            holds = count_PK[p, topic_U[i]] > 0 or not small
            held_U[n_held] = i
            n_held += holds
            x = cost = x_U[i]
            if u_U[i] > 1.0:
                x = -math.log((bound - u_U[i]) / a)
                cost = (1.0 - a) * math.log(x)
            lasts -= 0.0 if holds else cost
            if lasts < 0.0:
                x, lasts = gamma(state, a), -math.log(uniform(state))
            out_PU[p, i] = x
        for j in range(n_held):
            i = held_U[j]
            out_PU[p, i] = gamma(state, a + count_PK[p, topic_U[i]])


@compiled
def normalise(
    key: np.uint64,
    count_PK: np.ndarray,
    concentration: float,
    topic_U: np.ndarray,
    out_PU: np.ndarray,
) -> None:
    """Make every column sum to one; draw those again, in logs, that float32 cannot hold.

    A sum of gammas is independent of its shares (Lukacs 1955), so choosing columns by their sums
    leaves the law of the shares alone. With P concentration << 1 unused topics need it.
    """
    n_words, n_topics = out_PU.shape[0], topic_U.size
    total_U, scale_U = np.zeros(n_topics), np.empty(n_topics)
    for p in range(n_words):
        for i in range(n_topics):
            total_U[i] += out_PU[p, i]
    shape_P, log_P = np.empty(n_words), np.empty(n_words)
    for i in range(n_topics):
        if total_U[i] < _VANISHED:
            for p in range(n_words):
                shape_P[p] = concentration + count_PK[p, topic_U[i]]
            log_dirichlet(new_stream(key, n_words + i), shape_P, log_P)
            for p in range(n_words):
                out_PU[p, i] = math.exp(log_P[p])
            total_U[i] = 1.0
        scale_U[i] = 1.0 / total_U[i]
    for p in range(n_words):
        for i in range(n_topics):
            out_PU[p, i] *= scale_U[i]


@compiled
def tally(first: int, stop: int, count_PK: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the (K,) totals of words first..stop-1, and how many cells hold 1, 2, ... tokens.

    Cells that hold any are first gathered, without a branch: they come in no order.
    """
    n_topics = count_PK.shape[1]
    total_K, held_K, most = np.zeros(n_topics, np.int64), np.empty(n_topics + 1, np.int64), 0
    sizes = np.zeros(256, np.int64)
    for p in range(first, stop):
        n_held = 0
        for k in range(n_topics):
            count = count_PK[p, k]
            total_K[k] += count
            held_K[n_held] = count
            n_held += count > 0
        for i in range(n_held):
            most = max(most, held_K[i])
            if most > sizes.size:
                larger = np.zeros(2 * most, np.int64)
                larger[: sizes.size] = sizes
                sizes = larger
            sizes[held_K[i] - 1] += 1
    return total_K, sizes[:most]
