"""Progress with time left, for anything that takes more than two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

__all__ = ["Sweeps"]

_SILENT_SECONDS = 2.0


class Sweeps:
    """A bar on standard error that appears only if the work is still going on after two seconds.

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
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def step(self, note: str) -> None:
        """Count one sweep; `note` says how things stand."""
        self.done, self.note = self.done + 1, note
        elapsed = time.monotonic() - self._start
        if self._bar is None and not self._quiet and elapsed > _SILENT_SECONDS:
            self._bar = self._open()
        if self._bar is not None:
            note = f"{self.done / max(elapsed, 1e-9):.1f} sweeps/s, {note}"
            self._bar.update(self._bar.task_ids[0], completed=self.done, note=note)

    def _open(self) -> Progress:
        bar = Progress(
            TextColumn("sampling"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(file=sys.stderr),
        )
        bar.add_task("sampling", total=self.total, completed=self.done, note="")
        bar.start()
        return bar
