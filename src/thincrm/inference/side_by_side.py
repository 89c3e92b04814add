"""Chains side by side: a process each, which sends what happens to this one.

A chain draws from the generators of (seed, chain, sweep) wherever it runs, so the bits are those of
chains one after another. Processes are started anew (never forked, and without importing the
caller's script), get the problem through a pipe, and end when that pipe is closed. They import from
where this one does, and not from the folder one happens to be in (-P): others may have filled it.
"""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from thincrm.errors import ThincrmError
from thincrm.inference.schedule import Schedule
from thincrm.ports import Problem, State

if TYPE_CHECKING:
    from thincrm.inference.diagnostics import KeptDraw

__all__ = ["Event", "Task", "packed", "run_tasks", "share_of_time"]

_LARGEST = 2**31  # bytes of a problem worth a copy per process


@dataclass(frozen=True, slots=True)
class Task:
    """A chain to run from after `sweep` on; None: from its start."""

    chain: int
    sweep: int
    state: State[Any, Any, Any] | None


@dataclass(frozen=True, slots=True)
class Event:
    """What happened in a chain. A state comes when it is time for one, and at the end."""

    chain: int
    sweep: int
    state: State[Any, Any, Any] | None
    row: dict[str, float] | None
    draw: KeptDraw | None


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in a chain."""

    chain: int
    text: str


def packed(problem: Problem[Any, Any], schedule: Schedule) -> bytes | None:
    """Return what a process needs to know, or None where it cannot be told.

    Functions without a name, and classes of the caller's own script, cannot be sent.
    """
    try:
        data = pickle.dumps((problem, schedule))
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    return None if len(data) > _LARGEST or b"__main__" in data else data


def run_tasks(
    data: bytes,
    tasks: Sequence[Task],
    n_jobs: int,
    state_seconds: float,
    note: Callable[[Event], None],
    deadline: float = math.inf,
) -> None:
    """Run chains, `n_jobs` at a time; `note` sees what happens, in this thread.

    deadline: of the monotonic clock, at which the last of them must stop.
    """
    events: queue.Queue[Event | Failure | int] = queue.Queue()
    waiting, running = list(tasks), dict[int, subprocess.Popen[bytes]]()
    try:
        while waiting or running:
            while waiting and len(running) < n_jobs:
                seconds = share_of_time(deadline, len(waiting), n_jobs) - time.monotonic()
                task = waiting.pop(0)
                running[task.chain] = _start(data, (task, state_seconds, seconds), events)
            event = events.get()
            if isinstance(event, Failure):
                raise ThincrmError(f"Chain {event.chain + 1} failed: {event.text}")
            if isinstance(event, int):  # the process of this chain has ended
                _expect_end(event, _ended(running.pop(event)))
            else:
                note(event)
    except KeyboardInterrupt:
        _stop(running, events, note)
        raise
    finally:
        for process in running.values():
            process.kill()
            _ended(process)


def _ended(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process that ends, let go of its pipes, and return its code."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    return process.wait()


def _expect_end(chain: int, code: int) -> None:
    if code != 0:
        raise ThincrmError(
            f"The process of chain {chain + 1} ended with code {code}: it may have run out of "
            "memory. n_threads=1 runs chains one after another."
        )


def share_of_time(deadline: float, n_waiting: int, n_jobs: int) -> float:
    """Return when the first of so many chains must stop, so that each gets the same time."""
    now = time.monotonic()
    return now + (deadline - now) / math.ceil(n_waiting / n_jobs)


def _start(
    data: bytes,
    told: tuple[Task, float, float],
    events: queue.Queue[Event | Failure | int],
) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "thincrm.inference.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stream: IO[bytes] = process.stdout
    threading.Thread(target=_listen, args=(told[0].chain, stream, events), daemon=True).start()
    with contextlib.suppress(BrokenPipeError):  # its end says why
        for part in (data, pickle.dumps(told)):
            process.stdin.write(len(part).to_bytes(8, "little") + part)
        process.stdin.flush()
    return process


def _listen(chain: int, stream: IO[bytes], events: queue.Queue[Event | Failure | int]) -> None:
    while True:
        head = stream.read(8)
        if len(head) < 8:
            break
        part = stream.read(int.from_bytes(head, "little"))
        try:
            events.put(pickle.loads(part))
        except (EOFError, pickle.UnpicklingError):
            break
    stream.close()
    events.put(chain)


def _stop(
    running: dict[int, subprocess.Popen[bytes]],
    events: queue.Queue[Event | Failure | int],
    note: Callable[[Event], None],
) -> None:
    """Ask all chains to stop after their sweep, and take down where they are."""
    for process in running.values():
        assert process.stdin is not None
        process.stdin.close()
    while running:
        event = events.get()
        if isinstance(event, int):
            _ended(running.pop(event))
        elif isinstance(event, Event):
            note(event)
