"""Texts with their dates and covariates: from a table, or from a folder of text files."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from thincrm.data.reading.dates import DateColumn
from thincrm.data.reading.folders import file_rows
from thincrm.data.reading.lines import UTF8, shown
from thincrm.data.reading.many_files import is_pattern, rows_of_all
from thincrm.data.reading.rows import Row, Tally, rows
from thincrm.errors import InvalidInput, Sentence, either, sentence_of
from thincrm.files.folder import refuse_name

__all__ = ["TextStream", "Texts", "number_in", "plain", "read_texts"]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_MOST_DIGITS = 1000
_IN_FOLDER = "text"  # the column that a folder's rows have their text in


@dataclass(frozen=True, slots=True)
class Texts:
    """Documents as read, row for row.

    Attributes
    ----------
    texts : list of str
        The documents, empty ones too.
    t : Series, DataFrame or None
        What a model takes as `t`: the dates; without dates the covariates; else None.
    table : DataFrame
        Dates and covariates; its index is the line (row, file) that a document comes from.
    skipped : int
        How many bad rows were passed over.
    first_skipped : str
        The first of them, and why; empty if there is none.
    """

    texts: list[str] = field(repr=False)
    t: Any = field(repr=False)
    table: pd.DataFrame = field(repr=False)
    skipped: int = 0
    first_skipped: str = ""


def read_texts(
    path: str | Path,
    text: str | None = "text",
    date: str | None = None,
    covariates: str | Sequence[str] = (),
    *,
    metadata: str | Path | None = None,
    date_format: str | None = None,
    encoding: str = UTF8,
    skip_bad: bool = False,
) -> Texts:
    """Read documents from CSV, TSV, JSONL or Parquet files, or from a folder of text files.

    Parameters
    ----------
    path : path
        A table with a document a row (.gz too), many of them (news/*.parquet), or a folder with a
        document a .txt file.
    text : str or None
        The column of the texts (of a table). None: there are none, the table goes with counts.
    date : str or None
        The column of the dates. Of a folder without `metadata`, "name": dates are in file names.
    covariates : str or sequence of str
        More columns to keep. Without `date` they are the model's covariates, and numbers.
    metadata : path or None
        Of a folder: a table with a column `file` and columns of dates and covariates.
    date_format : str or None
        How dates are written, in the manner of `strptime`; None: any usual form.
    encoding : str
        How letters are written in CSV, TSV, JSONL and text files.
    skip_bad : bool
        Pass over rows that cannot be read, and count them.
    """
    stream = TextStream(
        path,
        text,
        date,
        covariates,
        metadata=metadata,
        date_format=date_format,
        encoding=encoding,
        skip_bad=skip_bad,
    )
    texts = list(stream)
    return stream.done(texts)


class TextStream:
    """The documents that `read_texts` reads, one at a time; no text is held.

    Once all have come `done` returns the rest of what was read. Its parameters are those of
    `read_texts`; a path such as news/*.parquet stands for many files.
    """

    def __init__(
        self,
        path: str | Path,
        text: str | None = "text",
        date: str | None = None,
        covariates: str | Sequence[str] = (),
        *,
        metadata: str | Path | None = None,
        date_format: str | None = None,
        encoding: str = UTF8,
        skip_bad: bool = False,
    ) -> None:
        names = [covariates] if isinstance(covariates, str) else list(covariates)
        wanted = [name for name in dict.fromkeys([date, *names]) if name is not None]
        where = Path(path)
        refuse_name(where)
        if where.is_dir():
            text = _IN_FOLDER
            self._rows = file_rows(where, wanted, metadata, encoding)
        elif metadata is not None:
            raise InvalidInput(f"metadata goes with a folder of text files, and {where} is none.")
        else:
            reader = rows_of_all if is_pattern(where) else rows
            both = dict.fromkeys([*([text] if text else []), *wanted])
            self._rows = reader(where, list(both), encoding)
        self._sheet = _Sheet(text, date, names, DateColumn(date_format), Tally(where, skip_bad))

    @classmethod
    def of_rows(cls, found: Iterator[Row], name: str, text: str, date: str | None) -> Self:
        """Return the documents in rows that come from elsewhere; `name` is what errors call it."""
        stream = cls.__new__(cls)
        stream._rows = found
        stream._sheet = _Sheet(text, date, [], DateColumn(None), Tally(Path(name), skip=False))
        return stream

    def __iter__(self) -> Iterator[str]:
        for row in self._rows:
            text = self._sheet.add(row)
            if text is not None:
                yield text

    def done(self, texts: list[str]) -> Texts:
        """Return what was read with the documents, and those of them that were kept."""
        return self._sheet.done(texts)


@dataclass(slots=True)
class _Sheet:
    """Grows by one document a row."""

    text: str | None
    date: str | None
    names: list[str]
    dates: DateColumn
    tally: Tally
    cells: list[tuple[Any, ...]] = field(default_factory=list)
    places: list[Any] | array[int] = field(default_factory=partial(array, "q"))
    unit: str = "line"

    def add(self, row: Row) -> str | None:
        """Keep a row but for its text, which is returned, or name it as bad."""
        column = ""
        try:
            if row.problem:
                raise ValueError(row.problem)
            column = self.text or ""
            text = _text(row.cells[self.text]) if self.text else ""
            cells = []
            for column in self.names:
                value = plain(row.cells[column])
                cells.append(value if self.date else number_in(value))
            if self.date is not None:
                column = self.date
                self.dates.read(row.cells[column])
        except ValueError as error:
            self.tally.bad(row, sentence_of(error), column)
            return None
        if isinstance(row.number, str) and not self.cells:
            self.places = []
        self.cells.append(tuple(cells))
        self.places.append(row.number)  # type: ignore[arg-type]
        self.unit = row.unit
        return text

    def done(self, texts: list[str]) -> Texts:
        """Return what was read."""
        tally = self.tally
        if not self.cells:
            more = f"; {tally.skipped} bad rows, the first: " if tally.skipped else "."
            raise InvalidInput(f"{tally.path} holds no documents{more}", tally.first)
        places = np.array(self.places) if isinstance(self.places, array) else self.places
        index = pd.Index(places, name=self.unit)
        table = pd.DataFrame(self.cells, columns=pd.Index(self.names), index=index)
        for name in self.names:
            table[name] = _typed(table[name])
        t: Any = None
        if self.date is not None:
            dates = self.dates.series(self.date)
            table[self.date] = t = dates.set_axis(index)
        elif self.names:
            t = table[self.names[0]] if len(self.names) == 1 else table[self.names]
        return Texts(texts, t, table, tally.skipped, tally.first)


def _text(value: object) -> str:
    if value is None:
        raise ValueError("the text is missing")
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is not a text")
    return str(plain(value))


def plain(value: object) -> Any:
    """Return a cell; a text with broken characters in it is refused."""
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            said = Sentence(
                f"character {error.start + 1} is not in the file's encoding; ",
                either("encoding=", "--encoding"),
                " names another, such as latin-1",
            )
            raise ValueError(said) from error
    return value


def number_in(value: object) -> float:
    """Return a cell as a finite number."""
    text = value.strip() if isinstance(value, str) else value
    if text is None or text == "":
        raise ValueError("the number is missing")
    if isinstance(text, str):
        if len(text) > _MOST_DIGITS or not _NUMBER.fullmatch(text):
            raise ValueError(f"{shown(value)} is not a number")
    elif isinstance(text, bool) or not isinstance(text, int | float):
        raise ValueError(f"{shown(value)} is not a number")
    try:
        number = float(text)
    except OverflowError as error:
        raise ValueError(f"{shown(value)} is too large") from error
    if number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124
        raise ValueError(f"{shown(value)} is not a finite number")
    return number


def _typed(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as numbers if it holds nothing else."""
    try:
        return column.map(number_in).astype(float)
    except ValueError:
        return column
