"""Memory of arrays that were freed: kept for the next ones, or given back to the system."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import cache

__all__ = ["keep_freed_memory"]

_TRIM, _MAP = -1, -3  # names of glibc's settings in mallopt
_LARGEST = 2**25  # bytes of an array that is given back by itself


@cache
def keep_freed_memory() -> None:
    """Let the C library keep freed memory as it does by itself, whatever it was told.

    By itself glibc learns which sizes come and go: it keeps up to 64 MB of freed memory, and gives
    only blocks above 32 MB back at once. Dask's nannies tell it (MALLOC_TRIM_THRESHOLD_) to keep
    nothing, which ends the learning too: then each large array of every map is fetched page by
    page, a twelfth of a topic model's sweep. Elsewhere than with glibc nothing is done.
    """
    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MAP, _LARGEST)
        library.mallopt(_TRIM, 2 * _LARGEST)
