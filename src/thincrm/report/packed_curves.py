"""Curves packed small: whole numbers, in units of a thousandth of the highest value."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from thincrm.numerics.arrays import Float

__all__ = ["PackedCurve", "curves_of", "packed"]

PackedCurve = dict[str, float | list[int]]
_STEPS = 999


def packed(curves: Mapping[str, Float]) -> list[PackedCurve]:
    """Return (K, T) curves as whole numbers, each atom in a unit of its own."""
    top_K = np.maximum(np.max([x.max(axis=1) for x in curves.values()], axis=0), 1e-12)
    return [
        {
            "unit": float(f"{top / _STEPS:.5g}"),
            **{
                name: np.rint(x[k] / top * _STEPS).astype(int).tolist()
                for name, x in curves.items()
            },
        }
        for k, top in enumerate(top_K)
    ]


def curves_of(
    wide: pd.DataFrame, narrow: pd.DataFrame, n_times: int, mean: str = "mean", prefix: str = ""
) -> list[PackedCurve]:
    """Return a packed curve per atom from tables with bands of 90 and 50 %.

    Both have a row for each atom and time, atom by atom; bands are PREFIXlower and PREFIXupper.
    """
    columns = {
        "mean": wide[mean],
        "lower": wide[f"{prefix}lower"],
        "upper": wide[f"{prefix}upper"],
        "low": narrow[f"{prefix}lower"],
        "high": narrow[f"{prefix}upper"],
    }
    return packed({name: np.reshape(x, (-1, n_times)) for name, x in columns.items()})
