"""Words of texts, counted as the texts come: no text is held."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from scipy import sparse

from thincrm.numerics.arrays import Int
from thincrm.numerics.on_disk import DiskArray
from thincrm.numerics.waiting import now

__all__ = ["WordTally"]

_BLOCK = 2_000_000  # pairs of a document and a word
_Block = tuple[np.ndarray, np.ndarray, np.ndarray]  # different words of documents, words, times


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
        self._packed: list[np.ndarray] = []  # blocks that are on disk: different words of documents
        self._packed_word, self._packed_count = DiskArray(np.int32), DiskArray(np.int32)
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
            block = self._close()
            self._packed.append(block[0].astype(np.int32))
            self._packed_word.append(block[1])
            self._packed_count.append(block[2])

    def _close(self) -> _Block:
        """Return what was counted since the last block, and count it."""
        n_words, word, count = (
            np.frombuffer(part, np.int64) if part else np.zeros(0, np.int64)
            for part in (self._n_words, self._word, self._count)
        )
        n_all = len(self._place)
        more = np.bincount(word, minlength=n_all), np.bincount(word, count, n_all)
        self._documents = _longer(self._documents, n_all) + more[0]
        self._occurrences = _longer(self._occurrences, n_all) + more[1].astype(np.int64)
        self._n_words, self._word, self._count = array("q"), array("q"), array("q")
        return n_words, word, count

    def table(self) -> tuple[np.ndarray, Int, Int]:
        """Return all words in their order; in how many texts each is; how often in all."""
        self._last = self._close()
        words = np.array(list(self._place), dtype=object)
        self._order = np.argsort(words, kind="stable") if words.size else np.zeros(0, np.int64)
        order = self._order
        return words[order], self._documents[order], self._occurrences[order]

    def counts(self, chosen: Int) -> sparse.csr_array:
        """Return the (D, P) counts of some words of the table, int64; on disk if they are many."""
        column = np.full(len(self._place), -1, np.int32)
        column[self._order[chosen]] = np.arange(chosen.size)
        if not self._packed:
            return _columns(*self._last, column, chosen.size)
        n_cells = int(self._documents[self._order[chosen]].sum())
        kind = np.int32 if n_cells < 2**31 else np.int64  # as scipy chooses itself
        indices, data, length = DiskArray(kind), DiskArray(np.int64), []
        done, n_blocks = 0, len(self._packed) + 1
        now("gathering counts", lambda: done / n_blocks)
        for block in self._blocks():
            part = _columns(*block, column, chosen.size)
            indices.append(part.indices)
            data.append(part.data)
            length.append(np.diff(part.indptr))
            done += 1
        start = np.concatenate([[0], np.cumsum(np.concatenate(length), dtype=kind)], dtype=kind)
        shape = (self.n_documents, chosen.size)
        found = sparse.csr_array((data.mapped(), indices.mapped(), start), shape)
        found.has_canonical_format = True
        return found

    def _blocks(self) -> Iterator[_Block]:
        """Yield all blocks; none is on disk then."""
        first, packed = 0, self._packed
        for n_words in packed:
            stop = first + int(n_words.sum())
            yield n_words, self._packed_word.part(first, stop), self._packed_count.part(first, stop)
            first = stop
        yield self._last


def _columns(
    n_words: np.ndarray, word: np.ndarray, times: np.ndarray, column: np.ndarray, n_columns: int
) -> sparse.csr_array:
    """Return the counts of a block's documents in the chosen words, in their order."""
    place = column[word]
    kept = place >= 0
    before = np.concatenate([[0], np.cumsum(kept)])  # kept cells before each cell
    start = before[np.concatenate([[0], np.cumsum(n_words)])].astype(np.int32)
    count = times[kept].astype(np.int64)
    found = sparse.csr_array((count, place[kept], start), (n_words.size, n_columns))
    found.sort_indices()
    return found


def _longer(values: Int, size: int) -> Int:
    """Return an array with zeros after it."""
    return np.concatenate([values, np.zeros(size - values.size, values.dtype)])
