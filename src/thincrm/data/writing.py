"""Tables as CSV files that a spreadsheet opens without running anything in them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import TypeVar

import pandas as pd

from thincrm.files import write_file

__all__ = ["Blocks", "free_name", "write_blocks", "write_csv"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # what a spreadsheet may take a cell's start for
C = TypeVar("C")
Blocks = Callable[[], Iterator[pd.DataFrame]]  # a table, some rows at a time
_INSIDE = re.compile(r"([;|\t])(?=[=+\-@])")  # a spreadsheet may cut there, with or without commas
_SAFE_KINDS = "biufcmM"  # NumPy's letters for numbers and times


def free_name(name: object, taken: Container[str]) -> str:
    """Return the name of a foreign column in a table: with _ behind it, if it is taken there."""
    found = str(name)
    while found in taken:
        found += "_"
    return found


def write_csv(
    table: pd.DataFrame, path: Path, *, index: bool = False, float_format: str | None = None
) -> None:
    """Write a table; texts that a spreadsheet would take for a formula get an apostrophe.

    Words, names of columns and of files may come from a stranger. Numbers and dates stay as they
    are.
    """
    write_file(path, _text(table, index=index, header=True, float_format=float_format))


def write_blocks(blocks: Blocks, path: Path) -> None:
    """Write a table that is too large to be held, without its index, as `write_csv` does."""

    def parts() -> Iterator[bytes]:
        for place, block in enumerate(blocks()):
            yield _text(block, header=place == 0)

    write_file(path, parts)


def _text(
    table: pd.DataFrame, *, header: bool, index: bool = False, float_format: str | None = None
) -> bytes:
    safe = table.copy(deep=False)
    for place, kind in enumerate(safe.dtypes):
        if kind.kind not in _SAFE_KINDS:
            safe.isetitem(place, [_told(cell, float_format) for cell in safe.iloc[:, place]])
    safe.columns = safe.columns.map(_harmless)
    if safe.index.dtype.kind not in _SAFE_KINDS:
        safe.index = safe.index.map(_harmless)
    safe.index.name = _harmless(table.index.name)
    # Line ends as in RFC 4180: a lone carriage return in a cell is then put in quotation marks.
    text = safe.to_csv(index=index, header=header, float_format=float_format, lineterminator="\r\n")
    return text.encode("utf-8", "replace")


def _told(cell: object, float_format: str | None) -> object:
    """Return a cell of a column of anything: numbers beside texts have the format of numbers."""
    if float_format is not None and isinstance(cell, float) and not math.isnan(cell):
        return float_format % cell
    return _harmless(cell)


def _harmless(cell: C) -> C | str:
    if not isinstance(cell, str):
        return cell
    safe = _INSIDE.sub(r"\1'", cell)
    return f"'{safe}" if safe.startswith(_FORMULA) else safe
