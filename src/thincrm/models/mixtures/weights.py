"""Weights of clusters where gates have been heard of: at covariates that rows were fitted at.

Gates that are shared by the n rows at t are known in part: those of clusters with rows there are
open. For one row more,

    w_k ∝ ∫ u^n  Π_used e^{-uπ_j}  Π_silent (1 - p_j + p_j e^{-uπ_j})  π_k s_k(u) du

with s_k = 1 for the used and p e^{-uπ} / (1 - p + p e^{-uπ}) for the silent: the trapezoid rule in
log u, over the places where a Gamma(n + 1) variable lies.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit

from thincrm.numerics.arrays import Bool, Float, Int
from thincrm.numerics.compiled import compiled

__all__ = ["draw_gates", "seen_weights"]

_NEGLIGIBLE = 30.0  # nats below the peak
_STEPS = 2.0  # nodes in a standard deviation


def _nodes(n_rows: int, used: float, total: float) -> Float:
    """Return log u where u^n e^{-uB} matters, for any B from `used` to `total`."""
    x = _NEGLIGIBLE / (n_rows + 1)
    low = math.log((n_rows + 1) / total) - x - math.sqrt(2.0 * x)
    high = math.log((n_rows + 1) / used) + math.sqrt(2.0 * x)
    return np.arange(low, high, 1.0 / (_STEPS * math.sqrt(n_rows + 1)))


def seen_weights(log_mass: Float, log_odds_TA: Float, used_TA: Bool, n_rows_T: Int) -> Float:
    """Return the (T, A) probabilities that one row more at t is of each cluster.

    used_TA: clusters with rows at t; n_rows_T: how many rows there are, at least one.
    """
    mass_A = np.exp(log_mass - log_mass.max())
    out = np.empty(log_odds_TA.shape)
    for t, used_A in enumerate(used_TA):
        open_A, shut_A = _odds(log_odds_TA[t], used_A)
        log_u = _nodes(int(n_rows_T[t]), float(mass_A[used_A].sum()), float(mass_A.sum()))
        log_silent_U = _log_silent(log_u, mass_A, open_A, shut_A)
        log_silent_U += (n_rows_T[t] + 1) * log_u
        _integrate(log_u, np.exp(log_silent_U - log_silent_U.max()), mass_A, open_A, shut_A, out[t])
    return np.asarray(out / out.sum(1, keepdims=True))


def draw_gates(
    rng: np.random.Generator, log_mass: Float, log_odds_A: Float, used_A: Bool, n_rows: int
) -> Bool:
    """Draw the gates at a covariate where n rows have been seen: V first, then the silent ones.

    V ~ u^{n-1} Π_used e^{-uπ} Π_silent (1 - p + p e^{-uπ}), on the nodes.
    """
    mass_A = np.exp(log_mass - log_mass.max())
    open_A, shut_A = _odds(log_odds_A, used_A)
    log_u = _nodes(n_rows - 1, float(mass_A[used_A].sum()), float(mass_A.sum()))
    log_silent_U = _log_silent(log_u, mass_A, open_A, shut_A) + n_rows * log_u
    chance_U = np.exp(log_silent_U - log_silent_U.max())
    clock = math.exp(rng.choice(log_u, p=chance_U / chance_U.sum()))
    seen_A = open_A * np.exp(-clock * mass_A)
    with np.errstate(invalid="ignore"):
        chance_A = np.nan_to_num(seen_A / (shut_A + seen_A))
    return np.asarray(used_A | (rng.random(mass_A.size) < chance_A))


def _odds(log_odds_A: Float, used_A: Bool) -> tuple[Float, Float]:
    """Return p and 1 - p; gates of used clusters are open."""
    log_odds_A = np.where(used_A, np.inf, log_odds_A)
    return expit(log_odds_A), expit(-log_odds_A)


@compiled
def _log_silent(
    log_u: np.ndarray, mass_A: np.ndarray, open_A: np.ndarray, shut_A: np.ndarray
) -> np.ndarray:
    """Return Σ_j log(1 - p_j + p_j e^{-uπ_j})."""
    out = np.zeros(log_u.size)
    for i in range(log_u.size):
        u = math.exp(log_u[i])
        for k in range(mass_A.size):
            if shut_A[k] == 0.0:
                out[i] -= u * mass_A[k]
            else:
                out[i] += math.log(shut_A[k] + open_A[k] * math.exp(-u * mass_A[k]))
    return out


@compiled
def _integrate(
    log_u: np.ndarray, silent_U: np.ndarray, mass_A: np.ndarray, open_A: np.ndarray,
    shut_A: np.ndarray, out_A: np.ndarray,
) -> None:  # fmt: skip
    out_A[:] = 0.0
    for i in range(log_u.size):
        if silent_U[i] == 0.0:
            continue
        u = math.exp(log_u[i])
        for k in range(mass_A.size):
            if shut_A[k] == 0.0:
                out_A[k] += silent_U[i] * mass_A[k]
            else:
                seen = open_A[k] * math.exp(-u * mass_A[k])
                out_A[k] += silent_U[i] * mass_A[k] * seen / (shut_A[k] + seen)
