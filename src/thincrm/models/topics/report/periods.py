"""Periods of equal length, in which words and documents are counted and which a reader chooses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from thincrm.data.counts import row_blocks
from thincrm.data.covariates import Covariates
from thincrm.numerics.arrays import Float, Int

__all__ = ["Periods", "periods_of"]

_MOST = 40


@dataclass(frozen=True, slots=True)
class Periods:
    """B periods; the last holds its end.

    Attributes
    ----------
    edges : (B + 1,) float
        Where they begin, and the end of the last.
    period : (D,) int16
        The period of each document.
    """

    edges: Float
    period: np.ndarray

    @property
    def number(self) -> int:
        """Return B."""
        return self.edges.size - 1

    def place(self, at: Float) -> Int:
        """Return the periods of some times."""
        return _place(self.edges, at)

    def sums(self, counts: sparse.csr_array) -> sparse.csr_array:
        """Return (B, P) sparse: the sums of the documents' counts in each period."""
        total = sparse.csr_array((self.number, counts.shape[1]))
        for first, some in row_blocks(counts):
            document = np.arange(some.shape[0])
            member = (np.ones(document.size), (self.period[first + document], document))
            total = total + sparse.csr_array(member, (self.number, document.size)) @ some
        return sparse.csr_array(total)


def periods_of(known: Covariates) -> Periods:
    """Return at most 40 periods; of whole numbers and days, whole numbers of these."""
    at = known.rows[:, 0]
    if at[0] == at[-1]:
        edges = at[0] + np.array([-0.5, 0.5])
    elif np.all(at == np.floor(at)):
        length = max(np.ceil((at[-1] - at[0] + 1) / _MOST), 1.0)
        edges = at[0] + length * np.arange(np.ceil((at[-1] - at[0] + 1) / length) + 1)
    else:
        edges = np.linspace(at[0], at[-1], min(len(at), _MOST) + 1)
    return Periods(edges, _place(edges, at).astype(np.int16)[known.row])


def _place(edges: Float, at: Float) -> Int:
    return (np.searchsorted(edges, at, "right") - 1).clip(0, edges.size - 2)
