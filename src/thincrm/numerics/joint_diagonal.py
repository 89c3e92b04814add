"""One rotation that makes several symmetric matrices as diagonal as they can be made together."""

from __future__ import annotations

import math

import numpy as np

from thincrm.numerics.arrays import Float

__all__ = ["joint_rotation"]

_MOST_ROUNDS, _SMALLEST_ANGLE = 100, 1e-7


def joint_rotation(matrix_MDD: Float) -> Float:
    """Return the (D, D) rotation R with the least squares off the diagonals of R M R'.

    Jacobi's method: each pair of axes is turned by the angle that is best for all matrices at once
    (Cardoso and Souloumiac 1996), round after round.
    """
    size = matrix_MDD.shape[1]
    turned_DDM = np.ascontiguousarray(matrix_MDD.transpose(1, 2, 0))
    rotation_DD = np.eye(size)
    for _ in range(_MOST_ROUNDS):
        largest = 0.0
        for i in range(size - 1):
            for j in range(i + 1, size):
                angle = _best_angle(turned_DDM, i, j)
                largest = max(largest, abs(angle))
                if abs(angle) > _SMALLEST_ANGLE:
                    turn = np.array(
                        [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
                    )
                    pair = [i, j]
                    turned_DDM[pair] = np.tensordot(turn, turned_DDM[pair], 1)
                    turned_DDM[:, pair] = np.einsum("ab,dbm->dam", turn, turned_DDM[:, pair])
                    rotation_DD[pair] = turn @ rotation_DD[pair]
        if largest <= _SMALLEST_ANGLE:
            break
    return rotation_DD


def _best_angle(turned_DDM: Float, i: int, j: int) -> float:
    apart_M = turned_DDM[i, i] - turned_DDM[j, j]
    across_M = 2.0 * turned_DDM[i, j]
    even = float(apart_M @ apart_M - across_M @ across_M)
    odd = 2.0 * float(apart_M @ across_M)
    return 0.5 * math.atan2(odd, even + math.hypot(even, odd))
