"""Words of texts, counted as the texts come: no text is held."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from mmap import mmap
from typing import NamedTuple

import numpy as np
from scipy import sparse

from thincrm.numerics.arrays import Int

__all__ = ["WordTally"]

_BLOCK = 2_000_000  # pairs of a document and a word


class _Block(NamedTuple):
    """Words of some documents, one after another."""

    n_words: np.ndarray  # of each document, different ones
    word: np.ndarray
    times: np.ndarray


class WordTally:
    """How often each word is in each text, and in how many texts.

    Parameters
    ----------
    cut : callable
        Cuts a text into words.
    """

    def __init__(self, cut: Callable[[str], Iterable[str]]) -> None:
        self._cut = cut
        self._place: defaultdict[str, int] = defaultdict()
        self._place.default_factory = self._place.__len__
        self._blocks: list[_Block] = []
        self._n_words, self._word, self._count = array("q"), array("q"), array("q")
        self.n_documents = 0
        self._documents, self._occurrences = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, text: str) -> None:
        """Count the words of a text."""
        found = Counter(self._cut(text))
        place = self._place
        self._n_words.append(len(found))
        self._word.extend([place[word] for word in found])
        self._count.extend(found.values())
        self.n_documents += 1
        if len(self._word) >= _BLOCK:
            self._close()

    def _close(self) -> None:
        """Pack what was counted since the last block."""
        n_words, word, count = (
            np.frombuffer(part, np.int64) if part else np.zeros(0, np.int64)
            for part in (self._n_words, self._word, self._count)
        )
        n_all = len(self._place)
        more = np.bincount(word, minlength=n_all), np.bincount(word, count, n_all)
        self._documents = _longer(self._documents, n_all) + more[0]
        self._occurrences = _longer(self._occurrences, n_all) + more[1].astype(np.int64)
        small = np.min_scalar_type(int(count.max(initial=0)))
        parts = n_words.astype(np.int32), word.astype(np.int32), count.astype(small)
        self._blocks.append(_Block(*map(_apart, parts)))
        self._n_words, self._word, self._count = array("q"), array("q"), array("q")

    def table(self) -> tuple[np.ndarray, Int, Int]:
        """Return all words in their order; in how many texts each is; how often in all."""
        self._close()
        words = np.array(list(self._place), dtype=object)
        self._order = np.argsort(words, kind="stable") if words.size else np.zeros(0, np.int64)
        order = self._order
        return words[order], self._documents[order], self._occurrences[order]

    def counts(self, chosen: Int) -> sparse.csr_array:
        """Return the (D, P) counts of some words of the table, int32; the tally is then empty."""
        column = np.full(len(self._place), -1, np.int32)
        column[self._order[chosen]] = np.arange(chosen.size)
        n_cells = int(self._documents[self._order[chosen]].sum())
        indices, data = np.empty(n_cells, np.int32), np.empty(n_cells, np.int32)
        start = np.zeros(self.n_documents + 1, np.int64)
        document = cell = 0
        while self._blocks:
            part = _columns(self._blocks.pop(0), column, chosen.size)
            n_here, stop = part.shape[0], cell + part.nnz
            indices[cell:stop], data[cell:stop] = part.indices, part.data
            start[document + 1 : document + n_here + 1] = cell + part.indptr[1:]
            document, cell = document + n_here, stop
        shape = (self.n_documents, chosen.size)
        kind = np.int32 if n_cells < 2**31 else np.int64  # as scipy chooses itself
        found = sparse.csr_array(
            (data, indices.astype(kind, copy=False), start.astype(kind)), shape
        )
        found.has_canonical_format = True
        return found


def _columns(block: _Block, column: np.ndarray, n_columns: int) -> sparse.csr_array:
    """Return the counts of a block's documents in the chosen words, in their order."""
    place = column[block.word]
    kept = place >= 0
    before = np.concatenate([[0], np.cumsum(kept)])  # kept cells before each cell
    start = before[np.concatenate([[0], np.cumsum(block.n_words)])].astype(np.int32)
    count = block.times[kept].astype(np.int32)
    shape = (block.n_words.size, n_columns)
    found = sparse.csr_array((count, place[kept], start), shape)
    found.sort_indices()
    return found


def _apart(values: np.ndarray) -> np.ndarray:
    """Return a copy in memory of its own: the system has it back at once when it is let go."""
    room = np.frombuffer(mmap(-1, max(1, values.nbytes)), values.dtype, values.size)
    room[:] = values
    return room


def _longer(values: Int, size: int) -> Int:
    """Return an array with zeros after it."""
    return np.concatenate([values, np.zeros(size - values.size, values.dtype)])
