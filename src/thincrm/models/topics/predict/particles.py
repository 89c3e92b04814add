"""Particles for the likelihood of a document: topics given to its tokens one by one.

p(w, z | t), z being the topics of all tokens, depends on t only through the set of topics used.
Sequential Monte Carlo (Doucet, de Freitas and Gordon 2001; for topic models: Buntine 2009,
Wallach et al. 2009) therefore runs once, on the mixture of the candidates t: a particle holds the
topics it uses and the chances of the candidates given them. Mean weight times chance estimates
p(w | t) without bias at every t, and from the same particles, so that errors are alike.

Resampling leaves copies. They are moved apart (resample-move, Gilks and Berzuini 2001): each
draws a candidate from its chances, and redraws its tokens' topics there as in a fit.
"""

from __future__ import annotations

import math

import numpy as np

from thincrm.models.topics.predict.cloud import (
    Candidates,
    Cloud,
    add,
    drop,
    fit,
    learn,
    settle,
    unused_topic,
    used_topic,
    walk,
)
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import open_stream, uniform

__all__ = ["weigh_documents"]

_GROWTH = 1.1  # of a document between two moves: their price stays in proportion to its length


@compiled
def _give_token(
    state: np.ndarray, model: Candidates, cloud: Cloud, n: int, p: int, part_C: np.ndarray
) -> float:
    """Give token n, of word p, to a topic in every particle; return the mean of their weights."""
    mean = 0.0
    for s in range(cloud.weight.size):
        unused, n_used = 0.0, cloud.n_used[s]
        for c in range(part_C.size):
            part_C[c] = cloud.chance[s, c] * model.total[p, c]
            unused += part_C[c]
        plain, echo = fit(model, cloud, s, n, p)
        total = unused + plain + echo
        cloud.weight[s] *= total
        mean += cloud.weight[s]
        if total == 0.0:
            continue
        height = uniform(state) * total
        if height < unused or n_used == 0:
            c, height = walk(height, part_C, part_C.size)
            k = unused_topic(height / cloud.chance[s, c], model.theta[p], model.unused[c])
        else:
            k = used_topic(height - unused, plain, model, cloud, s, n)
        add(model, cloud, s, k, 0.0)
        cloud.topic[s, n] = k
        if cloud.n_used[s] > n_used:
            learn(model, cloud, s, k)
            settle(model, cloud, s)
    return mean / cloud.weight.size


@compiled
def _resample(state: np.ndarray, cloud: Cloud, n_tokens: int, copies_S: np.ndarray) -> None:
    """Replace particles of mean weight one by copies of weight one (systematic resampling).

    Particle s gets one copy for each of the points U, 1 + U, 2 + U, ... that its stretch of the
    summed weights covers. Copies are written over the particles that got none.
    """
    size = copies_S.size
    offset = uniform(state)
    reached, given, alive = 0.0, 0, 0
    for s in range(size):
        reached += cloud.weight[s]
        alive = s if cloud.weight[s] > 0.0 else alive
        upto = min(size, math.ceil(reached - offset))
        copies_S[s] = upto - given
        given = upto
        cloud.weight[s] = 1.0
    copies_S[alive] += size - given  # a sum rounded down may miss the last point
    donor = 0
    for s in range(size):
        if copies_S[s] > 0:
            continue
        while copies_S[donor] < 2:
            donor += 1
        copies_S[donor] -= 1
        _copy(cloud, donor, s, n_tokens)


@compiled
def _copy(cloud: Cloud, donor: int, s: int, n_tokens: int) -> None:
    """Write particle `donor` over particle s."""
    for c in range(cloud.chance.shape[1]):
        cloud.chance[s, c] = cloud.chance[donor, c]
    for n in range(n_tokens):
        cloud.topic[s, n] = cloud.topic[donor, n]
    cloud.n_used[s] = cloud.n_used[donor]
    for j in range(cloud.n_used[donor]):
        cloud.used[s, j] = cloud.used[donor, j]
        cloud.size[s, j] = cloud.size[donor, j]
        cloud.excess[s, j] = cloud.excess[donor, j]


@compiled
def _move(
    state: np.ndarray,
    model: Candidates,
    cloud: Cloud,
    s: int,
    n_tokens: int,
    word_N: np.ndarray,
    start_C: np.ndarray,
) -> None:
    """Draw a candidate t given the topics of particle s, then the topics of its tokens given t."""
    here, _ = walk(uniform(state), cloud.chance[s], start_C.size)
    for c in range(start_C.size):
        cloud.chance[s, c] = 1.0 if c == here else 0.0
    settle(model, cloud, s)
    for n in range(n_tokens):
        p = word_N[n]
        drop(model, cloud, s, cloud.topic[s, n])
        unused = model.total[p, here]
        plain, echo = fit(model, cloud, s, n, p)
        height = uniform(state) * (unused + plain + echo)
        if height < unused or cloud.n_used[s] == 0:
            k = unused_topic(height, model.theta[p], model.unused[here])
        else:
            k = used_topic(height - unused, plain, model, cloud, s, n)
        add(model, cloud, s, k, model.unused[here, k])
        cloud.topic[s, n] = k
    for c in range(start_C.size):
        cloud.chance[s, c] = start_C[c]
    for j in range(cloud.n_used[s]):
        learn(model, cloud, s, cloud.used[s, j])
    settle(model, cloud, s)


@compiled
def _join_ring(n: int, word_N: np.ndarray, ring_N: np.ndarray) -> None:
    """Put token n into the ring of the tokens before it that are of the same word."""
    ring_N[n] = n
    for before in range(n - 1, -1, -1):
        if word_N[before] == word_N[n]:
            ring_N[n] = ring_N[before]
            ring_N[before] = n
            break


@compiled
def _weigh_one(
    state: np.ndarray,
    model: Candidates,
    cloud: Cloud,
    word_N: np.ndarray,
    copies_S: np.ndarray,
    out_C: np.ndarray,
) -> None:
    """Turn out_C, the log weights of the candidates, into those of the candidates and word_N."""
    n_particles, n_tokens = copies_S.size, word_N.size
    start_C, part_C = np.empty(out_C.size), np.empty(out_C.size)
    top, total = -np.inf, 0.0
    for c in range(out_C.size):
        top = max(top, out_C[c])
    if top == -np.inf:
        return
    for c in range(out_C.size):
        start_C[c] = math.exp(out_C[c] - top)
        total += start_C[c]
    log_total = top + math.log(total)
    for c in range(out_C.size):
        start_C[c] /= total
    for s in range(n_particles):
        cloud.weight[s] = 1.0
        cloud.n_used[s] = 0
        for c in range(out_C.size):
            cloud.chance[s, c] = start_C[c]
    moved = 0
    for n in range(n_tokens):
        _join_ring(n, word_N, cloud.ring)
        mean = _give_token(state, model, cloud, n, word_N[n], part_C)
        if mean == 0.0:
            for c in range(out_C.size):
                out_C[c] = -np.inf
            return
        log_total += math.log(mean)
        squares = 0.0
        for s in range(n_particles):
            cloud.weight[s] /= mean
            squares += cloud.weight[s] * cloud.weight[s]
        if squares <= 2.0 * n_particles or n == n_tokens - 1:
            continue
        _resample(state, cloud, n + 1, copies_S)
        if n >= _GROWTH * moved:
            moved = n
            for s in range(n_particles):
                _move(state, model, cloud, s, n + 1, word_N, start_C)
    for c in range(out_C.size):
        total = 0.0
        for s in range(n_particles):
            total += cloud.weight[s] * cloud.chance[s, c]
        out_C[c] = log_total + math.log(total / n_particles) if total > 0.0 else -np.inf


@compiled
def weigh_documents(
    first: int,
    stop: int,
    key: np.uint64,
    n_particles: int,
    start_D: np.ndarray,
    word_N: np.ndarray,
    model: Candidates,
    out_DC: np.ndarray,
) -> None:
    """Add to rows first:stop of out_DC the log estimates of sum_z p(w, z | t) / p(nothing | t).

    What they hold before, with what the estimate adds, is the weight of a candidate in the mixture.
    """
    longest = 0
    for d in range(first, stop):
        longest = max(longest, start_D[d + 1] - start_D[d])
    room = min(longest, model.gain.size)
    cloud = Cloud(
        np.empty(n_particles),
        np.empty((n_particles, out_DC.shape[1])),
        np.empty((n_particles, longest), np.int64),
        np.empty(n_particles, np.int64),
        np.empty((n_particles, room), np.int64),
        np.empty((n_particles, room), np.int64),
        np.empty((n_particles, room)),
        np.empty(room),
        np.empty(longest, np.int64),
    )
    copies_S, state = np.empty(n_particles, np.int64), np.empty(4, np.uint64)
    for d in range(first, stop):
        if start_D[d] == start_D[d + 1]:
            continue
        open_stream(state, key, d)
        shuffled = word_N[start_D[d] : start_D[d + 1]].copy()
        for n in range(shuffled.size - 1, 0, -1):
            other = int(uniform(state) * (n + 1))
            shuffled[n], shuffled[other] = shuffled[other], shuffled[n]
        _weigh_one(state, model, cloud, shuffled, copies_S, out_DC[d])
