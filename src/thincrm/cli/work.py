"""The work of `thincrm topics`, `features` and `resume`: read, fit, keep, show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import thincrm as tc
from thincrm.cli.kept import keep_source
from thincrm.cli.results import show
from thincrm.cli.voice import Voice
from thincrm.data.reading import is_counts
from thincrm.errors import InvalidInput
from thincrm.numerics.waiting import telling
from thincrm.printable import printable

__all__ = ["Source", "fit_features", "fit_topics", "read_corpus", "resume"]


@dataclass(frozen=True, slots=True)
class Source:
    """Documents as texts or as counts, with their covariates, and how they were read."""

    documents: Any
    t: Any
    index: pd.Index
    skipped: int
    first_skipped: str
    reading: dict[str, Any]
    is_text: bool

    @property
    def names(self) -> list[str]:
        """Return what a document is called: its file, or its line in a table."""
        unit = self.index.name
        return [str(place) if unit == "file" else f"{unit} {place}" for place in self.index]


def read_corpus(path: Path, reading: dict[str, Any], words: Any = None) -> Source:
    """Read a corpus: texts from a table or a folder, or counts with a table beside them.

    words: of counts, their vocabulary or the file of it.
    """
    if reading["date"] and reading["covariates"]:
        raise InvalidInput("Topics depend on --date or on --covariate: give one of them.")
    if path.is_file() and is_counts(path):
        return _read_counts(path, reading, words)
    with telling(f"reading {printable(path.name)}"):
        found = tc.read_texts(path, **reading)
    kept = reading | {"source": path.name, "kind": "texts"}
    index = found.table.index
    return Source(found.texts, found.t, index, found.skipped, found.first_skipped, kept, True)


def _read_counts(path: Path, reading: dict[str, Any], words: Any) -> Source:
    with telling(f"reading {printable(path.name)}"):
        counts = tc.read_counts(path, words)
    table = reading["metadata"]
    t = None
    if table is not None:
        options = {k: reading[k] for k in ("date", "covariates", "date_format", "encoding")}
        t = tc.read_texts(table, None, **options).t
    elif reading["date"] or reading["covariates"]:
        raise InvalidInput(
            f"{path.name} holds counts: give the table of their dates with --metadata."
        )
    if t is not None and len(t) != counts.counts.shape[0]:
        raise InvalidInput(
            f"{Path(table).name} has {len(t)} rows but {path.name} {counts.counts.shape[0]} "
            "documents: give a row for each."
        )
    kept = reading | {"source": path.name, "kind": "counts"}
    index = pd.RangeIndex(counts.counts.shape[0], name="document")
    return Source(counts, t, index, 0, "", kept, False)


def _thinning(name: str) -> Any:
    if name == "gp":
        return None  # the model's own choice
    return {"rvm": tc.ProbitRVM, "bump": tc.Bump, "always": tc.Always}[name]()


def fit_topics(
    voice: Voice,
    source: Source,
    words: dict[str, Any],
    thinning: str,
    settings: dict[str, Any],
    heldout: float | None,
    out: Path,
) -> bool:
    """Fit a topic model, keep it in `out`, show it; tell whether it got to its end."""
    _say_skipped(voice, source.skipped, source.first_skipped)
    vectorizer = None
    if source.is_text:
        with telling("counting words", quiet=voice.quiet):
            vectorizer = tc.choose_words(source.documents, **words)
        n_words = len(vectorizer.get_feature_names_out())
        voice.say(f"{len(source.documents):,} documents, {n_words:,} words.")
    else:
        voice.say("{:,} documents, {:,} words.".format(*source.documents.counts.shape))
    model = tc.TopicModel(thinning=_thinning(thinning), vectorizer=vectorizer, **settings)
    texts = source.documents if source.is_text else None
    with keep_source(out, source.reading, texts, source.names):
        model.fit(source.documents, t=source.t, out=out, heldout=heldout)
    return show(voice, model, out, source.skipped)


def fit_features(
    voice: Voice,
    path: Path,
    reading: dict[str, Any],
    thinning: str,
    settings: dict[str, Any],
    out: Path,
) -> bool:
    """Fit a feature model, keep it in `out`, show it; tell whether it got to its end."""
    with telling(f"reading {printable(path.name)}", quiet=voice.quiet):
        table = tc.read_table(path, **reading)
    _say_skipped(voice, table.skipped, table.first_skipped)
    holes = int(table.values.isna().to_numpy().sum())
    voice.say(
        f"{table.values.shape[0]:,} rows, {table.values.shape[1]:,} columns, {holes:,} holes."
    )
    model = tc.FeatureModel(thinning=_thinning(thinning), **settings)
    with keep_source(out, reading | {"source": path.name, "kind": "table"}):
        model.fit(table.values, t=table.t, out=out)
    return show(voice, model, out, table.skipped)


def _say_skipped(voice: Voice, skipped: int, first: str) -> None:
    if skipped:
        voice.say(f"{skipped:,} bad rows were passed over; the first: {first}")


def resume(voice: Voice, run: Path) -> bool:
    """Go on with a run, and show it."""
    return show(voice, tc.resume(run, quiet=voice.quiet), run)
