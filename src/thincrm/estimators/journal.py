"""What a run has done so far, in memory and, if it has a folder, on disk."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np

from thincrm.errors import CannotWrite, DamagedFile
from thincrm.estimators.interrupts import Interrupts
from thincrm.files.run import RunFolder
from thincrm.gibbs.chains import Standing

__all__ = ["Journal"]

CHECKPOINT_SECONDS = 5.0
_LARGEST_SHARE = 0.05  # of the time may go into checkpoints


class Length(Protocol):
    """How long a run is."""

    @property
    def n_sweeps(self) -> int:
        """Return the sweeps of each chain."""

    @property
    def n_chains(self) -> int:
        """Return how many chains there are."""


class Journal:
    """Draws, trace and standing of a run; with a folder, checkpoints as time goes by.

    A disk that is full does not end a run: the journal says so once, and tries again later.

    Parameters
    ----------
    folder : RunFolder or None
        Where to write; None: nowhere.
    """

    def __init__(self, folder: RunFolder | None = None) -> None:
        self.draws: list[Any] = []
        self.trace: list[dict[str, float]] = []
        self.standing: Standing | None = None
        self.stopped = False
        self._folder, self._complaint = folder, ""
        self._interrupts = Interrupts()
        self._known: tuple[Standing | None, int, int] = (None, 0, 0)
        self._n_written = 0
        self._due = time.monotonic() + CHECKPOINT_SECONDS

    @classmethod
    def reopen(
        cls,
        folder: RunFolder,
        check_state: Callable[[Any], None],
        check_draw: Callable[[Any], None],
    ) -> Self:
        """Return the journal of the last checkpoint that is whole, or one that starts anew."""
        for path, found in folder.checkpoints():
            journal = cls(folder)
            try:
                journal._read(found, check_state, check_draw)
            except DamagedFile as error:
                warnings.warn(f"{error} Going back from {path.name} to before it.", stacklevel=3)
                continue
            return journal
        return cls(folder)

    def _read(
        self, found: Any, check_state: Callable[[Any], None], check_draw: Callable[[Any], None]
    ) -> None:
        standing, n_draws, rows = read_checkpoint(found)
        check_state(standing)
        assert self._folder is not None
        for number in range(n_draws):
            draw = self._folder.read_draw(number)
            check_draw(draw)
            self.draws.append(draw)
        self.trace, self.standing, self._n_written = rows, standing, n_draws
        self._known = (standing, n_draws, len(rows))

    def note(
        self, standing: Standing, row: dict[str, float] | None = None, draw: Any = None
    ) -> None:
        """Take down the outcome of a sweep; write a checkpoint when it is time."""
        if row is not None:
            self.trace.append(row)
        if draw is not None:
            self.draws.append(draw)
        if self._folder is None:
            standing = replace(standing, state=None)  # nobody asks, and it is as large as the data
        self._known = (standing, len(self.draws), len(self.trace))
        if self._folder is not None and time.monotonic() >= self._due:
            self._checkpoint()
        self._interrupts.answer()

    def _checkpoint(self) -> None:
        standing, n_draws, n_rows = self._known
        value = {
            "standing": standing,
            "n_draws": n_draws,
            "trace": columns(self.trace[:n_rows]),
        }
        began = time.monotonic()
        self._try_to_write("checkpoint", n_draws, value)
        cost = time.monotonic() - began
        self._due = began + max(CHECKPOINT_SECONDS, cost / _LARGEST_SHARE)

    def _try_to_write(self, what: str, n_draws: int, value: Any) -> None:
        assert self._folder is not None
        try:
            for number in range(self._n_written, n_draws):
                self._folder.write_draw(number, self.draws[number])
                self._n_written = number + 1
            if what == "checkpoint":
                self._folder.write_checkpoint(value)
            else:
                self._folder.write_results(value)
            self._complaint = ""
        except CannotWrite as error:
            if not self._complaint:
                warnings.warn(f"{error} The run goes on and tries again later.", stacklevel=2)
            self._complaint = str(error)

    @contextmanager
    def stopping_cleanly(self, length: Length) -> Iterator[None]:
        """Take an interrupt of a run that has a folder as the wish to stop after this sweep."""
        try:
            if self._folder is None:
                yield
                return
            with self._interrupts.deferred():
                yield
        except (KeyboardInterrupt, SystemError) as error:
            if not self._interrupts.caused(error):
                raise
            standing, n_draws, n_rows = self._known
            if self._folder is None or standing is None:
                raise KeyboardInterrupt from error
            del self.draws[n_draws:], self.trace[n_rows:]
            self._checkpoint()
            self.stopped = True
            if not self.draws:
                raise KeyboardInterrupt from error
            warnings.warn(
                f"{self.describe(length)} thincrm.resume({str(self._folder.path)!r}) goes on.",
                stacklevel=4,
            )

    def describe(self, length: Length) -> str:
        """Return how far the run got, as a sentence."""
        standing = self._known[0]
        chain, sweep = (standing.chain, standing.sweep) if standing else (0, 0)
        return (
            f"The run stopped after sweep {sweep} of {length.n_sweeps} of chain {chain + 1} of "
            f"{length.n_chains}: the model has the {len(self.draws)} draws so far."
        )

    def copy(self, draws: list[Any], trace: list[dict[str, float]], *, complete: bool) -> None:
        """Write a model that is already there."""
        assert self._folder is not None
        for number, draw in enumerate(draws):
            self._folder.write_draw(number, draw)
        value = {"n_draws": len(draws), "trace": columns(trace), "complete": complete}
        self._folder.write_results(value)

    def finish(self) -> None:
        """Write the last checkpoint and the results."""
        if self._folder is None:
            return
        self._checkpoint()
        value = {"n_draws": len(self.draws), "trace": columns(self.trace), "complete": True}
        self._try_to_write("results", len(self.draws), value)
        if self._complaint:
            warnings.warn(
                f"The results are not on disk: {self._complaint} They are in memory: "
                "model.save(...) writes them elsewhere.",
                stacklevel=2,
            )


def read_checkpoint(found: Any) -> tuple[Standing, int, list[dict[str, float]]]:
    """Return the checked (standing, number of draws, trace) of a checkpoint, or what is wrong."""
    if isinstance(found, DamagedFile):
        raise found
    if not (
        isinstance(found, dict)
        and set(found) == {"standing", "n_draws", "trace"}
        and isinstance(found["standing"], Standing)
        and all(is_count(part) for part in (found["standing"].chain, found["standing"].sweep))
        and is_count(found["n_draws"])
    ):
        raise DamagedFile("The checkpoint does not say where the run stood.")
    return found["standing"], found["n_draws"], rows_of(found["trace"])


def is_count(value: Any) -> bool:
    """Tell whether `value` is a whole number that can count something."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def columns(trace: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Return the trace as one array per quantity."""
    return {name: np.array([row[name] for row in trace]) for name in (trace[0] if trace else ())}


def rows_of(table: Any) -> list[dict[str, float]]:
    """Return the trace of arrays of equal length, or say that it is none."""
    parts: list[Any] = list(table.values()) if isinstance(table, dict) else [None]
    if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts) or (
        parts and (len({part.size for part in parts}) > 1 or not {"chain", "sweep"} <= set(table))
    ):
        raise DamagedFile("The trace is not a table of numbers.")
    return [
        dict(zip(table, row, strict=True)) for row in zip(*(p.tolist() for p in parts), strict=True)
    ]
