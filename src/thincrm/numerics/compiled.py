"""The one door to numba: every compiled loop of the library is made here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

__all__ = ["compiled"]

F = TypeVar("F", bound=Callable[..., Any])
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


def compiled(loop: F) -> F:
    """Compile a loop over arrays; the same body is its own reference in plain Python."""
    dispatcher = numba.njit(loop, **_OPTIONS)
    _watch_whole_package(dispatcher)
    return cast(F, dispatcher)


@cache
def _package_stamp() -> tuple[float, int]:
    """Return the newest change among the package's files, and their total size."""
    stats = [path.stat() for path in Path(__file__).parents[1].rglob("*.py")]
    return max(stat.st_mtime for stat in stats), sum(stat.st_size for stat in stats)


def _watch_whole_package(dispatcher: Any) -> None:
    """Let any changed file of the package void a cached loop.

    numba looks only at the file a loop stands in, and loops inline loops of other files: after an
    edit to one of those it would go on running the old code.
    """
    index: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(index, "_source_stamp"):
        index._source_stamp = _package_stamp()


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
