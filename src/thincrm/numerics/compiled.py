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
    _keep_if_possible(dispatcher)
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


def _keep_if_possible(dispatcher: Any) -> None:
    """Let a full disk cost the cached copy of a loop, not the run that compiled it."""
    cache = getattr(dispatcher, "_cache", None)
    if cache is None:  # nothing is compiled
        return
    keep = cache.save_overload

    def keep_or_say(signature: object, made: object) -> None:
        try:
            keep(signature, made)
        except OSError as error:
            _LISTENER.say_not_kept(error)

    cache.save_overload = keep_or_say


class _SayOnce(event.Listener):
    """Tell the user, once per process, that a loop of ours is being compiled and not cached yet."""

    said = said_not_kept = silent = False
    place = "once per installation"

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if self.said or self.silent or not function.__module__.startswith("thincrm"):
            return
        self.said = True
        sys.stderr.write(f"thincrm: compiling its loops (half a minute or so, {self.place}) ...\n")
        sys.stderr.flush()

    def say_not_kept(self, error: OSError) -> None:
        """Tell the user, once per process, that compiled loops cannot be kept."""
        if not self.said_not_kept and not self.silent:
            sys.stderr.write(
                f"thincrm: compiled loops are not kept ({error.strerror or error}): the next run "
                "compiles them again.\n"
            )
            sys.stderr.flush()
        self.said_not_kept = True

    def on_end(self, event: object) -> None:
        pass


_LISTENER = _SayOnce()
event.register("numba:compile", _LISTENER)  # type: ignore[no-untyped-call]
