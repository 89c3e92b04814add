"""Rows of covariates that share a bound on what an unused topic weighs.

The token kernel needs S_tp = sum_k u_tk theta_kp of every word at every row: with a few documents a
row that is most of its work. Rows that follow one another therefore share, in bins b, the bound

    U_bk = max_{t in b} u_tk,   and so   sum_k U_bk theta_kp >= S_tp:

a topic is proposed with its bound, or with its weight where a used topic has more, and accepted
with weight / bound; else all is proposed again. That is the exact conditional, whatever the bins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thincrm.models.topics.kernel import Rates
from thincrm.numerics.compiled import compiled

__all__ = ["share_bounds"]

LOOSEST = 1.5  # of a bin's bounds to the least of its rows, summed over topics


def share_bounds(rates: Rates, most: int, loosest: float = LOOSEST) -> Rates:
    """Return the rates with bins of rows, at most so many in one, whose bounds are not too loose.

    With one row in each every bound is its row's own weight, and nothing is ever rejected.
    """
    if most <= 1:
        return rates
    bin_T, bound_BK = np.empty_like(rates.bin_T), rates.unused_TK.copy()
    n_bins = _join(rates.unused_TK, most, loosest, bin_T, bound_BK)
    return rates._replace(bin_T=bin_T, bound_BK=bound_BK[:n_bins])


@compiled
def _join(
    unused_TK: np.ndarray, most: int, loosest: float, bin_T: np.ndarray, bound_BK: np.ndarray
) -> Any:
    """Fill bins and bounds from the first row to the last; return how many bins there are."""
    n_rows, n_topics = unused_TK.shape
    last, held, least = -1, most, 0.0
    for t in range(n_rows):
        own, top = 0.0, 0.0
        for k in range(n_topics):
            own += unused_TK[t, k]
        if held < most:
            for k in range(n_topics):
                top += max(bound_BK[last, k], unused_TK[t, k])
        if held < most and top <= loosest * min(least, own):
            held, least = held + 1, min(least, own)
            for k in range(n_topics):
                bound_BK[last, k] = max(bound_BK[last, k], unused_TK[t, k])
        else:
            last, held, least = last + 1, 1, own
            bound_BK[last] = unused_TK[t]
        bin_T[t] = last
    return last + 1
