"""Curves through the covariate as a few numbers each: a Gaussian process with three widths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thincrm.numerics.arrays import Float

__all__ = ["TimeCurves", "time_curves"]

WIDTHS = (1.0, 0.2, 0.04)  # of all time: slow, middling and quick changes, of equal variance
_MOST_NUMBERS = 64  # a curve
_SMALLEST = 1e-9  # eigenvalue that is kept, of the largest


@dataclass(frozen=True, slots=True)
class TimeCurves:
    """A basis of curves: f(t) = B(t) v with v ~ N(0, I) is (nearly) the Gaussian process.

    Attributes
    ----------
    rows : (T, C) float
        The covariate rows that the basis is made from.
    spread_R : (T, R) float
        U / sqrt(l) of the R largest eigenvalues l of the covariance of the rows.
    """

    rows: Float
    spread_R: Float

    def at(self, rows_NC: Float) -> Float:
        """Return the (N, R) basis B(t) = cov(t, rows) U / sqrt(l) at encoded covariates."""
        return np.asarray(_covariance(rows_NC, self.rows) @ self.spread_R)


def time_curves(rows_TC: Float) -> TimeCurves:
    """Return the basis for distinct covariate rows."""
    value, vector = np.linalg.eigh(_covariance(rows_TC, rows_TC))
    kept = np.flatnonzero(value > _SMALLEST * value[-1])[-_MOST_NUMBERS:]
    return TimeCurves(rows_TC, vector[:, kept] / np.sqrt(value[kept]))


def _covariance(a_NC: Float, b_TC: Float) -> Float:
    """Return the mean over widths w of exp(-|a - b| / w), where columns have a span of 1."""
    span = np.ptp(b_TC, axis=0)
    unit = np.where(span > 0.0, span, 1.0)
    apart = np.sqrt((((a_NC[:, None] - b_TC[None]) / unit) ** 2).sum(axis=2))
    return np.asarray(np.mean([np.exp(-apart / width) for width in WIDTHS], axis=0))
