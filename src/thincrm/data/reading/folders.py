"""A folder of text files, with dates in their names or in a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from thincrm.data.reading.dates import date_in_name
from thincrm.data.reading.lines import MOST_BYTES, lines, shown
from thincrm.data.reading.rows import Row, rows
from thincrm.errors import InvalidInput, sentence_of

__all__ = ["file_rows"]

_ENDINGS = (".txt", ".text", ".md", ".txt.gz")
_FILE, _NAME = "file", "name"


def file_rows(
    folder: Path, wanted: Sequence[str], metadata: str | Path | None, encoding: str
) -> Iterator[Row]:
    """Yield a row for each text file, by name; its cells are the text and the wanted columns."""
    files = sorted(file for file in folder.iterdir() if file.name.lower().endswith(_ENDINGS))
    files = [file for file in files if file.is_file()]
    if not files:
        raise InvalidInput(f"{folder} holds no text files ({', '.join(_ENDINGS)}).")
    if metadata is None:
        if any(name != _NAME for name in wanted):
            raise InvalidInput(
                f"{folder} is a folder: its dates are in file names (date='name'), or in a table "
                "with a column 'file' (metadata=)."
            )
        known: dict[str, Row] | None = None
    else:
        known = _by_file(Path(metadata), wanted, encoding)
    for file in files:
        try:
            cells: dict[str, Any] = {"text": _read(file, encoding)}
            if known is not None:
                cells |= _described(known, file, Path(metadata or "").name)
            elif wanted:
                cells[_NAME] = date_in_name(file.name)
        except ValueError as error:
            yield Row(file.name, {}, sentence_of(error), "file")
        else:
            yield Row(file.name, cells, unit="file")


def _read(file: Path, encoding: str) -> str:
    parts, size = [], 0
    for line in lines(file, encoding):
        size += len(line)
        if size > MOST_BYTES:
            raise ValueError(
                f"the text is longer than {MOST_BYTES // 2**20} MiB: cut it into parts"
            )
        parts.append(line)
    return "".join(parts)


def _by_file(path: Path, wanted: Sequence[str], encoding: str) -> dict[str, Row]:
    known: dict[str, Row] = {}
    for row in rows(path, list(dict.fromkeys([_FILE, *wanted])), encoding):
        if row.problem:
            raise InvalidInput(f"{path.name}, {row.unit} {row.number}: ", row.problem, ".")
        name = str(row.cells.pop(_FILE)) if _FILE not in wanted else str(row.cells[_FILE])
        if name in known:
            raise InvalidInput(
                f"{path.name}, {row.unit} {row.number}: {shown(name)} is on {row.unit} "
                f"{known[name].number} too."
            )
        known[name] = row
    return known


def _described(known: dict[str, Row], file: Path, table: str) -> dict[str, Any]:
    for name in (file.name, file.name.split(".")[0], file.stem):
        if name in known:
            return known[name].cells
    raise ValueError(f"{table} has no row whose column 'file' is {shown(file.name)}")
