"""Word counts: MatrixMarket, UCI, LDA-C and SciPy files; matrices; gensim's bags of words."""

from __future__ import annotations

import re
from array import array
from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from thincrm.data.counts import as_counts, load_counts
from thincrm.data.reading.lines import check_file, lines, shown, words_of
from thincrm.data.reading.triplets import read_market, read_uci
from thincrm.errors import InvalidInput, InvalidType

__all__ = ["Counts", "is_counts", "read_counts", "same_words"]

_MOST = 2**31 - 1  # of a word's number and of a count
_START = 1000  # letters of a line that tell what it is


@dataclass(frozen=True, slots=True)
class Counts:
    """Documents by words; `TopicModel.fit` takes it as it is.

    Attributes
    ----------
    counts : (D, P) sparse int
        Occurrences of each word in each document.
    vocabulary : (P,) Index or None
        The words, if they are known.
    """

    counts: Any = field(repr=False)
    vocabulary: pd.Index | None = field(repr=False)


def read_counts(source: Any, vocabulary: Any = None) -> Counts:
    """Read counts, documents by words.

    Parameters
    ----------
    source : path, matrix or corpus
        A file in the MatrixMarket, UCI bag-of-words, LDA-C (all .gz too) or SciPy (.npz) format;
        a NumPy, SciPy or pandas matrix; or gensim's bags of words, (word, count) pairs.
    vocabulary : path, words, gensim Dictionary, vectoriser or None
        The words: a file with one a line, a sequence, or what holds them.
    """
    words = _words(vocabulary)
    if isinstance(source, str | Path):
        counts = _read_file(check_file(source), None if words is None else len(words))
    elif sparse.issparse(source) or isinstance(source, np.ndarray | pd.DataFrame):
        if words is None and isinstance(source, pd.DataFrame):
            words = [str(name) for name in source.columns]
        counts = as_counts(source, "source")
    elif isinstance(source, Iterable):
        counts = _bags(source, None if words is None else len(words))
    else:
        raise InvalidType("source must be a path, a matrix, or bags of (word, count) pairs.")
    if words is not None and counts.shape[1] != len(words):
        named = Path(source).name if isinstance(source, str | Path) else "source"
        raise InvalidInput(
            f"{named} has {counts.shape[1]} words but the vocabulary {len(words)}: they do not "
            "belong together."
        )
    return Counts(counts, None if words is None else pd.Index(words, name="word"))


def same_words(new: pd.Index, known: pd.Index) -> None:
    """Refuse counts of other words than a model's; words without names are only counted."""
    if len(new) != len(known):
        raise InvalidInput(
            f"The counts have {len(new)} words but the model was fitted to {len(known)}: pass "
            "counts of the same words."
        )
    if pd.api.types.is_integer_dtype(known.dtype):
        return
    for place, (word, expected) in enumerate(zip(new, known, strict=True), 1):
        if str(word) != str(expected):
            raise InvalidInput(
                f"Word {place} of the vocabulary is {shown(word)} but the model was fitted to "
                f"{shown(expected)}: pass counts of the same words in the same order."
            )


def is_counts(path: Path) -> bool:
    """Tell whether a file seems to hold counts rather than a table."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".txt"):
        first = next(lines(path), "").strip()
        start = first if len(first) < _START else first[:_START].rpartition(" ")[0]
        return start.startswith("%%MatrixMarket") or bool(re.fullmatch(r"\d+( \d+:\d+)*", start))
    return name.endswith((".mtx", ".npz", ".ldac", ".dat"))


def _words(vocabulary: Any) -> list[str] | None:
    if vocabulary is None:
        return None
    if isinstance(vocabulary, str | Path):
        return words_of(vocabulary)
    if hasattr(vocabulary, "token2id"):  # a gensim Dictionary
        place = vocabulary.token2id
        if sorted(place.values()) != list(range(len(place))):
            raise InvalidInput("The dictionary has gaps: call its compactify() first.")
        return sorted(place, key=place.__getitem__)
    if hasattr(vocabulary, "get_feature_names_out"):
        return [str(word) for word in vocabulary.get_feature_names_out()]
    if not isinstance(vocabulary, Sequence | np.ndarray | pd.Index | pd.Series):
        raise InvalidType("vocabulary must be a path, a sequence of words, or what holds them.")
    words = [str(word) for word in vocabulary]
    if len(set(words)) < len(words):
        twice = Tally(words).most_common(1)[0][0]
        raise InvalidInput(f"vocabulary has {shown(twice)} twice.")
    return words


def _read_file(path: Path, n_words: int | None) -> Any:
    if path.suffix == ".npz":
        return load_counts(path)
    start = [line.strip() for line in islice(lines(path), 3)]
    if start and start[0].startswith("%%MatrixMarket"):
        return read_market(path)
    if len(start) == 3 and all(line.isdecimal() for line in start):
        return read_uci(path)
    if start and (":" in start[0] or start[0] == "0"):
        return _read_ldac(path, n_words)
    raise InvalidInput(
        f"{path.name} is in no known format: counts come as MatrixMarket (first line "
        "%%MatrixMarket), UCI bag of words (three lines with one number each), LDA-C (lines such "
        "as '2 0:1 7:3'), or SciPy .npz."
    )


def _read_ldac(path: Path, n_words: int | None) -> Any:
    """Read lines `N word:count word:count ...`, a document each, words from 0."""
    bags = (_bag(f"{path.name}, line {i}", line) for i, line in enumerate(lines(path), 1))
    return _bags(bags, n_words, f"{path.name}, line ", 1)


def _bag(place: str, line: str) -> Iterator[tuple[int, int]]:
    """Yield the pairs of a line one by one: there may be millions."""
    cells = (found[0] for found in re.finditer(r"\S+", line))
    follow = 0
    try:
        size = _whole(next(cells, "0"))
        for cell in cells:
            follow += 1
            yield _pair(cell)
    except ValueError as error:
        raise InvalidInput(f"{place}: {error}.") from error
    if size != follow:
        raise InvalidInput(f"{place}: {size} words are announced and {follow} follow.")


def _pair(cell: str) -> tuple[int, int]:
    word, _, count = cell.partition(":")
    try:
        return _whole(word), _whole(count)
    except ValueError as error:
        raise ValueError(f"{shown(cell)} is not word:count in whole numbers") from error


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 10 or int(text) > _MOST:
        raise ValueError(f"{shown(text)} is not a whole number up to {_MOST}")
    return int(text)


def _bags(
    source: Iterable[Any], n_words: int | None, place: str = "source, document ", first: int = 0
) -> Any:
    """Return the counts of documents that are sequences of (word, count) pairs."""
    start, words, counts = array("q", [0]), array("q"), array("q")
    for number, bag in enumerate(source, first):
        try:
            for word, count in bag:
                words.append(_int(word, n_words))
                counts.append(_int(count, None))
        except InvalidInput:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInput(
                f"{place}{number}: a document is (word, count) pairs of whole numbers from 0, "
                f"words below {n_words if n_words is not None else _MOST} ({error})."
            ) from error
        start.append(len(words))
    if len(start) == 1:
        raise InvalidInput(f"{place.partition(',')[0]} holds no documents.")
    column = np.frombuffer(words, np.int64) if words else np.zeros(0, np.int64)
    data = np.frombuffer(counts, np.int64) if counts else np.zeros(0, np.int64)
    width = int(column.max(initial=-1)) + 1 if n_words is None else n_words
    if n_words is None and width > 100_000 + 10 * column.size:
        raise InvalidInput(
            f"{place.partition(',')[0]} has a word numbered {width - 1}, but only {column.size} "
            "entries: words are numbered from 0 without large gaps."
        )
    shape = (len(start) - 1, width)
    matrix = sparse.csr_array((data, column, np.frombuffer(start, np.int64)), shape=shape)
    return as_counts(matrix, place.partition(",")[0])


def _int(value: Any, limit: int | None) -> int:
    number = int(value)
    if number != value or not 0 <= number < (_MOST if limit is None else limit):
        raise ValueError(f"got {shown(value)}")
    return number
