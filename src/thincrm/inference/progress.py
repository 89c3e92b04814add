"""Progress with time left, for anything that takes more than two seconds."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from thincrm.numerics.compiled import compiling_quietly
from thincrm.numerics.waiting import span, telling

__all__ = ["Sweeps", "span"]

_SILENT_SECONDS = 2.0
_BETWEEN_LINES = 30.0  # seconds


class _Shown(Protocol):
    """How progress is shown: a bar that moves, or lines."""

    def update(self, done: int, elapsed: float, note: str) -> None: ...

    def say(self, line: str) -> None: ...

    def expect(self, total: int) -> None: ...

    def stop(self) -> None: ...


class Sweeps:
    """A bar on standard error that appears only if the work is still going on after two seconds.

    Where standard error is no terminal there are lines instead, one every half minute.

    Parameters
    ----------
    total : int
        Sweeps in all.
    quiet : bool
        Show nothing.
    """

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self.total, self.done, self.note = total, 0, ""
        self._quiet, self._start = quiet, time.monotonic()
        self._shown: _Shown | None = None
        self._first = 0.0  # when the first sweep ended
        self._stack, self._waiting = ExitStack(), ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(compiling_quietly(self._quiet))
        self._waiting.enter_context(telling("before the first sweep ends", quiet=self._quiet))
        return self

    def more(self, n_sweeps: int) -> None:
        """Expect so many sweeps more."""
        self.total += n_sweeps
        if self._shown is not None:
            self._shown.expect(self.total)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._waiting.close()
        self._stack.close()
        if self._shown is not None:
            self._shown.stop()

    @property
    def seconds_left(self) -> float:
        """Return how long the rest will take, at the pace since the first sweep."""
        pace = (time.monotonic() - self._first) / max(1, self.done - 1)
        return pace * (self.total - self.done)

    def say(self, line: str) -> None:
        """Print a line above the bar, or between other lines."""
        if self._shown is not None:
            self._shown.say(line)

    def step(self, note: str) -> None:
        """Count one sweep; `note` says how things stand."""
        self._waiting.close()
        self.done, self.note = self.done + 1, note
        if self.done == 1:
            self._first = time.monotonic()
        elapsed = time.monotonic() - self._start
        if self._shown is None and not self._quiet and elapsed > _SILENT_SECONDS:
            console = Console(file=sys.stderr)
            moves = console.is_terminal or console.is_jupyter
            self._shown = _Bar(console, self.total) if moves else _Lines(self.total)
        if self._shown is not None:
            pace = f"{self.done / max(elapsed, 1e-9):.1f} sweeps/s, {note}"
            self._shown.update(self.done, elapsed, pace)


class _Bar:
    def __init__(self, console: Console, total: int) -> None:
        self._bar = Progress(
            TextColumn("sampling"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=console,
        )
        self._bar.add_task("sampling", total=total, note="")
        self._bar.start()

    def update(self, done: int, _: float, note: str) -> None:
        self._bar.update(self._bar.task_ids[0], completed=done, note=note)

    def say(self, line: str) -> None:
        self._bar.console.print(line, markup=False, highlight=False)

    def expect(self, total: int) -> None:
        self._bar.update(self._bar.task_ids[0], total=total)

    def stop(self) -> None:
        self._bar.stop()


class _Lines:
    """A line at once, one every half minute, and one at the end.

    The time left is told at the pace since the first line: before, the start was made.
    """

    def __init__(self, total: int) -> None:
        self._total, self._said, self._last = total, float("-inf"), ""
        self._first: tuple[int, float] | None = None  # sweeps and seconds of the first line

    def expect(self, total: int) -> None:
        self._total = total

    def update(self, done: int, elapsed: float, note: str) -> None:
        before, began = self._first = self._first or (done, elapsed)
        pace = (elapsed - began) / max(done - before, 1)
        left = f"{span(pace * (self._total - done))} left, " if done > before else ""
        self._last = f"sampling: {done} of {self._total} sweeps, {left}{note}\n"
        if elapsed - self._said >= _BETWEEN_LINES:
            self._said = elapsed
            self._write()

    def say(self, line: str) -> None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    def stop(self) -> None:
        if self._last:
            self._write()

    def _write(self) -> None:
        sys.stderr.write(self._last)
        sys.stderr.flush()
        self._last = ""
