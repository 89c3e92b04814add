"""How long chains run, what is kept of them, and what happens in the warm-up."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Schedule"]

_CHECK_EVERY = 20
_TIDY = 8  # the warm-up is cut into so many parts, with tidying between them


@dataclass(frozen=True, slots=True)
class Schedule:
    """Sweeps of each chain, draws kept of each, and the seed of all.

    Sweeps are numbered from 1; the first third is warm-up.
    """

    n_sweeps: int
    n_draws: int
    n_chains: int
    seed: int
    atoms: str = "atoms"  # what the model finds, in the plural: n_{atoms} of them are in use
    grow: bool = False  # add atoms in the warm-up while nearly all are in use
    quiet: bool = False

    @property
    def warmup(self) -> int:
        """Return the sweeps before the first draw is kept."""
        return self.n_sweeps // 3

    @property
    def n_kept(self) -> int:
        """Return the draws that a chain keeps."""
        return sum(self.keeps(sweep) for sweep in range(self.warmup + 1, self.n_sweeps + 1))

    def keeps(self, sweep: int) -> bool:
        """Tell whether the state after `sweep` is kept: evenly spaced, the last always."""
        left = self.n_sweeps - sweep
        gap = max(1, (self.n_sweeps - self.warmup) // self.n_draws)
        return sweep > self.warmup and left % gap == 0 and left // gap < self.n_draws

    def tidies(self, sweep: int) -> bool:
        """Tell whether the likelihood may tidy up after `sweep`: some times in the warm-up."""
        return sweep < self.warmup and sweep % max(1, self.warmup // _TIDY) == 0

    def may_grow(self, sweep: int) -> bool:
        """Tell whether the truncation may grow after `sweep`."""
        return self.grow and sweep <= self.warmup and sweep % _CHECK_EVERY == 0
