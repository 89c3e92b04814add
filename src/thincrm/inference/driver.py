"""The driver of chains: warm-up, kept draws, growth, progress, stopping, going on.

Sweep s of chain c draws from the generator of (seed, c, s), so a chain has no generator to save: a
state and the number of its sweep are all it takes to go on, with the same bits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from thincrm.inference.progress import Sweeps
from thincrm.inference.run_log import RunLog
from thincrm.inference.schedule import Schedule
from thincrm.numerics.streams import sweep_generator
from thincrm.ports import Problem, State

__all__ = ["Watch", "run_chain", "run_chains"]

Chain = State[Any, Any, Any]
Row = dict[str, float]
Note = Callable[[int, Chain, Row | None, Any], None]  # (sweep, state, its numbers, draw or None)
Watch = Callable[[Any], str] | None

_FULL = 0.95
_GROWTH = 1.5


def run_chains(problem: Problem[Any], schedule: Schedule, log: RunLog, watch: Watch = None) -> None:
    """Run what is left of all chains; `log` takes down what happens.

    `watch` sees every draw that is kept, and what it says is shown beside the progress.
    """
    left = schedule.n_sweeps * schedule.n_chains - len(log.trace)
    with Sweeps(left, quiet=schedule.quiet) as bar, log.stopping_cleanly():
        for chain in range(schedule.n_chains):
            seen = ""

            def note(sweep: int, state: Chain, row: Row | None, draw: Any, c: int = chain) -> None:
                nonlocal seen
                log.note(c, sweep, state, row, draw)
                if draw is not None and watch is not None:
                    seen = f", {watch(draw)}"
                if row is not None:
                    bar.step(f"{row[f'n_{schedule.atoms}']:.0f} {schedule.atoms}{seen}")

            run_chain(problem, schedule, chain, *log.take(chain), note)
        log.finish()
    _warn_if_full(problem, schedule, log.draws)


def run_chain(
    problem: Problem[Any],
    schedule: Schedule,
    chain: int,
    sweep: int,
    state: Chain | None,
    note: Note,
) -> None:
    """Run a chain from after `sweep` on, or from its start where there is no state."""
    likelihood, seed = problem.likelihood, schedule.seed
    problem = replace(problem, latest=[])  # chains do not share what they remember
    if sweep >= schedule.n_sweeps:
        return
    if state is None:
        state = likelihood.start(sweep_generator(seed, chain, 0), problem)
        note(0, state, None, None)
    problem = replace(problem, n_atoms=state.log_mass.size)
    for number in range(sweep + 1, schedule.n_sweeps + 1):
        rng = sweep_generator(seed, chain, number)
        for update in likelihood.updates:
            state = update(rng, problem, state)
        if schedule.tidies(number) and hasattr(likelihood, "tidy"):
            state = likelihood.tidy(sweep_generator(seed, chain, number, 2), problem, state)
        numbers = likelihood.summary(problem, state)
        draw = likelihood.keep(problem, state, chain, number) if schedule.keeps(number) else None
        full = numbers[f"n_{schedule.atoms}"] > _FULL * problem.n_atoms
        if schedule.may_grow(number) and full:
            rng, larger = sweep_generator(seed, chain, number, 1), int(problem.n_atoms * _GROWTH)
            problem, state = likelihood.expand(rng, problem, state, larger)
        note(number, state, {"chain": chain, "sweep": number, **numbers}, draw)


def _warn_if_full(problem: Problem[Any], schedule: Schedule, draws: list[Any]) -> None:
    atoms = schedule.atoms
    numbers = [draw.scalars for draw in draws]
    full = [n[f"n_{atoms}"] >= n.get(f"max_{atoms}", problem.n_atoms) for n in numbers]
    if sum(full) > 0.5 * len(full) and not schedule.grow:
        grow = f", or pass max_{atoms}='grow'" if hasattr(problem.likelihood, "expand") else ""
        warnings.warn(
            f"All {problem.n_atoms} {atoms} are in use: their number is cut off there. Raise "
            f"max_{atoms}{grow}.",
            stacklevel=4,
        )
