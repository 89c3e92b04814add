"""What the token kernel counts on its way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["NO_TALLY", "Tally"]


class Tally(NamedTuple):
    """What a thread counts while it redraws documents; whole numbers, so any order is the same.

    Fresh draws are low + 256 rounds: as bytes, more of them stay in the processor's cache.
    """

    low_PK: np.ndarray  # uint8
    rounds_PK: np.ndarray  # int32
    positive_TK: np.ndarray  # int32: documents that use a topic
    size_JK: np.ndarray  # int32: documents with j + 1 tokens in a topic, J at most
    largest: np.ndarray  # 1: the most tokens of a document in a topic

    @classmethod
    def none(cls, words: tuple[int, ...], n_rows: int, n_topics: int, most: int) -> Tally:
        """Return counts of zero, of words by columns; those that stay so take no memory."""
        return cls(
            np.zeros(words, np.uint8), np.zeros(words, np.int32),
            np.zeros((n_rows, n_topics), np.int32), np.zeros((most, n_topics), np.int32),
            np.zeros(1, np.int64),
        )  # fmt: skip

    def fresh(self) -> np.ndarray:
        """Return the fresh draws, in the place of the rounds: there is nothing to add after it."""
        count_PK = self.rounds_PK
        count_PK *= 256
        count_PK += self.low_PK
        return count_PK


NO_TALLY = Tally.none((0, 0), 0, 0, 0)  # nothing is counted
