"""Kernel bases: covariates scaled to a common unit, centres spread over them, one basis a width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thincrm.data.covariates import CovariateLike, Covariates, covariates
from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import ArrayLike, Float

__all__ = ["Basis", "check_widths", "scaled_rows", "squared_distance", "start"]


@dataclass(frozen=True, slots=True)
class Basis:
    """What a thinning function built on kernels computes once from the covariates.

    Attributes
    ----------
    covariates : Covariates
        The distinct rows.
    scale : (C,) float
        One unit of the scaled covariate, per column.
    centres : (L, C) float
        Kernel centres, scaled.
    basis_MTJ : (M, T, J) float
        The basis at the distinct rows, for every width in the dictionary.
    direction_MLR, inverse_MR : float or None
        Eigenvectors and inverse root eigenvalues, of a basis that is whitened by them. Another
        machine may find vectors of the opposite sign, so weights mean nothing without these.
    """

    covariates: Covariates
    scale: Float
    centres: Float
    basis_MTJ: Float
    direction_MLR: Float | None = None
    inverse_MR: Float | None = None


def check_widths(widths: Sequence[float]) -> None:
    """Refuse a width dictionary that is empty or not made of positive numbers."""
    values = np.asarray(widths, float)
    if values.ndim != 1 or values.size == 0 or not np.all(np.isfinite(values) & (values > 0)):
        raise InvalidInput(
            f"widths must be one or more positive numbers (inverse squared lengths in units of "
            f"scale), got {widths!r}."
        )


def unit(known: Covariates, scale: float | Sequence[float] | None) -> Float:
    """Return the (C,) unit per column: `scale`, or the column's range when none is given."""
    columns = known.rows.shape[1]
    if scale is None:
        spread = np.ptp(known.rows, axis=0)
        return np.where(spread > 0, spread, 1.0)
    values = (
        np.broadcast_to(np.asarray(scale, float), (columns,))
        if np.ndim(scale) == 0
        else (np.asarray(scale, float))
    )
    if values.shape != (columns,) or not np.all(np.isfinite(values) & (values > 0)):
        raise InvalidInput(
            f"scale must be a positive number, or one per covariate column ({columns}); "
            f"got {scale!r}."
        )
    return values


def scaled_rows(basis: Basis, t: CovariateLike | None) -> Float:
    """Return covariates `t` (None: the distinct rows) as (T, C) floats in scaled units."""
    rows = basis.covariates.rows if t is None else basis.covariates.encode(t)
    return np.asarray(rows / basis.scale)


def spread_centres(known: Covariates, scale: Float, centres: ArrayLike | None, most: int) -> Float:
    """Return (L, C) scaled centres: those given, or the distinct rows, or `most` spread over them.

    One column: evenly spaced in rank among the distinct values. Several: each next centre is the
    row farthest from those chosen (Gonzalez 1985), starting at the row nearest the middle.
    """
    if centres is not None:
        return np.asarray(known.encode(centres) / scale)
    return spread_over(np.asarray(known.rows / scale), most)


def spread_over(rows: Float, most: int) -> Float:
    """Return the rows, or `most` of them that are spread over all (see `spread_centres`)."""
    if len(rows) <= most:
        return rows
    if rows.shape[1] == 1:
        return np.asarray(rows[np.round(np.linspace(0, len(rows) - 1, most)).astype(int)])
    nearest = squared_distance(rows, rows.mean(0, keepdims=True))[:, 0]
    chosen = [int(nearest.argmin())]
    gap = squared_distance(rows, rows[chosen])[:, 0]
    while len(chosen) < most:
        chosen.append(int(gap.argmax()))
        gap = np.minimum(gap, squared_distance(rows, rows[chosen[-1:]])[:, 0])
    return np.asarray(rows[np.sort(chosen)])


def squared_distance(a_TC: Float, b_LC: Float) -> Float:
    """Return the (T, L) squared distances between rows."""
    return np.asarray(((a_TC[:, None, :] - b_LC[None, :, :]) ** 2).sum(2))


def start(
    t: CovariateLike, scale: float | Sequence[float] | None, centres: ArrayLike | None, most: int
) -> tuple[Covariates, Float, Float]:
    """Return (covariates, scale, centres): the first lines of every `prepare`."""
    known = covariates(t)
    units = unit(known, scale)
    return known, units, spread_centres(known, units, centres, most)
