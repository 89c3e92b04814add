"""Rows of a Parquet file: what its end claims is checked, and nothing is held twice.

A column of one text that is repeated takes a few bytes however long it is, so texts are read as
a dictionary and places in it, and what they come to is counted as they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from thincrm.data.reading.lines import shown
from thincrm.data.sizes import check_growth
from thincrm.errors import InvalidInput
from thincrm.numerics.waiting import now

__all__ = ["parquet_batches", "parquet_names"]

_FREE_ROWS = 1_000_000  # that a file may have whatever its own size is
_BATCH = 1000


def parquet_names(path: Path, *, readable: bool = False) -> list[str]:
    """Return the names of a file's columns, or of those that hold texts, numbers or dates."""
    schema = _open(path, ()).schema_arrow
    kinds = zip(schema.names, schema.types, strict=True)
    return [str(name) for name, kind in kinds if not readable or _is_readable(kind)]


def parquet_batches(path: Path, wanted: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    """Yield rows of the wanted columns, some at a time."""
    file = _open(path, wanted)
    size = path.stat().st_size
    schema, n_rows = file.schema_arrow, file.metadata.num_rows
    for name in wanted:
        if not _is_readable(schema.field(name).type):
            kind = shown(str(schema.field(name).type))
            raise InvalidInput(
                f"{path.name}, column {name}: {kind} is neither text nor number nor date."
            )
    if n_rows > max(_FREE_ROWS, size):
        raise InvalidInput(f"{path.name} claims {n_rows} rows in {size} bytes: that is no table.")
    _check_parts(path, file.metadata, size)
    number = held = 0
    now(f"reading {path.name}", lambda: number / max(1, n_rows))
    try:
        for batch in file.iter_batches(_BATCH, columns=list(wanted)):
            columns = []
            for column in batch.columns:
                values, letters = _values(column)
                columns.append(values)
                held += letters
            check_growth(f"{path.name}, row {number + 1}", held, size)
            names = batch.schema.names
            yield [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
            number += batch.num_rows
    except InvalidInput:
        raise
    except Exception as error:  # a damaged file raises whatever it meets
        reason = " ".join(str(error).split())[:200]
        raise InvalidInput(f"{path.name} cannot be read after row {number}: {reason}") from error


def _values(column: Any) -> tuple[list[Any], int]:
    """Return a column's cells, and how many letters they have; equal texts are one object."""
    if not hasattr(column, "dictionary"):
        return column.to_pylist(), 8 * len(column)
    known = column.dictionary.to_pylist()
    cells = [None if place is None else known[place] for place in column.indices.to_pylist()]
    return cells, sum(len(cell) for cell in cells if isinstance(cell, str))


def _is_readable(kind: Any) -> bool:
    """Tell whether a column holds texts, numbers or dates."""
    from pyarrow import types  # noqa: PLC0415 - an extra

    if types.is_dictionary(kind):
        kind = kind.value_type
    tests = (types.is_primitive, types.is_null, types.is_string, types.is_large_string)
    return types.is_decimal(kind) or any(test(kind) for test in tests)


def _check_parts(path: Path, metadata: Any, size: int) -> None:
    """Refuse a file whose parts claim other rows than it, or to unpack to far more than it is.

    Nothing is asked of the columns of a part: pyarrow ends the process if one of them is damaged.
    """
    parts = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    if sum(part.num_rows for part in parts) != metadata.num_rows:
        raise InvalidInput(f"{path.name} is damaged: its parts have other rows than it claims.")
    check_growth(path.name, sum(part.total_byte_size for part in parts), size)


def _open(path: Path, texts: Sequence[str]) -> Any:
    try:
        from pyarrow import parquet, types  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise InvalidInput(
            f"{path.name} needs pyarrow to be read: pip install 'thincrm[parquet]', or save it as "
            "CSV."
        ) from error
    try:
        file = parquet.ParquetFile(path)
        schema = file.schema_arrow
        columns = [
            name
            for name in texts
            if name in schema.names and types.is_string(schema.types[schema.names.index(name)])
        ]
        return parquet.ParquetFile(path, read_dictionary=columns) if columns else file
    except Exception as error:  # a damaged file raises whatever it meets
        reason = " ".join(str(error).split())[:200]
        raise InvalidInput(f"{path.name} is not a Parquet file: {reason}") from error
