"""A row's dense weights summed out: what is left for thinned features to explain.

With f ~ N(0, 1) and loadings D_p, a row's seen cells have covariance S = W^-1 + D D', so that

    A' S^-1 e = sum_p w_p A_p e_p - (R'^-1 D'W A)' (R'^-1 D'W e),    R'R = I + sum_p w_p D_p D_p'

and, given the features, R f = R'^-1 D'W e + normals. All sums are over the row's seen cells; those
over all cells are known beforehand, so that only holes cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thincrm.numerics.cholesky import factor, solve_factor, solve_transposed
from thincrm.numerics.compiled import compiled
from thincrm.numerics.variates import normal

__all__ = ["Dense", "dense_of", "draw_dense", "expect_dense", "holes_of", "overlap", "sum_out"]


class Dense(NamedTuple):
    """The dense factors, and sums over all columns."""

    loading_PL: np.ndarray
    scaled_PL: np.ndarray  # w_p D_p
    gram_LL: np.ndarray  # sum_p w_p D_p D_p'
    cross_KL: np.ndarray  # sum_p w_p A_kp D_p


@compiled
def dense_of(feature_FP: np.ndarray, precision_P: np.ndarray, n_used: int, n_dense: int) -> Dense:
    """Return the dense factors that follow `n_used` thinned features."""
    loading_PL = feature_FP[n_used : n_used + n_dense].T.copy()
    scaled_PL = np.empty_like(loading_PL)
    gram_LL, cross_KL = np.zeros((n_dense, n_dense)), np.zeros((n_used, n_dense))
    for p in range(precision_P.size):
        for f in range(n_dense):
            scaled_PL[p, f] = precision_P[p] * loading_PL[p, f]
            for g in range(n_dense):
                gram_LL[f, g] += scaled_PL[p, f] * loading_PL[p, g]
            for k in range(n_used):
                cross_KL[k, f] += feature_FP[k, p] * scaled_PL[p, f]
    return Dense(loading_PL, scaled_PL, gram_LL, cross_KL)


@compiled
def holes_of(seen_P: np.ndarray, hole_P: np.ndarray) -> int:
    """Fill the places of a row's holes; return how many they are."""
    n_holes = 0
    for p in range(seen_P.size):
        if seen_P[p] == 0.0:
            hole_P[n_holes] = p
            n_holes += 1
    return n_holes


@compiled
def sum_out(
    dense: Dense, hole_H: np.ndarray, left_P: np.ndarray, root_LL: np.ndarray, pull_L: np.ndarray
) -> None:
    """Fill R and R'^-1 D'W e of a row; its residual e is 0 at holes."""
    n_columns, size = dense.loading_PL.shape
    for f in range(size):
        pull_L[f] = 0.0
        for g in range(size):
            root_LL[f, g] = dense.gram_LL[f, g]
        root_LL[f, f] += 1.0
    for p in hole_H:
        for f in range(size):
            for g in range(f, size):
                root_LL[f, g] -= dense.scaled_PL[p, f] * dense.loading_PL[p, g]
    for p in range(n_columns):
        for f in range(size):
            pull_L[f] += dense.scaled_PL[p, f] * left_P[p]
    factor(root_LL)
    solve_transposed(root_LL, pull_L)


@compiled
def overlap(
    dense: Dense, k: int, scaled_P: np.ndarray, hole_H: np.ndarray, root_LL: np.ndarray,
    along_L: np.ndarray,
) -> None:  # fmt: skip
    """Fill R'^-1 D'W A_k of a row; scaled_P is w_p A_kp."""
    for f in range(along_L.size):
        along_L[f] = dense.cross_KL[k, f]
    for p in hole_H:
        for f in range(along_L.size):
            along_L[f] -= scaled_P[p] * dense.loading_PL[p, f]
    solve_transposed(root_LL, along_L)


@compiled
def draw_dense(
    state: np.ndarray, root_LL: np.ndarray, pull_L: np.ndarray, dense_L: np.ndarray
) -> None:
    """Draw a row's dense weights, all at once."""
    for f in range(dense_L.size):
        dense_L[f] = pull_L[f] + normal(state)
    solve_factor(root_LL, dense_L)


@compiled
def expect_dense(
    dense: Dense, seen_NP: np.ndarray, left_NP: np.ndarray, dense_NL: np.ndarray
) -> None:
    """Fill what rows' dense weights are expected to be, R^-1 R'^-1 D'W e; e is 0 at holes."""
    size = dense_NL.shape[1]
    root_LL, hole_P = np.empty((size, size)), np.empty(seen_NP.shape[1], np.int64)
    for n in range(len(seen_NP)):
        n_holes = holes_of(seen_NP[n], hole_P)
        sum_out(dense, hole_P[:n_holes], left_NP[n], root_LL, dense_NL[n])
        solve_factor(root_LL, dense_NL[n])
