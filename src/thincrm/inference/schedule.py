"""How long chains run, what is kept of them, and what happens in the warm-up.

A run may be made longer or shorter on its way. What a chain does in a sweep depends on the length
it began with, never on the one it ends with: only the end changes, and which draws are kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from thincrm.errors import InvalidInput, argument

__all__ = ["Length", "Schedule"]

_CHECK_EVERY = 20
_STEP = 1.5  # times as long is the next length of a run that goes on by itself
_MOST = 20  # times as long as it began is the longest


class Length(NamedTuple):
    """How long a run is by now, where that is not how it began."""

    longest: int  # sweeps it was ever planned to have: what is kept is spaced for these
    end: int  # sweeps after which it ends
    auto: bool  # whether it goes on until its verdict is a yes


@dataclass(frozen=True, slots=True)
class Schedule:
    """Sweeps of each chain, draws kept of each, and the seed of all.

    Sweeps are numbered from 1; the first third is warm-up.
    """

    n_sweeps: int  # as the run began
    n_draws: int
    n_chains: int
    seed: int
    atoms: str = "atoms"  # what the model finds, in the plural: n_{atoms} of them are in use
    grow: bool = False  # add atoms in the warm-up while nearly all are in use
    quiet: bool = False
    length: Length | None = None  # None: as it began

    @property
    def longest(self) -> int:
        """Return the sweeps of each chain that draws are spaced for."""
        return self.n_sweeps if self.length is None else self.length.longest

    @property
    def end(self) -> int:
        """Return the last sweep of each chain."""
        return self.n_sweeps if self.length is None else self.length.end

    @property
    def most(self) -> int:
        """Return the sweeps after which a run that goes on by itself ends in any case."""
        return _MOST * self.n_sweeps

    @property
    def auto(self) -> bool:
        """Tell whether the run goes on until its verdict is a yes."""
        return self.length is not None and self.length.auto

    @property
    def kept(self) -> range:
        """Return the sweeps whose states are kept: those of `ever_kept` up to the end."""
        ever = self.ever_kept
        return range(ever.start, min(ever.stop, self.end + 1), ever.step)

    @property
    def ever_kept(self) -> range:
        """Return the sweeps whose states the longest run keeps: evenly spaced, after the warm-up.

        A run that became longer keeps a part of what it kept before: draws of the first third of
        the new length go, and every second one where there would be twice `n_draws`.
        """
        spacing = max(1, (self.n_sweeps - self.n_sweeps // 3) // self.n_draws)
        after = max(self.n_sweeps - spacing * self.n_draws, self.longest // 3)
        while (self.longest - self.longest // 3) // spacing >= 2 * self.n_draws:
            spacing *= 2
        return range(after + 1 + (self.n_sweeps - after - 1) % spacing, self.longest + 1, spacing)

    def keeps(self, sweep: int) -> bool:
        """Tell whether the state after `sweep` is kept."""
        return sweep in self.kept

    def may_grow(self, sweep: int) -> bool:
        """Tell whether the truncation may grow after `sweep`."""
        return self.grow and sweep <= self.n_sweeps // 3 and sweep % _CHECK_EVERY == 0

    def until(self, sweep: int, *, auto: bool = False) -> Schedule:
        """Return the schedule that ends after `sweep`, later or earlier than this one."""
        found = replace(self, length=Length(max(self.longest, sweep), sweep, auto))
        first = found.ever_kept[0]
        if sweep < first:
            raise InvalidInput(
                argument("n_sweeps"),
                f" must be at least {first}, after which the first draw is kept, got {sweep}.",
            )
        return found

    def longer(self) -> Schedule | None:
        """Return the next schedule of a run that goes on by itself; None: it is long enough."""
        if self.end >= self.most:
            return None
        return self.until(min(self.most, math.ceil(_STEP * self.end)), auto=self.auto)
