"""Every product of the feature model: each block and the whole sweep leave the joint law alone."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from feature_world import World, functionals, held_scale, used_of, weight_of
from topic_world import ROW, block, many

from thincrm.inference.updates import redraw_activations
from thincrm.models.features.moves import recombine, renew, turn_over
from thincrm.models.features.sweep import redraw_features, redraw_masses, redraw_usages
from thincrm.ports import GateEvidence, MassEvidence
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test, two_sample_test
from thincrm.thinning import Always, Bump, ProbitRVM, SigmoidGP

pytestmark = pytest.mark.joint
SEED = 20264
THINNINGS = {
    "always": Always(),
    "rvm": ProbitRVM(widths=(2.0, 40.0), bias_mean=0.3, shape=1.5, rate=0.8),
    "gp": SigmoidGP(widths=(2.0, 40.0), bias_mean=0.2),
    "bump": Bump(length=(0.4, 0.5), height=0.9),
}
WORLDS = {
    f"{name}, {gates}, {weights}": World(thinning, gates == "row", weights == "real", name != "gp")
    for name, thinning in THINNINGS.items()
    for gates in ("row", "observation")
    for weights in ("binary", "real")
}
GLOBALS = (redraw_features, held_scale, redraw_masses)
SWEEP = (redraw_usages, redraw_features, held_scale, redraw_activations, redraw_masses)
every_world = pytest.mark.parametrize("name", WORLDS)


def stays(name, updates, n_first=800, n_steps=2):
    world = WORLDS[name]
    blocks = [block(update) for update in updates]
    return two_sample_test(
        many(world), blocks, functionals(world), n_steps=n_steps, n_first=n_first, rng=SEED
    )


@every_world
def test_usages(name):
    assert_passed(stays(name, [redraw_usages], 1_600))


@every_world
def test_globals(name):
    """Features, noise and masses, one after the other and back: ranks are exact."""
    world = WORLDS[name]
    blocks = [block(update) for update in GLOBALS]
    assert_passed(
        exact_rank_test(many(world), blocks, functionals(world), n_steps=3, n_first=800, rng=SEED)
    )


@every_world
def test_whole_sweep(name):
    assert_passed(stays(name, SWEEP))


@pytest.mark.parametrize(
    "name",
    [
        "always, observation, binary",
        "bump, row, binary",
        "rvm, row, real",
        "bump, observation, real",
    ],
)
def test_moves_of_whole_features(name):
    assert_passed(after_six_moves(name, (renew, recombine, turn_over)))


def after_six_moves(name, moves):
    world = replace(WORLDS[name], n_replicates=1)
    blocks = [block(move) for move in moves] * (6 // len(moves))
    return two_sample_test(
        many(world), blocks, functionals(world), n_steps=1, n_first=1_000, rng=SEED
    )


def misses_at_shut_gates(rng, problem, state):
    """pi ~ Beta(a + sum z, b + N - sum z): rows behind shut gates counted as misses."""
    hits = state.evidence.hits.sum(0)
    found = MassEvidence.of(problem.n_atoms, hits=hits, misses=ROW.size - hits)
    return replace(state, log_mass=state.levy.redraw(rng, state.log_mass, found))


def half_the_evidence(rng, problem, state):
    """Weigh likelihood ratios with half the precision."""
    moved = redraw_usages(rng, problem, state.with_own(noise=0.5 * state.own.noise))
    return replace(moved, own=state.own)


def features_without_prior(rng, problem, state):
    moved = redraw_features(rng, problem, state.with_own(scale=0.1 * state.own.scale))
    return moved.with_own(scale=state.own.scale)


def holes_taken_for_zeros(rng, problem, state):
    (shard,) = problem.shards
    own = shard.table.seen_NP.copy()
    n_rows, n_columns = own.shape[0] // 10, own.shape[1] // 10
    own[np.kron(np.eye(10), np.ones((n_rows, n_columns))) > 0] = 1.0
    full = replace(shard, table=shard.table._replace(seen_NP=own))
    return redraw_usages(rng, replace(problem, shards=(full,)), state)


def gates_of_another_kind(rng, problem, state):
    """One gate an observation where they are shared."""
    likelihood = replace(problem.likelihood, shared=not problem.likelihood.shared)
    return redraw_activations(rng, replace(problem, likelihood=likelihood), state)


def shut_where_silent(rng, problem, state):
    class Certain:
        def redraw(self, rng, x, gates, prepared):
            sure = GateEvidence(gates.positive, gates.trials, np.full(gates.log_q.shape, -np.inf))
            return problem.thinning.redraw(rng, x, sure, prepared)

        def log_odds(self, *args):
            return problem.thinning.log_odds(*args)

    return redraw_activations(rng, replace(problem, thinning=Certain()), state)


def weights_kept(rng, problem, state):
    """Draw usages with the weights summed out, and keep the old weights."""
    moved = redraw_usages(rng, problem, state)
    kept = np.where(used_of(state) > 0, weight_of(state), weight_of(moved))
    return replace(moved, local=(moved.local[0]._replace(weight=kept),))


def noise_of_every_cell(rng, problem, state):
    share = 0.1 * problem.facts.n_rows  # of each replicate
    seen = np.full_like(problem.facts.seen_P, share)
    return held_scale(rng, replace(problem, facts=problem.facts._replace(seen_P=seen)), state)


TWINS = {
    "misses at shut gates": ("rvm, observation, binary", {redraw_masses: misses_at_shut_gates}),
    "half the evidence": ("rvm, row, binary", {redraw_usages: half_the_evidence}),
    "features without prior": ("always, row, binary", {redraw_features: features_without_prior}),
    "holes taken for zeros": ("always, row, binary", {redraw_usages: holes_taken_for_zeros}),
    "silence for a shut gate": ("rvm, row, real", {redraw_activations: shut_where_silent}),
    "weights kept": ("always, observation, real", {redraw_usages: weights_kept}),
    "noise of every cell": ("bump, row, binary", {held_scale: noise_of_every_cell}),
}


@pytest.mark.parametrize("twin", TWINS)
def test_wrong_sweeps_are_rejected(twin):
    name, wrong = TWINS[twin]
    assert_rejected(stays(name, [wrong.get(update, update) for update in SWEEP], 3_200, 3))


def test_gates_of_another_kind_are_rejected():
    """Sums over few gates differ little, so this twin takes more replicates."""
    assert_rejected(stays("bump, row, binary", [gates_of_another_kind], 8_000, 4))


WRONG_MOVES = {
    "renew without prior": ("bump, row, binary", partial(renew, log_density=lambda *_: 0.0)),
    "recombine without prior": (
        "always, observation, binary",
        partial(recombine, log_density=lambda *_: 0.0),
    ),
    "turn over, level's fit forgotten": (
        "always, observation, binary",
        partial(turn_over, log_bare=lambda _: 0.0),
    ),
}


@pytest.mark.parametrize("twin", WRONG_MOVES)
def test_wrong_moves_are_rejected(twin):
    name, move = WRONG_MOVES[twin]
    assert_rejected(after_six_moves(name, (move,)))
