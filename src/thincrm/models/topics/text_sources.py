"""Where a topic model finds texts: in files that a path or a pattern names, in a Dask frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer

from thincrm.data.counts import CountMatrix, CountsLike, as_counts
from thincrm.data.covariates import CovariateLike
from thincrm.data.reading.frames import frame_stream, is_parted
from thincrm.data.reading.texts import TextStream
from thincrm.data.vocabulary import HYPHENED
from thincrm.errors import InvalidInput
from thincrm.numerics.waiting import telling

__all__ = ["TextSource", "count_texts", "plain_vectorizer", "source_of"]


class TextSource:
    """Documents that are read, and counted, one at a time: no text is held."""

    def __init__(self, stream: TextStream, name: str, date: str | None) -> None:
        self._stream, self._name, self._date = stream, name, date

    def counted(self, count: Callable[[Iterable[str]], CountsLike], *, quiet: bool) -> CountMatrix:
        """Return the counts of all documents by `count`, which sees one text after another."""
        with telling(f"reading {self._name}", quiet=quiet):
            return as_counts(count(self._stream))

    def covariate(self, t: CovariateLike | None) -> CovariateLike | None:
        """Return the dates, once documents were counted, or the covariate that was given."""
        found: CovariateLike | None = self._stream.done([]).t
        return t if self._date is None else found


def count_texts(X: object, vectorizer: CountVectorizer, *, learn: bool, quiet: bool) -> CountMatrix:
    """Return the counts of texts, or of those in files; learn: the vectoriser learns its words."""
    count = vectorizer.fit_transform if learn else vectorizer.transform
    return X.counted(count, quiet=quiet) if isinstance(X, TextSource) else as_counts(count(X))


def source_of(
    X: object, t: object, text: str | None, date: str | None, client: object
) -> TextSource | None:
    """Return where the texts are, or None where X is the documents themselves."""
    named = isinstance(X, str | PathLike)
    if not named and not is_parted(X):
        if text is not None or date is not None:
            raise InvalidInput(
                "text and date name columns of files or of a Dask DataFrame: pass its path, or "
                "the frame, as X; with counts or texts pass t."
            )
        return None
    if t is not None and date is not None:
        raise InvalidInput("Pass either t or date: the covariate is one of them.")
    if is_parted(X):
        return TextSource(frame_stream(X, text or "text", date, client), "X", date)
    path = Path(str(X))
    return TextSource(TextStream(path, text or "text", date), path.name, date)


def plain_vectorizer() -> CountVectorizer:
    """Return scikit-learn's own, but for words with hyphens."""
    pattern = HYPHENED + r"|\b\w\w+\b"
    return CountVectorizer(stop_words="english", min_df=2, token_pattern=pattern)
