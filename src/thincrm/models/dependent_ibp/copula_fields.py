"""Gaussian fields over covariates, one a feature, and the sticks that their indicators stand on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_expit, ndtri_exp

from thincrm.data.covariates import Covariates
from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled
from thincrm.thinning.basis import squared_distance, unit
from thincrm.thinning.links import probit_log_odds

__all__ = [
    "Copula",
    "CopulaState",
    "fields",
    "log_odds",
    "prepare_copula",
    "shapes",
    "threshold",
    "turn_back",
]

MOST_ROWS = 3000  # distinct covariates: their cube once, their square a sweep
_SMALLEST_SHARE = 1e-10


class CopulaState(NamedTuple):
    """The variables of K features."""

    weight: Float  # K x T: the fields, whitened
    width: Int  # K: index into the widths psi
    share: Int  # K: index into the shares rho
    stick: Float  # K: logit v_k
    mass: float  # alpha


@dataclass(frozen=True, slots=True)
class Copula:
    """What the fields need of the covariates, computed once.

    Attributes
    ----------
    covariates : Covariates
        The distinct rows.
    scale : (C,) float
        One unit of the scaled covariate, per column: its range.
    width_M, share_R : float
        The grid of psi and rho.
    size_MT : (M, T) float
        Eigenvalues d of N^1/2 K N^1/2 = U d U', N = diag(observations at each row), for every
        width.
    direction_MTT : (M, T, T) float
        U, an eigenvector a column.
    """

    covariates: Covariates
    scale: Float
    width_M: Float
    share_R: Float
    size_MT: Float
    direction_MTT: Float


def prepare_copula(known: Covariates, width_M: Float, share_R: Float) -> Copula:
    """Return the spectra of the process at the distinct rows.

    Directions with a share of the variance below 1e-10 are left out (their d is 0).
    """
    if len(known.rows) > MOST_ROWS:
        raise InvalidInput(
            f"t has {len(known.rows)} distinct values; a Gaussian process for every feature is "
            f"feasible up to {MOST_ROWS}: round t, or use FeatureModel."
        )
    scale = unit(known, None)
    distance_TT = squared_distance(known.rows / scale, known.rows / scale)
    root_T = np.sqrt(known.trials)
    kernel_MTT = np.exp(-width_M[:, None, None] * distance_TT)
    size_MT, direction_MTT = np.linalg.eigh(kernel_MTT * root_T[:, None] * root_T)
    size_MT[size_MT < _SMALLEST_SHARE * size_MT[:, -1:]] = 0.0
    return Copula(known, scale, width_M, share_R, size_MT, direction_MTT)


def threshold(stick_K: Float) -> Float:
    """Return the (K,) normal quantiles of b_k = v_1 ... v_k."""
    return np.asarray(ndtri_exp(np.cumsum(log_expit(stick_K))))


def fields(x: CopulaState, prepared: Copula) -> Float:
    """Return the (T, K) fields at the prepared rows: f = rho^1/2 N^-1/2 U d^1/2 e."""
    return shapes(x.weight, x.width, prepared) * np.sqrt(prepared.share_R[x.share])


def shapes(weight_KT: Float, width_K: Int, prepared: Copula) -> Float:
    """Return the (T, K) fields divided by rho^1/2."""
    out_TK = np.empty(weight_KT.shape[::-1])
    scaled_KT = weight_KT * np.sqrt(prepared.size_MT[width_K])
    _turn(prepared.direction_MTT, width_K, scaled_KT, out_TK)
    return np.asarray(out_TK / np.sqrt(prepared.covariates.trials)[:, None])


@compiled
def _turn(
    direction_MTT: np.ndarray, width_K: np.ndarray, from_KT: np.ndarray, out_TK: np.ndarray
) -> None:
    """Fill `out_TK` with U x of every feature."""
    for k in range(width_K.size):
        for t in range(out_TK.shape[0]):
            total = 0.0
            for j in range(out_TK.shape[0]):
                total += direction_MTT[width_K[k], t, j] * from_KT[k, j]
            out_TK[t, k] = total


@compiled
def turn_back(direction_TT: np.ndarray, from_TK: np.ndarray, out_TK: np.ndarray) -> None:
    """Fill `out_TK` with U' x of every feature."""
    out_TK[:] = 0.0
    for t in range(out_TK.shape[0]):
        for j in range(out_TK.shape[0]):
            for k in range(out_TK.shape[1]):
                out_TK[j, k] += direction_TT[t, j] * from_TK[t, k]


def _elsewhere(x: CopulaState, prepared: Copula, row_SC: Float) -> tuple[Float, Float]:
    """Return the (S, K) means of the fields at other rows, and what is left of their variance."""
    known = prepared.covariates
    distance_ST = squared_distance(row_SC, known.rows / prepared.scale)
    mean_SK, left_SK = np.empty((2, len(row_SC), len(x.width)))
    for m in np.unique(x.width):
        kernel_ST = np.exp(-prepared.width_M[m] * distance_ST) * np.sqrt(known.trials)
        size_T = prepared.size_MT[m]
        inverse_T = np.where(size_T > 0.0, size_T, np.inf) ** -0.5
        basis_ST = (kernel_ST @ prepared.direction_MTT[m]) * inverse_T
        chosen = x.width == m
        mean_SK[:, chosen] = basis_ST @ x.weight[chosen].T
        left_SK[:, chosen] = np.maximum(1.0 - (basis_ST**2).sum(axis=1), 0.0)[:, None]
    share_K = prepared.share_R[x.share]
    return mean_SK * np.sqrt(share_K), left_SK * share_K


def log_odds(x: CopulaState, prepared: Copula, row_SC: Float | None = None) -> Float:
    """Return the (T, K) log odds of z = 1 at the prepared rows, or at other (scaled) ones.

    There a field is normal around its conditional mean, and is integrated out like h.
    """
    left: Float | float = 0.0
    if row_SC is None:
        field_TK = fields(x, prepared)
    else:
        field_TK, left = _elsewhere(x, prepared, row_SC)
    spread = np.sqrt(1.0 - prepared.share_R[x.share] + left)
    gap_TK = (threshold(x.stick) - field_TK) / spread
    return probit_log_odds(gap_TK)
