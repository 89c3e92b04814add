"""Array types, with the letters their shapes are written in.

N observations, T distinct covariate rows, C covariate columns, K atoms, J basis
functions, M widths, P words or dimensions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ArrayLike", "Bool", "Float", "Int", "Seed", "as_generator"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]
Seed = int | np.random.Generator | None


def as_generator(rng: Seed) -> np.random.Generator:
    """Return a NumPy generator: `rng` itself, or a new one seeded with it."""
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
