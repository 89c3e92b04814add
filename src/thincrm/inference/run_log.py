"""What a run has done so far, in memory and, if it has a folder, on disk."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from thincrm.errors import CannotWrite, DamagedFile, Sentence, either, resume_call
from thincrm.files.checks import is_count
from thincrm.files.run import RunFolder
from thincrm.inference.interrupts import Interrupts
from thincrm.inference.schedule import Length, Schedule
from thincrm.numerics.arrays import in_c_order
from thincrm.ports import State

if TYPE_CHECKING:
    from thincrm.inference.diagnostics import KeptDraw

__all__ = [
    "ChainState",
    "RunLog",
    "how_far",
    "length_of",
    "read_checkpoint",
    "rows_of",
    "up_to",
]

CHECKPOINT_SECONDS = 5.0
_LARGEST_SHARE = 0.05  # of the time may go into checkpoints
Row = dict[str, float]


class ChainState(NamedTuple):
    """Where a chain stands: the state after `sweep`, None where it is not known any more."""

    chain: int
    sweep: int
    state: Any


@dataclass(slots=True)
class _Chain:
    """What a chain has done."""

    draws: list[KeptDraw] = field(default_factory=list)
    trace: list[Row] = field(default_factory=list)
    sweep: int = 0
    state: State[Any, Any, Any] | None = None
    written: int = 0  # sweep of the last draw that is on disk

    @property
    def unwritten(self) -> list[KeptDraw]:
        """Return the draws that are not on disk yet."""
        return [draw for draw in self.draws if draw.sweep > self.written]


class RunLog:
    """Draws, trace and states of a run's chains; with a folder, checkpoints as time goes by.

    A disk that is full does not end a run: the log says so once, and tries again later.

    Parameters
    ----------
    schedule : Schedule
        How long the run is.
    folder : RunFolder or None
        Where to write; None: nowhere.
    """

    def __init__(self, schedule: Schedule, folder: RunFolder | None = None) -> None:
        self.schedule, self.stopped = schedule, False
        self._chains = [_Chain() for _ in range(schedule.n_chains)]
        self._folder, self._complaint = folder, ""
        self._interrupts = Interrupts()
        self.fetch: Callable[[Any], Any] = tuple  # locals as values: the engine's, once it runs
        self._due = time.monotonic() + CHECKPOINT_SECONDS

    @property
    def has_folder(self) -> bool:
        """Tell whether the run is written to disk."""
        return self._folder is not None

    @property
    def draws(self) -> list[Any]:
        """Return the kept draws, chain after chain."""
        kept = self.schedule.kept
        return [draw for chain in self._chains for draw in chain.draws if draw.sweep in kept]

    @property
    def trace(self) -> list[Row]:
        """Return the numbers after every sweep, chain after chain."""
        return [row for chain in self._chains for row in chain.trace[: self.schedule.end]]

    @property
    def n_made(self) -> int:
        """Return the sweeps that every chain has made."""
        return min(self.schedule.end, *(chain.sweep for chain in self._chains))

    @property
    def n_left(self) -> int:
        """Return the sweeps of all chains that are left."""
        return sum(max(0, self.schedule.end - chain.sweep) for chain in self._chains)

    @classmethod
    def reopen(
        cls,
        schedule: Schedule,
        folder: RunFolder,
        check_state: Callable[[ChainState], None],
        check_draw: Callable[[Any], None],
    ) -> Self:
        """Return the log of the last checkpoint that is whole, or one that starts anew."""
        for path, found in folder.checkpoints():
            log = cls(schedule, folder)
            try:
                log._read(found, check_state, check_draw)
            except DamagedFile as error:
                warnings.warn(f"{error} Going back from {path.name} to before it.", stacklevel=3)
                continue
            return log
        return cls(schedule, folder)

    def _read(
        self,
        found: object,
        check_state: Callable[[ChainState], None],
        check_draw: Callable[[Any], None],
    ) -> None:
        places, rows = read_checkpoint(found, self.schedule)
        assert self._folder is not None
        for place, chain in zip(places, self._chains, strict=True):
            if place.state is not None:
                check_state(place)
            for sweep in up_to(place.sweep, self.schedule):
                draw = self._folder.read_draw(place.chain, sweep)
                check_draw(draw)
                chain.draws.append(draw)
            chain.trace = [row for row in rows if row["chain"] == place.chain]
            chain.sweep, chain.state, chain.written = place.sweep, place.state, place.sweep

    def plan(self, schedule: Schedule) -> None:
        """Make the run longer or shorter: it goes on as `schedule` says."""
        self.schedule, kept = schedule, schedule.ever_kept
        for chain in self._chains:
            chain.draws = [draw for draw in chain.draws if draw.sweep in kept]
        if self._folder is not None:
            self._try_to_write("length", _written(schedule))
            if not self._complaint:
                self._folder.drop_draws(kept)

    def take(self, chain: int) -> tuple[int, Any]:
        """Return the sweep and state from which a chain goes on; it is as large as the data."""
        here = self._chains[chain]
        if here.state is None and here.sweep < self.schedule.end:
            here = self._chains[chain] = _Chain()  # its end was not kept: made again, same bits
        return here.sweep, here.state

    def note(
        self,
        chain: int,
        sweep: int,
        state: State[Any, Any, Any] | None,
        row: Row | None = None,
        draw: KeptDraw | None = None,
    ) -> None:
        """Take down the outcome of a sweep; write a checkpoint when it is time.

        state: None where it is not at hand; a checkpoint then goes back to the last that was.
        """
        here = self._chains[chain]
        if row is not None:
            here.trace.append(row)
        if draw is not None:
            here.draws.append(in_c_order(draw))  # as files give it: sums have the same bits
        done = sweep >= self.schedule.end
        if state is not None or done:
            asked = self._folder is not None or (done and self.schedule.auto)
            here.sweep, here.state = sweep, state if asked else None
        if self._folder is not None and time.monotonic() >= self._due:
            self._checkpoint()
        self._interrupts.answer()

    def _checkpoint(self) -> None:
        known = [row for chain in self._chains for row in chain.trace[: chain.sweep]]
        value = {
            "chains": [
                ChainState(number, chain.sweep, self._whole(chain.state))
                for number, chain in enumerate(self._chains)
            ],
            "trace": columns(known),
        }
        began = time.monotonic()
        self._try_to_write("checkpoint", value)
        cost = time.monotonic() - began
        self._due = began + max(CHECKPOINT_SECONDS, cost / _LARGEST_SHARE)

    def _whole(self, state: Any) -> Any:
        """Return a state with its locals here, wherever the engine keeps them."""
        return None if state is None else replace(state, local=self.fetch(state.local))

    def _try_to_write(self, what: str, value: object) -> None:
        assert self._folder is not None
        try:
            fresh = [chain.unwritten for chain in self._chains]
            self._write_draws(fresh)
            for chain, draws in zip(self._chains, fresh, strict=True):
                chain.written = max([chain.written, *(draw.sweep for draw in draws)])
            write = {
                "checkpoint": self._folder.write_checkpoint,
                "length": self._folder.write_length,
                "results": self._folder.write_results,
            }
            write[what](value)
            self._complaint = ""
        except (CannotWrite, DamagedFile) as error:
            if not self._complaint:
                warnings.warn(f"{error} The run goes on and tries again later.", stacklevel=2)
            self._complaint = str(error)

    def _write_draws(self, draws_C: Sequence[Sequence[KeptDraw]]) -> None:
        assert self._folder is not None
        self._folder.write_draws(
            [(chain, draw.sweep, draw) for chain, draws in enumerate(draws_C) for draw in draws]
        )

    @contextmanager
    def stopping_cleanly(self) -> Iterator[None]:
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
            if self._folder is None or not any(chain.trace for chain in self._chains):
                raise KeyboardInterrupt from error
            for chain in self._chains:
                chain.draws = [draw for draw in chain.draws if draw.sweep <= chain.sweep]
                del chain.trace[chain.sweep :]
            self._checkpoint()
            self.stopped = True
            if not self.draws:
                raise KeyboardInterrupt from error
            warnings.warn(
                Sentence(f"{self.describe()} ", resume_call(self._folder.path), " goes on."),
                stacklevel=4,
            )

    def describe(self) -> str:
        """Return how far the run got, as a sentence."""
        return (
            f"The run stopped {how_far([chain.sweep for chain in self._chains], self.schedule)}: "
            f"the model has the {len(self.draws)} draws so far."
        )

    def copy(self, draws: Sequence[Any], trace: Sequence[Row], *, complete: bool) -> None:
        """Write a model that is already there."""
        for draw in draws:
            self._chains[draw.chain].draws.append(draw)
        for row in trace:
            self._chains[int(row["chain"])].trace.append(row)
        assert self._folder is not None
        if self.schedule.length is not None:
            self._folder.write_length(_written(self.schedule))
        self._write_draws([chain.draws for chain in self._chains])
        self._folder.write_results(self._results(complete))

    def _results(self, complete: bool) -> dict[str, Any]:
        sweeps_C: list[list[int]] = [[] for _ in self._chains]
        for draw in self.draws:
            sweeps_C[draw.chain].append(draw.sweep)
        return {
            "kept": [np.array(sweeps, np.int64) for sweeps in sweeps_C],
            "length": _written(self.schedule),
            "trace": columns(self.trace),
            "complete": complete,
        }

    def finish(self) -> None:
        """Write the last checkpoint and the results."""
        if self._folder is None:
            return
        self._checkpoint()
        self._try_to_write("results", self._results(complete=True))
        if self._complaint:
            warnings.warn(
                Sentence(
                    f"The results are not on disk: {self._complaint} ",
                    either(
                        "They are in memory: model.save(...) writes them elsewhere",
                        "Once there is space, 'thincrm resume' goes on",
                    ),
                    ".",
                ),
                stacklevel=2,
            )


def _written(schedule: Schedule) -> dict[str, Any]:
    """Return how long a run is, as files say it."""
    return {"longest": schedule.longest, "end": schedule.end, "auto": schedule.auto}


def length_of(found: object) -> Length:
    """Return the length that a file says, or say that it is none."""
    if not (
        isinstance(found, dict)
        and set(found) == set(Length._fields)
        and all(is_count(found[name]) and 0 < found[name] < 2**31 for name in ("longest", "end"))
        and isinstance(found["auto"], bool)
        and found["end"] <= found["longest"]
    ):
        raise DamagedFile("The length of the run is none.")
    return Length(**found)


def how_far(sweep_C: Sequence[int], schedule: Schedule) -> str:
    """Return in words how many sweeps chains have made."""
    chain = next((c for c, sweep in enumerate(sweep_C) if sweep < schedule.end), 0)
    return (
        f"after sweep {sweep_C[chain]} of {schedule.end} of chain {chain + 1} of "
        f"{schedule.n_chains}"
    )


def up_to(sweep: int, schedule: Schedule) -> range:
    """Return the sweeps, up to that one, whose draws a chain has kept."""
    kept = schedule.kept
    return range(kept.start, min(kept.stop, sweep + 1), kept.step)


def read_checkpoint(found: Any, schedule: Schedule) -> tuple[list[ChainState], list[Row]]:
    """Return the checked (states of chains, trace) of a checkpoint, or say what is wrong."""
    if isinstance(found, DamagedFile):
        raise found
    places = found.get("chains") if isinstance(found, dict) else None
    if not (
        isinstance(found, dict)
        and set(found) == {"chains", "trace"}
        and isinstance(places, list)
        and len(places) == schedule.n_chains
        and all(_is_place(place, c, schedule) for c, place in enumerate(places))
    ):
        raise DamagedFile("The checkpoint does not say where the run stood.")
    rows = rows_of(found["trace"])
    seen = Counter(row["chain"] for row in rows)
    if seen != Counter({place.chain: place.sweep for place in places}):
        raise DamagedFile("The checkpoint does not say where the run stood.")
    return places, rows


def _is_place(place: object, chain: int, schedule: Schedule) -> bool:
    return (
        isinstance(place, ChainState)
        and is_count(place.chain)
        and place.chain == chain
        and is_count(place.sweep)
        and place.sweep <= schedule.longest
        and (place.state is not None or place.sweep == 0)
    )


def columns(trace: Sequence[Row]) -> dict[str, Any]:
    """Return the trace as one array per quantity."""
    return {name: np.array([row[name] for row in trace]) for name in (trace[0] if trace else ())}


def rows_of(table: Any) -> list[Row]:
    """Return the trace of arrays of equal length, or say that it is none."""
    parts: list[Any] = list(table.values()) if isinstance(table, dict) else [None]
    if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts) or (
        parts and (len({part.size for part in parts}) > 1 or not {"chain", "sweep"} <= set(table))
    ):
        raise DamagedFile("The trace is not a table of numbers.")
    if parts and not np.all((table["chain"] >= 0) & (table["chain"] < 2**31)):
        raise DamagedFile("The trace is not a table of numbers.")
    return [
        dict(zip(table, row, strict=True)) for row in zip(*(p.tolist() for p in parts), strict=True)
    ]
