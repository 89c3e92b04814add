"""What a run keeps of its source: the texts, for quotations, and how they were read."""

from __future__ import annotations

import gzip
import json
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from thincrm.data.reading.lines import lines
from thincrm.errors import InvalidInput
from thincrm.files import SOURCE

__all__ = ["keep_source", "kept_reading", "kept_texts"]

_READING, _TEXTS = "reading.json", "texts.jsonl.gz"


@contextmanager
def keep_source(
    run: Path,
    reading: Mapping[str, object],
    texts: Sequence[str] | None = None,
    names: Sequence[str] = (),
) -> Iterator[None]:
    """Write how data were read, and the texts with their names; take it back if no run begins."""
    fresh = not run.exists()
    try:
        _write_source(run / SOURCE, reading, texts, names)
        yield
    finally:
        if not (run / "settings.json").exists():
            shutil.rmtree(run if fresh else run / SOURCE, ignore_errors=True)


def _write_source(
    folder: Path, reading: Mapping[str, object], texts: Sequence[str] | None, names: Sequence[str]
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    plain = {name: str(v) if isinstance(v, Path) else v for name, v in reading.items()}
    (folder / _READING).write_text(json.dumps(plain, indent=1), "utf-8")
    if texts is not None:
        with gzip.open(folder / _TEXTS, "wt", 6, "utf-8") as file:
            for name, text in zip(names, texts, strict=True):
                file.write(json.dumps({"name": str(name), "text": text}) + "\n")


def kept_reading(run: Path) -> dict[str, object]:
    """Return how a run's data were read; nothing, of a run that Python wrote."""
    try:
        found = json.loads((run / SOURCE / _READING).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: value for name, value in found.items() if _is_plain(value)}


def _is_plain(value: object) -> bool:
    """Tell whether a value is a name, names, or none: a run may come from a stranger."""
    names = value if isinstance(value, list) else [value]
    return all(name is None or isinstance(name, str | bool) for name in names)


def kept_texts(run: Path, n_documents: int) -> pd.Series[str] | None:
    """Return a run's texts with their names, or None if it keeps none."""
    path = run / SOURCE / _TEXTS
    if not path.exists():
        return None
    names, texts = [], []
    try:
        for line in lines(path):
            row = json.loads(line)
            names.append(str(row["name"]))
            texts.append(str(row["text"]))
    except (InvalidInput, ValueError, KeyError, TypeError, RecursionError):
        texts.clear()
    if len(texts) != n_documents:
        warnings.warn(f"{path} is damaged, so there are no quotations.", stacklevel=2)
        return None
    return pd.Series(texts, index=names)
