"""What goes over the wire: values as bytes, whole numbers in as few of them as they need.

Counts and places are kept in four or eight bytes each, and most are small: an array of n whole
numbers is sent as n of one, two or four bytes, and the few that are larger with their places.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np

__all__ = ["Parcel", "packed", "unpacked"]

_FEWEST = 4096  # numbers of an array that is looked at
_LARGER = 64  # of so many, one may be larger than most
Reduced = tuple[Callable[..., np.ndarray], tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Parcel:
    """A packed value, with a name: Dask would else hash all bytes of a task to give it one."""

    content: np.ndarray  # bytes in an array: Dask hands arrays on without a copy, bytes it copies
    name: str = field(default_factory=lambda: uuid4().hex)

    def __dask_tokenize__(self) -> str:
        return self.name

    def __sizeof__(self) -> int:
        return self.content.nbytes


def packed(value: object) -> Parcel:
    """Return a value as bytes."""
    import cloudpickle  # noqa: PLC0415 - comes with Dask; takes functions of the caller's own

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, found: object) -> Any:
            narrow = _narrowed(found) if type(found) is np.ndarray else None
            return super().reducer_override(found) if narrow is None else narrow

    room = io.BytesIO()
    Pickler(room, pickle.HIGHEST_PROTOCOL).dump(value)
    return Parcel(np.frombuffer(room.getvalue(), np.uint8))  # not writable: else Dask copies it


def unpacked(sent: Parcel) -> Any:
    """Return the value that was packed."""
    return pickle.loads(sent.content.data)


def _narrowed(found: np.ndarray) -> Reduced | None:
    """Return how to make an array of whole numbers again from fewer bytes; None: not at all."""
    if found.dtype.kind not in "iu" or found.size < _FEWEST or not found.flags.c_contiguous:
        return None
    flat = found.reshape(-1)
    if found.dtype.kind == "i" and flat.min() < 0:
        return None
    for kind in (np.uint8, np.uint16, np.uint32)[: found.itemsize.bit_length() - 1]:
        larger = flat > np.iinfo(kind).max
        n_larger = int(np.count_nonzero(larger))
        if n_larger * _LARGER <= flat.size:
            place = np.flatnonzero(larger)
            return _widened, (flat.astype(kind), found.dtype.str, found.shape, place, flat[place])
    return None


def _widened(
    low: np.ndarray, kind: str, shape: tuple[int, ...], place: np.ndarray, larger: np.ndarray
) -> np.ndarray:
    """Return the array that was narrowed."""
    found = low.astype(kind)
    found[place] = larger
    return found.reshape(shape)
