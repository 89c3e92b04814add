"""Documents from files: a corpus to fit, and new documents for a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

from thincrm.console.data_columns import DocumentColumns
from thincrm.console.run_source import kept_reading
from thincrm.data.kept_texts import KeptTexts
from thincrm.data.reading import Counts, is_counts, read_counts, read_texts
from thincrm.data.reading.lines import UTF8
from thincrm.data.reading.many_files import files_of
from thincrm.data.reading.rows import column_names
from thincrm.data.reading.texts import Texts, TextStream
from thincrm.data.vocabulary import CountedTexts
from thincrm.errors import InvalidInput
from thincrm.models.topics.model import TopicModel

__all__ = [
    "MOST_LETTERS",
    "Corpus",
    "CountedCorpus",
    "count_corpus",
    "read_corpus",
    "read_new_documents",
]

MOST_LETTERS = 250_000_000  # of texts that a run keeps for quotations


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents as texts or as counts, with their covariates, and how they were read."""

    documents: Sequence[str] | Counts
    t: pd.Series | pd.DataFrame | None
    index: pd.Index
    reading: dict[str, object]
    skipped: int = 0
    first_skipped: str = ""

    @property
    def names(self) -> list[str]:
        """Return what each document is called: its file, or its line in a table."""
        unit = self.index.name
        return [str(place) if unit == "file" else f"{unit} {place}" for place in self.index]


def read_corpus(
    path: Path, how: DocumentColumns, words: Path | Sequence[str] | None = None
) -> Corpus:
    """Read texts from a table or a folder, or counts with a table of covariates beside them.

    words: the vocabulary of counts, or its file.
    """
    _refuse_two_covariates(how)
    if path.is_file() and is_counts(path):
        return _read_counts(path, how, words)
    stream = _stream(path, how)
    texts = list(stream)
    return _corpus(texts, stream.done(texts), path, how)


def _stream(path: Path, how: DocumentColumns) -> TextStream:
    return TextStream(
        path,
        how.text or "text",
        how.date,
        how.covariates,
        metadata=how.metadata,
        date_format=how.date_format,
        encoding=how.encoding or UTF8,
        skip_bad=how.skip_bad,
    )


def _corpus(
    documents: Sequence[str] | Counts, found: Texts, path: Path, how: DocumentColumns
) -> Corpus:
    index, reading = found.table.index, _kept(how, path, "texts")
    return Corpus(documents, found.t, index, reading, found.skipped, found.first_skipped)


class CountedCorpus(NamedTuple):
    """A corpus as counts, how they are made of texts, and the texts if they are not too many."""

    corpus: Corpus
    counts: Counts
    vectorizer: CountVectorizer
    texts: list[str] | None


def count_corpus(
    path: Path, how: DocumentColumns, count: Callable[[Iterator[str]], CountedTexts]
) -> CountedCorpus:
    """Read texts from tables or a folder, one at a time, and count their words."""
    _refuse_two_covariates(how)
    stream, seen = _stream(path, how), KeptTexts(MOST_LETTERS)

    def passing() -> Iterator[str]:
        for text in stream:
            seen.add(text)
            yield text
        if seen.n_texts == 0:
            stream.done([])  # says that there are none

    counts, vectorizer = count(passing())
    kept = seen.texts()
    corpus = _corpus(counts, stream.done(kept or []), path, how)
    return CountedCorpus(corpus, counts, vectorizer, kept)


def _refuse_two_covariates(how: DocumentColumns) -> None:
    if how.date and how.covariates:
        raise InvalidInput("Topics depend on --date or on --covariate: give one of them.")


def _kept(how: DocumentColumns, path: Path, kind: str) -> dict[str, object]:
    """Return how documents were read, to be kept with the run."""
    usual = {"text": how.text or "text", "encoding": how.encoding or UTF8}
    return asdict(how) | usual | {"source": path.name, "kind": kind}


def _read_counts(path: Path, how: DocumentColumns, words: Path | Sequence[str] | None) -> Corpus:
    counts = read_counts(path, words)
    n_documents = counts.counts.shape[0]
    t = None
    if how.metadata is not None:
        t = read_texts(
            how.metadata,
            None,
            how.date,
            how.covariates,
            date_format=how.date_format,
            encoding=how.encoding or UTF8,
        ).t
        if t is not None and len(t) != n_documents:
            raise InvalidInput(
                f"{how.metadata.name} has {len(t)} rows but {path.name} {n_documents} "
                "documents: give one row for each."
            )
    elif how.date or how.covariates:
        raise InvalidInput(
            f"{path.name} holds counts: give the table of their dates with --metadata."
        )
    index = pd.RangeIndex(n_documents, name="document")
    return Corpus(counts, t, index, _kept(how, path, "counts"))


def read_new_documents(
    run: Path, model: TopicModel, corpus: Path, how: DocumentColumns, *, dated: bool
) -> Corpus:
    """Read new documents like those of the run, unless options say otherwise.

    Counts are of the run's words: as many, and the same if there is a vocabulary file. Dated:
    with covariates, if the table has the run's columns of them.
    """
    has_counts = corpus.is_file() and is_counts(corpus)
    if corpus.exists() and not hasattr(model, "vectorizer_") and not has_counts:
        raise InvalidInput(
            f"{run} was fitted to counts: give counts of the same words (MatrixMarket, UCI, LDA-C "
            f"or .npz), not {corpus.name}."
        )
    if how.words is not None and not has_counts:
        raise InvalidInput(f"--words goes with counts, and {corpus} holds none.")
    before = kept_reading(run)
    known = [str(word) for word in model.vocabulary_] if how.words is None else how.words
    how = replace(
        how,
        text=how.text or str(before.get("text") or "text"),
        encoding=how.encoding or str(before.get("encoding") or UTF8),
    )
    if dated and not (how.date or how.covariates):
        table = how.metadata or (None if has_counts or corpus.is_dir() else corpus)
        how = how if table is None else _with_dates_of_run(before, table, how)
    return read_corpus(corpus, how, known)


def _with_dates_of_run(
    before: dict[str, object], table: Path, how: DocumentColumns
) -> DocumentColumns:
    """Return reading that takes the run's own date or covariate columns if the table has them."""
    there = column_names(files_of(table)[0], how.encoding or UTF8)
    date, columns = before.get("date"), before.get("covariates")
    if isinstance(date, str) and date in there:
        form = how.date_format or before.get("date_format")
        return replace(how, date=date, date_format=str(form) if form else None)
    if not date and isinstance(columns, list) and columns and set(columns) <= set(there):
        return replace(how, covariates=tuple(map(str, columns)))
    return how
