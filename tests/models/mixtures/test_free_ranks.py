"""Curves freed, alone and in the sweep: ranks are exact, both ways along a path.

The move is two blocks: A moves x and π given the clusters of some rows, then redraws all else; B
redraws rows' clusters and the clocks. (B makes what A redraws superfluous, so the program leaves it
out.) Each is reversible, so B, A, B is, which is what a redraw of rows and then the move are, and
B, A is the way back of the move alone.

A sweep sums out rejected rings and augmentations of rows, and redraws them when it comes to them
next. On the way back that has to be before they are used.
"""

from dataclasses import replace

import numpy as np
import pytest
from mixture_world import ROW, Lines, World, block, functionals, held_own, many
from scipy.special import expit

from thincrm.inference.updates import log_odds_of, redraw_activations, redraw_observations
from thincrm.models.mixtures.collapsed import reseat
from thincrm.models.mixtures.exchange import exchange
from thincrm.models.mixtures.free_curves import free_curves, move_curves
from thincrm.models.mixtures.free_loops import Rules
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.proposals import split_local, view_of
from thincrm.models.mixtures.split_merge import split_or_merge
from thincrm.models.mixtures.sweep import redraw_masses, rescale
from thincrm.numerics.streams import fresh_key
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test
from thincrm.thinning import Bump

pytestmark = pytest.mark.joint
SEED = 20291
BUMP = Bump(length=(0.4, 0.5), height=0.9)
ALONE = World(BUMP, "weighted", GaussianClusters("diagonal"), n_replicates=1, background=False)
WORLDS = {
    "background": World(BUMP, "weighted", Lines(), n_replicates=1),
    "no background": ALONE,
    "one length": replace(ALONE, thinning=Bump(length=0.4)),
}


def looked_at(world):
    """Return the usual functionals, and some of the curves' own variables."""
    usual = functionals(world)

    def values(state):
        x, found = [one.x for _, one in state[1]], usual(state)
        found["far"] = np.array([np.square(one.location - 0.5).sum() for one in x])
        found["long"] = np.array([one.log_length.sum() for one in x])
        found["odd lengths"] = np.array(
            [np.square(one.log_length - np.log(0.4)).sum() for one in x]
        )
        return found

    return values


def ranks(world, forward, back=None, n_first=400, n_steps=2):
    return exact_rank_test(
        many(world), [block(move) for move in forward], looked_at(world), n_steps=n_steps,
        n_first=n_first, backward=back and [block(move) for move in back], rng=SEED,
    )  # fmt: skip


def there_and_back(rules=None):
    """Return B, A, B."""

    def move(rng, problem, state):
        return free_curves(rng, problem, redraw_observations(rng, problem, state), rules or Rules())

    return move


@pytest.mark.parametrize("name", WORLDS)
def test_ranks_of_the_move(name):
    """Masses are redrawn given the clocks: wrong clocks would show."""
    assert_passed(ranks(WORLDS[name], [there_and_back(), redraw_masses]))


@pytest.mark.parametrize("part", ["prior", "masses", "volume"])
def test_a_ratio_without_a_part_is_rejected(part):
    assert_rejected(ranks(ALONE, [there_and_back(Rules(**{part: 0.0}))], n_steps=4))


def freshly(rng, problem, state):
    """Redraw rejected rings and augmentations of rows, given all else."""
    law, label_N = problem.likelihood.clusters, view_of(problem, state).label_N
    counts = np.zeros_like(state.evidence.counts)
    np.add.at(counts, (ROW, label_N), 1)
    clock_T = state.evidence.pace * state.evidence.clock
    mean_TK = np.outer(clock_T, np.exp(state.log_mass)) * expit(-log_odds_of(problem, state.x))
    (shard,) = problem.shards
    packed, n_atoms = law.packed(state.own.params), problem.n_atoms
    stats = law.add_rows(0, ROW.size, fresh_key(rng), 0, shard.rows, label_N, packed, n_atoms)
    rings = rng.poisson(np.minimum(mean_TK, 1e18))
    found = state.evidence._replace(counts=counts, gates=rings, stats=stats)
    return replace(state, evidence=found)


def back_by(update):
    """Return an update that starts from rings and augmentations redrawn."""

    def move(rng, problem, state):
        return update(rng, problem, freshly(rng, problem, state))

    return move


def free_back(rng, problem, state):
    """Return B, A: the rows that A keeps have the same clusters after it."""
    state = redraw_observations(rng, problem, state)
    kept = np.flatnonzero(rng.random(ROW.size) < 0.125)
    label_N = view_of(problem, state).label_N
    state = redraw_observations(rng, problem, move_curves(rng, problem, state, kept, Rules()))
    view = view_of(problem, state)
    new_N = view.label_N.copy()
    new_N[kept] = label_N[kept]
    return replace(state, local=split_local(view, new_N))


SWEEP = (
    redraw_observations, redraw_activations, redraw_masses, rescale, held_own,
    split_or_merge, reseat, exchange, free_curves,
)  # fmt: skip
BACK = (
    free_back, exchange, reseat, split_or_merge,
    back_by(held_own), rescale, redraw_masses, back_by(redraw_activations), redraw_observations,
)  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
def test_ranks_of_a_sweep(name):
    """One of all there is, and the blocks in reverse order for the way back."""
    assert_passed(ranks(WORLDS[name], SWEEP, BACK))


def test_ranks_of_the_move_and_its_way_back():
    back = (back_by(held_own), redraw_masses, free_back)
    assert_passed(ranks(ALONE, (free_curves, redraw_masses, held_own), back, n_steps=3))


def test_a_sweep_with_a_wrong_move_is_rejected():
    """It forgets how a shift of all curves stretches their lengths."""

    def broken(rng, problem, state):
        return free_curves(rng, problem, state, Rules(volume=0.0))

    forward = [broken if move is free_curves else move for move in SWEEP]
    assert_rejected(ranks(ALONE, forward, BACK))
