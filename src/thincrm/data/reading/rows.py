"""Rows of a table in a file (CSV, TSV, JSONL, Parquet), one at a time, each with its place."""

from __future__ import annotations

import csv
import difflib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from thincrm.data.reading.lines import MOST_BYTES, UTF8, check_file, lines, shown
from thincrm.data.reading.parquet import parquet_batches, parquet_names
from thincrm.errors import InvalidInput, Sentence, either

__all__ = ["Row", "Tally", "check_columns", "column_names", "rows"]

_TABLES = (".csv", ".tsv", ".tab", ".txt")
_JSON = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
_DELIMITERS = ",;\t|"
_MOST_COLUMNS, _MOST_CELLS = 100_000, 1_000_000


class Row(NamedTuple):
    """Some cells of one row, or why there are none."""

    number: int | str
    cells: dict[str, Any]
    problem: str = ""
    unit: str = "line"


@dataclass(slots=True)
class Tally:
    """What happens to bad rows: the first is an error, or all are counted."""

    path: Path
    skip: bool
    skipped: int = 0
    first: str = ""

    def bad(self, row: Row, why: str, column: str = "") -> None:
        """Name a bad row; pass over it if that was asked for."""
        at = f", column {column}" if column else ""
        sentence = Sentence(f"{self.path.name or self.path}, {row.unit} {row.number}{at}: ", why)
        if not self.skip:
            raise InvalidInput(
                sentence, " (", either("skip_bad=True", "--skip-bad"), " passes over such rows)."
            )
        self.skipped += 1
        self.first = self.first or Sentence(sentence, ".")


def rows(path: str | Path, wanted: Sequence[str], encoding: str = UTF8) -> Iterator[Row]:
    """Yield the rows of a table in a file, with the wanted columns."""
    path = check_file(path)
    ending = _ending(path)
    if ending in _JSON:
        yield from _json_rows(path, wanted, encoding)
    elif ending in _PARQUET:
        yield from _parquet_rows(path, wanted)
    else:
        yield from _csv_rows(path, wanted, ending, encoding)


def column_names(path: str | Path, encoding: str = UTF8) -> list[str]:
    """Return the names of a table's columns; of a JSONL file, those of its first row."""
    path = check_file(path)
    ending = _ending(path)
    if ending in _JSON:
        first = next(_json_rows(path, (), encoding), Row(1, {}, "there is no row"))
        if first.problem:
            raise InvalidInput(f"{path.name}, line {first.number}: {first.problem}.")
        return _in_utf8(path, list(first.cells))
    if ending in _PARQUET:
        return parquet_names(path, readable=True)
    return _csv_header(path, _csv_records(path, ending, encoding))


def check_columns(path: str | Path, wanted: Sequence[str], encoding: str = UTF8) -> None:
    """Refuse a table that lacks one of the columns; rows of a JSONL file differ in theirs."""
    path = check_file(path)
    if _ending(path) not in _JSON:
        _check_columns(path, column_names(path, encoding), wanted)


def _ending(path: Path) -> str:
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending not in (*_TABLES, *_JSON, *_PARQUET):
        raise InvalidInput(
            f"{path.name} is of no known kind: name a .csv, .tsv, .jsonl or .parquet file "
            "(.gz after it is fine)."
        )
    return ending


def _check_columns(path: Path, names: Sequence[str], wanted: Sequence[str]) -> None:
    times = Counter(names)
    for name in wanted:
        if name not in times:
            near = [known for known in names[:1000] if len(known) < 100]
            close = difflib.get_close_matches(name[:100], near, 1)
            hint = f" (did you mean {shown(close[0])}?)" if close else ""
            known = ", ".join(shown(known) for known in names[:20])
            raise InvalidInput(f"{path.name} has no column {shown(name)}{hint}: it has {known}.")
        if times[name] > 1:
            raise InvalidInput(f"{path.name} has more than one column {shown(name)}.")


def _csv_rows(path: Path, wanted: Sequence[str], ending: str, encoding: str) -> Iterator[Row]:
    records = _csv_records(path, ending, encoding)
    names = _csv_header(path, records)
    _check_columns(path, names, wanted)
    known = {name: i for i, name in enumerate(names)}
    place = {name: known[name] for name in wanted}
    for number, cells, problem in records:
        why = problem
        if not why and len(cells) != len(names):
            why = f"there are {len(cells)} cells, but the first line names {len(names)} columns"
        if why:
            yield Row(number, {}, why)
        else:
            yield Row(number, {name: cells[i] for name, i in place.items()})


def _csv_header(path: Path, records: Iterator[tuple[int, list[str], str]]) -> list[str]:
    _, names, problem = next(records)
    if problem:
        raise InvalidInput(f"{path.name}, line 1: {problem}.")
    if len(names) > _MOST_COLUMNS:
        raise InvalidInput(
            f"{path.name}, line 1 names {len(names)} columns: are its lines ended, and its cells "
            "cut by commas?"
        )
    return _in_utf8(path, names)


def _in_utf8(path: Path, names: list[str]) -> list[str]:
    for name in names:
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"{path.name}, line 1: the column name {shown(name)} is not in the file's "
                "encoding; ",
                either("encoding=", "--encoding"),
                " names another, such as latin-1.",
            ) from error
    return names


def _csv_records(path: Path, ending: str, encoding: str) -> Iterator[tuple[int, list[str], str]]:
    """Yield (first line, cells, problem) of every record that is not empty."""
    source = lines(path, encoding)
    first = next(source, "")
    if not first.strip():
        raise InvalidInput(f"{path.name} must begin with a line that names its columns.")
    if first.startswith(("PK\x03\x04", "PAR1")):
        raise InvalidInput(f"{path.name} is not a text file: save the table as CSV.")
    delimiter = "\t" if ending in (".tsv", ".tab") else max(_DELIMITERS, key=first.count)
    cells_so_far = 0

    def bounded() -> Iterator[str]:
        nonlocal cells_so_far
        for number, line in enumerate(chain([first], source), 1):
            cells_so_far += line.count(delimiter)
            if cells_so_far > _MOST_CELLS:
                raise InvalidInput(
                    f"{path.name}, line {number}: a row has more than {_MOST_CELLS} cells."
                )
            yield line

    reader = csv.reader(bounded(), delimiter=delimiter, strict=True)
    while True:
        cells_so_far = 0
        number, cells, problem = reader.line_num + 1, [], ""
        limit = csv.field_size_limit(MOST_BYTES)  # the module has one for all readers
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = _why(str(error))
        finally:
            csv.field_size_limit(limit)
        if cells or problem:
            yield number, cells, problem


def _why(error: str) -> str:
    if "unexpected end" in error:
        return "a quotation mark opens here and never closes"
    if "expected after" in error:
        return "text follows a closing quotation mark; a quotation mark in a cell is written twice"
    return f"the cells cannot be told apart ({error})"


def _json_rows(path: Path, wanted: Sequence[str], encoding: str) -> Iterator[Row]:
    """Yield rows of the wanted columns; of all, if none is named.

    NaN and its like are no JSON, and usual all the same: each is a cell, which is refused where
    a number or a text is wanted of it.
    """
    for number, line in enumerate(lines(path, encoding), 1):
        if not line.strip():
            continue
        if sum(map(line.count, ",[{")) > _MOST_CELLS:
            yield Row(number, {}, f"there are more than {_MOST_CELLS} values")
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield Row(number, {}, f"this is not JSON ({error})")
            continue
        if not isinstance(found, dict):
            yield Row(number, {}, f"this is no JSON object but {shown(found)}")
            continue
        missing = [name for name in wanted if name not in found]
        if missing:
            known = ", ".join(shown(name) for name in list(found)[:20]) or "nothing"
            why = f"there is no {shown(missing[0])}; there is {known}"
            yield Row(number, {}, why)
        else:
            yield Row(number, {name: found[name] for name in wanted or found})


def _parquet_rows(path: Path, wanted: Sequence[str]) -> Iterator[Row]:
    _check_columns(path, parquet_names(path), wanted)
    number = 0
    for batch in parquet_batches(path, wanted):
        for cells in batch:
            number += 1
            yield Row(number, cells, unit="row")
