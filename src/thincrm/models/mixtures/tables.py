"""Rows of numbers with holes, and what normal and Student rows share."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thincrm.numerics.arrays import ArrayLike, Float
from thincrm.numerics.compiled import compiled
from thincrm.numerics.variates import gamma

__all__ = ["TableRows", "draw_weight", "log_row", "sample_weights", "table_rows"]

_LEAST_WEIGHT = 1e-300


class TableRows(NamedTuple):
    """A table with holes."""

    value: Float  # N x P; 0 at a hole
    seen: np.ndarray  # N x P, uint8
    weight: Float  # N: scale w of the row's precision; 0: not known (Student rows)


def table_rows(values: ArrayLike, *, student: bool = False) -> TableRows:
    """Return the rows of an (N, P) table of numbers, NaN at holes."""
    value = np.array(values, float, ndmin=2)
    seen = ~np.isnan(value)
    weight = np.zeros(len(value)) if student else np.ones(len(value))
    return TableRows(np.where(seen, value, 0.0), seen.astype(np.uint8), weight)


def sample_weights(rng: np.random.Generator, degrees: float, size: int) -> Float:
    """Draw scales of new rows: w ~ Gamma(ν/2, ν/2), or 1 where rows are normal."""
    if degrees == 0.0:
        return np.ones(size)
    return np.asarray(rng.gamma(0.5 * degrees, 2.0 / degrees, size))


@compiled
def log_row(
    degrees: float, weight: float, n_seen: int, norm_K: np.ndarray, distance_K: np.ndarray
) -> None:
    """Turn squared distances q into log densities, in place.

    w known:  norm + (P log w - w q) / 2
    Student:  norm + log E[w^(P/2) e^(-w q / 2)],  w ~ Gamma(ν/2, ν/2)
    """
    half = 0.5 * n_seen
    if weight > 0.0:
        shift = half * math.log(weight)
        for k in range(norm_K.size):
            distance_K[k] = norm_K[k] + shift - 0.5 * weight * distance_K[k]
        return
    a = 0.5 * degrees
    shift = math.lgamma(a + half) - math.lgamma(a) - half * math.log(a)
    for k in range(norm_K.size):
        spread = math.log1p(distance_K[k] / degrees)
        distance_K[k] = norm_K[k] + shift - (a + half) * spread


@compiled
def draw_weight(state: np.ndarray, degrees: float, distance: float, n_seen: int) -> float:
    """Draw w ~ Gamma((ν + P) / 2, (ν + q) / 2)."""
    draw = gamma(state, 0.5 * (degrees + n_seen)) / (0.5 * (degrees + distance))
    return max(draw, _LEAST_WEIGHT)
