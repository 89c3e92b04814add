"""Redraw every token's topic, gates and usages integrated out, at the price of what is open.

Given the globals, a document's words in topic k are zero-inflated negative binomial:
n_dk = 0 if the gate is shut (probability 1 - a_tk), else NB(shape_k, q_k). Integrating gates and
usages out, a token of word p in a document at t goes to topic k with weight

    (shape_k + c_k) q_k  P(p | k)   if c_k > 0 other tokens of the document are there ("used"),
    u_tk theta_kp                   if none is,  u_tk = shape_k q_k o_tk,

o_tk = P(open | silent) = a q0 / (1 - a + a q0), q0 = (1 - q)^shape. Words may be bursty (Doyle and
Elkan 2009): the topic's words in one document are a Polya urn of s theta_kp balls, so

    P(p | k) = (s theta_kp + c_kp) / (s + c_k) = theta_kp fade(c_k) + c_kp echo(c_k),

with c_kp other tokens of the same word there, fade(c) = s / (s + c), echo(c) = 1 / (s + c);
without bursts (s infinite) fade = 1 and echo = 0. As o <= 1, and s >= shape as a rule, a used
topic's weight is u_tk theta_kp plus a positive excess: the total has no cancellation, and its part
S_tp = sum_k u_tk theta_kp is the same for every document at t. Rows may share a bound U_bk >= u_tk
in its place (see `envelope`). Where a topic weighs less than its bound (or, s < shape, a used one
less than an unused one) it is proposed with U_bk theta_kp and rejected as often as is needed.

Topics are learned from fresh draws alone, not from words that echo a word before them: the tables
of a Chinese restaurant, the n-th token of a word in its topic being fresh with probability
s theta_kp / (s theta_kp + n - 1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thincrm.models.topics.lanes import find_topic, fold
from thincrm.models.topics.tally import Tally
from thincrm.models.topics.token_steps import (
    draw_plainly,
    draw_used,
    excess_of,
    seat_tokens,
    sum_echoes,
    sum_used,
    take_out,
    unsigned,
)
from thincrm.numerics.arrays import Float
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import open_stream, uniform

__all__ = [
    "Corpus",
    "Rates",
    "bursts",
    "count_documents",
    "count_usages",
    "count_words",
    "more_than",
    "pack_usages",
    "redraw_documents",
]

_0, _1, _16 = unsigned(0), unsigned(1), unsigned(16)
_ONE = np.uint8(1)
_TRIES = 16  # proposals of a token that are rejected before all topics are weighed


class Corpus(NamedTuple):
    """Documents, sorted by covariate row, as runs of tokens sorted by word."""

    order_D: np.ndarray
    row_D: np.ndarray
    item_D: np.ndarray  # number of each document's random stream
    start_D: np.ndarray
    word_N: np.ndarray


class Rates(NamedTuple):
    """The pieces of a token's weights."""

    theta_PK: np.ndarray  # float32
    gain_K: Float  # q
    shape_K: Float
    unused_TK: np.ndarray  # u, float32
    fade_J: Float
    echo_J: Float
    place_K: np.ndarray  # the column of each topic, int32
    name_K: np.ndarray  # the topic of each column
    bin_T: np.ndarray  # the bin of each row, int32
    bound_BK: np.ndarray  # U, float32: no row of a bin has a larger u


def bursts(burstiness: float, longest: int) -> tuple[Float, Float]:
    """Return fade and echo of 0..longest other tokens; burstiness = 1 / s, 0 for none."""
    count_J = np.arange(longest + 1, dtype=float)
    fade_J = np.asarray(1.0 / (1.0 + burstiness * count_J))
    return fade_J, burstiness * fade_J


@compiled
def redraw_documents(
    first: int,
    stop: int,
    key: np.uint64,
    corpus: Corpus,
    rates: Rates,
    topic_N: np.ndarray,
    n_used_D: np.ndarray,
    used_N: np.ndarray,
    size_N: np.ndarray,
    tally: Tally,
) -> None:
    """Redraw the topics of documents order_D[first:stop].

    Writes topic_N and, unless n_used_D is empty, from start_D[d] on the n_used_D[d] topics of
    document d with their sizes, and zeros up to start_D[d + 1].
    Adds to the tally, unless that is empty: fresh draws of word p from column k, and what documents
    use.
    A topic of shape 0 keeps the tokens it has; to get no more, it weighs nothing.
    """
    word_N, gain_K, shape_K = corpus.word_N, rates.gain_K, rates.shape_K
    place_K, name_K = rates.place_K, rates.name_K
    fade_J, echo_J, strength = rates.fade_J, rates.echo_J, rates.echo_J[0]
    bursty = strength > 0.0
    n_words, n_topics = rates.theta_PK.shape
    theta, unused = rates.theta_PK.reshape(-1), rates.unused_TK.reshape(-1)
    bin_T, bound = rates.bin_T, rates.bound_BK.reshape(-1)
    low, rounds = tally.low_PK.reshape(-1), tally.rounds_PK.reshape(-1)
    positive_TK, size_JK, most = tally.positive_TK, tally.size_JK, len(tally.size_JK)
    counting, keeping = low.size > 0, n_used_D.size > 0
    width = unsigned(n_topics)
    lanes = width // _16
    state = np.empty(4, np.uint64)
    count, slot = np.zeros(n_topics, np.uint32), np.zeros(n_topics, np.uint32)
    use, excess = np.zeros(n_topics + 4, np.uint32), np.zeros(n_topics + 4)
    weight, echo_K = np.empty(n_topics + 4), np.zeros(n_topics)
    same, voice = np.empty(n_topics, np.uint32), np.zeros(n_topics)
    before = np.zeros(n_topics, np.uint32)
    lane, sum_P = np.empty(n_words * (n_topics // 16), np.float32), np.empty(n_words)
    half, quarter = np.empty(n_topics // 2, np.float32), np.empty(n_topics // 4, np.float32)
    edge = np.zeros(4)
    bin_P = np.full(n_words, -1, np.int32)  # the bin that sum_P and lane are of
    for i in range(first, stop):
        d = corpus.order_D[i]
        begin, end = unsigned(corpus.start_D[d]), unsigned(corpus.start_D[d + 1])
        row = corpus.row_D[d]
        own_bin = bin_T[row]
        at, high = unsigned(row) * width, unsigned(own_bin) * width
        open_stream(state, key, corpus.item_D[d])
        n_used = unsigned(seat_tokens(begin, end, topic_N, place_K, count, slot, use))
        for j in range(n_used):
            k = unsigned(use[j])
            c = count[k]
            excess[j] = excess_of(shape_K[k], gain_K[k], c, fade_J[c], bound[high + k])
        tail, n_same = begin, _0
        for n in range(begin, end):
            p, k = unsigned(word_N[n]), unsigned(topic_N[n])
            if n == tail:
                for j in range(n_same):
                    voice[same[j]] = 0.0
                    before[same[j]] = 0
                n_same, tail = _0, n + _1
                while bursty and tail < end and unsigned(word_N[tail]) == p:
                    tail += _1
                if tail - n > _1:
                    for other in range(n, tail):
                        owner = unsigned(topic_N[other])
                        if voice[owner] == 0.0:
                            same[n_same] = owner
                            n_same += _1
                        voice[owner] += 1.0
                if not bursty:
                    tail = end
            if n_same > _0:
                voice[k] -= 1.0
            c = count[k] - 1
            count[k] = c
            j = unsigned(slot[k])
            if c == 0:
                n_used = unsigned(take_out(j, n_used, use, slot, excess))
            else:
                excess[j] = excess_of(shape_K[k], gain_K[k], c, fade_J[c], bound[high + k])
            here = p * width
            silent = sum_P[p]
            if bin_P[p] != own_bin:
                silent = fold(theta, here, bound, high, width, half, quarter, lane, p * lanes)
                sum_P[p], bin_P[p] = silent, own_bin
            sums = sum_used(theta, here, n_used, use, excess, weight)
            used = sums[3]
            echo = sum_echoes(n_same, same, voice, count, shape_K, gain_K, echo_J, echo_K)
            rest = silent + echo
            place = unsigned(slot[k])
            u, n_tries = uniform(state), 0
            while shape_K[k] > 0.0:
                x = u * (rest + used) - silent
                if x < 0.0:
                    new = find_topic(x + silent, theta, here, bound, high, width, lane, p * lanes)
                    c, top = count[new], bound[high + new]
                    full = unused[at + new]
                    if c > 0:
                        full = (shape_K[new] + c) * gain_K[new] * fade_J[c]
                    if full < top and uniform(state) * top >= full:
                        n_tries += 1
                        u = uniform(state)
                        if n_tries < _TRIES:
                            continue
                        new = draw_plainly(
                            u, k, theta, here, unused, at, count, shape_K, gain_K, fade_J, n_same,
                            same, voice, echo_K,
                        )  # fmt: skip
                    k = unsigned(new)
                    place = unsigned(slot[k])
                elif x < used:
                    place = unsigned(draw_used(x, sums, n_used, weight, edge))
                    k = unsigned(use[place])
                elif echo > 0.0:
                    x -= used
                    for j in range(n_same):  # no function: references to arrays would be counted
                        owner = unsigned(same[j])
                        if voice[owner] > 0.0 and x >= 0.0:
                            k = owner
                            x -= voice[owner] * echo_K[owner]
                    place = unsigned(slot[k])
                break
            c = count[k] + 1
            if c == 1:
                place = n_used
                slot[k] = n_used
                use[n_used] = k
                n_used += _1
            count[k] = c
            excess[place] = excess_of(shape_K[k], gain_K[k], c, fade_J[c], bound[high + k])
            topic_N[n] = k
            seat = 1
            if n_same > _0:
                if before[k] > 0:
                    ball = theta[here + k]
                    if uniform(state) * (ball + before[k] * strength) >= ball:
                        seat = 0
                before[k] += 1
                if voice[k] == 0.0:
                    j = _0
                    while j < n_same and unsigned(same[j]) != k:
                        j += _1
                    if j == n_same:
                        same[n_same] = k
                        n_same += _1
                voice[k] += 1.0
            if counting and seat > 0:
                low[here + k] += _ONE
                if low[here + k] == 0:
                    rounds[here + k] += 1
        for j in range(n_same):
            voice[same[j]] = 0.0
            before[same[j]] = 0
        for j in range(n_used):
            k = unsigned(use[j])
            name, size = unsigned(name_K[k]), unsigned(count[k])
            if keeping:
                used_N[begin + j] = name
                size_N[begin + j] = size
            if counting:
                positive_TK[row, name] += 1
                if size <= most:
                    size_JK[size - _1, name] += 1
                tally.largest[0] = max(tally.largest[0], size)
            count[k] = 0
            excess[j] = 0.0
        for n in range(begin, end):
            topic_N[n] = name_K[topic_N[n]]
        if keeping:
            for n in range(begin + n_used, end):
                used_N[n] = 0
                size_N[n] = 0
            n_used_D[d] = n_used


@compiled
def count_documents(
    start_D: np.ndarray,
    topic_N: np.ndarray,
    n_topics: int,
    n_used_D: np.ndarray,
    used_N: np.ndarray,
    size_N: np.ndarray,
) -> None:
    """Write the topics of each document as `redraw_documents` does."""
    here = np.zeros(n_topics, np.int32)
    for d in range(start_D.size - 1):
        begin, n_used = start_D[d], 0
        for n in range(begin, start_D[d + 1]):
            k = topic_N[n]
            if here[k] == 0:
                used_N[begin + n_used] = k
                n_used += 1
            here[k] += 1
        for j in range(begin, begin + n_used):
            size_N[j] = here[used_N[j]]
            here[used_N[j]] = 0
        used_N[begin + n_used : start_D[d + 1]] = 0
        size_N[begin + n_used : start_D[d + 1]] = 0
        n_used_D[d] = n_used


@compiled
def count_words(word_N: np.ndarray, topic_N: np.ndarray, count_PK: np.ndarray) -> None:
    """Add all tokens to count_PK."""
    for n in range(word_N.size):
        count_PK[word_N[n], topic_N[n]] += 1


@compiled
def count_usages(
    first: int,
    stop: int,
    corpus: Corpus,
    n_used_D: np.ndarray,
    used_N: np.ndarray,
    size_N: np.ndarray,
    positive_TK: np.ndarray,
    size_JK: np.ndarray,
    most: int,
) -> np.ndarray:
    """Add what documents order_D[first:stop] use to positive_TK and size_JK.

    (T, K) documents that use a topic, and (J, K) those with j + 1 tokens in it, `most` at most.
    Returns size_JK, or a larger one where it is too short.
    """
    order_D, start_D, largest = corpus.order_D, corpus.start_D, 0
    for i in range(first, stop):
        begin = start_D[order_D[i]]
        for n in range(begin, begin + n_used_D[order_D[i]]):
            largest = max(largest, size_N[n])
    n_sizes = min(largest, most)
    if n_sizes > len(size_JK):
        larger_JK = np.zeros((min(2 * n_sizes, most), size_JK.shape[1]), size_JK.dtype)
        larger_JK[: len(size_JK)] = size_JK
        size_JK = larger_JK
    _add_usages(first, stop, corpus, n_used_D, used_N, size_N, positive_TK, size_JK, most)
    return size_JK


@compiled
def _add_usages(
    first: int,
    stop: int,
    corpus: Corpus,
    n_used_D: np.ndarray,
    used_N: np.ndarray,
    size_N: np.ndarray,
    positive_TK: np.ndarray,
    size_JK: np.ndarray,
    most: int,
) -> None:
    """Add to both tables, which are large enough."""
    for i in range(first, stop):
        d = corpus.order_D[i]
        row, begin = corpus.row_D[d], corpus.start_D[d]
        for n in range(begin, begin + n_used_D[d]):
            k, size = used_N[n], size_N[n]
            positive_TK[row, k] += 1
            if size <= most:
                size_JK[size - 1, k] += 1


@compiled
def pack_usages(
    start_D: np.ndarray,
    n_used_D: np.ndarray,
    used_N: np.ndarray,
    size_N: np.ndarray,
    topic_U: np.ndarray,
    size_U: np.ndarray,
) -> None:
    """Fill topic_U and size_U with the topics of all documents, one after another."""
    place = 0
    for d in range(n_used_D.size):
        for n in range(start_D[d], start_D[d] + n_used_D[d]):
            topic_U[place], size_U[place] = used_N[n], size_N[n]
            place += 1


@compiled
def more_than(size_JK: np.ndarray) -> np.ndarray:
    """Return the (J, K) documents with more than j tokens in a topic, up to the largest such j."""
    n_sizes = len(size_JK)
    while n_sizes > 1 and not size_JK[n_sizes - 1].any():
        n_sizes -= 1
    above_JK = size_JK[:n_sizes].astype(np.int64)
    for j in range(n_sizes - 2, -1, -1):
        for k in range(above_JK.shape[1]):
            above_JK[j, k] += above_JK[j + 1, k]
    return above_JK
