"""Redraw every token's topic with the topics' words integrated out as well, one after the other.

`kernel` moves tokens given theta, all documents at once; topics then follow their tokens, and
tokens their topics, in small steps. Here theta_k ~ Dirichlet(a, ..., a) is integrated out, as gates
and usages are, so that a token feels at once where the others of its word are. With m_kp fresh
draws of word p from topic k (m_k in all) it starts a table of its own there, or joins table j of
its word in the document, of b_j tokens and topic k_j, with weights

    v_k fade(c_k) (a + m_kp) / (P a + m_k)    and    v_{k_j} echo(c_{k_j}) b_j,
    v_k = (shape_k + c_k) q_k where c_k > 0 other tokens of the document are, u_tk where none is.

Tables are those of a Chinese restaurant: each has one fresh draw of its topic, which its other
tokens echo. A topic's words in a document are Polya's urn of s theta_kp balls whoever sits where,
and a token may leave any table. Without bursts every token has a table of its own.

Exact, but serial: all counts are up to date for every token.
"""

from __future__ import annotations

import numpy as np

from thincrm.models.topics.kernel import Corpus, Rates
from thincrm.models.topics.lanes import find_topic, fold
from thincrm.models.topics.token_steps import draw_echo, sum_echoes, unsigned
from thincrm.numerics.compiled import compiled, inlined
from thincrm.numerics.streams import open_stream, uniform

__all__ = ["redraw_collapsed", "seat_words"]

Index = np.uint64
_0, _1 = unsigned(0), unsigned(1)


@inlined
def _other_token(
    state: np.ndarray, n: int, first: Index, stop: Index, k: Index, topic_N: np.ndarray
) -> int:
    """Return one of first..stop-1 that is in column k and not n, each equally likely."""
    other = n
    while other == n or unsigned(topic_N[other]) != k:
        other = min(first + unsigned(uniform(state) * (stop - first)), stop - _1)
    return other


@compiled
def seat_words(
    key: np.uint64,
    corpus: Corpus,
    rates: Rates,
    topic_N: np.ndarray,
    table_N: np.ndarray,
    fresh_PK: np.ndarray,
) -> None:
    """Draw every token's table given its topic and theta; add the tables to fresh_PK.

    A token of word p is fresh with probability s theta_kp / (s theta_kp + n), n tokens of its word
    being in the topic before it, or else sits with one of these. Tables have numbers below the
    tokens of their word in the document.
    """
    word_N, place_K, strength = corpus.word_N, rates.place_K, rates.echo_J[0]
    before, state = np.zeros(fresh_PK.shape[1], np.int64), np.empty(4, np.uint64)
    for d in range(corpus.start_D.size - 1):
        open_stream(state, key, corpus.item_D[d])
        first, end = corpus.start_D[d], corpus.start_D[d + 1]
        while first < end:
            p, tail = word_N[first], first
            while tail < end and word_N[tail] == p:
                k = place_K[topic_N[tail]]
                table_N[tail] = tail - first
                seated = False
                if before[k] > 0 and strength > 0.0:
                    ball = rates.theta_PK[p, k]
                    seated = uniform(state) * (ball + before[k] * strength) >= ball
                if seated:
                    other = tail
                    while other == tail or place_K[topic_N[other]] != k:
                        other = first + int(uniform(state) * (tail - first))
                    table_N[tail] = table_N[other]
                else:
                    fresh_PK[p, k] += 1
                before[k] += 1
                tail += 1
            for n in range(first, tail):
                before[place_K[topic_N[n]]] = 0
            first = tail


@compiled
def redraw_collapsed(
    key: np.uint64,
    corpus: Corpus,
    rates: Rates,
    concentration: float,
    topic_N: np.ndarray,
    table_N: np.ndarray,
    fresh_PK: np.ndarray,
    n_used_D: np.ndarray,
    used_N: np.ndarray,
    size_N: np.ndarray,
) -> None:
    """Redraw topics and tables of the documents, first to last; fresh_PK goes with them.

    Writes the topics of each document as `kernel.redraw_documents` does. A topic of shape 0 keeps
    the tokens it has; to get no more, it weighs nothing.
    """
    word_N, gain_K, shape_K = corpus.word_N, rates.gain_K, rates.shape_K
    place_K, name_K, fade_J, echo_J = rates.place_K, rates.name_K, rates.fade_J, rates.echo_J
    bursty = echo_J[0] > 0.0
    n_words, n_topics = fresh_PK.shape
    unused, tally, width = rates.unused_TK.reshape(-1), fresh_PK.reshape(-1), unsigned(n_topics)
    ball = np.empty(n_words * n_topics, np.float32)  # a + m, made anew from m: no rounding adds up
    for i in range(ball.size):
        ball[i] = concentration + tally[i]
    total_K = fresh_PK.sum(axis=0) + n_words * concentration
    weight, lane = np.empty(n_topics, np.float32), np.empty(n_topics // 16, np.float32)
    half, quarter = np.empty(n_topics // 2, np.float32), np.empty(n_topics // 4, np.float32)
    count, echo_K = np.zeros(n_topics, np.uint32), np.zeros(n_topics)
    same, voice = np.empty(n_topics, np.uint32), np.zeros(n_topics)
    size_J, free = np.zeros(fade_J.size, np.int64), np.empty(fade_J.size, np.int64)
    state = np.empty(4, np.uint64)
    for d in range(corpus.start_D.size - 1):
        begin, end = unsigned(corpus.start_D[d]), unsigned(corpus.start_D[d + 1])
        at = unsigned(corpus.row_D[d]) * width
        open_stream(state, key, corpus.item_D[d])
        for n in range(begin, end):
            topic_N[n] = place_K[topic_N[n]]
            count[topic_N[n]] += 1
        for k in range(width):
            c = count[k]
            weight[k] = unused[at + k] / total_K[k]
            if c > 0:
                weight[k] = (shape_K[k] + c) * gain_K[k] * fade_J[c] / total_K[k]
        first, tail, n_same, n_free = begin, begin, _0, 0
        for n in range(begin, end):
            p, k = unsigned(word_N[n]), unsigned(topic_N[n])
            here = p * width
            if n == tail:
                for j in range(n_same):
                    voice[same[j]] = 0.0
                first, tail, n_same, n_free = n, n + _1, _0, 0
                while bursty and tail < end and unsigned(word_N[tail]) == p:
                    tail += _1
                if tail - n > _1:
                    size_J[: tail - n] = 0
                    for other in range(n, tail):
                        size_J[table_N[other]] += 1
                        owner = unsigned(topic_N[other])
                        if voice[owner] == 0.0:
                            same[n_same] = owner
                            n_same += _1
                        voice[owner] += 1.0
                    for j in range(int(tail - n)):
                        if size_J[j] == 0:
                            free[n_free] = j
                            n_free += 1
            if shape_K[k] == 0.0:
                continue
            alone = True
            if n_same > _0:
                voice[k] -= 1.0
                size_J[table_N[n]] -= 1
                alone = size_J[table_N[n]] == 0
                if alone:
                    free[n_free] = table_N[n]
                    n_free += 1
            if alone:
                tally[here + k] -= 1
                ball[here + k] = concentration + tally[here + k]
                total_K[k] -= 1.0
            c = count[k] - 1
            count[k] = c
            weight[k] = unused[at + k] / total_K[k]
            if c > 0:
                weight[k] = (shape_K[k] + c) * gain_K[k] * fade_J[c] / total_K[k]
            fresh = fold(ball, here, weight, _0, width, half, quarter, lane, _0)
            echo = sum_echoes(n_same, same, voice, count, shape_K, gain_K, echo_J, echo_K)
            x = uniform(state) * (fresh + echo)
            if x < echo:
                k = unsigned(draw_echo(x, k, n_same, same, voice, echo_K))
                table_N[n] = table_N[_other_token(state, n, first, tail, k, topic_N)]
                size_J[table_N[n]] += 1
            else:
                if fresh > 0.0:
                    k = find_topic(x - echo, ball, here, weight, _0, width, lane, _0)
                tally[here + k] += 1
                ball[here + k] = concentration + tally[here + k]
                total_K[k] += 1.0
                if n_same > _0:
                    n_free -= 1
                    table_N[n] = free[n_free]
                    size_J[table_N[n]] = 1
            if n_same > _0:
                if voice[k] == 0.0:
                    j = _0
                    while j < n_same and unsigned(same[j]) != k:
                        j += _1
                    if j == n_same:
                        same[n_same] = k
                        n_same += _1
                voice[k] += 1.0
            c = count[k] + 1
            count[k] = c
            weight[k] = (shape_K[k] + c) * gain_K[k] * fade_J[c] / total_K[k]
            topic_N[n] = k
        for j in range(n_same):
            voice[same[j]] = 0.0
        n_used = _0
        for n in range(begin, end):
            k = unsigned(topic_N[n])
            topic_N[n] = name_K[k]
            used_N[n], size_N[n] = 0, 0
            if count[k] > 0:
                used_N[begin + n_used] = name_K[k]
                size_N[begin + n_used] = count[k]
                n_used += _1
                count[k] = 0
        n_used_D[d] = n_used
