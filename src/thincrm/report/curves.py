"""Curves packed small: whole numbers, in units of a thousandth of the highest value."""

from __future__ import annotations

from typing import Any

import numpy as np

from thincrm.numerics.arrays import Float

__all__ = ["packed"]

_STEPS = 999


def packed(curves: dict[str, Float]) -> list[dict[str, Any]]:
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
