"""A move on one atom that costs the same for ten observations and for ten million.

Given how many gates are open at each row, the binomial likelihood of the predictors is tilted
from a Gaussian that depends on those counts alone (Berkson's working points z_t, w_t):

    Q_m = diag(l) + F_m' W F_m,     v_m = l mu + F_m' W z,     R_m' R_m = Q_m
    target(m, w) ~ |Q_m|^(-1/2) exp(v_m' Q_m^-1 v_m / 2)  N(w; Q_m^-1 v_m, Q_m^-1)  exp(tilt),
    tilt = sum_t  open_t log p_t + shut_t log(1 - p_t) + w_t (z_t - eta_t)^2 / 2.

Within a width, an elliptical slice against that Gaussian (Nishihara, Murray and Adams 2014);
between widths, an independence Metropolis jump of (m, w) together. Both are exact however rough
the Gaussian is; with large counts it is good and they move far.
"""

from __future__ import annotations

import math

import numpy as np

from thincrm.numerics.cholesky import factor, log_det_factor, solve_factor, solve_transposed
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream, uniform
from thincrm.numerics.variates import normal
from thincrm.thinning.atom import (
    Atoms,
    Gates,
    Prior,
    ellipse,
    gates_of,
    open_counts,
    predict,
    seen_anywhere,
    tilted,
)
from thincrm.thinning.links import working_point

__all__ = ["move_counts"]


@compiled
def _add_products(
    basis_TJ: np.ndarray,
    point_T: np.ndarray,
    weight_T: np.ndarray,
    product_JJ: np.ndarray,
    sum_J: np.ndarray,
) -> None:
    """Add F' W F, on and above its diagonal, and F' W z, row by row of F, four at a time.

    A row begins at a whole vector, so that it is added up as quickly as a whole one.
    """
    n_rows, size = basis_TJ.shape
    for t in range(0, n_rows - 3, 4):
        b0, b1, b2, b3 = basis_TJ[t], basis_TJ[t + 1], basis_TJ[t + 2], basis_TJ[t + 3]
        z0, z1, z2, z3 = point_T[t], point_T[t + 1], point_T[t + 2], point_T[t + 3]
        w0, w1, w2, w3 = weight_T[t], weight_T[t + 1], weight_T[t + 2], weight_T[t + 3]
        for i in range(size):
            s0, s1, s2, s3 = w0 * b0[i], w1 * b1[i], w2 * b2[i], w3 * b3[i]
            sum_J[i] = (((sum_J[i] + s0 * z0) + s1 * z1) + s2 * z2) + s3 * z3
            at = i - i % 8
            row_J, c0, c1, c2, c3 = product_JJ[i, at:], b0[at:], b1[at:], b2[at:], b3[at:]
            for j in range(row_J.size):
                row_J[j] = (((row_J[j] + s0 * c0[j]) + s1 * c1[j]) + s2 * c2[j]) + s3 * c3[j]
    for t in range(n_rows - n_rows % 4, n_rows):
        for i in range(size):
            scaled = weight_T[t] * basis_TJ[t, i]
            sum_J[i] += scaled * point_T[t]
            for j in range(i, size):
                product_JJ[i, j] += scaled * basis_TJ[t, j]


@compiled
def _fit(
    basis_TJ: np.ndarray,
    mean_J: np.ndarray,
    precision_J: np.ndarray,
    point_T: np.ndarray,
    weight_T: np.ndarray,
    factor_JJ: np.ndarray,
    centre_J: np.ndarray,
) -> float:
    """Fill R and Q^-1 v; return log |Q|^(-1/2) exp(v' Q^-1 v / 2)."""
    size = mean_J.size
    for j in range(size):
        for k in range(size):
            factor_JJ[j, k] = 0.0
        factor_JJ[j, j] = precision_J[j]
        centre_J[j] = precision_J[j] * mean_J[j]
    _add_products(basis_TJ, point_T, weight_T, factor_JJ, centre_J)
    factor(factor_JJ)
    solve_transposed(factor_JJ, centre_J)
    evidence = -0.5 * log_det_factor(factor_JJ)
    for j in range(size):
        evidence += 0.5 * centre_J[j] * centre_J[j]
    solve_factor(factor_JJ, centre_J)
    return evidence


@compiled
def _centred_draw(state: np.ndarray, factor_JJ: np.ndarray, out_J: np.ndarray) -> None:
    """Fill `out_J` with a N(0, Q^-1) draw."""
    for j in range(out_J.size):
        out_J[j] = normal(state)
    solve_factor(factor_JJ, out_J)


@compiled
def _stand_in(
    state: np.ndarray, gates: Gates, eta_T: np.ndarray, point_T: np.ndarray, weight_T: np.ndarray
) -> Gates:
    """Open gates given the predictors, and fill the working points of the counts."""
    open_T = np.empty(eta_T.size, np.int64)
    shut_T, never_T = np.empty(eta_T.size, np.int64), np.empty(eta_T.size)
    open_counts(state, eta_T, gates, open_T)
    for t in range(eta_T.size):
        trials = gates.positive_T[t] + gates.silent_T[t]
        point_T[t], weight_T[t] = working_point(open_T[t], trials, gates.link)
        shut_T[t], never_T[t] = trials - open_T[t], 0.0
    return Gates(gates.link, open_T, shut_T, never_T)


@compiled
def move_counts(first: int, stop: int, key: np.uint64, prior: Prior, atoms: Atoms) -> None:
    """Open gates; then, by the toss of a coin, walk an ellipse or jump to another width."""
    n_widths, n_rows, size = prior.basis_MTJ.shape
    mean_J = prior.mean_J
    eta_T, point_T, weight_T = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    factor_JJ, centre_J, new_J = np.empty((size, size)), np.empty(size), np.empty(size)
    for k in range(first, stop):
        if not seen_anywhere(atoms, k):
            continue
        state, m = new_stream(key, k), atoms.width_K[k]
        w_J, precision_J, basis_TJ = atoms.weight_KJ[k], atoms.precision_KJ[k], prior.basis_MTJ[m]
        predict(prior.column_MJT[m], w_J, eta_T)
        seen = _stand_in(state, gates_of(atoms, k), eta_T, point_T, weight_T)
        gain = -_fit(basis_TJ, mean_J, precision_J, point_T, weight_T, factor_JJ, centre_J)
        if n_widths == 1 or uniform(state) < 0.5:
            _centred_draw(state, factor_JJ, new_J)
            ellipse(state, prior.column_MJT[m], seen, point_T, weight_T, centre_J, new_J, w_J)
            continue
        gain -= tilted(eta_T, seen, point_T, weight_T)
        new_m = (m + 1 + int(uniform(state) * (n_widths - 1))) % n_widths
        new_TJ = prior.basis_MTJ[new_m]
        gain += _fit(new_TJ, mean_J, precision_J, point_T, weight_T, factor_JJ, centre_J)
        _centred_draw(state, factor_JJ, new_J)
        for j in range(size):
            new_J[j] += centre_J[j]
        predict(prior.column_MJT[new_m], new_J, eta_T)
        gain += tilted(eta_T, seen, point_T, weight_T)
        if math.log(uniform(state)) < gain:
            atoms.width_K[k] = new_m
            for j in range(size):
                w_J[j] = new_J[j]
