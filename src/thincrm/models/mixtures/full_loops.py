"""Compiled loops of Gaussian clusters with full covariance matrices (equations: `full`)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thincrm.models.mixtures.table_rows import TableRows, draw_weight, log_row
from thincrm.numerics.arrays import Float
from thincrm.numerics.cholesky import factor, log_det_factor, solve_factor, solve_transposed
from thincrm.numerics.compiled import compiled
from thincrm.numerics.streams import new_stream
from thincrm.numerics.variates import gamma, normal

__all__ = [
    "FullPacked",
    "FullStats",
    "add_rows",
    "complete_all",
    "draw_params",
    "factor_all",
    "log_density",
    "solve_rows",
]

_LOG_TAU = math.log(2.0 * math.pi)


class FullStats(NamedTuple):
    """Sums over each cluster's rows, holes filled."""

    number: Float  # K: 1
    weight: Float  # K: w
    total: Float  # K x P: w y
    square: Float  # K x P x P: w y y'


class FullPacked(NamedTuple):
    """Parameters as the loops want them, clusters last."""

    mean_PK: Float
    root_PPK: Float  # R, Λ = R'R, above the diagonal
    log_K: Float  # log |Λ| / 2 - P log(2π) / 2
    precision_KPP: Float
    degrees: float


@compiled
def factor_all(matrix_KPP: np.ndarray) -> None:
    """Overwrite every Λ with its factor R, Λ = R'R."""
    for k in range(matrix_KPP.shape[0]):
        factor(matrix_KPP[k])


@compiled
def solve_rows(root_KPP: np.ndarray, label_N: np.ndarray, x_NP: np.ndarray) -> None:
    """Overwrite rows x with R^-1 x, R of their cluster."""
    for n in range(label_N.size):
        solve_factor(root_KPP[label_N[n]], x_NP[n])


@compiled
def draw_params(
    key: np.uint64, matrix_KPP: np.ndarray, degrees_K: np.ndarray, tight_K: np.ndarray,
    mean_KP: np.ndarray, out_KPP: np.ndarray,
) -> None:  # fmt: skip
    """Draw Λ = R^-1 T T' R^-T, Ψ_n = R'R, T T' a standard Wishart (Bartlett), and add to means."""
    size = mean_KP.shape[1]
    column_P, root_PP = np.empty(size), np.empty((size, size))
    for k in range(degrees_K.size):
        state = new_stream(key, k)
        factor(matrix_KPP[k])
        out_KPP[k] = 0.0
        for j in range(size):
            column_P[:] = 0.0
            column_P[j] = math.sqrt(2.0 * gamma(state, 0.5 * (degrees_K[k] - j)))
            for i in range(j + 1, size):
                column_P[i] = normal(state)
            solve_factor(matrix_KPP[k], column_P)
            for p in range(size):
                for q in range(size):
                    out_KPP[k, p, q] += column_P[p] * column_P[q]
        root_PP[:] = out_KPP[k]
        factor(root_PP)
        for p in range(size):
            column_P[p] = normal(state)
        solve_factor(root_PP, column_P)
        for p in range(size):
            mean_KP[k, p] += column_P[p] / math.sqrt(tight_K[k])


@compiled
def _holed(
    rows: TableRows, n: int, packed: FullPacked, k: int, hole_M: np.ndarray, root_PP: np.ndarray,
    pull_P: np.ndarray,
) -> tuple[float, float]:  # fmt: skip
    """Return (q, log |Λ_mm| / 2) of a row with holes; fill R of Λ_mm = R'R and R^-T g_m.

    `root_PP` and `pull_P` are scratch of at least that size.
    """
    n_columns, n_holes = rows.value.shape[1], hole_M.size
    matrix_PP = packed.precision_KPP[k]
    distance = 0.0
    for i in range(n_holes):
        pull_P[i] = 0.0
        for j in range(i, n_holes):
            root_PP[i, j] = matrix_PP[hole_M[i], hole_M[j]]
    for p in range(n_columns):
        if rows.seen[n, p] == 0:
            continue
        x = rows.value[n, p] - packed.mean_PK[p, k]
        for q in range(n_columns):
            if rows.seen[n, q] != 0:
                distance += x * matrix_PP[p, q] * (rows.value[n, q] - packed.mean_PK[q, k])
        for i in range(n_holes):
            pull_P[i] += matrix_PP[hole_M[i], p] * x
    inner = root_PP[:n_holes, :n_holes]
    factor(inner)
    solve_transposed(inner, pull_P[:n_holes])
    for i in range(n_holes):
        distance -= pull_P[i] * pull_P[i]
    return max(distance, 0.0), 0.5 * log_det_factor(inner)


@compiled
def log_density(
    first: int, stop: int, rows: TableRows, packed: FullPacked, out_RK: np.ndarray
) -> None:
    """Fill out_RK with log densities of the seen cells of rows [first, stop)."""
    n_columns, n_clusters = packed.mean_PK.shape
    norm_K, z_K = np.empty(n_clusters), np.empty(n_clusters)
    root_PP, pull_P = np.empty((n_columns, n_columns)), np.empty(n_columns)
    for n in range(first, stop):
        row_K, hole_M = out_RK[n - first], np.flatnonzero(rows.seen[n] == 0)
        norm_K[:] = packed.log_K
        row_K[:] = 0.0
        if hole_M.size == 0:
            for i in range(n_columns):
                z_K[:] = 0.0
                for j in range(i, n_columns):
                    y, mean_K, root_K = rows.value[n, j], packed.mean_PK[j], packed.root_PPK[i, j]
                    for k in range(n_clusters):
                        z_K[k] += root_K[k] * (y - mean_K[k])
                for k in range(n_clusters):
                    row_K[k] += z_K[k] * z_K[k]
        elif hole_M.size < n_columns:
            for k in range(n_clusters):
                row_K[k], half = _holed(rows, n, packed, k, hole_M, root_PP, pull_P)
                norm_K[k] += 0.5 * hole_M.size * _LOG_TAU - half
        else:
            norm_K[:] = 0.0
        log_row(packed.degrees, rows.weight[n], n_columns - hole_M.size, norm_K, row_K)


@compiled
def _complete(
    key: np.uint64, item: int, rows: TableRows, n: int, packed: FullPacked, k: int,
    noise: float, root_PP: np.ndarray, pull_P: np.ndarray, out_P: np.ndarray,
) -> float:  # fmt: skip
    """Fill `out_P` with row n, its holes drawn (noise 0: their means); return its weight."""
    n_columns, hole_M = rows.value.shape[1], np.flatnonzero(rows.seen[n] == 0)
    weight = rows.weight[n]
    out_P[:] = rows.value[n]
    if weight > 0.0 and hole_M.size == 0:
        return float(weight)
    state = new_stream(key, item)
    distance, _ = _holed(rows, n, packed, k, hole_M, root_PP, pull_P)
    if not weight > 0.0:
        weight = draw_weight(state, packed.degrees, distance, n_columns - hole_M.size)
    inner, move_M = root_PP[: hole_M.size, : hole_M.size], pull_P[: hole_M.size]
    for i in range(hole_M.size):
        move_M[i] = noise * normal(state) / math.sqrt(weight) - move_M[i]
    solve_factor(inner, move_M)
    for i in range(hole_M.size):
        out_P[hole_M[i]] = packed.mean_PK[hole_M[i], k] + move_M[i]
    return float(weight)


@compiled
def complete_all(
    key: np.uint64, rows: TableRows, label_N: np.ndarray, packed: FullPacked, noise: float,
    out_NP: np.ndarray, weight_N: np.ndarray,
) -> None:  # fmt: skip
    """Fill rows without holes, and their weights."""
    size = rows.value.shape[1]
    root_PP, pull_P = np.empty((size, size)), np.empty(size)
    for n in range(label_N.size):
        weight_N[n] = _complete(
            key, n, rows, n, packed, label_N[n], noise, root_PP, pull_P, out_NP[n]
        )


@compiled
def add_rows(
    first: int, stop: int, key: np.uint64, offset: int, rows: TableRows, label_N: np.ndarray,
    packed: FullPacked, stats: FullStats,
) -> None:  # fmt: skip
    """Add rows [first, stop), holes and weights drawn, to the statistics."""
    size = rows.value.shape[1]
    root_PP, pull_P, y_P = np.empty((size, size)), np.empty(size), np.empty(size)
    for n in range(first, stop):
        k = label_N[n]
        weight = _complete(key, offset + n, rows, n, packed, k, 1.0, root_PP, pull_P, y_P)
        stats.number[k] += 1.0
        stats.weight[k] += weight
        for p in range(size):
            scaled = weight * y_P[p]
            stats.total[k, p] += scaled
            for q in range(size):
                stats.square[k, p, q] += scaled * y_P[q]
