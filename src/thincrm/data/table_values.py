"""Tables of numbers with holes: checked once, put on a common scale and back."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput, InvalidType
from thincrm.numerics.arrays import ArrayLike, Float

__all__ = ["Scale", "TableLike", "as_numbers", "column_names", "like", "scale_of"]

TableLike: TypeAlias = ArrayLike | pd.DataFrame  # numbers, rows by columns


class Scale(NamedTuple):
    """A column in its own units is level + spread * standard units; spread 0: it is constant."""

    level_P: Float
    spread_P: Float

    def standard(self, value_NP: Float) -> Float:
        """Return values in standard units; a constant column is 0."""
        return np.asarray((value_NP - self.level_P) / np.where(self.spread_P > 0, self.spread_P, 1))

    def back(self, value: Float) -> Float:
        """Return standard values (..., P) in the columns' own units."""
        return np.asarray(value * self.spread_P + self.level_P)


def as_numbers(X: TableLike, name: str = "Y") -> TableLike:
    """Return X ready to be read as floats: text refused by name, masked entries made holes."""
    if isinstance(X, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(X), np.nan, np.ma.getdata(X).astype(float))
    if isinstance(X, pd.DataFrame):
        for place, kind in enumerate(X.dtypes):
            if pd.api.types.is_numeric_dtype(kind):
                continue
            column = X.iloc[:, place]
            if isinstance(kind, np.dtype) and kind.kind == "O" and _all_numbers(column):
                continue
            raise InvalidType(
                f"{name}'s column {X.columns[place]!r} holds values that are not numbers "
                f"({kind}): drop it, set it as the index, or turn it into numbers."
            )
    return X


def _all_numbers(column: pd.Series[Any]) -> bool:
    return bool(pd.to_numeric(column.dropna(), errors="coerce").notna().all())


def refuse_infinite(value_NP: Float, names: pd.Index, name: str = "Y") -> None:
    """Refuse infinite values, by their place."""
    bad = np.argwhere(np.isinf(value_NP))
    if len(bad):
        row, column = bad[0]
        raise InvalidInput(
            f"{name} contains infinity, first in row {row}, column {names[column]!r} ({len(bad)} "
            "in all): write a hole as NaN."
        )


def scale_of(value_NP: Float, names: pd.Index, *, centred: bool, name: str = "Y") -> Scale:
    """Return every column's level (its mean, or 0) and spread (its standard deviation).

    A column without any value is refused. A constant column has spread 0: everything said of it
    is that constant.
    """
    seen_NP = ~np.isnan(value_NP)
    empty = np.flatnonzero(~seen_NP.any(axis=0))
    if empty.size:
        raise InvalidInput(
            f"{name}'s column {names[empty[0]]!r} holds no value at all ({empty.size} such in "
            "all): drop it."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        level_P, spread_P = np.nanmean(value_NP, axis=0), np.nanstd(value_NP, axis=0)
    _refuse_huge(spread_P, names, name)
    constant_P = spread_P <= 1e-12 * np.abs(level_P)
    if not centred:
        level_P = np.where(constant_P, level_P, 0.0)
    return Scale(level_P, np.where(constant_P, 0.0, spread_P))


def _refuse_huge(spread_P: Float, names: pd.Index, name: str) -> None:
    huge = np.flatnonzero(~np.isfinite(spread_P))
    if huge.size:
        raise InvalidInput(
            f"{name}'s column {names[huge[0]]!r} holds numbers too large to square: rescale it."
        )


def column_names(X: TableLike, n_columns: int) -> pd.Index:
    """Return the columns of a data frame, or their numbers."""
    return X.columns if isinstance(X, pd.DataFrame) else pd.RangeIndex(n_columns)


def like(X: TableLike, value_NP: Float) -> Float | pd.DataFrame:
    """Return values as X came: a data frame with its index and columns, or an array."""
    if isinstance(X, pd.DataFrame):
        return pd.DataFrame(value_NP, index=X.index, columns=X.columns)
    return value_NP
