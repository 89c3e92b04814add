"""A Gaussian near the conditional law of one atom's curve: for proposals of whole atoms.

Gates say of p_t = link(F_m[t] . w)

    l(w) = sum_t positive_t log p_t + silent_t log(1 - p_t + p_t q_t).

For each width m a few steps of Fisher scoring find the top of l(w) + log N(w; mu, 1 / precision) in
the first coordinates, where the curve has nearly all of its variance; there

    w ~ N(c_m, Q_m^-1),   Q_m = diag(precision) + F_m' W F_m,

the other coordinates are from the prior, and m is drawn by Laplace's evidence of each width. It
depends on the gates alone, not on the curve that an atom has, and its density is known.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.cholesky import factor, log_det_factor, solve_factor, solve_transposed
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream
from thincrm.numerics.variates import normal
from thincrm.thinning.atom import pick
from thincrm.thinning.links import LOGISTIC, gate_term

__all__ = ["CurveGuide", "fit_guide"]

_LEADING = 12  # coordinates that gates are asked about
_STEPS = 5
_FAR = 6.0  # predictors beyond say no more
_STRIDE = 2.0  # of a predictor in one step


class CurveGuide(NamedTuple):
    """The law of (w, m) that proposals are drawn from."""

    centre_MJ: Float
    factor_MJJ: Float  # R, R'R = Q
    log_share_M: Float
    mean_J: Float
    precision_J: Float

    def draw(self, key: np.uint64) -> tuple[Float, int]:
        """Draw weights and a width."""
        return _draw(key, *self)

    def log_excess(self, weight_J: Float, width: int) -> float:
        """Return log [prior / law] of (w, m)."""
        return float(_log_excess(weight_J, width, *self))


def fit_guide(
    basis_MTJ: Float,
    mean_J: Float,
    precision_J: Float,
    link: int,
    positive_T: Int,
    silent_T: Int,
    q_T: Float,
) -> CurveGuide:
    """Return the law of one atom's curve given its gates."""
    size = min(mean_J.size, _LEADING)
    centre_MJ, factor_MJJ = np.empty((len(basis_MTJ), size)), np.empty((len(basis_MTJ), size, size))
    fit_M = np.empty(len(basis_MTJ))
    _fit(
        basis_MTJ, mean_J, precision_J, link, positive_T, silent_T, q_T, centre_MJ, factor_MJJ,
        fit_M,
    )  # fmt: skip
    share_M = np.exp(fit_M - fit_M.max())
    return CurveGuide(centre_MJ, factor_MJJ, np.log(share_M / share_M.sum()), mean_J, precision_J)


@compiled
def _slopes(eta: float, link: int, positive: float, silent: float, q: float) -> tuple[float, float]:
    """Return the slope of a row's part of l(w), and Fisher's information of it."""
    eta = min(max(eta, -_FAR), _FAR)
    if link == LOGISTIC:
        p = 1.0 / (1.0 + math.exp(-eta))
        slope = p * (1.0 - p)
    else:
        p = 0.5 * math.erfc(-eta * math.sqrt(0.5))
        slope = math.exp(-0.5 * eta * eta) / math.sqrt(2.0 * math.pi)
    heard = max(1.0 - q, 1e-9)
    unheard = 1.0 - p * heard
    gradient = slope * (positive / p - silent * heard / unheard)
    return gradient, (positive + silent) * slope * slope * heard / (p * unheard)


@compiled
def _fit(
    basis_MTJ: np.ndarray,
    mean_J: np.ndarray,
    precision_J: np.ndarray,
    link: int,
    positive_T: np.ndarray,
    silent_T: np.ndarray,
    q_T: np.ndarray,
    centre_MJ: np.ndarray,
    factor_MJJ: np.ndarray,
    fit_M: np.ndarray,
) -> None:
    """Fill centres, factors and Laplace's evidence of all widths."""
    n_rows, size = positive_T.size, centre_MJ.shape[1]
    eta_T = np.empty(n_rows)
    for m in range(basis_MTJ.shape[0]):
        centre_J, factor_JJ, basis_TJ = centre_MJ[m], factor_MJJ[m], basis_MTJ[m]
        for j in range(size):
            centre_J[j] = mean_J[j]
        for step in range(_STEPS + 1):
            fit = 0.0
            for t in range(n_rows):
                eta_T[t] = 0.0
                for j in range(size):
                    eta_T[t] += basis_TJ[t, j] * centre_J[j]
            if step == _STEPS:
                for t in range(n_rows):
                    fit += gate_term(eta_T[t], link, positive_T[t], silent_T[t], q_T[t])
                for j in range(size):
                    gap = centre_J[j] - mean_J[j]
                    fit += 0.5 * (math.log(precision_J[j]) - precision_J[j] * gap * gap)
            factor_JJ[:] = 0.0
            for j in range(size):
                factor_JJ[j, j] = precision_J[j]
                if step < _STEPS:
                    centre_J[j] = precision_J[j] * mean_J[j]
            for t in range(n_rows):
                gradient, weight = _slopes(eta_T[t], link, positive_T[t], silent_T[t], q_T[t])
                if weight <= 0.0:
                    continue
                jump = min(max(gradient / weight, -_STRIDE), _STRIDE)
                for i in range(size):
                    scaled = weight * basis_TJ[t, i]
                    if step < _STEPS:
                        centre_J[i] += scaled * (eta_T[t] + jump)
                    for j in range(i, size):
                        factor_JJ[i, j] += scaled * basis_TJ[t, j]
            factor(factor_JJ)
            if step < _STEPS:
                solve_transposed(factor_JJ, centre_J)
                solve_factor(factor_JJ, centre_J)
        fit_M[m] = fit - 0.5 * log_det_factor(factor_JJ)


@compiled
def _draw(
    key: np.uint64,
    centre_MJ: np.ndarray,
    factor_MJJ: np.ndarray,
    log_share_M: np.ndarray,
    mean_J: np.ndarray,
    precision_J: np.ndarray,
) -> tuple[np.ndarray, int]:
    state, size = new_stream(key, 0), centre_MJ.shape[1]
    m, weight_J = pick(state, log_share_M), np.empty(mean_J.size)
    for j in range(mean_J.size):
        weight_J[j] = normal(state)
    solve_factor(factor_MJJ[m], weight_J[:size])
    for j in range(size):
        weight_J[j] += centre_MJ[m, j]
    for j in range(size, mean_J.size):
        weight_J[j] = mean_J[j] + weight_J[j] / math.sqrt(precision_J[j])
    return weight_J, m


@compiled
def _log_excess(
    weight_J: np.ndarray,
    m: int,
    centre_MJ: np.ndarray,
    factor_MJJ: np.ndarray,
    log_share_M: np.ndarray,
    mean_J: np.ndarray,
    precision_J: np.ndarray,
) -> float:
    size, factor_JJ = centre_MJ.shape[1], factor_MJJ[m]
    total = -math.log(log_share_M.size) - log_share_M[m] - 0.5 * log_det_factor(factor_JJ)
    for i in range(size):
        prior = weight_J[i] - mean_J[i]
        away = 0.0
        for j in range(i, size):
            away += factor_JJ[i, j] * (weight_J[j] - centre_MJ[m, j])
        total += 0.5 * (math.log(precision_J[i]) - precision_J[i] * prior * prior + away * away)
    return float(total)
