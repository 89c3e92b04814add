"""Moves that ask nothing of a thinning function but its prior and the gates' likelihood."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.slice import slice_move

__all__ = ["move_freely"]

Likelihood = Callable[[Float, Int], Float]


def move_freely(
    rng: np.random.Generator,
    x_KD: Float,
    draw_KD: Callable[[], Float],
    log_likelihood: Likelihood,
    log_prior: Callable[[Float], Float],
    width_D: Sequence[float],
) -> Float:
    """Move the D coordinates of every atom so that their full conditional stays invariant.

    A fresh draw from the prior is proposed (Metropolis: an atom with nothing seen nearly always
    accepts), then each coordinate takes a slice step, and the same again in reverse order, which
    makes the whole move reversible. An atom whose state has no likelihood at all waits for the
    first proposal that has some.

    Parameters
    ----------
    draw_KD : callable
        Draws K fresh atoms from the prior.
    log_likelihood : callable
        Maps coordinates (n, D) of the atoms k (n,) to their (n,) log likelihoods.
    log_prior : callable
        Maps coordinates (n, D) to their (n,) log densities.
    width_D : sequence of float
        A first guess of each coordinate's slice; 0 leaves the coordinate where it is.
    """
    steps = [d for d, width in enumerate(width_D) if width > 0]
    x_KD = _refresh(rng, x_KD, draw_KD(), log_likelihood)
    for d in (*steps, *steps[::-1]):
        x_KD = _slide(rng, x_KD, d, log_likelihood, log_prior, width_D[d])
    return _refresh(rng, x_KD, draw_KD(), log_likelihood)


def _refresh(
    rng: np.random.Generator, x_KD: Float, new_KD: Float, log_likelihood: Likelihood
) -> Float:
    atoms = np.arange(len(x_KD))
    level = log_likelihood(x_KD, atoms) - rng.exponential(size=atoms.shape)
    taken = log_likelihood(new_KD, atoms) > level
    return np.where(taken[:, None], new_KD, x_KD)


def _slide(
    rng: np.random.Generator,
    x_KD: Float,
    d: int,
    log_likelihood: Likelihood,
    log_prior: Callable[[Float], Float],
    width: float,
) -> Float:
    """Move coordinate d by one slice step, of the atoms whose state has some likelihood."""
    atoms = np.flatnonzero(log_likelihood(x_KD, np.arange(len(x_KD))) > -np.inf)
    if atoms.size == 0:
        return x_KD
    others = x_KD[atoms]

    def log_density(value: Float) -> Float:
        at = others.copy()
        at[:, d] = value
        prior = log_prior(at)
        # outside the prior's support the likelihood need not be defined
        inside = np.flatnonzero(prior > -np.inf)
        prior[inside] += log_likelihood(at[inside], atoms[inside])
        return prior

    out = x_KD.copy()
    out[atoms, d] = slice_move(rng, x_KD[atoms, d], log_density, width=width)
    return out
