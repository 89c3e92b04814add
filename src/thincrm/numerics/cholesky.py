"""Compiled linear algebra for small symmetric systems.

Written out rather than handed to BLAS: the sums have one order, so the same seed gives the same
bits whatever library and thread count the machine's NumPy was built with.
"""

from __future__ import annotations

import math

import numpy as np

from thincrm.numerics.compiled import compiled

__all__ = ["factor", "log_det_factor", "solve_factor", "solve_transposed"]


@compiled
def factor(matrix_JJ: np.ndarray) -> None:
    """Overwrite the upper triangle of Q (positive definite) with R, Q = R'R.

    Only the upper triangle is read. Rows are updated along memory, so the loop vectorises.
    """
    size = matrix_JJ.shape[0]
    for j in range(size):
        pivot = math.sqrt(matrix_JJ[j, j])
        matrix_JJ[j, j] = pivot
        inverse = 1.0 / pivot
        for k in range(j + 1, size):
            matrix_JJ[j, k] *= inverse
        for i in range(j + 1, size):
            scale = matrix_JJ[j, i]
            for k in range(i, size):
                matrix_JJ[i, k] -= scale * matrix_JJ[j, k]


@compiled
def solve_transposed(factor_JJ: np.ndarray, x_J: np.ndarray) -> None:
    """Overwrite x with the solution y of R' y = x."""
    size = x_J.size
    for j in range(size):
        x_J[j] /= factor_JJ[j, j]
        scale = x_J[j]
        for k in range(j + 1, size):
            x_J[k] -= scale * factor_JJ[j, k]


@compiled
def solve_factor(factor_JJ: np.ndarray, x_J: np.ndarray) -> None:
    """Overwrite x with the solution y of R y = x."""
    for j in range(x_J.size - 1, -1, -1):
        total = x_J[j]
        for k in range(j + 1, x_J.size):
            total -= factor_JJ[j, k] * x_J[k]
        x_J[j] = total / factor_JJ[j, j]


@compiled
def log_det_factor(factor_JJ: np.ndarray) -> float:
    """Return log |Q| = 2 sum_j log R_jj."""
    total = 0.0
    for j in range(factor_JJ.shape[0]):
        total += math.log(factor_JJ[j, j])
    return 2.0 * total
