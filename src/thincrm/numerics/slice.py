"""Two moves without tuning: the univariate slice and the elliptical slice, many atoms at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import Float, Seed, as_generator

__all__ = ["MOST_SHRINKS", "MOST_STEPS", "elliptical_slice", "slice_move"]

MOST_STEPS = 1000  # out of a slice: no more are ever made, but by numbers beside which one is none
MOST_SHRINKS = 200  # then the slice is a point: it stays where it was


def slice_move(
    rng: Seed, x_K: Float, log_density: Callable[[Float], Float], *, width: float = 1.0
) -> Float:
    """Move each x_k by one univariate slice step (Neal 2003: stepping out, then shrinking).

    Parameters
    ----------
    x_K : (K,) float
        Current points; the K targets are independent.
    log_density : callable
        Maps a (K,) array to its (K,) unnormalised log densities, -inf outside the support.
    width : float
        First guess of a slice's size; a poor guess costs time, never correctness.
    """
    rng = as_generator(rng)
    now = log_density(x_K)
    if not np.all(np.isfinite(now)):
        raise InvalidInput("slice_move starts outside the support: log_density is not finite.")
    level = now - rng.exponential(size=x_K.shape)
    left = x_K - width * rng.random(x_K.shape)
    right = left + width
    for edge, step in ((left, -width), (right, width)):
        growing = np.ones(x_K.shape, bool)
        for _ in range(MOST_STEPS):
            growing &= log_density(edge) > level
            if not growing.any():
                break
            edge[growing] += step
    out = np.array(x_K)
    left_over = np.ones(x_K.shape, bool)
    for _ in range(MOST_SHRINKS):
        proposal = np.where(left_over, left + (right - left) * rng.random(x_K.shape), out)
        inside = log_density(proposal) > level
        out = np.where(left_over & inside, proposal, out)
        left_over &= ~inside
        if not left_over.any():
            break
        below = left_over & (proposal < x_K)
        left = np.where(below, proposal, left)
        right = np.where(left_over & ~below, proposal, right)
    return out


def elliptical_slice(
    rng: Seed, x_KJ: Float, prior_draw_KJ: Float, log_likelihood: Callable[[Float], Float]
) -> Float:
    """Move each row of x by one elliptical slice step (Murray, Adams and MacKay 2010).

    Parameters
    ----------
    x_KJ : (K, J) float
        Current points minus their Gaussian prior mean.
    prior_draw_KJ : (K, J) float
        Fresh draws from the same centred Gaussian prior.
    log_likelihood : callable
        Maps a (K, J) array to the (K,) log likelihoods of its rows.
    """
    rng = as_generator(rng)
    size = x_KJ.shape[0]
    level = log_likelihood(x_KJ) - rng.exponential(size=size)
    angle = np.asarray(rng.uniform(0.0, 2.0 * np.pi, size))
    low, high = angle - 2.0 * np.pi, angle
    out = np.array(x_KJ)
    left_over = np.ones(size, bool)
    for _ in range(MOST_SHRINKS):
        turned = x_KJ * np.cos(angle)[:, None] + prior_draw_KJ * np.sin(angle)[:, None]
        proposal = np.where(left_over[:, None], turned, out)
        inside = log_likelihood(proposal) > level
        out = np.where((left_over & inside)[:, None], proposal, out)
        left_over &= ~inside
        if not left_over.any():
            break
        low = np.where(left_over & (angle < 0.0), angle, low)
        high = np.where(left_over & (angle >= 0.0), angle, high)
        angle = np.asarray(rng.uniform(low, high))
    return out
