"""Rows of a table that a user gives with covariates, and tables without holes given back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from thincrm.data.covariates import CovariateLike, Covariates
from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import Float

__all__ = ["Imputation", "refuse_other_order", "times_of"]


class Imputation(NamedTuple):
    """A table without holes: the mean and the ends of an interval for every cell.

    Cells that were seen are as they were, in all three.
    """

    mean: Any
    lower: Any
    upper: Any


def times_of(
    known: Covariates, varies: bool, X: object, t: CovariateLike | None, n_rows: int
) -> Float:
    """Return the (N, C) encoded covariates of rows X, or say what is wrong with t."""
    if t is None:
        if len(known.rows) > 1 and varies:
            raise InvalidInput("t is missing: the model was fitted with covariates, pass t=.")
        return np.repeat(known.rows[:1], n_rows, axis=0)
    refuse_other_order(X, t)
    times = known.encode(t)
    if len(times) != n_rows:
        raise InvalidInput(
            f"Y and t have inconsistent numbers of samples: [{n_rows}, {len(times)}]."
        )
    return times


def refuse_other_order(X: object, t: object, name: str = "t") -> None:
    """Refuse a table and what goes with its rows if their labels are in another order."""
    labelled = (pd.Series, pd.DataFrame)
    if not (isinstance(X, labelled) and isinstance(t, labelled)):
        return
    same = len(X) == len(t) and X.index.equals(t.index)
    if not same and X.index.is_unique and set(X.index) == set(t.index):
        raise InvalidInput(
            f"{name} has the index of Y in another order: reindex one of them, {name}.loc[Y.index]."
        )
