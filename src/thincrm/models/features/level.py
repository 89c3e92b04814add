"""What the level of a column may depend on: the covariates, and smooth curves of them.

The curves are the leading functions of Gaussian processes with squared exponential kernels, a wide
and a narrow one, on a few covariates far from one another (Nyström's approximation), so that
coefficients of one precision are draws of such a process. What lines explain is taken out of them:
a trend has one place, the slopes, and chains need not choose between two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thincrm.data.covariates import Covariates
from thincrm.numerics.arrays import Float, Int

__all__ = ["Curves"]

_MOST_PLACES = 100
_KERNELS = ((1.5, 15), (0.5, 40))  # length in standard deviations of the covariates, most curves
_LEAST = 1e-3  # of a curve's variance


class Curves(NamedTuple):
    """Functions of the covariate, learned from those of a fit."""

    mean_C: Float
    spread_C: Float
    place_MC: Float  # in standard units
    roots: tuple[Float, ...]  # M x J, of each kernel
    lines: tuple[Float, ...]  # 1 + C x J: the constants and slopes to be taken out

    @classmethod
    def of(cls, known: Covariates, varies: bool = True) -> Curves:
        """Return the functions for the covariates of a fit; none if they do not vary."""
        share_T = known.trials / known.trials.sum()
        mean_C = share_T @ known.rows
        spread_C = np.sqrt(share_T @ (known.rows - mean_C) ** 2)
        spread_C = np.where(spread_C > 0, spread_C, 1.0)
        if len(known.rows) == 1 or not varies:
            return cls(mean_C[:0], spread_C[:0], np.zeros((0, 0)), (), ())
        standard_TC = (known.rows - mean_C) / spread_C
        place_MC = standard_TC[_far_apart(standard_TC, _MOST_PLACES)]
        found = [
            _root(standard_TC, share_T, place_MC, length, n_most) for length, n_most in _KERNELS
        ]
        roots, lines = zip(*found, strict=True)
        return cls(mean_C, spread_C, place_MC, roots, lines)

    @property
    def n_slopes(self) -> int:
        """Return the number of covariates, 0 if they do not vary."""
        return int(self.mean_C.size)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the numbers of slopes, and of curves of each kernel."""
        return (self.n_slopes, *(int(root.shape[1]) for root in self.roots)) if self.roots else ()

    def at(self, times_NC: Float) -> Float:
        """Return the (N, C + J) values at covariates: in standard units, then the curves."""
        if self.n_slopes == 0:
            return np.zeros((len(times_NC), 0))
        standard_NC = (times_NC - self.mean_C) / self.spread_C
        curves = (
            _kernel(standard_NC, self.place_MC, length) @ root_MJ - _with_one(standard_NC) @ line_DJ
            for (length, _), root_MJ, line_DJ in zip(_KERNELS, self.roots, self.lines, strict=True)
        )
        return np.hstack([standard_NC, *curves])


def _root(
    standard_TC: Float, share_T: Float, place_MC: Float, length: float, n_most: int
) -> tuple[Float, Float]:
    """Return the (M, J) combinations of kernels at the places that are the leading functions.

    With them come the (1 + C, J) lines that are the likest to these.
    """
    size_M, direction_MM = np.linalg.eigh(_kernel(place_MC, place_MC, length))
    kept = size_M > 1e-6 * size_M[-1]
    white_MM = direction_MM[:, kept] / np.sqrt(size_M[kept])
    value_TM = _kernel(standard_TC, place_MC, length) @ white_MM
    root_T1, line_TD = np.sqrt(share_T)[:, None], _with_one(standard_TC)
    line_DM = np.linalg.lstsq(root_T1 * line_TD, root_T1 * value_TM, rcond=1e-8)[0]
    value_TM = value_TM - line_TD @ line_DM
    size_M, direction_MM = np.linalg.eigh((value_TM * share_T[:, None]).T @ value_TM)
    leading = np.flatnonzero(size_M > _LEAST)[::-1][:n_most]
    chosen_MJ = direction_MM[:, leading]
    return np.asarray(white_MM @ chosen_MJ), np.asarray(line_DM @ chosen_MJ)


def _with_one(standard_NC: Float) -> Float:
    return np.hstack([np.ones((len(standard_NC), 1)), standard_NC])


def _kernel(a_NC: Float, b_MC: Float, length: float) -> Float:
    square_NM = ((a_NC[:, None] - b_MC) ** 2).sum(2)
    return np.asarray(np.exp(-0.5 * square_NM / length**2))


def _far_apart(standard_TC: Float, n_most: int) -> Int:
    """Return the places of rows far from one another: each the farthest from those before."""
    found = [int((standard_TC**2).sum(1).argmin())]
    near_T = ((standard_TC - standard_TC[found[0]]) ** 2).sum(1)
    while len(found) < min(n_most, len(standard_TC)):
        found.append(int(near_T.argmax()))
        near_T = np.minimum(near_T, ((standard_TC - standard_TC[found[-1]]) ** 2).sum(1))
    return np.array(found)
