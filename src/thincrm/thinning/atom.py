"""What the moves on one atom share: its gates' counts, its prior, its predictor.

An atom's target, with the gates integrated out, is

    u_m  prod_j N(w_j; mu_j, 1/l_j) Gamma(l_j; shape, rate)
         prod_t  p_t^positive_t  [(1 - p_t) + p_t q_t]^silent_t,      p_t = link(F_m[t] . w)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled
from thincrm.numerics.slice import MOST_SHRINKS
from thincrm.numerics.streams import uniform
from thincrm.numerics.variates import binomial
from thincrm.thinning.links import gate_term, open_silent

__all__ = [
    "Atoms",
    "Gates",
    "Prior",
    "add_projection",
    "ellipse",
    "gates_of",
    "log_gates",
    "open_counts",
    "pick",
    "predict",
    "seen_anywhere",
    "tilted",
]


class Gates(NamedTuple):
    """One atom's GateEvidence, and the link its predictor goes through."""

    link: int
    positive_T: Int
    silent_T: Int
    q_T: Float


class Atoms(NamedTuple):
    """All atoms' GateEvidence, and their state, which moves change in place."""

    link: int
    positive_KT: Int
    silent_KT: Int
    q_KT: Float
    weight_KJ: Float
    precision_KJ: Float
    width_K: Int


class Prior(NamedTuple):
    """What all atoms share; shape 0 means that the precisions are fixed."""

    basis_MTJ: Float
    column_MJT: Float  # the same by columns, for predictors
    gram_MJJ: Float  # F_m' diag(trials) F_m, for latent normals
    mean_J: Float
    shape: float
    rate: float


@compiled
def gates_of(atoms: Atoms, k: int) -> Gates:
    """Return the gates of atom k."""
    return Gates(atoms.link, atoms.positive_KT[k], atoms.silent_KT[k], atoms.q_KT[k])


@compiled
def seen_anywhere(atoms: Atoms, k: int) -> bool:
    """Tell whether a gate of atom k is known to be open."""
    for t in range(atoms.positive_KT.shape[1]):
        if atoms.positive_KT[k, t] > 0:
            return True
    return False


@compiled
def predict(column_JT: np.ndarray, weight_J: np.ndarray, out_T: np.ndarray) -> None:
    """Fill `out_T` with the predictors F w, column by column of F: rows are added side by side."""
    for t in range(out_T.size):
        out_T[t] = 0.0
    for j in range(weight_J.size):
        column_T, weight = column_JT[j], weight_J[j]
        for t in range(out_T.size):
            out_T[t] += column_T[t] * weight


@compiled
def add_projection(
    basis_TJ: np.ndarray, scale: float, value_T: np.ndarray, out_J: np.ndarray
) -> None:
    """Add scale F' value to `out_J`."""
    for t in range(basis_TJ.shape[0]):
        value = scale * value_T[t]
        for j in range(out_J.size):
            out_J[j] += basis_TJ[t, j] * value


@compiled
def log_gates(eta_T: np.ndarray, gates: Gates) -> float:
    """Return the log-likelihood of the predictors."""
    total = 0.0
    for t in range(eta_T.size):
        total += gate_term(
            eta_T[t], gates.link, gates.positive_T[t], gates.silent_T[t], gates.q_T[t]
        )
    return total


@compiled
def tilted(eta_T: np.ndarray, gates: Gates, point_T: np.ndarray, weight_T: np.ndarray) -> float:
    """Return log_gates + sum_t w_t (z_t - eta_t)^2 / 2: the target over a Gaussian likelihood."""
    total = log_gates(eta_T, gates)
    for t in range(eta_T.size):
        gap = point_T[t] - eta_T[t]
        total += 0.5 * weight_T[t] * gap * gap
    return total


@compiled
def _is_above(
    level: float, eta_T: np.ndarray, gates: Gates, point_T: np.ndarray, weight_T: np.ndarray
) -> bool:
    """Tell whether `tilted` is above a level: no row's gates raise it, so few may tell."""
    total = 0.0
    for t in range(eta_T.size):
        gap = point_T[t] - eta_T[t]
        total += 0.5 * weight_T[t] * gap * gap
    for t in range(eta_T.size):
        total += gate_term(
            eta_T[t], gates.link, gates.positive_T[t], gates.silent_T[t], gates.q_T[t]
        )
        if not total > level:
            return False
    return True


@compiled
def pick(state: np.ndarray, log_weight_M: np.ndarray) -> int:
    """Return an index drawn with probabilities proportional to exp(log_weight_M)."""
    top, total = -np.inf, 0.0
    for m in range(log_weight_M.size):
        top = max(top, log_weight_M[m])
    for m in range(log_weight_M.size):
        total += math.exp(log_weight_M[m] - top)
    left = uniform(state) * total
    choice = 0
    for m in range(log_weight_M.size):
        weight = math.exp(log_weight_M[m] - top)
        if weight > 0.0 and left > 0.0:
            choice = m
        left -= weight
    return choice


@compiled
def open_counts(state: np.ndarray, eta_T: np.ndarray, gates: Gates, open_T: np.ndarray) -> None:
    """Fill `open_T`: the surely open, plus Binomial(silent, p q / (1 - p + p q)) of the silent."""
    for t in range(eta_T.size):
        open_T[t] = gates.positive_T[t]
        if gates.silent_T[t] > 0:
            chance = open_silent(eta_T[t], gates.link, gates.q_T[t])
            open_T[t] += binomial(state, gates.silent_T[t], chance)


@compiled
def ellipse(
    state: np.ndarray,
    column_JT: np.ndarray,
    gates: Gates,
    point_T: np.ndarray,
    weight_T: np.ndarray,
    centre_J: np.ndarray,
    other_J: np.ndarray,
    w_J: np.ndarray,
) -> None:
    """Move the weights w by elliptical slice against the Gaussian `other_J` was drawn from.

    The predictor is linear, so the ellipse is walked among T predictors, not J weights.
    """
    n_rows = column_JT.shape[1]
    middle_T, eta_T, other_T = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    predict(column_JT, centre_J, middle_T)
    predict(column_JT, w_J, eta_T)
    predict(column_JT, other_J, other_T)
    here_T = np.empty(n_rows)
    for t in range(n_rows):
        here_T[t] = eta_T[t] - middle_T[t]
    level = tilted(eta_T, gates, point_T, weight_T) + math.log(uniform(state))
    angle = 2.0 * math.pi * uniform(state)
    low, high = angle - 2.0 * math.pi, angle
    for _ in range(MOST_SHRINKS):
        cosine, sine = math.cos(angle), math.sin(angle)
        for t in range(n_rows):
            eta_T[t] = middle_T[t] + here_T[t] * cosine + other_T[t] * sine
        if _is_above(level, eta_T, gates, point_T, weight_T):
            break
        if angle < 0.0:
            low = angle
        else:
            high = angle
        angle = low + (high - low) * uniform(state)
    else:
        return
    for j in range(w_J.size):
        away = (w_J[j] - centre_J[j]) * cosine + other_J[j] * sine
        w_J[j] = centre_J[j] + away
