"""A word on standard error where work takes long before there is progress to show.

On a terminal it is one line that comes after half a second, changes every half second and goes at
the end; elsewhere it is a line after two seconds and every half minute.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from thincrm.printable import printable

__all__ = ["can_start_threads", "now", "passed", "span", "starting", "telling"]

_FIRST, _THEN = 1.5, 30.0  # seconds that a stage lasts before its first line, and the next
_SOON, _MOVES = 0.5, 0.5  # on a terminal
_LOOK = 0.25  # seconds between two looks at the stage


@dataclass(slots=True)
class _Stage:
    """What is going on, and since when; `share` tells how much of it is done, if that is known.

    `part` is how much of its present pass over the shards is done, `passing` since when.
    """

    what: str
    since: float
    share: Callable[[], float] | None = None
    part: float = 0.0
    passing: float = 0.0

    def line(self) -> str:
        so_far = time.monotonic() - self.since
        done = 0.0 if self.share is None else self.share()
        if self.share is None and self.part > 0.0:
            so_far, done = time.monotonic() - self.passing, self.part
        what = printable(self.what)  # it may name a file of a stranger's
        if done <= 0.0:
            return f"thincrm: {what}, {so_far:.0f} s so far ..."
        left = span(so_far * (1.0 - done) / done)
        return f"thincrm: {what}, {100 * done:.0f} %, {left} left ..."


_stage: ContextVar[_Stage | None] = ContextVar("stage", default=None)


@contextmanager
def telling(what: str, *, quiet: bool = False, since: float | None = None) -> Iterator[None]:
    """Say what is going on if it still is after two seconds, and from there on.

    The same holds of every stage that the work comes to (`now`), and of work in the midst of what
    is told already. since: when it began, by the monotonic clock; None: now.
    """
    if quiet or not can_start_threads():
        yield
        return
    around = _stage.get()
    if around is not None:
        before = around.what, around.share
        now(what)
        yield
        now(*before)
        return
    done, stage = threading.Event(), _Stage(what, time.monotonic() if since is None else since)
    moves = sys.stderr.isatty()
    first = min(_FIRST, _SOON) if moves else _FIRST

    def tell() -> None:
        told, due, width = None, 0.0, 0
        while not done.wait(min(first, _LOOK)):
            since = stage.since
            if time.monotonic() < (due if since == told or width else since + first):
                continue
            told, due = since, time.monotonic() + (_MOVES if moves else _THEN)
            if moves:
                width = shutil.get_terminal_size().columns - 1
            _write(f"{stage.line()[:width]:{width}}\r" if moves else f"{stage.line()}\n")
        if width:
            _write(f"{'':{width}}\r")

    teller = threading.Thread(target=tell, daemon=True)
    token = _stage.set(stage)
    teller.start()
    try:
        yield
    finally:
        _stage.reset(token)
        done.set()
        teller.join()


def starting(*, quiet: bool = False) -> AbstractContextManager[None]:
    """Say that the program starts, if that takes long: its packages are large.

    The time since the process began counts; of an old one, in which it is not the first, not all.
    """
    return telling("starting", quiet=quiet, since=time.monotonic() - min(_age() + _LOOK, _FIRST))


def _age() -> float:
    """Return for how long this process has been there; on a busy machine that is not its work."""
    try:
        began = Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]
        now_there = time.clock_gettime(time.CLOCK_BOOTTIME)
        return now_there - int(began) / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):  # no Linux
        return time.process_time()


def can_start_threads() -> bool:
    """Tell whether a thread can be started: from Python 3.12 on, not while the program ends."""
    try:
        threading.Thread(target=int, daemon=True).start()
    except RuntimeError:
        return False
    return True


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def now(what: str, share: Callable[[], float] | None = None) -> None:
    """Let whoever tells of the work that goes on say that it has come to this.

    share: how much of it is done, from 0 to 1, so that the time left can be told.
    """
    stage = _stage.get()
    if stage is not None:
        stage.what, stage.share, stage.since = what, share, time.monotonic()
        stage.part = 0.0


def passed(part: float) -> None:
    """Let whoever tells of the work say that so much of a pass over the shards is done."""
    stage = _stage.get()
    if stage is not None:
        stage.passing = time.monotonic() if part == 0.0 else stage.passing
        stage.part = part


def span(seconds: float) -> str:
    """Return a time in words."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes}:{rest:02} min"
