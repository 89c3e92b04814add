"""The shape of an activation curve: when it is active, and whether it rises, falls or returns."""

from __future__ import annotations

from typing import Literal

import numpy as np

from thincrm.numerics.arrays import Float, Int

__all__ = ["SHAPES", "first_last", "shape_of"]

SHAPES = ("rising", "falling", "peaked", "intermittent", "steady")


def _active(curve_BTK: Float) -> np.ndarray:
    """Tell where a curve is at least half of its highest value."""
    with np.errstate(invalid="ignore"):
        return np.asarray(curve_BTK >= 0.5 * np.max(curve_BTK, axis=1, keepdims=True))


def first_last(curve_BTK: Float, which: Literal["first", "last"]) -> Float:
    """Return the (B, K) first or last active row, NaN where a topic is absent."""
    active = _active(curve_BTK)
    n_rows = active.shape[1]
    place = active.argmax(1) if which == "first" else n_rows - 1 - active[:, ::-1].argmax(1)
    return np.where(np.isnan(curve_BTK[:, 0]), np.nan, place.astype(float))


def shape_of(curve_BTK: Float) -> Int:
    """Return the (B, K) index in SHAPES of each curve, -1 where a topic is absent.

    intermittent: active in two or more separate spells. Of the others, active throughout (both
    ends) is steady; active at the end but not the start is rising; the reverse, falling; at
    neither end, peaked.
    """
    active = _active(curve_BTK)
    starts = active[:, :1].sum(1) + (active[:, 1:] & ~active[:, :-1]).sum(1)
    first, last = active[:, 0], active[:, -1]
    shape = np.where(first, np.where(last, 4, 1), np.where(last, 0, 2))
    shape = np.where(starts >= 2, 3, shape)
    return np.where(np.isnan(curve_BTK[:, 0]), -1, shape)
