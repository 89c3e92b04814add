"""New documents for a run: texts, or counts of the same words, with or without their times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from thincrm.cli.kept import kept_reading
from thincrm.cli.work import Source, read_corpus
from thincrm.data.reading import is_counts
from thincrm.data.reading.rows import column_names
from thincrm.errors import InvalidInput

__all__ = ["read_documents"]

_PLAIN: dict[str, Any] = {
    "date": None,
    "covariates": [],
    "metadata": None,
    "date_format": None,
    "skip_bad": False,
}
_AS_BEFORE = {"text": "text", "encoding": "utf-8"}


def read_documents(
    run: Path, model: Any, corpus: Path, reading: dict[str, Any], words: Path | None, *, dated: bool
) -> Source:
    """Read documents as the run's were, where nothing else is said.

    Counts are of the run's words: as many, and the same if there is a vocabulary file. Dated:
    with their times, if the table has the run's columns of them.
    """
    is_text = hasattr(model, "vectorizer_")
    has_counts = corpus.is_file() and is_counts(corpus)
    if corpus.exists() and not is_text and not has_counts:
        raise InvalidInput(
            f"{run} was fitted to counts: give counts of the same words (MatrixMarket, UCI, LDA-C "
            f"or .npz), not {corpus.name}."
        )
    if words is not None and not has_counts:
        raise InvalidInput(f"--words goes with counts, and {corpus} holds none.")
    before = kept_reading(run)
    chosen = {name: value for name, value in reading.items() if value not in (None, [])}
    known_as = {name: before.get(name) or usual for name, usual in _AS_BEFORE.items()}
    chosen = {**_PLAIN, **known_as, **chosen}
    known = [str(word) for word in model.vocabulary_] if words is None else words
    if dated:
        chosen = _with_dates(before, corpus, chosen, has_counts)
    return read_corpus(corpus, chosen, known)


def _with_dates(
    before: dict[str, Any], corpus: Path, reading: dict[str, Any], has_counts: bool
) -> dict[str, Any]:
    """Return reading that takes the run's own date or covariate columns if the table has them."""
    table = reading["metadata"] or corpus
    wanted = reading["date"] or reading["covariates"]
    if wanted or table.is_dir() or (has_counts and table is corpus):
        return reading
    there = column_names(table, reading["encoding"])
    date, columns = before.get("date"), before.get("covariates") or []
    if date in there:
        form = reading["date_format"] or before.get("date_format")
        return reading | {"date": date, "date_format": form}
    if not date and columns and set(columns) <= set(there):
        return reading | {"covariates": columns}
    return reading
