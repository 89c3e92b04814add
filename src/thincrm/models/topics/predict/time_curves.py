"""Curves through the covariate as a few numbers each: a Gaussian process with three widths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thincrm.numerics.arrays import Float, Int
from thincrm.thinning.basis import spread_over, squared_distance

__all__ = ["TimeCurves", "time_curves"]

WIDTHS = (1.0, 0.2, 0.04)  # of all time: slow, middling and quick changes, of equal variance
_MOST_NUMBERS = 64  # a curve
_MOST_PLACES = 256  # that a basis is made from; evenly spread, ten are as far as the smallest width
_SMALLEST = 1e-9  # eigenvalue that is kept, of the largest


@dataclass(frozen=True, slots=True)
class TimeCurves:
    """A basis of curves: f(t) = B(t) v with v ~ N(0, I) is (nearly) the Gaussian process.

    Attributes
    ----------
    rows : (M, C) float
        The places that the basis is made from: covariate rows, all or some spread over them.
    spread_R : (M, R) float
        U / sqrt(l) of the R largest eigenvalues l of the covariance of the places.
    """

    rows: Float
    spread_R: Float

    def nearest(self, rows_NC: Float) -> Int:
        """Return the number of the place nearest to each covariate row."""
        unit = _unit(self.rows)
        blocks = np.array_split(rows_NC / unit, 1 + len(rows_NC) // 1000)
        near = [squared_distance(block, self.rows / unit).argmin(axis=1) for block in blocks]
        return np.concatenate(near)

    def at(self, rows_NC: Float) -> Float:
        """Return the (N, R) basis B(t) = cov(t, rows) U / sqrt(l) at encoded covariates."""
        return np.asarray(_covariance(rows_NC, self.rows) @ self.spread_R)


def time_curves(rows_TC: Float, most: int = _MOST_PLACES) -> TimeCurves:
    """Return the basis for distinct covariate rows, of so many places at most.

    So days and years cost alike.
    """
    unit = _unit(rows_TC)
    place_MC = spread_over(rows_TC / unit, most) * unit
    value, vector = np.linalg.eigh(_covariance(place_MC, place_MC))
    kept = np.flatnonzero(value > _SMALLEST * value[-1])[-_MOST_NUMBERS:]
    return TimeCurves(place_MC, vector[:, kept] / np.sqrt(value[kept]))


def _unit(rows_TC: Float) -> Float:
    span = np.ptp(rows_TC, axis=0)
    return np.where(span > 0.0, span, 1.0)


def _covariance(a_NC: Float, b_TC: Float) -> Float:
    """Return the mean over widths w of exp(-|a - b| / w), where columns have a span of 1."""
    apart = np.sqrt((((a_NC[:, None] - b_TC[None]) / _unit(b_TC)) ** 2).sum(axis=2))
    return np.asarray(np.mean([np.exp(-apart / width) for width in WIDTHS], axis=0))
