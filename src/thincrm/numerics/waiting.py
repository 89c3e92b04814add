"""A word on standard error where work takes long before there is progress to show."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from thincrm.printable import printable

__all__ = ["now", "span", "telling"]

_FIRST, _THEN = 2.0, 30.0  # seconds that a stage lasts before its first line, and the next
_LOOK = 0.5  # seconds between two looks at the stage


@dataclass(slots=True)
class _Stage:
    """What is going on, and since when; `share` tells how much of it is done, if that is known."""

    what: str
    since: float
    share: Callable[[], float] | None = None

    def line(self) -> str:
        so_far = time.monotonic() - self.since
        done = 0.0 if self.share is None else self.share()
        what = printable(self.what)  # it may name a file of a stranger's
        if done <= 0.0:
            return f"thincrm: {what}, {so_far:.0f} s so far ...\n"
        left = span(so_far * (1.0 - done) / done)
        return f"thincrm: {what}, {100 * done:.0f} %, {left} left ...\n"


_stage: ContextVar[_Stage | None] = ContextVar("stage", default=None)


@contextmanager
def telling(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Say what is going on if it still is after two seconds, and every half minute from there.

    The same holds of every stage that the work comes to (`now`).
    """
    if quiet:
        yield
        return
    done, stage = threading.Event(), _Stage(what, time.monotonic())

    def tell() -> None:
        told, due = None, 0.0
        while not done.wait(min(_FIRST, _LOOK)):
            since = stage.since
            if time.monotonic() >= (due if since == told else since + _FIRST):
                sys.stderr.write(stage.line())
                sys.stderr.flush()
                told, due = since, time.monotonic() + _THEN

    teller = threading.Thread(target=tell, daemon=True)
    token = _stage.set(stage)
    teller.start()
    try:
        yield
    finally:
        _stage.reset(token)
        done.set()
        teller.join()


def now(what: str, share: Callable[[], float] | None = None) -> None:
    """Let whoever tells of the work that goes on say that it has come to this.

    share: how much of it is done, from 0 to 1, so that the time left can be told.
    """
    stage = _stage.get()
    if stage is not None:
        stage.what, stage.share, stage.since = what, share, time.monotonic()


def span(seconds: float) -> str:
    """Return a time in words."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes}:{rest:02} min"
