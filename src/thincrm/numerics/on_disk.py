"""Arrays that are too many for memory: written to a file that nobody else sees, and mapped.

The file has no name (or loses it at once) and goes when the last array that maps it does. It is
where the system keeps temporary files; the environment variable TMPDIR names another place.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any
from weakref import WeakSet, finalize

import numpy as np
from numpy.typing import DTypeLike

from thincrm.errors import CannotWrite

__all__ = ["DiskArray", "is_on_disk", "let_go", "pieces"]

_AT_ONCE = 2**22  # values of a piece

_ours: WeakSet[mmap.mmap] = WeakSet()  # of others' maps nothing is let go: it might be lost


class DiskArray:
    """An array that grows on disk.

    Parameters
    ----------
    kind : data type
        Of its values.
    """

    def __init__(self, kind: DTypeLike) -> None:
        self._kind, self.size = np.dtype(kind), 0
        self._file: IO[bytes] | None = None

    def append(self, values: np.ndarray) -> None:
        """Add values at the end."""
        try:
            if self._file is None:
                self._file = TemporaryFile(prefix="thincrm-")
                finalize(self, self._file.close)
            self._file.write(np.ascontiguousarray(values, self._kind).data)
            self._file.flush()  # a disk that is full must say so now: later it would end us
        except OSError as error:
            raise CannotWrite(
                f"{gettempdir()} has no room for what memory would not hold "
                f"({error.strerror or error}): free some, or let the environment variable TMPDIR "
                "name another folder."
            ) from error
        self.size += values.size

    def part(self, first: int, stop: int) -> np.ndarray:
        """Return some of the values, in memory."""
        assert self._file is not None
        size = self._kind.itemsize
        self._file.seek(first * size)
        found = np.frombuffer(self._file.read((stop - first) * size), self._kind)
        self._file.seek(0, 2)
        return found

    def mapped(self) -> np.ndarray:
        """Return all values, read when they are looked at."""
        if self._file is None or self.size == 0:
            return np.zeros(0, self._kind)
        room = mmap.mmap(self._file.fileno(), self.size * self._kind.itemsize)
        _ours.add(room)
        return np.frombuffer(room, self._kind)


def _map_of(values: np.ndarray) -> mmap.mmap | None:
    base: Any = values
    while isinstance(base, np.ndarray | memoryview):
        base = base.obj if isinstance(base, memoryview) else base.base
    return base if isinstance(base, mmap.mmap) and base in _ours else None


def is_on_disk(values: np.ndarray) -> bool:
    """Tell whether an array is, or is part of, one of these."""
    return _map_of(values) is not None


def let_go(*arrays: np.ndarray) -> None:
    """Give back the memory of arrays that are on disk; they are read again when needed."""
    for values in arrays:
        found = _map_of(values)
        if found is not None and hasattr(mmap, "MADV_DONTNEED"):
            found.madvise(mmap.MADV_DONTNEED)


def pieces(values: np.ndarray) -> Iterator[np.ndarray]:
    """Yield an array piece by piece; of one that is on disk few values are ever in memory."""
    flat = values.reshape(-1)
    for first in range(0, flat.size, _AT_ONCE):
        yield flat[first : first + _AT_ONCE]
        let_go(values)
