"""A background atom and a thinned one change places: another cluster is the one always open.

Rows, θ and π of both are exchanged; the thinned atom's x is proposed anew for its new rows, and the
masses with it (`proposals`). Without this move a chain keeps the cluster that happened to be in the
background at first.

    log ratio = log [gates and masses after / before] + log of the candidates' means of w over w(x)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from thincrm.models.mixtures.proposals import Atom, View, atom_with, split_local, view_of
from thincrm.models.mixtures.state import MixtureOwn, MixtureProblem, MixtureState
from thincrm.numerics.arrays import Int

__all__ = ["Gain", "exchange"]


class Gain(NamedTuple):
    """The parts of the log ratio."""

    atoms: float  # masses and gates
    x: float  # of the candidates


def exchange(
    rng: np.random.Generator, problem: MixtureProblem, state: MixtureState,
    total: Callable[[Gain], float] = sum,
) -> MixtureState:  # fmt: skip
    """Try to let a background atom and a thinned one change places."""
    n_background = problem.n_background
    if n_background in (0, problem.n_atoms):
        return state
    view = view_of(problem, state)
    i, j = int(rng.integers(n_background)), int(rng.integers(n_background, problem.n_atoms))
    rows = [np.flatnonzero(view.label_N == k) for k in (i, j)]
    if not rows[0].size and not rows[1].size:
        return state
    new = [atom_with(rng, view, k, own, True, True) for k, own in ((i, rows[1]), (j, rows[0]))]
    old = [atom_with(rng, view, k, own, True, False) for k, own in ((i, rows[0]), (j, rows[1]))]
    gain = Gain(
        sum(atom.value for atom in new) - sum(atom.value for atom in old),
        sum(atom.pool for atom in new) - sum(atom.pool for atom in old),
    )
    if not np.log(rng.random()) < total(gain):
        return state
    return _exchanged(view, (i, j), (rows[0], rows[1]), new)


def _exchanged(
    view: View, pair: tuple[int, int], rows: tuple[Int, Int], new: list[Atom]
) -> MixtureState:
    state, (i, j) = view.state, pair
    label_N = view.label_N.copy()
    label_N[rows[0]], label_N[rows[1]] = j, i
    params = type(state.own.params)(*(np.array(array) for array in state.own.params))
    counts, log_mass = state.evidence.counts.copy(), state.log_mass.copy()
    counts[:, [i, j]] = counts[:, [j, i]]
    for array in params:
        array[[i, j]] = array[[j, i]]
    log_mass[[i, j]] = [atom.log_mass for atom in new]
    x = type(state.x)(*(np.array(field) for field in state.x))
    for field, value in zip(x, new[1].x, strict=True):
        field[j - view.problem.n_background] = value[0]
    return replace(
        state, local=split_local(view, label_N), own=MixtureOwn(params, state.own.hyper),
        log_mass=log_mass, x=x, evidence=state.evidence._replace(counts=counts),
    )  # fmt: skip
