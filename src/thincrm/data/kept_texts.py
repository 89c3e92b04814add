"""Texts that may be asked for again: on disk, up to so many letters."""

from __future__ import annotations

from array import array
from itertools import pairwise

import numpy as np

from thincrm.numerics.on_disk import DiskArray

__all__ = ["KeptTexts"]

_BLOCK = 2**24  # bytes in memory


class KeptTexts:
    """Texts as they come, unless they are too many.

    Parameters
    ----------
    most_letters : int
        If texts have more in all, none is kept.
    """

    def __init__(self, most_letters: int) -> None:
        self._most, self.n_texts, self._n_letters = most_letters, 0, 0
        self._forget()

    def _forget(self) -> None:
        self._away, self._here, self._end = DiskArray(np.uint8), bytearray(), array("q", [0])

    def add(self, text: str) -> None:
        """Take down a text."""
        self.n_texts += 1
        self._n_letters += len(text)
        if self._n_letters > self._most:
            if len(self._end) > 1:
                self._forget()
            return
        self._here += text.encode("utf-8", "surrogatepass")
        self._end.append(self._away.size + len(self._here))
        if len(self._here) >= _BLOCK:
            self._away.append(np.frombuffer(self._here, np.uint8))
            self._here = bytearray()

    def texts(self) -> list[str] | None:
        """Return all texts; None: they were too many."""
        if self._n_letters > self._most:
            return None
        data = bytes(self._away.mapped()) + bytes(self._here)
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(self._end)]
