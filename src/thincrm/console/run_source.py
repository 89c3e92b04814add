"""What a run keeps of its source: the texts, for quotations, and how they were read."""

from __future__ import annotations

import gzip
import io
import json
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from thincrm.console.data_columns import TableColumns
from thincrm.errors import DamagedFile
from thincrm.files import Folder
from thincrm.files.run import SOURCE, SOURCE_FILES, NewRun

__all__ = ["kept_name", "kept_reading", "kept_texts", "new_run", "table_like"]

_READING, _TEXTS = SOURCE_FILES
_MOST_READING, _MOST_TEXTS = 2**20, 2**40  # bytes
_FREE_GROWTH, _MOST_GROWTH = 64 * 2**20, 50  # texts are packed to about a third


def new_run(
    out: Path,
    reading: Mapping[str, object],
    texts: Sequence[str] | None = None,
    names: Sequence[str] = (),
) -> NewRun:
    """Return where a run begins, with how its data were read, and the texts with their names."""
    plain = {name: v.name if isinstance(v, Path) else v for name, v in reading.items()}
    source = {_READING: json.dumps(plain, indent=1).encode()}
    if texts is not None:
        rows = zip(names, texts, strict=True)
        lines = (json.dumps({"name": str(name), "text": text}) + "\n" for name, text in rows)
        packed = io.BytesIO()
        with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=6, mtime=0) as file:
            file.writelines(line.encode() for line in lines)
        source[_TEXTS] = packed.getvalue()
    return NewRun(out, source)


def kept_reading(run: Path) -> dict[str, object]:
    """Return how a run's data were read; nothing, of a run that Python wrote."""
    try:
        found = json.loads(Folder(run).inner(SOURCE).read(_READING, _MOST_READING))
    except (DamagedFile, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: value for name, value in found.items() if _is_plain(value)}


def kept_name(before: Mapping[str, object], key: str) -> str | None:
    """Return a name out of what `kept_reading` returns."""
    found = before.get(key)
    return found if isinstance(found, str) else None


def table_like(run: Path, how: TableColumns, columns: Iterable[object]) -> TableColumns:
    """Return how to read a table like that of a run, unless options say otherwise."""
    before = kept_reading(run)
    if not (how.date or how.covariates):
        covariates = _kept_names(before, "covariates")
        how = replace(how, date=kept_name(before, "date"), covariates=covariates)
    return replace(
        how,
        groups=_kept_names(before, "groups"),
        columns=tuple(map(str, columns)),
        label=how.label or kept_name(before, "label"),
        date_format=how.date_format or kept_name(before, "date_format"),
        encoding=how.encoding or kept_name(before, "encoding"),
    )


def _kept_names(before: Mapping[str, object], key: str) -> tuple[str, ...]:
    names = before.get(key)
    return tuple(map(str, names)) if isinstance(names, list) else ()


def _is_plain(value: object) -> bool:
    """Tell whether a value is a name, names, or none: a run may come from a stranger."""
    names = value if isinstance(value, list) else [value]
    return all(name is None or isinstance(name, str | bool) for name in names)


def kept_texts(run: Path, n_documents: int) -> pd.Series[str] | None:
    """Return a run's texts with their names, or None if it keeps none."""
    folder = Folder(run).inner(SOURCE)
    names, texts = [], []
    try:
        if _TEXTS not in folder.names():
            return None
        for line in _unpacked(folder.read(_TEXTS, _MOST_TEXTS), n_documents):
            row = json.loads(line)
            names.append(str(row["name"]))
            texts.append(str(row["text"]))
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, RecursionError):
        texts.clear()
    if len(texts) != n_documents:
        said = f"{folder.path / _TEXTS} is damaged, so there are no quotations."
        warnings.warn(said, stacklevel=2)
        return None
    return pd.Series(texts, index=names)


def _unpacked(data: bytes, most_lines: int) -> Iterator[bytes]:
    """Yield lines of packed bytes; more of them than there are documents are not unpacked."""
    left = max(_FREE_GROWTH, _MOST_GROWTH * len(data))
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        for _ in range(most_lines + 1):
            line = file.readline(left + 1)
            left -= len(line)
            if left < 0:
                raise ValueError("this was never so much text")
            if not line:
                return
            yield line
