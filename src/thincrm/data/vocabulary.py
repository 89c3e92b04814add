"""Which words to count: frequent enough, not everywhere, telling; stop words of many languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import stop_words as lists
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from thincrm.data.counts import CountMatrix, as_counts, is_text
from thincrm.data.reading.lines import shown, words_of
from thincrm.data.reading.read_counts import Counts
from thincrm.data.word_tally import WordTally
from thincrm.errors import InvalidInput, InvalidType, argument, check_count
from thincrm.numerics.arrays import Int
from thincrm.numerics.waiting import now

__all__ = ["HYPHENED", "WORD", "choose_words", "count_words", "most_telling", "stop_words"]

HYPHENED = r"(?u)\b[^\W\d_]+(?:-[^\W\d_]+)+\b"  # co-operation, e-mail: letters of any script
# HYPHENED, or two letters or more: as one pattern that looks at a letter once
WORD = r"(?u)\b[^\W\d_](?:[^\W\d_]+(?:-[^\W\d_]+)*|(?:-[^\W\d_]+)+)\b"

_CONTRACTIONS = tuple(  # what is left of we've, don't, ... where words are letters
    "ain aren couldn didn doesn don hadn hasn haven isn ll shouldn ve wasn weren wouldn".split()
)


def choose_words(
    texts: Sequence[str],
    *,
    min_count: int = 1,
    min_df: int | float = 2,
    max_df: int | float = 1.0,
    tfidf_share: float | None = None,
    stop_words: str | Iterable[str] | None = "english",
    ngrams: int = 1,
    vocabulary: str | Path | Sequence[str] | None = None,
    token_pattern: str = WORD,
) -> CountVectorizer:
    """Return a fitted vectoriser that counts the chosen words: `TopicModel(vectorizer=...)`.

    Parameters
    ----------
    texts : sequence of str
        The documents.
    min_count : int
        Fewest occurrences of a word in all texts.
    min_df, max_df : int or float
        Fewest and most documents that hold a word: a number of them (int) or a share (float).
    tfidf_share : float or None
        Of the words left, keep this share with the largest sum over documents of tf log(N / df)
        (the paper keeps 0.15); None: all.
    stop_words : str, words or None
        Words that are left out: a language ("english", "german", "fr", ...), a file with one per
        line, or the words. English is scikit-learn's list and pieces of contractions, the others
        are those of the package stop-words.
    ngrams : int
        Count phrases of up to this many words too.
    vocabulary : path, words or None
        Count just these: a file with one per line, or the words. The limits above are not applied.
    token_pattern : str
        What a word is, as a regular expression.
    """
    return count_words(
        texts,
        min_count=min_count,
        min_df=min_df,
        max_df=max_df,
        tfidf_share=tfidf_share,
        stop_words=stop_words,
        ngrams=ngrams,
        vocabulary=vocabulary,
        token_pattern=token_pattern,
    ).vectorizer


class CountedTexts(NamedTuple):
    """Counts of the chosen words, and the vectoriser that counts them in other texts."""

    counts: Counts
    vectorizer: CountVectorizer


def count_words(
    texts: Sequence[str] | Iterator[str],
    *,
    min_count: int = 1,
    min_df: int | float = 2,
    max_df: int | float = 1.0,
    tfidf_share: float | None = None,
    stop_words: str | Iterable[str] | None = "english",
    ngrams: int = 1,
    vocabulary: str | Path | Sequence[str] | None = None,
    token_pattern: str = WORD,
) -> CountedTexts:
    """Choose words as `choose_words` does, and count them; texts are cut into words once.

    Texts may come one at a time: none is held.
    """
    if not isinstance(texts, Iterator) and not is_text(texts):
        raise InvalidType("texts must be a sequence of strings, one per document.")
    pattern = {
        "token_pattern": token_pattern,
        "ngram_range": (1, check_count("ngrams", ngrams)),
        "stop_words": _stop_list(stop_words, token_pattern),
    }
    if vocabulary is not None:
        words, counts = _given(vocabulary), None
    else:
        limits = {
            name: _limit(name, value) for name, value in (("min_df", min_df), ("max_df", max_df))
        }
        words, counts = _frequent(
            texts, pattern, limits, check_count("min_count", min_count), tfidf_share
        )
    if not words:
        names = [argument(name) for name in ("min_count", "min_df", "tfidf_share", "max_df")]
        raise InvalidInput(
            "No word is left: lower ", names[0], ", ", names[1], " or raise ", names[2], ", ",
            names[3], ".",
        )  # fmt: skip
    if ngrams == 1:
        pattern["stop_words"] = None  # none is among the words; in phrases they would be gaps
    vectorizer = CountVectorizer(vocabulary=words, **pattern)
    if counts is None:
        counts = as_counts(vectorizer.fit_transform(texts))
    else:  # what fit would do after it had cut the texts into words a second time
        vectorizer.vocabulary_ = {word: place for place, word in enumerate(words)}
        vectorizer.fixed_vocabulary_ = True
    names = pd.Index(vectorizer.get_feature_names_out(), name="word")
    return CountedTexts(Counts(counts, names), vectorizer)


def _limit(name: str, value: object) -> int | float:
    """Return a number of documents (int, from 1) or a share of them (float, 0 to 1)."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1
    if not whole and not (isinstance(value, float) and 0.0 <= value <= 1.0):
        raise InvalidInput(
            argument(name),
            f" must be a number of documents from 1, or a share up to 1.0, got {value!r}.",
        )
    return value  # type: ignore[return-value]


def _given(vocabulary: str | Path | Sequence[str]) -> list[str]:
    if isinstance(vocabulary, str | Path):
        return words_of(vocabulary)
    words = list(dict.fromkeys(str(word) for word in vocabulary))
    if len(words) < len(vocabulary):
        raise InvalidInput("vocabulary holds a word twice.")
    return words


def _frequent(
    texts: Iterable[str],
    options: Mapping[str, object],
    limits: dict[str, int | float],
    min_count: int,
    tfidf_share: float | None,
) -> tuple[list[str], CountMatrix]:
    """Return the words that are frequent and telling enough, and their counts."""
    tally = WordTally(CountVectorizer(**options).build_analyzer())
    for text in texts:
        tally.add(text)
    now("choosing words")
    words, documents, occurrences = tally.table()
    n_documents, min_df = tally.n_documents, limits["min_df"]
    if isinstance(min_df, int) and min_df > n_documents:
        raise InvalidInput(
            argument("min_df"),
            f" asks for words in {min_df} documents; there are {n_documents}: lower it.",
        )
    fewest, most = (
        limit if isinstance(limit, int | np.integer) else limit * n_documents
        for limit in (min_df, limits["max_df"])
    )
    usual = np.flatnonzero((documents >= fewest) & (documents <= most))
    if usual.size == 0:
        found = "is in as many of them as asked for" if words.size else "but stop words"
        raise InvalidInput(
            f"No word can be chosen from the texts: none {found} (are they empty, in another "
            "language, or ", argument("min_df"), " and ", argument("max_df"), " too strict?).",
        )  # fmt: skip
    share = 1.0 if tfidf_share is None else tfidf_share
    telling = _telling(occurrences[usual], documents[usual], n_documents, share, min_count)
    chosen = usual[telling]
    return [str(word) for word in words[chosen]], tally.counts(chosen)


def most_telling(counts: sparse.csr_array, share: float, min_count: int = 1) -> Int:
    """Return the columns of words that occur often enough and tell most about their documents.

    Of the words with `min_count` occurrences, the `share` with the largest sums over documents of
    tf log(N / df) (Foti and others 2013, section 6.4).
    """
    occurrences, documents = np.asarray(counts.sum(axis=0)), np.asarray((counts > 0).sum(axis=0))
    return _telling(occurrences, documents, counts.shape[0], share, min_count)


def _telling(
    occurrences: Int, documents: Int, n_documents: int, share: float, min_count: int
) -> Int:
    if not 0.0 < share <= 1.0:
        raise InvalidInput(
            argument("tfidf_share"), f" must be above 0 and at most 1, got {share!r}."
        )
    frequent: Int = np.flatnonzero(occurrences >= min_count)
    if share == 1.0 or frequent.size == 0:
        return frequent
    score = occurrences[frequent] * np.log(n_documents / documents[frequent])
    return np.asarray(frequent[score > np.quantile(score, 1.0 - share)])


def stop_words(chosen: str | Iterable[str] | None) -> list[str]:
    """Return stop words: of a language, of a file with one a line, or those given."""
    if chosen is None:
        return []
    if not isinstance(chosen, str):
        return sorted(str(word) for word in chosen)
    if chosen in ("english", "en"):
        return sorted({*ENGLISH_STOP_WORDS, *_CONTRACTIONS})
    if chosen in lists.AVAILABLE_LANGUAGES or chosen in lists.LANGUAGE_MAPPING:
        return sorted(lists.get_stop_words(chosen))
    if Path(chosen).is_file():
        return words_of(chosen)
    known = ", ".join(sorted(lists.AVAILABLE_LANGUAGES))
    raise InvalidInput(
        argument("stop_words"), f" is {shown(chosen)}: name a file, none, or one of {known}."
    )


def _stop_list(chosen: str | Iterable[str] | None, token_pattern: str) -> list[str] | None:
    """Return stop words as the pattern cuts them: "don't" is the words don and t."""
    if chosen is None:
        return None
    try:
        cut = CountVectorizer(token_pattern=token_pattern).build_analyzer()
    except (re.error, ValueError, TypeError) as error:
        raise InvalidInput(f"token_pattern {shown(token_pattern)} is none: {error}.") from error
    return sorted({part for word in stop_words(chosen) for part in cut(word)})
