"""Rows of numbers with holes, and what normal and Student rows share."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from thincrm.numerics.arrays import ArrayLike, Float
from thincrm.numerics.compiled import compiled
from thincrm.numerics.variates import gamma

__all__ = [
    "TableRows",
    "draw_weight",
    "least_spread",
    "log_row",
    "reach_of",
    "sample_weights",
    "scaled_cdf",
    "table_rows",
]

_LEAST_WEIGHT = 1e-300
_LEAST_SPREAD = 1e-6  # of its prior mean


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


def least_spread(prior: tuple[float, float]) -> float:
    """Return the bound that the learned spread of clusters has from below.

    Columns that determine one another let it shrink without end, until covariances are singular.
    """
    return _LEAST_SPREAD * prior[0] / prior[1]


def sample_weights(rng: np.random.Generator, degrees: float, size: int) -> Float:
    """Draw scales of new rows: w ~ Gamma(ν/2, ν/2), or 1 where rows are normal."""
    if degrees == 0.0:
        return np.ones(size)
    return np.asarray(rng.gamma(0.5 * degrees, 2.0 / degrees, size))


def scaled_cdf(degrees: float, z: Float) -> Float:
    """Return the distribution function of a normal, or a Student variable."""
    return np.asarray(ndtr(z) if degrees == 0.0 else stdtr(degrees, z))


def reach_of(degrees: float, mean_K: Float, spread_K: Float, q_Q: Float) -> tuple[float, float]:
    """Return the least and the greatest quantile q of any cluster."""
    ends = np.clip([q_Q.min(), q_Q.max()], 1e-300, 1.0 - 1e-16)
    low, high = ndtri(ends) if degrees == 0.0 else stdtrit(degrees, ends)
    return float((mean_K + low * spread_K).min()), float((mean_K + high * spread_K).max())


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
