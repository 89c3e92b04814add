"""Equal numbers are rounded ones: they are spread over the cells they were rounded to.

A normal law has a density without bound where rows are exactly equal: a cluster of nothing but the
value 30 could be as narrow as it likes, and with a learned scale of clusters the posterior has no
finite mass. What was measured as 30 on a scale with steps of 5 was between 27.5 and 32.5. So every
number that occurs more than once is moved, once and for all, by a uniform number within half the
distance to its nearest neighbour (and half the median distance of neighbours, at most).
Columns of few values are codes rather than measurements: theirs stay apart, within an eighth.
"""

from __future__ import annotations

import numpy as np

from thincrm.numerics.arrays import Bool, Float, Int

__all__ = ["spread_ties"]

_FEW = 12  # values of a column
_CELL, _CODE = 0.5, 0.125  # of the distance to a neighbour


def spread_ties(value_NP: Float, places: Int, exact_N: Bool, seed: int) -> Float:
    """Return cells whose equal numbers, in some of the columns, are no longer equal.

    exact_N: rows whose numbers are what they say, and not limits of censored ones.
    """
    out = value_NP.copy()
    for place in places:
        rows = np.flatnonzero(exact_N & ~np.isnan(value_NP[:, place]))
        rng = np.random.default_rng([seed, int(place)])
        out[rows, place] = _spread(rng, value_NP[rows, place])
    return out


def _spread(rng: np.random.Generator, value_N: Float) -> Float:
    known, where_N, count = np.unique(value_N, return_inverse=True, return_counts=True)
    if known.size < 2 or count.max() == 1:
        return value_N
    gap = np.minimum(np.diff(known), np.median(np.diff(known)))
    nearest = np.minimum(np.append(gap, np.inf), np.append(np.inf, gap))
    reach = nearest * (_CELL if known.size >= _FEW else _CODE) * (count > 1)
    return np.asarray(value_N + reach[where_N] * rng.uniform(-1.0, 1.0, value_N.size))
