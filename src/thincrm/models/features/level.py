"""What the level of a column may depend on: the covariates, and smooth curves of them.

The curves are the leading functions of a Gaussian process with a squared exponential kernel, on a
few covariates far from one another (Nyström's approximation), so that coefficients of one
precision are draws of such a process.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thincrm.data.covariates import Covariates
from thincrm.numerics.arrays import Float, Int

__all__ = ["Curves"]

_MOST_PLACES, _MOST_CURVES = 60, 12
_LENGTH = 0.7  # of the kernel, in standard deviations of the covariates
_LEAST = 1e-3  # of a curve's variance


class Curves(NamedTuple):
    """Functions of the covariate, learned from those of a fit."""

    mean_C: Float
    spread_C: Float
    place_MC: Float  # in standard units
    root_MJ: Float

    @classmethod
    def of(cls, known: Covariates, varies: bool = True) -> Curves:
        """Return the functions for the covariates of a fit; none if they do not vary."""
        share_T = known.trials / known.trials.sum()
        mean_C = share_T @ known.rows
        spread_C = np.sqrt(share_T @ (known.rows - mean_C) ** 2)
        spread_C = np.where(spread_C > 0, spread_C, 1.0)
        if len(known.rows) == 1 or not varies:
            return cls(mean_C[:0], spread_C[:0], np.zeros((0, 0)), np.zeros((0, 0)))
        standard_TC = (known.rows - mean_C) / spread_C
        place_MC = standard_TC[_far_apart(standard_TC, _MOST_PLACES)]
        size_M, direction_MM = np.linalg.eigh(_kernel(place_MC, place_MC))
        kept = size_M > 1e-6 * size_M[-1]
        white_MM = direction_MM[:, kept] / np.sqrt(size_M[kept])
        value_TM = _kernel(standard_TC, place_MC) @ white_MM
        value_TM = value_TM - share_T @ value_TM
        size_M, direction_MM = np.linalg.eigh((value_TM * share_T[:, None]).T @ value_TM)
        kept = np.flatnonzero(size_M > _LEAST)[::-1][:_MOST_CURVES]
        return cls(mean_C, spread_C, place_MC, white_MM @ direction_MM[:, kept])

    @property
    def n_slopes(self) -> int:
        """Return the number of covariates, 0 if they do not vary."""
        return int(self.mean_C.size)

    @property
    def n_functions(self) -> int:
        """Return the number of slopes and curves."""
        return self.n_slopes + int(self.root_MJ.shape[1])

    def at(self, times_NC: Float) -> Float:
        """Return the (N, C + J) values at covariates: in standard units, then the curves."""
        if self.n_slopes == 0:
            return np.zeros((len(times_NC), 0))
        standard_NC = (times_NC - self.mean_C) / self.spread_C
        return np.hstack([standard_NC, _kernel(standard_NC, self.place_MC) @ self.root_MJ])


def _kernel(a_NC: Float, b_MC: Float) -> Float:
    square_NM = ((a_NC[:, None] - b_MC) ** 2).sum(2)
    return np.asarray(np.exp(-0.5 * square_NM / _LENGTH**2))


def _far_apart(standard_TC: Float, n_most: int) -> Int:
    """Return the places of rows far from one another: each the farthest from those before."""
    found = [int((standard_TC**2).sum(1).argmin())]
    near_T = ((standard_TC - standard_TC[found[0]]) ** 2).sum(1)
    while len(found) < min(n_most, len(standard_TC)):
        found.append(int(near_T.argmax()))
        near_T = np.minimum(near_T, ((standard_TC - standard_TC[found[-1]]) ** 2).sum(1))
    return np.array(found)
