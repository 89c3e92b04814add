"""Moves on the atoms of p_tk = link(F_{m_k}[t] . w_k): a redraw is a list of them.

Every move leaves an atom's full conditional invariant and is reversible. Atoms are independent
and have a stream each, so they run on any number of threads with the same bits. Atoms with nothing
seen are left to `refresh`, which moves them farther for less.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream, uniform
from thincrm.numerics.variates import gamma, normal
from thincrm.thinning.atom import (
    Atoms,
    Prior,
    ellipse,
    gates_of,
    log_gates,
    pick,
    predict,
    seen_anywhere,
)

__all__ = ["Move", "move_precisions", "move_weights", "move_width", "refresh"]

Move = Callable[[int, int, np.uint64, Prior, Atoms], None]


@compiled
def refresh(first: int, stop: int, key: np.uint64, prior: Prior, atoms: Atoms) -> None:
    """Propose everything from the prior for atoms with nothing seen (they nearly all accept)."""
    n_widths, n_rows, size = prior.basis_MTJ.shape
    eta_T, new_J, new_precision_J = np.empty(n_rows), np.empty(size), np.empty(size)
    for k in range(first, stop):
        if seen_anywhere(atoms, k):
            continue
        state, gates = new_stream(key, k), gates_of(atoms, k)
        predict(prior.column_MJT[atoms.width_K[k]], atoms.weight_KJ[k], eta_T)
        now = log_gates(eta_T, gates)
        new_m = min(int(uniform(state) * n_widths), n_widths - 1)
        for j in range(size):
            new_precision_J[j] = atoms.precision_KJ[k, j]
            if prior.shape > 0.0:
                new_precision_J[j] = gamma(state, prior.shape) / prior.rate
            new_J[j] = prior.mean_J[j] + normal(state) / math.sqrt(new_precision_J[j])
        predict(prior.column_MJT[new_m], new_J, eta_T)
        if math.log(uniform(state)) < log_gates(eta_T, gates) - now:
            atoms.width_K[k] = new_m
            for j in range(size):
                atoms.weight_KJ[k, j] = new_J[j]
                atoms.precision_KJ[k, j] = new_precision_J[j]


@compiled
def move_width(first: int, stop: int, key: np.uint64, prior: Prior, atoms: Atoms) -> None:
    """Draw the width by enumeration given the weights, gates integrated out."""
    n_widths, n_rows, _ = prior.basis_MTJ.shape
    eta_T, log_weight_M = np.empty(n_rows), np.empty(n_widths)
    for k in range(first, stop):
        if not seen_anywhere(atoms, k):
            continue
        gates = gates_of(atoms, k)
        for m in range(n_widths):
            predict(prior.column_MJT[m], atoms.weight_KJ[k], eta_T)
            log_weight_M[m] = log_gates(eta_T, gates)
        atoms.width_K[k] = pick(new_stream(key, k), log_weight_M)


@compiled
def move_weights(first: int, stop: int, key: np.uint64, prior: Prior, atoms: Atoms) -> None:
    """Move the weights by elliptical slice against their prior, gates integrated out."""
    _, n_rows, size = prior.basis_MTJ.shape
    none_T, other_J = np.zeros(n_rows), np.empty(size)
    for k in range(first, stop):
        if not seen_anywhere(atoms, k):
            continue
        state = new_stream(key, k)
        for j in range(size):
            other_J[j] = normal(state) / math.sqrt(atoms.precision_KJ[k, j])
        column_JT, w_J = prior.column_MJT[atoms.width_K[k]], atoms.weight_KJ[k]
        ellipse(state, column_JT, gates_of(atoms, k), none_T, none_T, prior.mean_J, other_J, w_J)


@compiled
def move_precisions(first: int, stop: int, key: np.uint64, prior: Prior, atoms: Atoms) -> None:
    """Draw l_j ~ Gamma(shape + 1/2, rate + (w_j - mu_j)^2 / 2)."""
    for k in range(first, stop):
        state = new_stream(key, k)
        for j in range(prior.mean_J.size):
            gap = atoms.weight_KJ[k, j] - prior.mean_J[j]
            draw = gamma(state, prior.shape + 0.5)
            atoms.precision_KJ[k, j] = draw / (prior.rate + 0.5 * gap * gap)
