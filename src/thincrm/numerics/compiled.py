"""The one door to numba: every compiled loop of the library is made here."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numba
from numba.core import config, event

from thincrm.numerics.cache_place import temporary_cache
from thincrm.numerics.source_stamp import source_stamp

__all__ = ["compiled", "compiling_quietly", "inlined"]

F = TypeVar("F", bound=Callable[..., Any])
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


def compiled(loop: F) -> F:
    """Compile a loop over arrays; the same body is its own reference in plain Python."""
    try:
        dispatcher = numba.njit(loop, **_OPTIONS)
    except RuntimeError:  # numba finds no place that it can write to
        _keep_elsewhere()
        dispatcher = numba.njit(loop, **_OPTIONS)
    _watch_imports(dispatcher, loop.__module__)
    return cast(F, dispatcher)


def inlined(piece: F) -> F:
    """Make a piece of a compiled loop, which takes its place in the loop's own code.

    A call would cost a quarter of the token kernel's time.
    """
    return cast(F, numba.njit(piece, nogil=True, error_model="numpy", inline="always"))


def _keep_elsewhere() -> None:
    """Keep loops in a temporary folder; for this process only, if there is none either."""
    folder = temporary_cache()
    if folder is None:
        _OPTIONS["cache"] = False
        _LISTENER.place = "kept nowhere: name a folder in NUMBA_CACHE_DIR"
    else:
        cast(Any, config).CACHE_DIR = str(folder)
        _LISTENER.place = (
            f"kept in {folder}, as neither the package nor a home can be written to; "
            "NUMBA_CACHE_DIR names another place"
        )


@contextmanager
def compiling_quietly(quiet: bool) -> Iterator[None]:
    """Say nothing of compiling, if quiet."""
    before = _LISTENER.silent
    _LISTENER.silent = before or quiet
    try:
        yield
    finally:
        _LISTENER.silent = before


def _watch_imports(dispatcher: Any, module: str) -> None:
    """Let a change of any file that the loop's module imports void a cached loop."""
    index: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(index, "_source_stamp"):
        index._source_stamp = (index._source_stamp, source_stamp(module))


class _SayOnce(event.Listener):
    """Tell the user, once per process, that a loop of ours is being compiled and not cached yet."""

    said = silent = False
    place = "once per installation"

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if self.said or self.silent or not function.__module__.startswith("thincrm"):
            return
        self.said = True
        sys.stderr.write(f"thincrm: compiling its loops (half a minute or so, {self.place}) ...\n")
        sys.stderr.flush()

    def on_end(self, event: object) -> None:
        pass


_LISTENER = _SayOnce()
event.register("numba:compile", _LISTENER)  # type: ignore[no-untyped-call]
