"""Word counts: checked once, kept as sparse rows, split into train and held-out tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from thincrm.data.npz import load_matrix
from thincrm.errors import InvalidInput, InvalidType, check_between
from thincrm.numerics.arrays import Bool, Int, Seed, as_generator
from thincrm.numerics.on_disk import DiskArray, is_on_disk, let_go, pieces

if TYPE_CHECKING:
    from scipy._lib._sparse import SparseABC  # what `sparse.issparse` finds

__all__ = [
    "CountMatrix",
    "CountedWords",
    "CountsLike",
    "Documents",
    "Tokens",
    "as_counts",
    "is_text",
    "lengths_of",
    "load_counts",
    "row_blocks",
    "rows_of",
    "split_words",
    "tokens",
    "word_totals",
]

_MOST = 2**31 - 1
_BLOCK, _ROWS = 2**22, 2**16  # cells, and documents, at a time
_FAR = 256  # documents in any order: each brings its neighbours into memory
_NOTHING = np.zeros(0)
CountMatrix: TypeAlias = "sparse.csr_array[np.int64, tuple[int, int]]"  # checked
CountsLike: TypeAlias = "ArrayLike | pd.DataFrame | sparse.sparray | sparse.spmatrix | SparseABC"


class CountedWords(Protocol):
    """What the readers return."""

    @property
    def counts(self) -> CountMatrix:
        """Return the counts, documents by words."""

    @property
    def vocabulary(self) -> pd.Index | None:
        """Return the words; None: they have no names."""


Documents: TypeAlias = "CountsLike | Sequence[str] | pd.Series | CountedWords"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Documents as runs of tokens: document d is word[start[d]:start[d + 1]]."""

    start: Int
    word: np.ndarray
    n_words: int

    @property
    def n_documents(self) -> int:
        """Return how many documents there are, empty ones counted."""
        return self.start.size - 1


def is_text(X: Documents) -> bool:
    """Tell whether X is a sequence of strings rather than a table of counts."""
    if isinstance(X, pd.Series):
        return pd.api.types.is_string_dtype(X.dtype) or any(isinstance(x, str) for x in X)
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "UOT"
    if isinstance(X, str) or sparse.issparse(X) or isinstance(X, pd.DataFrame):
        return False
    # a generator would lose the item that is looked at
    return isinstance(X, Collection) and any(isinstance(item, str) for item in X)


def as_counts(X: CountsLike, name: str = "X") -> CountMatrix:
    """Return X as checked CSR counts (int64), or one sentence that says what is wrong, where."""
    if isinstance(X, str):
        raise InvalidType(f"{name} is one string: pass a list of texts, one a document.")
    table: Any = X.to_numpy() if isinstance(X, pd.DataFrame) else X  # dense or any sparse kind
    is_sparse = bool(sparse.issparse(table))
    if not is_sparse:
        table = _dense(table, name)
    if table.ndim != 2:
        raise InvalidInput(
            f"{name} must be a table, documents by words. Reshape your data: got "
            f"{table.ndim} dimension(s)."
        )
    _refuse_kind(table.dtype, name)
    if is_sparse and table.dtype.kind in "biu":
        # where duplicates are summed a small type would wrap; what is on disk stays there
        table = table.astype(np.int64, copy=not is_on_disk(getattr(table, "data", _NOTHING)))
    matrix = sparse.csr_array(table)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # the caller's own arrays stay as they are
        matrix.sum_duplicates()
    floats = matrix.dtype.kind == "f"
    if floats:
        what = "is NaN or infinite (Input contains NaN, infinity)"
        _refuse(matrix, lambda data: ~np.isfinite(data), name, what)
    _refuse(matrix, lambda data: data < 0, name, "is negative (Negative values in data)")
    _refuse(matrix, lambda data: data > _MOST, name, f"is above {_MOST}")
    if floats:
        what = "is not a whole number; counts are what a topic model explains"
        _refuse(matrix, lambda data: data != np.round(data), name, what)
    let_go(matrix.indices)
    matrix = matrix.astype(np.int64, copy=False)
    if not all(part.all() for part in pieces(matrix.data)):
        matrix.eliminate_zeros()
    return matrix


def _dense(X: ArrayLike, name: str) -> np.ndarray:
    try:
        array = np.asarray(X)
        if array.dtype.kind in "OUST" or array.dtype == np.float16:
            array = array.astype(float)
    except (TypeError, ValueError) as error:
        raise InvalidType(
            f"{name} holds something that is neither a number nor a list of texts: {error}"
        ) from error
    return array


def _refuse_kind(dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind == "c":
        raise InvalidInput(f"{name} must hold counts. Complex data not supported.")
    if dtype.kind not in "biuf":
        raise InvalidType(f"{name} must hold counts, got {dtype}.")


def _refuse(
    matrix: CountMatrix, is_bad: Callable[[np.ndarray], Bool], name: str, what: str
) -> None:
    n_bad, place, first = 0, 0, 0
    for part in pieces(matrix.data):
        bad = np.flatnonzero(is_bad(part))
        place = first + int(bad[0]) if bad.size and n_bad == 0 else place
        n_bad, first = n_bad + bad.size, first + part.size
    if n_bad == 0:
        return
    row = int(np.searchsorted(matrix.indptr, place, side="right")) - 1
    raise InvalidInput(
        f"{name}[{row}, {int(matrix.indices[place])}] = {matrix.data[place]} {what}; "
        f"{n_bad} such cell(s) in all."
    )


def lengths_of(counts: CountMatrix) -> Int:
    """Return the (D,) tokens of every document."""
    length_D = np.zeros(counts.shape[0], np.int64)
    for first in range(0, length_D.size, _ROWS):
        start = counts.indptr[first : first + _ROWS + 1]
        some = np.flatnonzero(np.diff(start))
        if some.size:
            cells = counts.data[start[0] : start[-1]]
            length_D[first + some] = np.add.reduceat(cells, start[some] - start[0])
            let_go(counts.data)
    return length_D


def row_blocks(counts: CountMatrix) -> Iterator[tuple[int, CountMatrix]]:
    """Yield the counts of some documents at a time, with the first of them.

    Of counts that are on disk few are ever in memory.
    """
    n_documents, n_words = counts.shape
    for first in range(0, n_documents, _ROWS):
        start = counts.indptr[first : first + _ROWS + 1]
        cells = slice(start[0], start[-1])
        some = counts.data[cells], counts.indices[cells], start - start[0]
        yield first, sparse.csr_array(some, shape=(start.size - 1, n_words))
        let_go(counts.data, counts.indices)


def rows_of(counts: CountMatrix, chosen: Int) -> CountMatrix:
    """Return the counts of chosen documents; of those on disk few others come into memory."""
    parts = []
    for first in range(0, max(chosen.size, 1), _FAR):
        parts.append(counts[chosen[first : first + _FAR]])
        let_go(counts.data, counts.indices)
    return sparse.csr_array(sparse.vstack(parts, format="csr"))


def word_totals(counts: CountMatrix) -> Int:
    """Return the (P,) tokens of every word."""
    total_P = np.zeros(counts.shape[1], np.int64)
    for _, some in row_blocks(counts):
        total_P += np.asarray(some.sum(axis=0)).reshape(-1)
    return total_P


def load_counts(path: Path) -> CountMatrix:
    """Return the checked counts of a file that `scipy.sparse.save_npz` wrote."""
    try:
        matrix = load_matrix(path)
    except InvalidInput:
        raise
    except Exception as error:  # a damaged file raises whatever it meets
        reason = " ".join(str(error).split())[:200]
        raise InvalidInput(
            f"{path} is not a matrix that scipy.sparse.save_npz wrote: {reason}"
        ) from error
    return as_counts(matrix, path.name)


def tokens(counts: CountMatrix) -> Tokens:
    """Return the tokens of checked counts, in the order of rows and columns.

    Of counts that are on disk the tokens are there too.
    """
    start = np.concatenate([[0], np.cumsum(lengths_of(counts))]).astype(np.int64)
    n_words = int(counts.shape[1])
    if not is_on_disk(counts.data):
        return Tokens(start, np.repeat(counts.indices.astype(np.int32), counts.data), n_words)
    word = DiskArray(np.int32)
    for first in range(0, counts.nnz, _BLOCK):
        part = slice(first, first + _BLOCK)
        word.append(np.repeat(counts.indices[part].astype(np.int32), counts.data[part]))
        let_go(counts.data, counts.indices)
    return Tokens(start, word.mapped(), n_words)


def split_words(
    X: CountsLike, fraction: float = 0.2, random_state: Seed = 0
) -> tuple[CountMatrix, CountMatrix]:
    """Split every document's tokens at random into train and held-out counts.

    Parameters
    ----------
    X : (D, P) counts
        Sparse or dense.
    fraction : float
        Share of each document's tokens that is held out (rounded to whole tokens).
    random_state : int or Generator
        Seed of the split.

    Returns
    -------
    train, heldout : (D, P) sparse counts
        Their sum is X; tokens are drawn without replacement (multivariate hypergeometric).
    """
    check_between("fraction", fraction, 0.0, 1.0)
    counts = as_counts(X)
    rng = as_generator(random_state)
    length = np.diff(counts.indptr)
    row = np.repeat(np.repeat(np.arange(counts.shape[0]), length), counts.data)
    column = np.repeat(counts.indices, counts.data)
    order = np.lexsort((rng.random(row.size), row))
    row, column = row[order], column[order]
    total = np.bincount(row, minlength=counts.shape[0])
    first = np.concatenate([[0], np.cumsum(total)])[:-1]
    rank = np.arange(row.size) - first[row]
    held = rank < np.round(fraction * total)[row]
    parts = []
    for mask in (~held, held):
        data = np.ones(int(mask.sum()), np.int64)
        part = sparse.coo_array((data, (row[mask], column[mask])), shape=counts.shape)
        parts.append(sparse.csr_array(part))
    return parts[0], parts[1]
