"""The gates of a thinned measure: their joint means under a coupling, and draws of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import expit

from thincrm.errors import InvalidInput, check_between, check_count
from thincrm.measure.points import Points, together
from thincrm.measure.random_measure import Levy, draw_locations
from thincrm.measure.realisation import Realisation
from thincrm.numerics.arrays import Bool, Float

if TYPE_CHECKING:
    from thincrm.measure.thinned import ThinnedCRM

__all__ = [
    "draw_log_masses",
    "joint_gates",
    "mean_gate",
    "prepare",
    "realise",
    "series_length",
    "squared_gate",
]

_ERROR = 1e-3


def prepare(crm: ThinnedCRM, *several: Points) -> Any:
    """Prepare the thinning function on the measure's own covariates, or on those of a call."""
    known = together(several) if crm.covariates is None else crm.covariates
    return crm.thinning.prepare(known)


def mean_gate(crm: ThinnedCRM, prepared: object, at: Points) -> Float:
    """Return the (T,) means E[p(t)]."""
    return np.asarray(crm.thinning.mean_activation(prepared, at.t))


def squared_gate(crm: ThinnedCRM, prepared: object, at: Points) -> Float:
    """Return the (T,) means E[r^2] = E[p], or E[p^2] when the measure is weighted."""
    if not crm.weighted:
        return mean_gate(crm, prepared, at)
    return np.diagonal(crm.thinning.pair_activation(prepared, at.t, at.t, "independent"))


def joint_gates(crm: ThinnedCRM, prepared: object, here: Points, there: Points) -> Float:
    """Return the (S, T) means E[r^s r^t], or E[p(s) p(t)] when the measure is weighted."""
    law: Literal["independent", "comonotone"] = (
        "comonotone" if crm.coupling == "comonotone" else "independent"
    )
    joint = crm.thinning.pair_activation(prepared, here.t, there.t, law)
    if crm.coupling != "shared":
        return np.asarray(joint)
    same = np.all(here.rows[:, None, :] == there.rows, axis=2)
    return np.where(same, mean_gate(crm, prepared, there), joint)


@lru_cache(maxsize=256)
def series_length(levy: Levy, error: float, n_eff: float) -> int:
    """Return `levy.n_atoms_for(error, n_eff)`, a search that repeated draws need not repeat."""
    return int(levy.n_atoms_for(error, n_eff)) if n_eff > 0 else 1


def draw_log_masses(
    levy: Levy,
    rng: np.random.Generator,
    n_atoms: int | None,
    error: float | None,
    length: Callable[[float], int],
) -> Float:
    """Draw log masses: `n_atoms` of the finite approximation, or a series of length(error)."""
    if n_atoms is not None and error is not None:
        raise InvalidInput("n_atoms and error both say how many atoms to draw: pass one.")
    if n_atoms is not None:
        return np.asarray(levy.draw_log_mass(rng, check_count("n_atoms", n_atoms)))
    miss = check_between("error", _ERROR if error is None else error, 0.0, 1.0)
    return np.asarray(levy.log_series(rng, length(miss)))


def realise(
    crm: ThinnedCRM, rng: np.random.Generator, at: Points, prepared: object, log_masses: Float
) -> Realisation:
    """Draw locations, auxiliary variables and gates for atoms of the given masses."""
    with np.errstate(over="ignore"):
        masses = np.exp(log_masses)
    locations = draw_locations(crm.base, rng, masses.size)
    x = crm.thinning.draw(rng, masses.size, prepared)
    p_TK = np.asarray(expit(crm.thinning.log_odds(x, prepared, at.t)))
    gates = np.ones(p_TK.shape, bool) if crm.weighted else _draw_gates(crm, rng, at, p_TK)
    weights = np.where(gates, masses * p_TK if crm.weighted else masses, 0.0)
    return Realisation(at.known, masses, locations, x, p_TK, gates, weights)


def _draw_gates(crm: ThinnedCRM, rng: np.random.Generator, at: Points, p_TK: Float) -> Bool:
    n_atoms = p_TK.shape[1]
    if crm.coupling == "comonotone":
        uniform = rng.random((1, n_atoms))
    elif crm.coupling == "shared":
        uniform = rng.random((len(at.known.rows), n_atoms))[at.known.row]
    else:
        uniform = rng.random(p_TK.shape)
    return np.asarray(uniform < p_TK)
