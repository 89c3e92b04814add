"""What must hold of whatever was read from a file, before anything is done with it.

Compiled loops do not check their indices, so a number out of place would not be an error but a
crash: every index is checked, and every number is one the sampler could have made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thincrm.errors import DamagedFile
from thincrm.numerics.on_disk import pieces

__all__ = ["floats", "is_count", "need", "places", "positive"]

_MOST_NUMBER = 1e15
_MOST_FLOAT = 1e30  # beyond, squares of products are infinite, and draws by rejection never end


def is_count(value: object) -> bool:
    """Tell whether `value` is a whole number that can count something."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def need(holds: object, what: str) -> None:
    """Say that `what` cannot be, unless it holds."""
    if not holds:
        raise DamagedFile(f"The file was not written by thincrm: {what} cannot be.")


def floats(
    value: Any,
    shape: tuple[int, ...],
    what: str,
    *,
    finite: bool = True,
    most: float = _MOST_FLOAT,
) -> None:
    """Refuse anything but floats of that shape, up to `most`, without NaN (or infinities)."""
    need(isinstance(value, np.ndarray) and value.dtype == float and value.shape == shape, what)
    need(not np.any(~np.isfinite(value) if finite else np.isnan(value)), what)
    need(np.all((np.abs(value) <= most) | np.isinf(value)), what)


def places(value: Any, shape: tuple[int, ...], below: float, what: str) -> None:
    """Refuse anything but an array of whole numbers from 0 to `below` of that shape."""
    need(isinstance(value, np.ndarray) and value.dtype.kind == "i" and value.shape == shape, what)
    need(all(part.min() >= 0 and part.max() < below for part in pieces(value)), what)


def positive(value: Any, what: str, *, zero: bool = False) -> None:
    """Refuse anything but a number above 0 (or 0)."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    need(number and (0 < value < _MOST_NUMBER or (zero and value == 0)), what)
