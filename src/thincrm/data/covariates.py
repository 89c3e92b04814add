"""Covariates: numbers, dates or vectors; repeated, uneven, kept with their labels.

A model never sees observations' covariates, only the T distinct rows and how many observations
sit at each. Dates become days since 1970-01-01 (float), so that any spacing is kept.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput, InvalidType
from thincrm.numerics.arrays import Float, Int

__all__ = ["Covariates", "covariates", "encode"]


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
    """

    rows: Float
    row: Int
    trials: Int
    kind: str
    names: tuple[str, ...]

    def encode(self, t: Any) -> Float:
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
        stamps = np.datetime64(0, "us") + np.round(column * 86_400e6).astype("m8[us]")
        index = pd.DatetimeIndex(stamps, name=self.names[0])
        return index.tz_localize("UTC") if self.kind == "date+utc" else index


def covariates(t: Any) -> Covariates:
    """Read covariates: one per observation; numbers, dates (any usual form), or several columns."""
    if isinstance(t, Covariates):
        return t
    values, kind, names = encode(t)
    rows, row, trials = np.unique(values, axis=0, return_inverse=True, return_counts=True)
    return Covariates(rows, row.reshape(-1).astype(np.int64), trials.astype(np.int64), kind, names)


def encode(t: Any) -> tuple[Float, str, tuple[str, ...]]:
    """Return (values (N, C) float, kind, column names) of covariates in any usual form."""
    if isinstance(t, pd.DataFrame):
        parts = [_column(t[name], str(name)) for name in t.columns]
        if not parts:
            raise InvalidInput("t is a table without columns: pass at least one covariate.")
        values = np.column_stack([part for part, _ in parts])
        kind = parts[0][1] if len(parts) == 1 else "number"
        if len(parts) > 1 and any(k != "number" for _, k in parts):
            raise InvalidInput(
                "t has several columns and one holds dates: turn dates into numbers first, "
                "so that each column's scale is yours to choose."
            )
        return values, kind, tuple(str(name) for name in t.columns)
    name = str(t.name) if isinstance(t, pd.Series | pd.Index) and t.name is not None else "t"
    array: Any = t if isinstance(t, pd.Series | pd.Index) else _as_array(t)
    if array.ndim == 0:
        array = array.reshape(1)
    if array.ndim == 2:
        values = np.column_stack(
            [_column(array[:, c], f"t[:, {c}]")[0] for c in range(array.shape[1])]
        )
        return values, "number", tuple(f"t{c}" for c in range(array.shape[1]))
    if array.ndim != 1:
        raise InvalidInput(f"t must have one or two dimensions, got {array.ndim}.")
    values, kind = _column(array, name)
    return values[:, None], kind, (name,)


def _as_array(t: Any) -> Any:
    """Return a NumPy array, leaving dates and strings as objects for pandas to read."""
    if isinstance(t, str | datetime.date):
        t = [t]
    items = t if isinstance(t, np.ndarray) else list(t) if hasattr(t, "__iter__") else t
    if isinstance(items, list) and items and isinstance(items[0], str | datetime.date | pd.Period):
        out = np.empty(len(items), object)
        out[:] = items
        return out
    try:
        return np.asarray(items)
    except ValueError as error:
        raise InvalidInput(
            "t has rows of different lengths: give every row the same columns."
        ) from error


def _column(column: Any, name: str) -> tuple[Float, str]:
    """Return one column as floats, and its kind."""
    series: Any = pd.Series(column)
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


def _numbers(series: pd.Series[Any], name: str) -> Float:
    values = series.to_numpy(float, na_value=np.nan)
    _refuse(~np.isfinite(values), values, name, "is not a finite number")
    return values


def _objects(series: pd.Series[Any], name: str) -> tuple[Float, str]:
    """Read a column of Python objects: numbers, dates, or strings of either."""
    missing = series.isna().to_numpy()
    _refuse(missing, series.to_numpy(object), name, "is missing")
    if any(isinstance(value, bool) for value in series):
        raise InvalidType(f"{name} must hold numbers or dates, got True/False values.")
    if not any(isinstance(value, datetime.date) for value in series):
        numbers = pd.to_numeric(series, errors="coerce")
        if numbers.notna().all():
            return _numbers(numbers.astype(float), name), "number"
    try:
        dates = pd.to_datetime(series.map(_stamp), format="ISO8601")
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
    return _days(dates, name)


def _stamp(value: Any) -> Any:
    """Return an ISO string for pandas to read: a bare year is its first day."""
    if isinstance(value, pd.Period):
        return value.to_timestamp().isoformat()
    return value.isoformat() if isinstance(value, datetime.date) else value


def _first_unreadable(series: pd.Series[Any]) -> str:
    for place, value in enumerate(series):
        try:
            pd.to_datetime(_stamp(value), format="ISO8601")
        except (ValueError, TypeError, OverflowError):
            return f"{value!r} at position {place}"
    return repr(series.iloc[0])


def _days(series: pd.Series[Any], name: str) -> tuple[Float, str]:
    aware = series.dt.tz is not None
    stamps = (series.dt.tz_convert("UTC").dt.tz_localize(None) if aware else series).to_numpy()
    _refuse(np.isnat(stamps), series.to_numpy(object), name, "is missing")
    micro = stamps.astype("M8[us]").astype(np.int64)
    return micro / 86_400e6, "date+utc" if aware else "date"


def _refuse(bad: Any, values: Any, name: str, what: str) -> None:
    if np.any(bad):
        place = int(np.flatnonzero(bad)[0])
        raise InvalidInput(
            f"{name}[{place}] {what} ({values[place]}; {int(np.sum(bad))} such in all): "
            "drop these observations or fill in their covariate."
        )
