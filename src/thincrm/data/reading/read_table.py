"""A table of numbers with holes, and the covariate of each row: what a feature model explains."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from thincrm.data.reading.covariate_columns import covariate_reader
from thincrm.data.reading.lines import UTF8, shown
from thincrm.data.reading.row_numbers import row_numbers
from thincrm.data.reading.rows import Tally, column_names, rows
from thincrm.data.reading.texts import number_in, plain
from thincrm.errors import InvalidInput, sentence_of

__all__ = ["Table", "read_table"]

_HOLES = {"", "na", "n/a", "nan", "null", "none", ".", "..", "-", "?"}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of numbers, as read.

    Attributes
    ----------
    values : (N, C) DataFrame of float
        NaN where a cell is empty; the index is the `label` column, or the line.
    t : (N,) Series, (N, C) DataFrame or None
        The covariate of each row: numbers or dates; several columns of numbers, dates as days
        since 1970 and levels of categories as zeros and ones among them.
    lines : (N,) Index
        Where each row stands in the file; labels may repeat, lines do not.
    skipped : int
        How many bad rows were passed over.
    first_skipped : str
        The first of them, and why; empty if there is none.
    row_numbers : tuple of str
        Columns that were left out because they number the rows and no one asked for them.
    no_numbers : tuple of str
        Columns that were left out because they hold none.
    """

    values: pd.DataFrame = field(repr=False)
    t: Any = field(repr=False)
    lines: pd.Index = field(repr=False)
    skipped: int = 0
    first_skipped: str = ""
    row_numbers: tuple[str, ...] = ()
    no_numbers: tuple[str, ...] = ()


def read_table(
    path: str | Path,
    covariate: str | Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    date: str | None = None,
    label: str | None = None,
    date_format: str | None = None,
    encoding: str = UTF8,
    skip_bad: bool = False,
    categories: bool | Sequence[str] = False,
    groups: Mapping[str, Sequence[str] | None] | None = None,
) -> Table:
    """Read a table of numbers from a CSV, TSV, JSONL or Parquet file; empty cells are holes.

    Parameters
    ----------
    path : path
        A table with an observation a row (.gz too).
    covariate : str, sequence of str or None
        The column that features may depend on: numbers or dates. Of several, dates become days
        since 1970.
    columns : sequence of str or None
        The columns of numbers to model; None: all others that hold nothing but numbers, and do
        not merely number the rows.
    date : str or None
        A column of dates that features may depend on, instead of `covariate` or beside it.
    label : str or None
        A column with the rows' names; None: the first line says nothing of them.
    date_format : str or None
        How dates are written, in the manner of `strptime`; None: any usual form.
    encoding : str
        How letters are written in CSV, TSV and JSONL files.
    skip_bad : bool
        Pass over rows that cannot be read, and count them.
    categories : bool or sequence of str
        Columns to read as texts; True: all that do not hold numbers; False: none, they are left
        out.
    groups : mapping or None
        Columns of categories that features may depend on, each with its levels (None: those that
        it has); a level becomes a column of zeros and ones.
    """
    known = column_names(path, encoding)
    reader = covariate_reader(covariate, date, date_format, groups or {})
    aside = [*reader.names, *([] if label is None else [label])]
    wanted = [name for name in known if name not in aside] if columns is None else list(columns)
    tally = Tally(Path(path), skip_bad)
    kept, texts = _kept(path, wanted, categories, encoding, chosen=columns is not None)
    if not kept:
        raise InvalidInput(f"{tally.path.name} has no column of numbers to explain.")
    numbers = [name for name in kept if name not in texts]
    values, labels, places = array("d"), list[Any](), list[Any]()
    said: dict[str, list[str | None]] = {name: [] for name in kept if name in texts}
    unit = "line"
    for row in rows(path, list(dict.fromkeys([*aside, *kept])), encoding):
        column = ""
        try:
            if row.problem:
                raise ValueError(row.problem)
            cells, words = list[float](), list[str | None]()
            for column in numbers:
                cells.append(_cell(row.cells[column]))
            for column in said:
                words.append(_text(row.cells[column]))
            column = label or ""
            name = None if label is None else _name(row.cells[label])
            for column in reader.names:
                reader.read(row.cells[column])
        except ValueError as error:
            reader.forget_half_a_row(len(places))
            tally.bad(row, sentence_of(error), column)
            continue
        values.extend(cells)
        for column_texts, word in zip(said.values(), words, strict=True):
            column_texts.append(word)
        labels.append(name)
        places.append(row.number)
        unit = row.unit
    if not places:
        raise InvalidInput(f"{tally.path} holds no rows", ": " if tally.first else ".", tally.first)
    lines = pd.Index(places, name=unit)
    index = lines if label is None else pd.Index(labels, name=label)
    cells_NC = np.frombuffer(values).reshape(len(places), len(numbers))
    frame = pd.DataFrame(cells_NC, columns=pd.Index(numbers), index=index, copy=True)
    left_out = [] if columns is not None else row_numbers(frame, lines)
    if said:
        frame = pd.concat([frame, pd.DataFrame(said, index=index)], axis=1)[kept]
    if len(left_out) == frame.shape[1]:
        left_out = []
    frame = frame.drop(columns=left_out)
    t = reader.series(index)
    there = set(kept)
    none = tuple(name for name in wanted if name not in there)
    return Table(frame, t, lines, tally.skipped, tally.first, tuple(left_out), none)


def _kept(
    path: str | Path,
    wanted: list[str],
    categories: bool | Sequence[str],
    encoding: str,
    *,
    chosen: bool,
) -> tuple[list[str], set[str]]:
    """Return the columns to read, and those of them that hold texts."""
    if categories is False:
        return (wanted if chosen else _numeric(path, wanted, encoding)), set()
    if categories is not True:
        return wanted, set(categories)
    return wanted, set(wanted) - set(_numeric(path, wanted, encoding))


def _text(value: object) -> str | None:
    """Return a text, or None for a hole."""
    said = "" if value is None else str(plain(value)).strip()
    return None if said.lower() in _HOLES else said


def _numeric(path: str | Path, names: Sequence[str], encoding: str) -> list[str]:
    """Return the columns whose first filled cells are numbers: one look at the file's start."""
    texts: set[str] = set()
    filled: set[str] = set()
    for row in rows(path, names, encoding):
        for name in names:
            if name in filled or row.problem:
                continue
            try:
                if not np.isnan(_cell(row.cells[name])):
                    filled.add(name)
            except ValueError:
                filled.add(name)
                texts.add(name)
        if len(filled) == len(names):
            break
    return [name for name in names if name in filled and name not in texts]


def _name(value: object) -> Any:
    """Return what a row is called."""
    if isinstance(value, list | dict):
        raise ValueError(f"{shown(value)} is not a name")
    return plain(value)


def _cell(value: object) -> float:
    """Return a number, or NaN for a hole."""
    if value is None or (isinstance(value, str) and value.strip().lower() in _HOLES):
        return float("nan")
    if isinstance(value, float) and np.isnan(value):
        return value
    return number_in(value)
