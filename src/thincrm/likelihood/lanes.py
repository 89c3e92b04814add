"""Sums over topics in lanes: they vectorise, and serve to find a topic inside the sum."""

from __future__ import annotations

import numpy as np

from thincrm.numerics.compiled import compiled

__all__ = ["LANES", "lane_sums", "pick_lane"]

LANES = 16  # partial sums of S: they vectorise, and serve to find a topic inside S


@compiled
def lane_sums(theta_K: np.ndarray, u_K: np.ndarray, lane_L: np.ndarray) -> float:
    """Fill lane_L[l] with the sum of theta u over topics l, l + LANES, ...; return their sum."""
    for lane in range(LANES):
        lane_L[lane] = theta_K[lane] * u_K[lane]
    for block in range(LANES, theta_K.size, LANES):
        for lane in range(LANES):
            lane_L[lane] += theta_K[block + lane] * u_K[block + lane]
    total = 0.0
    for lane in range(LANES):
        total += lane_L[lane]
    return total


@compiled
def pick_lane(height: float, theta_K: np.ndarray, u_K: np.ndarray, lane_L: np.ndarray) -> int:
    """Return the topic at `height` of S: the lane first, then the topic within it."""
    chosen = -1
    for lane in range(LANES):
        if lane_L[lane] > 0.0:
            chosen = lane
            if height < lane_L[lane]:
                break
            height -= lane_L[lane]
    topic = chosen
    for k in range(chosen, theta_K.size, LANES):
        weight = theta_K[k] * u_K[k]
        if weight > 0.0:
            topic = k
            if height < weight:
                break
            height -= weight
    return topic
