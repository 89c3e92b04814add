"""Chains: apply a list of updates again and again, each sweep from its own address.

Sweep s of chain c draws from the generator of (seed, c, s), so a chain has no generator to save:
a state and the number of its sweep are all it takes to go on, with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from thincrm.numerics.streams import sweep_generator

__all__ = ["Standing", "run_chain"]

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands: `sweep` sweeps of chain `chain`, and all of the chains before it."""

    chain: int
    sweep: int
    state: Any


def run_chain(
    seed: int,
    chain: int,
    problem: Any,
    updates: Sequence[Callable[[np.random.Generator, Any, S], S]],
    state: S,
    sweeps: range,
    after: Callable[[int, S], S] | None = None,
) -> S:
    """Run `sweeps` (numbered from 1) on `state`; `after(sweep, state)` sees each result.

    `after` returns the state to go on from: the same, or one changed in a way that is known to be
    valid (a larger truncation during warm-up).
    """
    for sweep in sweeps:
        rng = sweep_generator(seed, chain, sweep)
        for update in updates:
            state = update(rng, problem, state)
        state = state if after is None else after(sweep, state)
    return state
