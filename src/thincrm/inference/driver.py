"""The driver of chains: warm-up, kept draws, growth, progress, stopping, going on.

Sweep s of chain c draws from the generator of (seed, c, s), so a chain has no generator to save: a
state and the number of its sweep are all it takes to go on, with the same bits.
"""

from __future__ import annotations

import math
import time
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from thincrm.inference.estimate import what_it_takes
from thincrm.inference.progress import Sweeps, span
from thincrm.inference.run_log import CHECKPOINT_SECONDS, RunLog
from thincrm.inference.schedule import Schedule
from thincrm.inference.side_by_side import Event, Task, packed, run_tasks, share_of_time
from thincrm.inference.truncation import truncation_binds
from thincrm.numerics.streams import sweep_generator
from thincrm.numerics.threads import one_blas_thread
from thincrm.numerics.waiting import can_start_threads
from thincrm.ports import Grows, Problem, State

if TYPE_CHECKING:
    from thincrm.inference.diagnostics import KeptDraw

__all__ = ["Limit", "Watch", "run_chain", "run_chains"]

Chain = State[Any, Any, Any]
Row = dict[str, float]
Note = Callable[[int, Chain, Row | None, Any], None]  # (sweep, state, its numbers, draw or None)
Watch = Callable[[Any], str] | None

_FULL = 0.95
_FEWEST_SWEEPS = 3  # before it is known how long one takes
_LATEST_SWEEPS = 9  # whose median says how long one takes: some load a loop, some wait for others
_WORTH_SECONDS = 8.0  # of sweeps that are left: a process takes two to start
_LARGE = 1e9  # bytes times sweeps: some 20 s at 50 MB a second, known before the first sweep
_LONG_SECONDS = 30.0  # of sweeps that are left: what the run takes is then worth a line
_GROWTH = 1.5


class Limit(NamedTuple):
    """When a run ends before, or goes on beyond, the sweeps it has."""

    deadline: float = math.inf  # of the monotonic clock; every chain keeps a draw before
    unsettled: Callable[[], str | None] | None = None  # why it must go on; None: it need not

    @property
    def said(self) -> str:
        """Return how much time there is, if not any."""
        left = self.deadline - time.monotonic()
        return "" if math.isinf(left) else f", {span(max(left, 0.0))} at most"


_NO_LIMIT = Limit()


def run_chains(
    problem: Problem[Any, Any], log: RunLog, watch: Watch = None, limit: Limit = _NO_LIMIT
) -> None:
    """Run what is left of all chains; `log` takes down what happens.

    Where it pays, chains run side by side, a process each. `watch` sees every draw that is kept,
    and what it says is shown beside the progress.
    """
    log.fetch = problem.engine.fetch
    schedule = log.schedule
    with Sweeps(log.n_left, quiet=schedule.quiet) as bar, log.stopping_cleanly():
        seen, why = "", ""

        def note(event: Event) -> None:
            nonlocal seen
            log.note(event.chain, event.sweep, event.state, event.row, event.draw)
            if event.draw is not None and watch is not None:
                seen = f", {watch(event.draw)}"
            if event.row is not None:
                in_use = f"{event.row[f'n_{schedule.atoms}']:.0f} {schedule.atoms}"
                bar.step(f"{in_use}{seen}{why}{limit.said}")
            if bar.done == _FEWEST_SWEEPS and event.state is not None:
                _estimate(problem, event.state, schedule, bar, log)

        while True:
            tasks = [Task(chain, *log.take(chain)) for chain in range(schedule.n_chains)]
            _run_tasks(problem, log.schedule, tasks, note, limit.deadline)
            if log.n_left > 0:  # the time is up
                log.plan(log.schedule.until(log.n_made, auto=log.schedule.auto))
                break
            reason = None if limit.unsettled is None else limit.unsettled()
            longer = log.schedule.longer()
            if reason is None or longer is None:
                break
            why = f", {reason}"
            log.plan(longer)
            bar.more(log.n_left)
        log.finish()
    may_grow = isinstance(problem.likelihood, Grows) and not schedule.grow
    full = truncation_binds(log.draws, schedule.atoms, problem.n_atoms, may_grow)
    if full is not None:
        warnings.warn(full, stacklevel=3)


def _estimate(
    problem: Problem[Any, Any], state: Chain, schedule: Schedule, bar: Sweeps, log: RunLog
) -> None:
    """Say what the run will take, if it is long."""
    if schedule.quiet or bar.seconds_left < _LONG_SECONDS:
        return
    larger = replace(problem, n_atoms=state.log_mass.size, latest=[])
    bar.say(what_it_takes(larger, state, schedule, bar.seconds_left, folder=log.has_folder))


def _run_tasks(
    problem: Problem[Any, Any],
    schedule: Schedule,
    tasks: list[Task],
    note: Callable[[Event], None],
    deadline: float,
) -> None:
    """Run chains side by side if the problem is large, or once the rest is seen to take long."""
    n_jobs = min(problem.engine.n_threads_here, len(tasks)) if can_start_threads() else 1
    data = _packed(problem, schedule, n_jobs) if n_jobs > 1 else None
    n_left = sum(_n_left(schedule, task) for task in tasks)
    if data is not None and len(data) * n_left > _LARGE:
        run_tasks(data, tasks, n_jobs, CHECKPOINT_SECONDS, note, deadline)
        return
    while tasks:
        n_here = n_jobs if data is not None else 1
        left = _run_here(problem, schedule, tasks, n_here, note, deadline)
        if left is None:
            continue
        tasks.insert(0, left)
        n_jobs = min(n_jobs, len(tasks))
        data = _packed(problem, schedule, n_jobs)
        assert data is not None
        run_tasks(data, tasks, n_jobs, CHECKPOINT_SECONDS, note, deadline)
        return


def _packed(problem: Problem[Any, Any], schedule: Schedule, n_jobs: int) -> bytes | None:
    return packed(replace(problem, engine=problem.engine.part(n_jobs), latest=[]), schedule)


class _HandOver(Exception):
    """The rest of the chains takes long enough for processes of their own."""


class _TimeUp(Exception):
    """The chain has had its share of the time."""


def _run_here(
    problem: Problem[Any, Any],
    schedule: Schedule,
    tasks: list[Task],
    n_jobs: int,
    note: Callable[[Event], None],
    deadline: float,
) -> Task | None:
    """Run the first task, and return what is left of it if it should go on elsewhere."""
    late, first = share_of_time(deadline, len(tasks), 1), schedule.kept[0]
    task = tasks.pop(0)
    left, n_after = task, sum(_n_left(schedule, t) for t in tasks)
    began, spans = time.monotonic(), deque[float](maxlen=_LATEST_SWEEPS)

    def noting(sweep: int, state: Chain, row: Row | None, draw: KeptDraw | None) -> None:
        nonlocal left, began
        if row is not None:
            spans.append(time.monotonic() - began)
        note(Event(task.chain, sweep, state, row, draw))
        began = time.monotonic()
        if sweep >= first and time.monotonic() >= late:
            raise _TimeUp
        if n_jobs < 2 or n_after == 0 or len(spans) < _FEWEST_SWEEPS:
            return
        if median(spans) * (n_after + schedule.end - sweep) > _WORTH_SECONDS:
            left = Task(task.chain, sweep, state)
            raise _HandOver

    try:
        run_chain(problem, schedule, task.chain, task.sweep, task.state, noting)
    except _HandOver:
        return left
    except _TimeUp:
        pass
    return None


def _n_left(schedule: Schedule, task: Task) -> int:
    return max(0, schedule.end - task.sweep)


@one_blas_thread()
def run_chain(
    problem: Problem[Any, Any],
    schedule: Schedule,
    chain: int,
    sweep: int,
    state: Chain | None,
    note: Note,
) -> None:
    """Run a chain from after `sweep` on, or from its start where there is no state."""
    likelihood, seed = problem.likelihood, schedule.seed
    problem = replace(problem, latest=[])  # chains do not share what they remember
    if sweep >= schedule.end:
        return
    if state is None:
        state = likelihood.start(sweep_generator(seed, chain, 0), problem)
        note(0, state, None, None)
    problem = replace(problem, n_atoms=state.log_mass.size)
    for number in range(sweep + 1, schedule.end + 1):
        rng = sweep_generator(seed, chain, number)
        for update in likelihood.updates:
            state = update(rng, problem, state)
        numbers = likelihood.summary(problem, state)
        draw = likelihood.keep(problem, state, chain, number) if schedule.keeps(number) else None
        full = numbers[f"n_{schedule.atoms}"] > _FULL * problem.n_atoms
        if schedule.may_grow(number) and full and isinstance(likelihood, Grows):
            rng, larger = sweep_generator(seed, chain, number, 1), int(problem.n_atoms * _GROWTH)
            problem, state = likelihood.expand(rng, problem, state, larger)
        note(number, state, {"chain": chain, "sweep": number, **numbers}, draw)
