"""What redrawing one token takes, step by step; `kernel` has the equations.

Of one document, by the column k of a topic in theta: `count` tokens; the columns in `use`, each at
its `slot`; for each of these the `excess` of its weight over an unused topic's (0 beyond the last).
Of the word at hand: the columns that have tokens of the `same` word, and how many others each has
(`voice`).

The loops work on flat arrays with unsigned indices (numba then leaves out the test for negative
ones), and sum over used topics in four interleaved parts: half the time of the plain form. Arrays
are passed one by one: numba counts references to the fields of a tuple at each call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thincrm.numerics.arrays import Float
from thincrm.numerics.compiled import compiled, inlined

__all__ = [
    "draw_plainly",
    "draw_used",
    "excess_of",
    "seat_tokens",
    "sum_echoes",
    "sum_used",
    "take_out",
    "unsigned",
]

unsigned: Any = np.uint64
Index = np.uint64
_0, _1, _2, _3, _4 = (unsigned(i) for i in range(5))


@inlined
def excess_of(shape: float, gain: float, c: int, fade: float, unused: float) -> float:
    """Return how much more than an unused topic weighs one with c tokens, if any."""
    return float(max((shape + c) * gain * fade - unused, 0.0))


@inlined
def seat_tokens(
    begin: Index,
    end: Index,
    topic_N: np.ndarray,
    place_K: np.ndarray,
    count: np.ndarray,
    slot: np.ndarray,
    use: np.ndarray,
) -> Index:
    """Count tokens by column, write columns for topics, and return how many are in use."""
    n_used: Index = _0
    for n in range(begin, end):
        k = unsigned(place_K[topic_N[n]])
        topic_N[n] = k
        if count[k] == 0:
            slot[k] = n_used
            use[n_used] = k
            n_used += _1
        count[k] += 1
    return n_used


@inlined
def take_out(j: Index, n_used: Index, use: np.ndarray, slot: np.ndarray, excess: Float) -> Index:
    """Let the last column in use stand where one stood that is empty; return how many are left."""
    n_used -= _1
    last = unsigned(use[n_used])
    use[j] = last
    excess[j] = excess[n_used]
    slot[last] = j
    excess[n_used] = 0.0
    return n_used


@inlined
def sum_used(
    theta: np.ndarray, here: Index, n_used: Index, use: np.ndarray, excess: Float, weight: Float
) -> tuple[float, float, float, float]:
    """Add up excess times theta in four parts; return the first one, two, three and all."""
    a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
    for j in range(_0, n_used, _4):
        a0 += theta[here + use[j]] * excess[j]
        a1 += theta[here + use[j + _1]] * excess[j + _1]
        a2 += theta[here + use[j + _2]] * excess[j + _2]
        a3 += theta[here + use[j + _3]] * excess[j + _3]
        weight[j] = a0
        weight[j + _1] = a1
        weight[j + _2] = a2
        weight[j + _3] = a3
    b1 = a0 + a1
    return a0, b1, b1 + a2, b1 + (a2 + a3)


@inlined
def draw_used(
    x: float,
    sums: tuple[float, float, float, float],
    n_used: Index,
    weight: Float,
    edge: Float,
) -> Index:
    """Return where the running sum of `sum_used` passes x; edge: 0, and room for three numbers."""
    edge[1], edge[2], edge[3] = sums[0], sums[1], sums[2]
    part = unsigned(x >= sums[0]) + unsigned(x >= sums[1]) + unsigned(x >= sums[2])
    x -= edge[part]
    place = part
    for g in range(_0, n_used, _4):
        place += _4 * unsigned(x >= weight[g + part])
    return min(place, n_used - _1)


@inlined
def sum_echoes(
    n_same: Index,
    same: np.ndarray,
    voice: Float,
    count: np.ndarray,
    shape_K: Float,
    gain_K: Float,
    echo_J: Float,
    echo_K: Float,
) -> float:
    """Add up what other tokens of the word weigh, each by the column it is in."""
    total = 0.0
    for i in range(n_same):
        k = unsigned(same[i])
        c = count[k]
        echo_K[k] = (shape_K[k] + c) * gain_K[k] * echo_J[c]
        total += voice[k] * echo_K[k]
    return total


@compiled
def draw_plainly(
    u: float,
    k: Index,
    theta: np.ndarray,
    here: Index,
    unused: np.ndarray,
    at: Index,
    count: np.ndarray,
    shape_K: Float,
    gain_K: Float,
    fade_J: Float,
    n_same: Index,
    same: np.ndarray,
    voice: Float,
    echo_K: Float,
) -> Index:
    """Return a column drawn by the weights of all of them; k, if none weighs anything."""
    weight_K = np.empty(shape_K.size)
    for i in range(shape_K.size):
        c, full = count[i], float(unused[at + unsigned(i)])
        if c > 0:
            full = (shape_K[i] + c) * gain_K[i] * fade_J[c]
        weight_K[i] = full * theta[here + unsigned(i)]
    for j in range(n_same):
        weight_K[same[j]] += voice[same[j]] * echo_K[same[j]]
    left = u * weight_K.sum()
    for i in range(shape_K.size):
        if weight_K[i] > 0.0:
            k = unsigned(i)
            left -= weight_K[i]
            if left < 0.0:
                break
    return k
