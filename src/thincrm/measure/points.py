"""The covariates of a call: read once, passed on in a form that every room reads alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from thincrm.data.covariates import CovariateLike, Covariates, covariates
from thincrm.errors import InvalidInput, InvalidType
from thincrm.numerics.arrays import Float

__all__ = ["Points", "bare", "points", "together"]


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Covariates as they were given.

    Attributes
    ----------
    known : Covariates
        Their distinct rows, and the row of each.
    t : array-like
        All of them, as the user may write them.
    single : bool
        Whether one was given bare, so that the answer has an axis less.
    """

    known: Covariates
    t: CovariateLike
    single: bool

    @property
    def rows(self) -> Float:
        """The (T, C) encoded values."""
        return self.known.rows[self.known.row]


def points(t: CovariateLike) -> Points:
    """Read the covariates of a call."""
    known = covariates(t)
    rows = known.rows[known.row]
    single = not isinstance(t, Covariates) and np.ndim(cast("ArrayLike", t)) == 0
    return Points(known, rows if known.kind == "number" else known.labels(rows), single)


def bare(values: Float, *axes: Points) -> Any:
    """Drop the axes of covariates that were given bare; a lone value becomes a float."""
    kept = np.squeeze(values, tuple(axis for axis, at in enumerate(axes) if at.single))
    return float(kept) if kept.ndim == 0 else kept


def together(several: tuple[Points, ...]) -> Covariates:
    """Return the covariates of several arguments as one."""
    first = several[0].known
    if any(other.known.kind != first.kind for other in several):
        raise InvalidType("s and t are not of one kind: pass numbers or dates for both.")
    if any(other.known.rows.shape[1] != first.rows.shape[1] for other in several):
        raise InvalidInput("s and t have different numbers of columns: pass the same for both.")
    every = np.concatenate([one.rows for one in several])
    rows, row, trials = np.unique(every, axis=0, return_inverse=True, return_counts=True)
    return Covariates(
        rows, row.reshape(-1).astype(np.int64), trials.astype(np.int64), first.kind, first.names
    )
