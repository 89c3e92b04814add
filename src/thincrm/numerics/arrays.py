"""Array types, with the letters their shapes are written in.

N observations, T distinct covariate rows, C covariate columns, K atoms, J basis
functions, M widths, P words or dimensions.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ArrayLike", "Bool", "Float", "Int", "Seed", "as_generator", "in_c_order"]

V = TypeVar("V")
Float = NDArray[np.float64]
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]
Seed = int | np.random.Generator | None


def as_generator(rng: Seed) -> np.random.Generator:
    """Return a NumPy generator: `rng` itself, or a new one seeded with it."""
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)


def in_c_order(value: V) -> V:
    """Return a value whose arrays lie in memory row after row; of records, those in them."""
    if isinstance(value, np.ndarray):
        return cast(V, np.asarray(value, order="C"))
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        ordered = {name: in_c_order(part) for name, part in parts.items()}
        changed = {name: part for name, part in ordered.items() if part is not parts[name]}
        return cast(V, replace(value, **changed)) if changed else value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return cast(V, type(value)(*map(in_c_order, value)))
    return value
