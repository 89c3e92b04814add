"""Many files that one pattern names, read as one table."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path

from thincrm.data.reading.lines import UTF8
from thincrm.data.reading.rows import Row, check_columns, rows
from thincrm.errors import InvalidInput

__all__ = ["files_of", "is_pattern", "rows_of_all"]


def is_pattern(path: str | Path) -> bool:
    """Tell whether a path stands for many files, as news/*.parquet does."""
    return glob.has_magic(str(path)) and not Path(path).exists()


def files_of(path: str | Path) -> list[Path]:
    """Return the files that a path stands for, in the order of their names."""
    if not is_pattern(path):
        return [Path(path)]
    found = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
    files = [file for file in found if file.is_file()]
    if not files:
        raise InvalidInput(f"{path} stands for no file: there is none of such a name.")
    return files


def rows_of_all(pattern: Path, wanted: Sequence[str], encoding: str = UTF8) -> Iterator[Row]:
    """Yield the rows of all files; a row is called by its file and its place there.

    That all have the columns is checked before the first of them is read.
    """
    files = files_of(pattern)
    for file in files:
        check_columns(file, wanted, encoding)
    for file in files:
        for row in rows(file, wanted, encoding):
            yield row._replace(number=f"{file.name}, {row.unit} {row.number}", unit="file")
