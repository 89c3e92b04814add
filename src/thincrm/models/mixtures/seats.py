"""One row after another chooses its cluster, clusters' parameters and masses integrated out.

    P(c_n = k | others) ∝ w_nk E[π_k | n_k others] p(y_n | rows of k)

with w the gate or its average, and the last factor the predictive density of the cluster's law.
Every law has a loop of its own; this is what they share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from thincrm.models.mixtures.kernel import pick
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled

__all__ = ["Seats", "half_gammas", "leave", "needs_density", "sit"]


class Seats(NamedTuple):
    """Who is in which cluster, and how clusters are weighted."""

    label_N: np.ndarray  # int32
    count_K: Int  # rows of each cluster
    order_R: Int  # the rows that choose, in this order; perhaps more than once
    place_N: Int  # where a row's weights are
    log_weight_WK: Float
    log_mass_KC: Float  # log E[π_k | c rows]


def half_gammas(first: float, size: int) -> Float:
    """Return log Γ(first + i / 2), i = 0, 1, ..., size - 1."""
    return np.asarray(gammaln(first + 0.5 * np.arange(size)))


@compiled
def leave(seats: Seats, n: int) -> int:
    """Take row n out of its cluster, which is returned."""
    k = int(seats.label_N[n])
    seats.count_K[k] -= 1
    return k


@compiled
def needs_density(seats: Seats, n: int, k: int) -> bool:
    """Tell whether row n may be of cluster k."""
    return bool(seats.log_weight_WK[seats.place_N[n], k] > -np.inf)


@compiled
def sit(
    state: np.ndarray, seats: Seats, n: int, log_K: np.ndarray, empty: float, scratch_K: np.ndarray
) -> int:
    """Draw the cluster of row n; log_K holds log densities of used clusters, `empty` of others."""
    weight_K = seats.log_weight_WK[seats.place_N[n]]
    for k in range(log_K.size):
        if seats.count_K[k] == 0 or weight_K[k] == -np.inf:
            log_K[k] = empty
        log_K[k] += weight_K[k] + seats.log_mass_KC[k, seats.count_K[k]]
    scratch_K[:] = 1.0
    k = pick(state, log_K, scratch_K)
    seats.label_N[n] = k
    seats.count_K[k] += 1
    return k
