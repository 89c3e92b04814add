"""The one door to numba: every compiled loop of the library is made here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

__all__ = ["compiled"]

F = TypeVar("F", bound=Callable[..., Any])
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


def compiled(loop: F) -> F:
    """Compile a loop over arrays; the same body is its own reference in plain Python."""
    return cast(F, numba.njit(loop, **_OPTIONS))


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
