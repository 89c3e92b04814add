"""Covariates of a table's rows, read cell by cell: a column, or several of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from thincrm.data.covariates import encode
from thincrm.data.reading.dates import DateColumn
from thincrm.data.reading.texts import number_in, plain
from thincrm.errors import InvalidInput, argument

__all__ = ["covariate_reader"]

DAYS = " (days since 1970)"  # ends the name of a date among several covariates


def covariate_reader(
    covariate: str | Sequence[str] | None,
    date: str | None,
    form: str | None,
    groups: Mapping[str, Sequence[str] | None],
) -> NumberOrDate | Several:
    """Return what reads the covariates of a row: numbers or dates, a date, categories."""
    names = [covariate] if isinstance(covariate, str) else list(covariate or ())
    given = [*names, *([] if date is None else [date]), *groups]
    if len(set(given)) < len(given):
        raise InvalidInput(argument("covariate"), f" names a column twice: {', '.join(given)}.")
    if len(given) < 2 and not groups:
        is_date = None if date is None and form is None else True
        return NumberOrDate(next(iter(given), None), form, is_date)
    parts: list[NumberOrDate | Category] = [NumberOrDate(name, form, None) for name in names]
    if date is not None:
        parts.append(NumberOrDate(date, form, True))
    return Several([*parts, *(Category(name, levels) for name, levels in groups.items())])


class NumberOrDate:
    """A column of numbers; of dates as soon as its first value is none."""

    def __init__(self, name: str | None, form: str | None, is_date: bool | None) -> None:
        self.names = [] if name is None else [name]
        self.dates, self.numbers = DateColumn(form), list[float]()
        self._is_date = is_date

    def read(self, value: object) -> None:
        """Add a value, or raise ValueError with the reason why it is none."""
        if self._is_date is None:
            try:
                number_in(value)
                self._is_date = False
            except ValueError:
                self.dates.read(value)
                self._is_date = True
                return
        if self._is_date:
            self.dates.read(value)
        else:
            self.numbers.append(number_in(value))

    def forget_half_a_row(self, n_rows: int) -> None:
        """Drop what was read of a row before another of its cells was bad."""
        del self.numbers[n_rows:], self.dates.moments[n_rows:]

    def series(self, index: pd.Index) -> pd.Series[Any] | None:
        """Return the column, if there is one."""
        return self._column(index) if self.names else None

    def _column(self, index: pd.Index) -> pd.Series[Any]:
        if self._is_date:
            return self.dates.series(self.names[0]).set_axis(index)
        return pd.Series(self.numbers, index=index, name=self.names[0], dtype=float)

    def columns(self, index: pd.Index) -> pd.DataFrame:
        """Return the column as numbers: dates are days."""
        values, kind, _ = encode(self._column(index))
        name = self.names[0] + (DAYS if kind.startswith("date") else "")
        return pd.DataFrame({name: values[:, 0]}, index=index)


class Category:
    """A column of categories: zeros and ones for every level."""

    def __init__(self, name: str, levels: Sequence[str] | None) -> None:
        self.names, self._levels, self._values = [name], levels, list[str]()

    def read(self, value: object) -> None:
        """Add a level, or raise ValueError with the reason why it is none."""
        said = "" if value is None else str(plain(value)).strip()
        if not said:
            raise ValueError("the category is missing")
        if self._levels is not None and said not in self._levels:
            raise ValueError(f"{said!r} is none of {', '.join(self._levels)}")
        self._values.append(said)

    def forget_half_a_row(self, n_rows: int) -> None:
        """Drop what was read of a row before another of its cells was bad."""
        del self._values[n_rows:]

    def columns(self, index: pd.Index) -> pd.DataFrame:
        """Return a column for every level."""
        levels = sorted(set(self._values)) if self._levels is None else self._levels
        values = np.array(self._values, dtype=object)
        found = {f"{self.names[0]}={level}": (values == level).astype(float) for level in levels}
        return pd.DataFrame(found, index=index)


class Several:
    """Several columns, cell after cell in their order."""

    def __init__(self, parts: list[NumberOrDate | Category]) -> None:
        self._parts, self._next = parts, 0
        self.names = [part.names[0] for part in parts]

    def read(self, value: object) -> None:
        """Add the value of the next column."""
        self._parts[self._next].read(value)
        self._next = (self._next + 1) % len(self._parts)

    def forget_half_a_row(self, n_rows: int) -> None:
        """Drop what was read of a row before another of its cells was bad."""
        self._next = 0
        for part in self._parts:
            part.forget_half_a_row(n_rows)

    def series(self, index: pd.Index) -> pd.DataFrame:
        """Return the columns."""
        return pd.concat([part.columns(index) for part in self._parts], axis=1)
