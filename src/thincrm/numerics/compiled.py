"""The one door to numba: every compiled loop of the library is made here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

__all__ = ["compiled", "compiled_rows", "prange", "use_threads"]

F = TypeVar("F", bound=Callable[..., Any])
prange = numba.prange
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


def compiled(loop: F) -> F:
    """Compile a loop over arrays; the same body is its own reference in plain Python."""
    return cast(F, numba.njit(loop, **_OPTIONS))


def compiled_rows(loop: F) -> F:
    """Compile a loop whose `prange` rows run on several threads; rows must not share writes."""
    return cast(F, numba.njit(loop, parallel=True, **_OPTIONS))


def use_threads(n_threads: int | None) -> int:
    """Set how many threads `compiled_rows` loops use (None: all cores); return the number."""
    most = int(vars(numba.config)["NUMBA_NUM_THREADS"])
    n = most if n_threads is None else max(1, min(n_threads, most))
    numba.set_num_threads(n)
    return int(n)


class _SayOnce(event.Listener):
    """Tell the user, once per process, that a loop of ours is being compiled and not cached yet."""

    said = False

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if not self.said and function.__module__.startswith("thincrm"):
            self.said = True
            message = "thincrm: compiling its loops (once per installation, a few seconds) ...\n"
            sys.stderr.write(message)
            sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _SayOnce())  # type: ignore[no-untyped-call]
