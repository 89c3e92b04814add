"""What happens after which sweep, against plain lists; and that the driver keeps to it."""

from types import SimpleNamespace

import numpy as np
import pytest

from thincrm.errors import InvalidInput
from thincrm.inference.driver import run_chain
from thincrm.inference.engine import Serial
from thincrm.inference.schedule import Schedule
from thincrm.ports import Problem, State

SIZES = [(600, 100), (600, 7), (90, 12), (10, 100), (7, 3), (3, 1), (1, 1), (241, 80)]


def plain_keeps(n_sweeps, n_draws):
    """Return the sweeps whose states are kept: from the last one backwards, evenly spaced."""
    after = n_sweeps - n_sweeps // 3
    gap = max(1, after // n_draws)
    return sorted(list(range(n_sweeps, n_sweeps // 3, -gap))[:n_draws])


@pytest.mark.parametrize(("n_sweeps", "n_draws"), SIZES)
def test_sweeps_are_those_of_the_plain_lists(n_sweeps, n_draws):
    schedule = Schedule(n_sweeps, n_draws, 1, 0, grow=True)
    sweeps = range(1, n_sweeps + 1)
    assert [s for s in sweeps if schedule.keeps(s)] == plain_keeps(n_sweeps, n_draws)
    assert list(schedule.kept) == plain_keeps(n_sweeps, n_draws)
    grows = [s for s in sweeps if schedule.may_grow(s)]
    assert grows == list(range(20, n_sweeps // 3 + 1, 20))
    assert not any(Schedule(n_sweeps, n_draws, 1, 0).may_grow(s) for s in sweeps)


def plain_longer(n_sweeps, n_draws, longest):
    """Return what is kept of a run that became longer: drop a third, then halve while too many."""
    gap = max(1, (n_sweeps - n_sweeps // 3) // n_draws)
    kept = set(plain_keeps(n_sweeps, n_draws)) | set(range(n_sweeps, longest + 1, gap))
    while (longest - longest // 3) // gap >= 2 * n_draws:
        gap *= 2
        kept = {s for s in kept if (s - n_sweeps) % gap == 0}
    return sorted(s for s in kept if s > longest // 3)


@pytest.mark.parametrize(("n_sweeps", "n_draws"), SIZES)
def test_longer_runs_keep_a_part_of_what_they_kept(n_sweeps, n_draws):
    schedule = Schedule(n_sweeps, n_draws, 1, 0)
    before = set(schedule.kept)
    for longest in (n_sweeps + 1, 2 * n_sweeps, 3 * n_sweeps + 1, 10 * n_sweeps):
        schedule = schedule.until(longest)
        kept = plain_longer(n_sweeps, n_draws, longest)
        assert list(schedule.kept) == kept
        assert {s for s in kept if s <= max(before)} <= before
        assert len(kept) < 2 * n_draws + 1
        before = set(kept)


def test_shorter_runs_keep_what_they_kept_until_there():
    schedule = Schedule(600, 100, 1, 0).until(1200)
    shorter = schedule.until(500)
    assert list(shorter.kept) == [s for s in schedule.kept if s <= 500]
    assert list(shorter.until(1200).kept) == list(schedule.kept)
    with pytest.raises(InvalidInput, match=r"n_sweeps must be at least 408.* got 407\."):
        schedule.until(407)


def test_a_run_goes_on_by_halves_up_to_twenty_times_its_length():
    schedule, ends = Schedule(8, 4, 1, 0), []
    while schedule is not None:
        ends.append(schedule.end)
        schedule = schedule.longer()
    assert ends == [8, 12, 18, 27, 41, 62, 93, 140, 160]


class Diary:
    """A likelihood that writes down what is asked of it; all of its atoms are in use."""

    def __init__(self):
        self.seen, self.sweep = {"keep": [], "grow": []}, 0
        self.updates = (self.count,)

    def start(self, rng, problem):
        return State((), None, np.zeros(problem.n_atoms), None, None, None)

    def count(self, rng, problem, state):
        self.sweep += 1
        return state

    def summary(self, problem, state):
        return {"n_atoms": problem.n_atoms}

    def keep(self, problem, state, chain, sweep):
        assert sweep == self.sweep
        self.seen["keep"].append(sweep)
        return SimpleNamespace(chain=chain, sweep=sweep)

    def expand(self, rng, problem, state, n_atoms):
        self.seen["grow"].append(self.sweep)
        return problem, state


def test_the_driver_keeps_to_it():
    diary, noted = Diary(), []
    problem = Problem(
        levy=None, thinning=None, likelihood=diary, prepared=None, shards=(), trials=np.ones(1),
        n_atoms=3, engine=Serial(), n_background=0, learn_levy=False, facts=None,
    )  # fmt: skip
    schedule = Schedule(120, 10, 1, 0, grow=True)
    run_chain(problem, schedule, 0, 0, None, lambda sweep, *rest: noted.append((sweep, rest[2])))
    assert diary.seen["keep"] == plain_keeps(120, 10)
    assert diary.seen["grow"] == [20, 40]
    assert [sweep for sweep, draw in noted if draw is not None] == plain_keeps(120, 10)
