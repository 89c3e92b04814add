"""Curves and masses moved with rows' clusters summed out: the joint law stays, twins do not."""

from dataclasses import replace

import numpy as np
import pytest
from mixture_world import Lines, World, block, functionals, many
from scipy.special import log_expit

from thincrm.inference.updates import redraw_observations
from thincrm.models.mixtures.free_curves import free_curves
from thincrm.models.mixtures.free_loops import Rules, add_to
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.sweep import redraw_masses
from thincrm.testing import assert_passed, assert_rejected, two_sample_test
from thincrm.thinning import Bump
from thincrm.thinning.bump import BumpState

pytestmark = pytest.mark.joint
SEED = 20281
BUMP = Bump(length=(0.4, 0.5), height=0.9)
DIAGONAL = GaussianClusters("diagonal")
ALONE = World(BUMP, "weighted", DIAGONAL, n_replicates=1, background=False)
WORLDS = {
    "background": World(BUMP, "weighted", Lines(), n_replicates=1),
    "no background": ALONE,
    "one length": replace(ALONE, thinning=Bump(length=0.4)),
}


def stays(world, moves, n_first=500, n_steps=2):
    return two_sample_test(
        many(world), [block(move) for move in moves], functionals(world), n_steps=n_steps,
        n_first=n_first, rng=SEED,
    )  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
def test_curves_and_masses(name):
    """Masses are then redrawn given the clocks: wrong clocks would show."""
    assert_passed(stays(WORLDS[name], [free_curves, redraw_masses]))


def with_rules(**changes):
    def move(rng, problem, state):
        return free_curves(rng, problem, state, Rules(**changes))

    return move


@pytest.mark.parametrize("part", ["prior", "masses", "volume"])
def test_a_ratio_without_a_part_is_rejected(part):
    """Without `volume` the shift of all curves forgets how it stretches their lengths."""
    assert_rejected(stays(ALONE, [with_rules(**{part: 0.0})] * 3))


def old_clocks(rng, problem, state):
    return replace(free_curves(rng, problem, state), evidence=state.evidence)


def test_clocks_left_as_they_were_are_rejected():
    assert_rejected(stays(ALONE, [old_clocks, redraw_masses] * 3))


def test_a_quadratic_added_to_a_log_weight():
    """A bump that has α + β'u + η |u|² added is the bump that `add_to` says, at every t."""
    rng = np.random.default_rng(3)
    rows = rng.uniform(size=(20, 2)) * [1.0, 10.0]
    thinning = Bump(length=(0.4, 0.5), height=0.9)
    window = thinning.prepare(rows)
    prior = thinning.prior_of(window)
    rows, here = window.covariates.rows, 7
    old, new = np.array([0.3, 4.0, -1.0, -2.0]), np.empty(4)
    q = np.array([0.7, -2.0, 1.5, -3.0])
    assert add_to(prior, here, q, old, new)

    def log_w(values):
        x = BumpState(values[None, :2], values[2:3])
        return log_expit(thinning.log_odds(x, window))[:, 0] + values[3]

    u = (rows - rows[here]) / window.scale
    added = q[0] + u @ q[1:3] + q[3] * (u * u).sum(1)
    assert np.allclose(log_w(new), log_w(old) + added)
    assert not add_to(prior, here, np.array([0.0, 0.0, 0.0, 1e3]), old, new)


class Grid:
    """The law of one bump beside a background of given mass, by quadrature over its variables."""

    def __init__(self, problem, state, size=64):
        thinning, window, law = problem.thinning, problem.prepared, problem.likelihood.clusters
        self.axes = (
            np.linspace(window.low[0], window.high[0], size),
            np.log(0.4) + 0.5 * np.linspace(-5.0, 5.0, size),
            np.linspace(-30.0, 4.0, 2 * size),
        )
        m, log_l, log_mass = (axis.ravel() for axis in np.meshgrid(*self.axes, indexing="ij"))
        x = BumpState(m[:, None], log_l)
        log_w_TG = log_expit(thinning.log_odds(x, window)) + log_mass
        rows = problem.shards[0].rows
        log_f = np.empty((len(rows[0]), 2))
        law.log_density(0, len(log_f), rows, law.packed(state.own.params), log_f)
        mass = state.levy.mass / 2
        log_p = thinning.log_prob(x, window) + mass * log_mass - np.exp(log_mass)
        for n, t in enumerate(np.repeat(np.arange(problem.trials.size), problem.trials)):
            first = state.log_mass[0]
            log_p += np.logaddexp(first + log_f[n, 0], log_w_TG[t] + log_f[n, 1])
            log_p -= np.logaddexp(first, log_w_TG[t])
        weight = np.exp(log_p - log_p.max())
        self.points, self.weight = (m, log_l, log_mass), weight / weight.sum()
        self.means = np.array([self.weight @ values for values in numbers(*self.points)])

    def draw(self, rng, size):
        """Draw points of the law, each from all of its cell."""
        at = rng.choice(self.weight.size, size, p=self.weight)
        step = [axis[1] - axis[0] for axis in self.axes]
        return [
            values[at] + width * rng.uniform(-0.5, 0.5, size)
            for values, width in zip(self.points, step, strict=True)
        ]


def numbers(m, log_l, log_mass):
    """Return what is compared; masses may be next to nothing, so a bounded function of theirs."""
    heavy = 1.0 / (1.0 + np.exp(-log_mass - 2.0))
    return m, m * m, log_l, log_l * log_l, heavy, heavy * m, heavy * log_l


@pytest.mark.parametrize("rules", [Rules(), Rules(volume=0.0)])
def test_against_enumeration(rules):
    """One bump's variables, drawn from their law given all else, have it after some moves."""
    world = replace(ALONE, background=True, n_clusters=2, holes=0.0, mass=1.0)
    rng = np.random.default_rng(SEED)
    problem, state = world.draw(rng)
    grid, found = Grid(problem, state), []
    for m, log_l, log_mass in zip(*grid.draw(rng, 2_000), strict=True):
        x = BumpState(np.array([[m]]), np.array([log_l]))
        now = replace(state, x=x, log_mass=np.array([state.log_mass[0], log_mass]))
        now = redraw_observations(rng, problem, now)
        for _ in range(3):
            now = free_curves(rng, problem, now, rules)
        found.append(numbers(now.x.location[0, 0], now.x.log_length[0], now.log_mass[1]))
    z = (np.mean(found, 0) - grid.means) / (np.std(found, 0) / np.sqrt(len(found)))
    right = rules == Rules()
    assert (np.abs(z).max() < 5.0) == right, z  # seven numbers at 1e-5
