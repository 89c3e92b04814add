"""Rows of a table in a file (CSV, TSV, JSONL, Parquet), one at a time, each with its place."""

from __future__ import annotations

import csv
import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from thincrm.data.reading.lines import MOST_BYTES, check_file, lines, shown
from thincrm.errors import InvalidInput, either

__all__ = ["Row", "Tally", "column_names", "rows"]

_TABLES = (".csv", ".tsv", ".tab", ".txt")
_JSON = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
_DELIMITERS = ",;\t|"


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
        sentence = f"{self.path.name}, {row.unit} {row.number}{at}: {why}"
        if not self.skip:
            raise InvalidInput(
                f"{sentence} (", either("skip_bad=True", "--skip-bad"), " passes over such rows)."
            )
        self.skipped += 1
        self.first = self.first or f"{sentence}."


def rows(path: str | Path, wanted: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a table in a file, with the wanted columns."""
    path = check_file(path)
    ending = _ending(path)
    if ending in _JSON:
        yield from _json_rows(path, wanted)
    elif ending in _PARQUET:
        yield from _parquet_rows(path, wanted)
    else:
        yield from _csv_rows(path, wanted, ending)


def column_names(path: str | Path) -> list[str]:
    """Return the names of a table's columns; of a JSONL file, those of its first row."""
    path = check_file(path)
    ending = _ending(path)
    if ending in _JSON:
        first = next(_json_rows(path, ()), Row(1, {}, "there is no row"))
        if first.problem:
            raise InvalidInput(f"{path.name}, line {first.number}: {first.problem}.")
        return _in_utf8(path, list(first.cells))
    if ending in _PARQUET:
        return list(_open_parquet(path).schema_arrow.names)
    return _csv_header(path, _csv_records(path, ending))


def _ending(path: Path) -> str:
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending not in (*_TABLES, *_JSON, *_PARQUET):
        raise InvalidInput(
            f"{path.name} is of no known kind: name a .csv, .tsv, .jsonl or .parquet file "
            "(.gz after it is fine)."
        )
    return ending


def _check_columns(path: Path, names: Sequence[str], wanted: Sequence[str]) -> None:
    for name in wanted:
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            hint = f" (did you mean {shown(close[0])}?)" if close else ""
            known = ", ".join(shown(known) for known in names[:20])
            raise InvalidInput(f"{path.name} has no column {shown(name)}{hint}: it has {known}.")
        if list(names).count(name) > 1:
            raise InvalidInput(f"{path.name} has more than one column {shown(name)}.")


def _csv_rows(path: Path, wanted: Sequence[str], ending: str) -> Iterator[Row]:
    records = _csv_records(path, ending)
    names = _csv_header(path, records)
    _check_columns(path, names, wanted)
    place = {name: names.index(name) for name in wanted}
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
    return _in_utf8(path, names)


def _in_utf8(path: Path, names: list[str]) -> list[str]:
    for name in names:
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"{path.name}, line 1: the column name {shown(name)} is not in UTF-8."
            ) from error
    return names


def _csv_records(path: Path, ending: str) -> Iterator[tuple[int, list[str], str]]:
    """Yield (first line, cells, problem) of every record that is not empty."""
    source = lines(path)
    first = next(source, "")
    if not first.strip():
        raise InvalidInput(f"{path.name} must begin with a line that names its columns.")
    if first.startswith(("PK\x03\x04", "PAR1")):
        raise InvalidInput(f"{path.name} is not a text file: save the table as CSV.")
    delimiter = "\t" if ending in (".tsv", ".tab") else max(_DELIMITERS, key=first.count)
    reader = csv.reader(chain([first], source), delimiter=delimiter, strict=True)
    while True:
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


def _json_rows(path: Path, wanted: Sequence[str]) -> Iterator[Row]:
    """Yield rows of the wanted columns; of all, if none is named."""
    for number, line in enumerate(lines(path), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line, parse_constant=_refuse_constant)
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


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _parquet_rows(path: Path, wanted: Sequence[str]) -> Iterator[Row]:
    file = _open_parquet(path)
    _check_columns(path, file.schema_arrow.names, wanted)
    number = 0
    try:
        for batch in file.iter_batches(1000, columns=list(wanted)):
            for cells in batch.to_pylist():
                number += 1
                yield Row(number, cells, unit="row")
    except Exception as error:  # a damaged file raises whatever it meets
        reason = " ".join(str(error).split())
        raise InvalidInput(f"{path.name} cannot be read after row {number}: {reason}") from error


def _open_parquet(path: Path) -> Any:
    try:
        from pyarrow import parquet  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise InvalidInput(
            f"{path.name} needs pyarrow to be read: pip install 'thincrm[parquet]', or save it as "
            "CSV."
        ) from error
    try:
        return parquet.ParquetFile(path)
    except Exception as error:  # a damaged file raises whatever it meets
        reason = " ".join(str(error).split())
        raise InvalidInput(f"{path.name} is not a Parquet file: {reason}") from error
