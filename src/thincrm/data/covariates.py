"""Covariates: numbers, dates or vectors; repeated, uneven, kept with their labels.

A model never sees observations' covariates, only the T distinct rows and how many observations
sit at each. Dates become days since 1970-01-01 (float), so that any spacing is kept.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, SupportsFloat, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from thincrm.errors import InvalidInput, InvalidType
from thincrm.numerics.arrays import Bool, Float, Int

__all__ = ["CovariateLike", "Covariates", "covariates", "encode"]


@dataclass(frozen=True, slots=True)
class Covariates:
    """The distinct covariate rows of some observations.

    Attributes
    ----------
    rows : (T, C) float
        Distinct values in increasing order (the first column leads).
    row : (N,) int
        Which row each observation sits in.
    trials : (T,) int
        How many observations sit in each row.
    kind : str
        "number", "date", or "date+utc" (dates with a time zone, kept in UTC).
    names : tuple of str
        A name per column.
    own : (N, C) float or None
        Each observation's own value, where rows were pooled (`rounding.rounded`); None: its row's.
    """

    rows: Float
    row: Int
    trials: Int
    kind: str
    names: tuple[str, ...]
    own: Float | None = None

    def observed(self, some: slice | Int = slice(None)) -> Float:
        """Return the (N, C) values of the observations, or of some of them."""
        return self.rows[self.row[some]] if self.own is None else self.own[some]

    def n_values(self) -> Int:
        """Return the (T,) distinct values of the observations of each row: 1, unless pooled."""
        if self.own is None:
            return np.ones(len(self.rows), np.int64)
        at = self.own if self.own.shape[1] > 1 else self.own[:, 0]
        _, first = np.unique(at, axis=0, return_index=True)  # equal values are in one row
        return np.bincount(self.row[first], minlength=len(self.rows))

    def encode(self, t: CovariateLike) -> Float:
        """Return new covariates `t` as (N, C) floats in this object's units."""
        values, kind, _ = encode(t)
        if kind != self.kind:
            raise InvalidType(
                f"t holds values of kind {kind!r} but the model was given {self.kind!r}: "
                "use the same kind (numbers, naive dates, or dates with a time zone)."
            )
        if values.shape[1] != self.rows.shape[1]:
            raise InvalidInput(
                f"t has {values.shape[1]} columns but the model was given {self.rows.shape[1]}."
            )
        return values

    def places(self, values: Float) -> Int | None:
        """Return where among the distinct rows encoded `values` are; None if one is elsewhere."""
        if self.rows.shape[1] > 1:
            return None
        place = np.searchsorted(self.rows[:, 0], values[:, 0]).clip(max=len(self.rows) - 1)
        return place if np.array_equal(self.rows[place], values) else None

    def labels(self, values: Float | None = None) -> pd.Index:
        """Return an index that shows rows (default: the distinct ones) as a user wrote them."""
        values = self.rows if values is None else values
        if values.shape[1] > 1:
            return pd.MultiIndex.from_arrays(list(values.T), names=list(self.names))
        column = values[:, 0]
        if self.kind == "number":
            whole = (
                column.size and np.all(column == np.round(column)) and np.abs(column).max() < 1e15
            )
            return pd.Index(column.astype(np.int64) if whole else column, name=self.names[0])
        whole = np.floor(column)
        ticks = np.round((column - whole) * 8_640e6)  # a float day keeps 10 microseconds, not 1
        stamps = np.datetime64(0, "us") + whole.astype("m8[D]") + (10 * ticks).astype("m8[us]")
        index = pd.DatetimeIndex(stamps, name=self.names[0])
        return index.tz_localize("UTC") if self.kind == "date+utc" else index


# Numbers, dates in any usual form, or several columns: what `covariates` reads.
CovariateLike: TypeAlias = (
    ArrayLike
    | pd.Series
    | pd.DataFrame
    | pd.Index
    | datetime.date
    | Sequence[datetime.date]
    | Covariates
)
Column: TypeAlias = np.ndarray | pd.Series | pd.Index


def covariates(t: CovariateLike) -> Covariates:
    """Read covariates: one per observation; numbers, dates (any usual form), or several columns."""
    if isinstance(t, Covariates):
        return t
    values, kind, names = encode(t)
    if values.shape[1] > 1:
        rows, row = np.unique(values, axis=0, return_inverse=True)
        row = row.reshape(-1).astype(np.int64, copy=False)
    else:  # by a table of those seen: a third of the time of sorting, a quarter of its memory
        row, found = pd.factorize(values[:, 0], sort=True)
        rows = np.asarray(found, float).reshape(-1, 1)
    trials = np.bincount(row, minlength=len(rows))
    return Covariates(rows, row, trials, kind, names)


def encode(t: CovariateLike) -> tuple[Float, str, tuple[str, ...]]:
    """Return (values (N, C) float, kind, column names) of covariates in any usual form."""
    columns = _columns(t)
    if not columns:
        raise InvalidInput("t is a table without columns: pass at least one covariate.")
    parts = [_column(column, name) for name, column in columns]
    kind = parts[0][1] if len(parts) == 1 else "number"
    if any(k != kind for _, k in parts):
        raise InvalidInput(
            "t has several columns and one holds dates: turn dates into numbers first, "
            "so that each column's scale is yours to choose."
        )
    return np.column_stack([part for part, _ in parts]), kind, tuple(name for name, _ in columns)


def _columns(t: CovariateLike) -> list[tuple[str, Column]]:
    """Return the columns of `t` with their names."""
    if isinstance(t, pd.MultiIndex):
        t = t.to_frame(index=False, allow_duplicates=True)
    if isinstance(t, pd.DataFrame):
        return [(str(name), t.iloc[:, c]) for c, name in enumerate(t.columns)]
    if isinstance(t, pd.Series | pd.Index):
        return [("t" if t.name is None else str(t.name), t)]
    array = np.atleast_1d(_as_array(t))
    if array.ndim > 2:
        raise InvalidInput(f"t must have one or two dimensions, got {array.ndim}.")
    if array.ndim == 1:
        return [("t", array)]
    n_columns = array.shape[1]
    return [("t" if n_columns == 1 else f"t{c}", array[:, c]) for c in range(n_columns)]


def _as_array(t: object) -> np.ndarray:
    """Return a NumPy array, leaving dates and strings as objects for pandas to read."""
    if isinstance(t, dict | set | frozenset):
        raise InvalidType("t must be in the order of the observations: pass a list or an array.")
    if isinstance(t, np.ma.MaskedArray):
        _refuse(np.ma.getmaskarray(t).ravel(), np.ma.getdata(t).ravel(), "t", "is masked")
    if isinstance(t, str | datetime.date) or not hasattr(t, "__iter__"):
        t = [t]
    try:
        items = t if isinstance(t, np.ndarray) else list(t)
    except TypeError as error:
        raise InvalidType("t must be a list or an array of numbers or dates.") from error
    if isinstance(items, list):
        if any(isinstance(item, bool) for item in items):
            raise InvalidType("t must hold numbers or dates, got True/False values.")
        if items and isinstance(items[0], str | datetime.date | pd.Period):
            return np.fromiter(items, object, len(items))
    try:
        return np.asarray(items)
    except ValueError as error:
        raise InvalidInput(
            "t has rows of different lengths: give every row the same columns."
        ) from error


def _column(column: Column, name: str) -> tuple[Float, str]:
    """Return one column as floats, and its kind."""
    try:
        series = _as_series(column)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidType(f"{name} cannot be read as numbers or dates ({error}).") from error
    if series.size == 0:
        raise InvalidInput(f"{name} is empty: pass one covariate per observation.")
    if isinstance(series.dtype, pd.PeriodDtype):
        series = series.dt.to_timestamp()
    if pd.api.types.is_bool_dtype(series.dtype) or pd.api.types.is_complex_dtype(series.dtype):
        raise InvalidType(f"{name} must hold numbers or dates, got {series.dtype}.")
    if pd.api.types.is_timedelta64_dtype(series.dtype):
        raise InvalidType(f"{name} holds time differences: pass dates or numbers.")
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return _days(series, name)
    if pd.api.types.is_numeric_dtype(series.dtype):
        return _numbers(series, name), "number"
    return _objects(series, name)


def _as_series(column: Column) -> pd.Series[Any]:
    try:
        return pd.Series(column).infer_objects()
    except OverflowError:  # of pandas 3.0, when a whole number fits no float
        if np.asarray(column).dtype.kind != "O":
            raise
        return pd.Series(column, dtype=object)


def _numbers(series: pd.Series[Any], name: str) -> Float:
    values = series.to_numpy(float, na_value=np.nan)
    _refuse(~np.isfinite(values), values, name, "is not a finite number")
    return values


def _objects(series: pd.Series[Any], name: str) -> tuple[Float, str]:
    """Read a column of Python objects: numbers, dates, or strings of either."""
    _refuse(series.isna().to_numpy(), series.to_numpy(object), name, "is missing")
    if any(isinstance(value, bool) for value in series):
        raise InvalidType(f"{name} must hold numbers or dates, got True/False values.")
    numeric = [isinstance(value, Real | Decimal) for value in series]
    if all(numeric):
        return _numbers(series.map(_float), name), "number"
    if any(numeric):
        place = numeric.index(False)
        raise InvalidInput(
            f"{name} mixes numbers with other values "
            f"(first: {_shown(series.iloc[place])} at position {place}): "
            "use numbers or dates, not both."
        )
    if all(isinstance(value, str) for value in series):
        numbers = pd.to_numeric(series, errors="coerce")
        if numbers.notna().all():
            return _numbers(numbers.astype(float), name), "number"
    return _days(_dates(series, name), name)


def _float(value: SupportsFloat) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _dates(series: pd.Series[Any], name: str) -> pd.Series[Any]:
    """Read a column of date objects and ISO strings."""
    try:
        return pd.to_datetime(series.map(_stamp), format="ISO8601")
    except (ValueError, TypeError, OverflowError) as error:
        if "timezone" in str(error).lower() or "tz-" in str(error).lower():
            raise InvalidType(
                f"{name} mixes dates with and without a time zone, or of several zones: "
                "convert them to one zone (pandas: to_datetime(..., utc=True))."
            ) from error
        raise InvalidInput(
            f"{name} holds values that are neither numbers nor ISO dates "
            f"(first: {_first_unreadable(series)}): use numbers or dates such as 1862-12-01."
        ) from error


def _stamp(value: object) -> str | np.datetime64:
    """Return what pandas can read: a bare year is its first day, the clock is no covariate."""
    if isinstance(value, pd.Period):
        value = value.to_timestamp()
    if not isinstance(value, str | datetime.date | np.datetime64) or value in ("now", "today"):
        raise ValueError("not a date")
    return value.isoformat() if isinstance(value, datetime.date) else value


def _first_unreadable(series: pd.Series[Any]) -> str:
    for place, value in enumerate(series):
        try:
            pd.to_datetime(_stamp(value), format="ISO8601")
        except (ValueError, TypeError, OverflowError):
            return f"{_shown(value)} at position {place}"
    return _shown(series.iloc[0])


def _shown(value: object) -> str:
    return " ".join(repr(value).split())[:60]


def _days(series: pd.Series[Any], name: str) -> tuple[Float, str]:
    aware = series.dt.tz is not None
    stamps = (series.dt.tz_convert("UTC").dt.tz_localize(None) if aware else series).to_numpy()
    _refuse(np.isnat(stamps), stamps, name, "is missing")
    micro = stamps.astype("M8[us]")  # wraps round silently 292,000 years from 1970
    _refuse(micro.astype("M8[s]") != stamps.astype("M8[s]"), stamps, name, "is too far away")
    return micro.astype(np.int64) / 86_400e6, "date+utc" if aware else "date"


def _refuse(bad: Bool, values: np.ndarray, name: str, what: str) -> None:
    if np.any(bad):
        place = int(np.flatnonzero(bad)[0])
        raise InvalidInput(
            f"{name}[{place}] {what} ({values[place]}; {int(np.sum(bad))} such in all): "
            "drop these observations or fill in their covariate."
        )
