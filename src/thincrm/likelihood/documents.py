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
S_tp = sum_k u_tk theta_kp is the same for every document at t. Where a used topic weighs less
(s < shape) it is proposed with u_tk theta_kp and rejected as often as is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thincrm.likelihood.lanes import LANES, lane_sums, pick_lane
from thincrm.numerics.arrays import Float
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import open_stream, uniform

__all__ = ["Corpus", "Rates", "bursts", "count_words", "redraw_documents"]


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
    seat_N: np.ndarray,
    n_used_D: np.ndarray,
    used_N: np.ndarray,
    size_N: np.ndarray,
) -> None:
    """Redraw the topics of documents order_D[first:stop].

    Writes topic_N; seat_N, whether a token is a fresh draw from its topic (not an echo of the same
    word before it: the tables of a Chinese restaurant); and, from start_D[d] on, the n_used_D[d]
    topics of document d with their sizes.
    """
    theta_PK, u_TK, gain_K, shape_K = rates.theta_PK, rates.unused_TK, rates.gain_K, rates.shape_K
    n_words, n_topics = theta_PK.shape
    state = np.empty(4, np.uint64)
    count_K, slot_K = np.zeros(n_topics, np.int32), np.zeros(n_topics, np.int32)
    echo_K = np.zeros(n_topics)
    used, excess, weight = np.empty(n_topics, np.int32), np.empty(n_topics), np.empty(n_topics)
    lane_PL, sum_P = np.empty((n_words, LANES), np.float32), np.empty(n_words)
    bursty = rates.echo_J[0] > 0.0
    row = -1
    for i in range(first, stop):
        d = corpus.order_D[i]
        begin, end = corpus.start_D[d], corpus.start_D[d + 1]
        if corpus.row_D[d] != row:
            row = corpus.row_D[d]
            for p in range(n_words):
                sum_P[p] = -1.0
        u_K = u_TK[row]
        open_stream(state, key, corpus.item_D[d])
        n_used = 0
        for n in range(begin, end):
            k = topic_N[n]
            if count_K[k] == 0:
                slot_K[k] = n_used
                used[n_used] = k
                n_used += 1
            count_K[k] += 1
        for j in range(n_used):
            k, c = used[j], count_K[used[j]]
            full = (shape_K[k] + c) * gain_K[k]
            excess[j] = max(full * rates.fade_J[c] - u_K[k], 0.0)
            echo_K[k] = full * rates.echo_J[c]
        head, tail = begin, begin
        for n in range(begin, end):
            p, k = corpus.word_N[n], topic_N[n]
            if n == tail:
                head, tail = n, n + 1
                while tail < end and corpus.word_N[tail] == p:
                    tail += 1
            count_K[k] -= 1
            slot, c = slot_K[k], count_K[k]
            if c == 0:
                n_used -= 1
                used[slot] = used[n_used]
                excess[slot] = excess[n_used]
                slot_K[used[slot]] = slot
            else:
                full = (shape_K[k] + c) * gain_K[k]
                excess[slot] = max(full * rates.fade_J[c] - u_K[k], 0.0)
                echo_K[k] = full * rates.echo_J[c]
            theta_K = theta_PK[p]
            if sum_P[p] < 0.0:
                sum_P[p] = lane_sums(theta_K, u_K, lane_PL[p])
            fresh = 0.0
            for j in range(n_used):
                fresh += theta_K[used[j]] * excess[j]
                weight[j] = fresh
            echo = 0.0
            if bursty:
                for other in range(head, tail):
                    if other != n:
                        echo += echo_K[topic_N[other]]
            while True:
                height = uniform(state) * (sum_P[p] + fresh + echo) - sum_P[p]
                if height < 0.0:
                    k = pick_lane(height + sum_P[p], theta_K, u_K, lane_PL[p])
                    c = count_K[k]
                    if c > 0:
                        full = (shape_K[k] + c) * gain_K[k] * rates.fade_J[c]
                        if full < u_K[k] and uniform(state) * u_K[k] >= full:
                            continue
                elif height < fresh:
                    j = 0
                    while j < n_used - 1 and height >= weight[j]:
                        j += 1
                    k = used[j]
                elif echo > 0.0:
                    height -= fresh
                    for other in range(head, tail):
                        if other != n:
                            k = topic_N[other]
                            height -= echo_K[k]
                            if height < 0.0:
                                break
                break
            if count_K[k] == 0:
                slot_K[k] = n_used
                used[n_used] = k
                n_used += 1
            count_K[k] += 1
            slot, c = slot_K[k], count_K[k]
            full = (shape_K[k] + c) * gain_K[k]
            excess[slot] = max(full * rates.fade_J[c] - u_K[k], 0.0)
            echo_K[k] = full * rates.echo_J[c]
            topic_N[n] = k
        head = begin
        for n in range(begin, end):
            p, k = corpus.word_N[n], topic_N[n]
            if corpus.word_N[head] != p:
                head = n
            same = 0
            if bursty:
                for other in range(head, n):
                    if topic_N[other] == k:
                        same += 1
            seat_N[n] = 1
            if same > 0:
                ball = theta_PK[p, k]
                if uniform(state) * (ball + same * rates.echo_J[0]) >= ball:
                    seat_N[n] = 0
        for j in range(n_used):
            k = used[j]
            used_N[begin + j] = k
            size_N[begin + j] = count_K[k]
            count_K[k] = 0
        n_used_D[d] = n_used


@compiled
def count_words(
    word_N: np.ndarray, topic_N: np.ndarray, seat_N: np.ndarray, count_PK: np.ndarray
) -> None:
    """Add to count_PK[p, k] the fresh draws of word p from topic k."""
    for n in range(word_N.size):
        count_PK[word_N[n], topic_N[n]] += seat_N[n]
