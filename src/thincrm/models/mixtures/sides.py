"""Responses known from one side alone: at most, exactly, or at least what the table says."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput
from thincrm.models.given_rows import refuse_other_order
from thincrm.models.mixtures.clusters import Rows
from thincrm.numerics.arrays import ArrayLike, Float

__all__ = ["SidesLike", "censor", "sides_of", "without_limits"]

SidesLike: TypeAlias = ArrayLike | pd.Series


def sides_of(X: Any, censored: SidesLike | None) -> np.ndarray | None:
    """Return checked (N,) sides of rows X: -1, 0 or 1; None: all are exact."""
    if censored is None:
        return None
    refuse_other_order(X, censored, "censored")
    try:
        side = np.asarray(censored, float)
    except (TypeError, ValueError) as error:
        raise InvalidInput("censored must hold -1, 0 or 1.") from error
    if side.shape != (len(X),):
        raise InvalidInput(
            f"censored must have a number for each of Y's {len(X)} rows, got shape {side.shape}."
        )
    bad = np.flatnonzero(~np.isin(side, (-1, 0, 1)))
    if bad.size:
        raise InvalidInput(
            f"censored holds {side[bad[0]]:g} in row {bad[0]}: it must be -1 (the response is at "
            "most this), 0 (exact) or 1 (at least this)."
        )
    return side.astype(np.int8)


def censor(rows: Rows, side_N: np.ndarray | None) -> Rows:
    """Return rows of a regression whose censored responses have one end alone."""
    if side_N is None:
        return rows
    return rows._replace(
        low=np.where(side_N < 0, -np.inf, rows.low), high=np.where(side_N > 0, np.inf, rows.high)
    )


def without_limits(value_NP: Float, side_N: np.ndarray | None) -> Float:
    """Return cells whose censored responses are holes."""
    out = value_NP.copy()
    if side_N is not None:
        out[side_N != 0, 0] = np.nan
    return out
