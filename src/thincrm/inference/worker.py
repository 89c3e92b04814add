"""The process of one chain: `python -m thincrm.inference.worker`, started by `side_by_side`."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from typing import IO, TYPE_CHECKING, Any

from thincrm.errors import ThincrmError
from thincrm.inference.driver import Chain, Row, run_chain
from thincrm.inference.side_by_side import Event, Failure, Task

if TYPE_CHECKING:
    from thincrm.inference.diagnostics import KeptDraw

__all__ = ["main"]


class _Stopped(Exception):
    """The caller has closed the pipe, or the time is up."""


def _read(stream: IO[bytes]) -> Any:
    size = int.from_bytes(stream.read(8), "little")
    return pickle.loads(stream.read(size))


def main() -> None:
    """Run the chain that standard input tells, and send what happens to standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller says when to stop
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed goes elsewhere
    source = sys.stdin.buffer
    problem, schedule = _read(source)
    task, state_seconds, seconds = _read(source)
    assert isinstance(task, Task)
    closed = threading.Event()

    def watch() -> None:
        os.read(source.fileno(), 1)  # nothing comes: this ends when the pipe does
        closed.set()

    threading.Thread(target=watch, daemon=True).start()
    due, late = time.monotonic() + state_seconds, time.monotonic() + seconds
    first = schedule.kept[0]

    def send(what: Event | Failure) -> None:
        part = pickle.dumps(what)
        out.write(len(part).to_bytes(8, "little") + part)
        out.flush()

    def note(sweep: int, state: Chain, row: Row | None, draw: KeptDraw | None) -> None:
        nonlocal due
        stops = closed.is_set() or (time.monotonic() >= late and sweep >= first)
        asked = stops or time.monotonic() >= due or sweep >= schedule.end
        send(Event(task.chain, sweep, state if asked else None, row, draw))
        if asked:
            due = time.monotonic() + state_seconds
        if stops and sweep < schedule.end:
            raise _Stopped

    try:
        with problem.engine.running():
            run_chain(problem, schedule, task.chain, task.sweep, task.state, note)
    except (_Stopped, BrokenPipeError):
        pass
    except ThincrmError as error:
        send(Failure(task.chain, str(error)))


if __name__ == "__main__":
    main()
