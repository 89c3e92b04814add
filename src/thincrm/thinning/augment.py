"""Albert and Chib's move on one atom: latent normals, one for each indicator (probit only)."""

from __future__ import annotations

import math

import numpy as np

from thincrm.numerics.cholesky import factor, log_det_factor, solve_factor, solve_transposed
from thincrm.numerics.compiled import compiled
from thincrm.numerics.slice import MOST_SHRINKS, MOST_STEPS
from thincrm.numerics.streams import new_stream, uniform
from thincrm.numerics.variates import gamma, normal, positive_normal
from thincrm.thinning.atom import (
    Atoms,
    Gates,
    Prior,
    add_projection,
    gates_of,
    open_counts,
    pick,
    predict,
)

__all__ = ["augment"]


@compiled
def _fit(prior: Prior, m: int, precision_J: np.ndarray, factor_JJ: np.ndarray) -> None:
    """Fill `factor_JJ` with R, R'R = diag(l) + F_m' N F_m."""
    for i in range(precision_J.size):
        for j in range(i, precision_J.size):
            factor_JJ[i, j] = prior.gram_MJJ[m, i, j]
        factor_JJ[i, i] += precision_J[i]
    factor(factor_JJ)


@compiled
def _project(
    prior: Prior,
    m: int,
    factor_JJ: np.ndarray,
    precision_J: np.ndarray,
    scale: float,
    sum_T: np.ndarray,
    out_J: np.ndarray,
) -> None:
    """Fill `out_J` with R'^-1 (l mu + scale F_m' s)."""
    for j in range(out_J.size):
        out_J[j] = precision_J[j] * prior.mean_J[j]
    add_projection(prior.basis_MTJ[m], scale, sum_T, out_J)
    solve_transposed(factor_JJ, out_J)


@compiled
def _rescale(
    state: np.ndarray,
    prior: Prior,
    m: int,
    factor_JJ: np.ndarray,
    precision_J: np.ndarray,
    sum_T: np.ndarray,
    square: float,
    n: float,
) -> float:
    """Return the factor g of the parameter-expanded scale move of the latent normals.

    Its density is g^(n-1) exp(-A g^2/2 + C g), A = square - |R'^-1 F's|^2,
    C = (R'^-1 F's) . (R'^-1 l mu): exact if C = 0, else one slice step on log g.
    """
    if n == 0.0:
        return 1.0
    prior_J, both_J = np.empty(precision_J.size), np.empty(precision_J.size)
    _project(prior, m, factor_JJ, precision_J, 0.0, sum_T, prior_J)
    _project(prior, m, factor_JJ, precision_J, 1.0, sum_T, both_J)
    linear = 0.0
    for j in range(precision_J.size):
        pull = both_J[j] - prior_J[j]
        square -= pull * pull
        linear += pull * prior_J[j]
    if linear == 0.0:
        return math.sqrt(2.0 * gamma(state, 0.5 * n) / square)
    level = -0.5 * square + linear + math.log(uniform(state))
    left = -0.2 * uniform(state)
    right = left + 0.2
    for _ in range(MOST_STEPS):
        if not n * left - 0.5 * square * math.exp(2 * left) + linear * math.exp(left) > level:
            break
        left -= 0.2
    for _ in range(MOST_STEPS):
        if not n * right - 0.5 * square * math.exp(2 * right) + linear * math.exp(right) > level:
            break
        right += 0.2
    for _ in range(MOST_SHRINKS):
        x = left + (right - left) * uniform(state)
        if n * x - 0.5 * square * math.exp(2 * x) + linear * math.exp(x) > level:
            return math.exp(x)
        if x < 0.0:
            left = x
        else:
            right = x
    return 1.0


@compiled
def _draw_latents(
    state: np.ndarray, eta_T: np.ndarray, gates: Gates, open_T: np.ndarray, sum_T: np.ndarray
) -> float:
    """Fill `sum_T` with sums of latents, N(eta, 1) cut at 0 by the gate; return their squares."""
    square = 0.0
    for t in range(eta_T.size):
        sum_T[t] = 0.0
        for i in range(gates.positive_T[t] + gates.silent_T[t]):
            sign = 1.0 if i < open_T[t] else -1.0
            latent = positive_normal(state, sign * eta_T[t])
            sum_T[t] += sign * latent
            square += latent * latent
    return square


@compiled
def augment(first: int, stop: int, key: np.uint64, prior: Prior, atoms: Atoms) -> None:
    """Draw latent normals, rescale them, then draw width and weights as one block.

    Q_m = diag(l) + F_m' N F_m,   v_m = l mu + F_m' s   (s: sums of latents at each row)
    P(m | latent) ~ |Q_m|^(-1/2) exp(v_m' Q_m^-1 v_m / 2),   w | m, latent ~ N(Q_m^-1 v_m, Q_m^-1)

    The scale move stands on both sides of the width so that the whole stays reversible.
    """
    n_widths, n_rows, size = prior.basis_MTJ.shape
    eta_T, sum_T = np.empty(n_rows), np.empty(n_rows)
    open_T = np.empty(n_rows, np.int64)
    factor_MJJ, log_weight_M = np.empty((n_widths, size, size)), np.empty(n_widths)
    for k in range(first, stop):
        state, gates = new_stream(key, k), gates_of(atoms, k)
        w_J, precision_J, m = atoms.weight_KJ[k], atoms.precision_KJ[k], atoms.width_K[k]
        predict(prior.column_MJT[m], w_J, eta_T)
        open_counts(state, eta_T, gates, open_T)
        square = _draw_latents(state, eta_T, gates, open_T, sum_T)
        n = 0.0
        for t in range(n_rows):
            n += gates.positive_T[t] + gates.silent_T[t]
        for width in range(n_widths):
            _fit(prior, width, precision_J, factor_MJJ[width])
        g = _rescale(state, prior, m, factor_MJJ[m], precision_J, sum_T, square, n)
        for width in range(n_widths):
            _project(prior, width, factor_MJJ[width], precision_J, g, sum_T, w_J)
            log_weight_M[width] = -0.5 * log_det_factor(factor_MJJ[width])
            for j in range(size):
                log_weight_M[width] += 0.5 * w_J[j] ** 2
        m = pick(state, log_weight_M)
        for t in range(n_rows):
            sum_T[t] *= g
        g = _rescale(state, prior, m, factor_MJJ[m], precision_J, sum_T, square * g * g, n)
        _project(prior, m, factor_MJJ[m], precision_J, g, sum_T, w_J)
        for j in range(size):
            w_J[j] += normal(state)
        solve_factor(factor_MJJ[m], w_J)
        atoms.width_K[k] = m
