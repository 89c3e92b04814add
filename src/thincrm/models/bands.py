"""Ends of credible bands, where draws are worth less than they are many."""

from __future__ import annotations

import numpy as np
import pandas as pd

from thincrm.errors import check_between
from thincrm.inference.convergence import FEWEST_DRAWS, ends_ess
from thincrm.inference.diagnostics import by_chain
from thincrm.numerics.arrays import Float, Int

__all__ = ["band"]


def band(values_BQK: Float, chain_B: Int, level: float) -> tuple[Float, Float]:
    """Return the (Q, K) ends of credible intervals over draws; NaN: a draw lacks an atom.

    Of n independent draws, one more is below the r-th smallest with probability r / (n + 1). So
    the lower end stands at r = tail (n + 1), tail = (1 - level) / 2, between the smallest (r = 1)
    and the largest (n): among all draws in order, at the share

        (tail (n + 1) - 1) / (n - 1)  of the way, or 0 if that is negative,

    n being what the draws are worth for that end (`ends_ess`), and no more than there are. Were n
    the number of draws, bands of chains that move slowly would be too narrow. A quantity that an
    atom has in no draw, or not in all that have the atom, has no ends.
    """
    tail = (1.0 - check_between("level", level, 0.0, 1.0)) / 2.0
    ends = [_ends(values_BQK[:, :, k], chain_B, tail) for k in range(values_BQK.shape[2])]
    lower_QK, upper_QK = np.stack(ends, axis=2)
    return lower_QK, upper_QK


def _ends(values_BQ: Float, chain_B: Int, tail: float) -> Float:
    """Return the (2, Q) ends of one atom's bands."""
    out = np.full((2, values_BQ.shape[1]), np.nan)
    there_B = ~np.isnan(values_BQ).all(axis=1)
    known_Q = ~np.isnan(values_BQ[there_B]).any(axis=0)
    if not there_B.any() or not known_Q.any():
        return out
    drawn = values_BQ[there_B][:, known_Q]
    n_Q = np.maximum(_worth(drawn, chain_B[there_B], tail), 2.0)
    share_Q = np.maximum((tail * (n_Q + 1.0) - 1.0) / (n_Q - 1.0), 0.0)
    ordered = np.sort(drawn, axis=0)
    out[:, known_Q] = _at(ordered, share_Q), _at(ordered, 1.0 - share_Q)
    return out


def _worth(drawn_BQ: Float, chain_B: Int, tail: float) -> Float:
    """Return how many independent draws the (B, Q) draws are worth for the ends of a band."""
    n_draws, n_quantities = drawn_BQ.shape
    place_CS = by_chain(pd.Index(chain_B, name="chain"))
    if place_CS.shape[1] < FEWEST_DRAWS:
        return np.full(n_quantities, float(n_draws))
    return np.minimum(ends_ess(drawn_BQ[place_CS], tail), float(n_draws))


def _at(ordered_BQ: Float, share_Q: Float) -> Float:
    """Return what is at a share of the way from the first to the last, each column its own."""
    last = len(ordered_BQ) - 1
    place_Q = share_Q * last
    below_Q = np.floor(place_Q).astype(int)
    column = np.arange(share_Q.size)
    low, high = ordered_BQ[below_Q, column], ordered_BQ[np.minimum(below_Q + 1, last), column]
    return np.asarray(low + (place_Q - below_Q) * (high - low))
