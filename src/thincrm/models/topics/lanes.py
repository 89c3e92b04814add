"""Sums over topics, folded: they vectorise, and serve to find a topic inside the sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from thincrm.numerics.compiled import compiled

__all__ = ["LANES", "find_topic", "fold"]

LANES = 16  # topics in each partial sum
unsigned: Any = np.uint64
_0, _2, _4, _8, _16 = (unsigned(i) for i in (0, 2, 4, 8, 16))


@compiled
def fold(
    theta: np.ndarray,
    here: np.uint64,
    unused: np.ndarray,
    at: np.uint64,
    width: np.uint64,
    half: np.ndarray,
    quarter: np.ndarray,
    lane: np.ndarray,
    first: np.uint64,
) -> float:
    """Return sum_k theta[here + k] unused[at + k], k < width, a multiple of LANES.

    Fills lane[first:] with the running sums over l of the parts k = l modulo width / LANES. Each
    fold adds two halves element by element, so no order of addition has to be given up for speed.
    `half` and `quarter` are scratch.
    """
    part = width // _2
    for k in range(part):
        half[k] = theta[here + k] * unused[at + k] + theta[here + part + k] * unused[at + part + k]
    part = width // _4
    for k in range(part):
        quarter[k] = half[k] + half[k + part]
    part = width // _8
    for k in range(part):
        half[k] = quarter[k] + quarter[k + part]
    part = width // _16
    total = 0.0
    for k in range(part):
        total += half[k] + half[k + part]
        lane[first + k] = total
    return total


@compiled
def find_topic(
    height: float,
    theta: np.ndarray,
    here: np.uint64,
    unused: np.ndarray,
    at: np.uint64,
    width: np.uint64,
    lane: np.ndarray,
    first: np.uint64,
) -> Any:
    """Return the topic at `height` of the sum that `fold` found: its part, then itself."""
    lanes = width // _16
    part, below, chosen = _0, np.float32(0.0), _0
    for next_part in range(lanes):  # the last part that weighs anything, if rounding went past all
        if lane[first + next_part] > below:
            part, base = next_part, below
            if height < lane[first + next_part]:
                break
            below = lane[first + next_part]
    left = height - base
    for k in range(part, width, lanes):
        step = theta[here + k] * unused[at + k]
        if step > 0.0:
            chosen = k
            if left < step:
                break
            left -= step
    return chosen
