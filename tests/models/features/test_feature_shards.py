"""Rows in several shards: sums differ in their last bits, the law of the state does not."""

from dataclasses import replace

import numpy as np
import pytest
from feature_world import World, cells_of, functionals, held_scale, used_of, with_usages
from test_feature_start import agreement, gated_table, start_problem
from test_feature_sweep import THINNINGS
from topic_world import block, many

from thincrm.inference.engine import Threads
from thincrm.inference.updates import redraw_activations
from thincrm.models.features.likelihood import FeatureLikelihood
from thincrm.models.features.moves import recombine, renew, turn_over
from thincrm.models.features.start import start_state
from thincrm.models.features.sweep import SWEEP as WHOLE
from thincrm.models.features.sweep import redraw_features, redraw_masses, redraw_usages
from thincrm.numerics.streams import sweep_generator
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test, two_sample_test

SEED = 20269
WORLDS = {
    "rvm, observation, binary": World(THINNINGS["rvm"], False, False, n_shards=3),
    "bump, row, real": World(THINNINGS["bump"], True, True, n_shards=3),
}
SWEEP = (redraw_usages, redraw_features, held_scale, redraw_activations, redraw_masses)
every_world = pytest.mark.parametrize("name", WORLDS)


def stays(name, updates, change=lambda problem: problem, n_first=1_600):
    world = WORLDS[name]
    blocks = [block(update, change) for update in updates]
    given = many(world), blocks, functionals(world)
    return two_sample_test(*given, n_steps=2, n_first=n_first, rng=SEED)


@pytest.mark.joint
@every_world
def test_whole_sweep(name):
    assert len(WORLDS[name].draw(np.random.default_rng(0))[0].shards) == 3
    assert_passed(stays(name, SWEEP))


@pytest.mark.joint
@every_world
def test_globals(name):
    world = WORLDS[name]
    blocks = [block(update) for update in (redraw_features, held_scale, redraw_masses)]
    given = many(world), blocks, functionals(world)
    assert_passed(exact_rank_test(*given, n_steps=3, n_first=800, rng=SEED))


@pytest.mark.joint
@every_world
def test_moves_of_whole_features(name):
    world = replace(WORLDS[name], n_replicates=1)
    blocks = [block(move) for move in (renew, recombine, turn_over)]
    verdict = two_sample_test(
        many(world), blocks, functionals(world), n_steps=2, n_first=1_000, rng=SEED
    )
    assert len(world.draw(np.random.default_rng(0))[0].shards) == 2  # there are three covariates
    assert_passed(verdict)


class LastShard(FeatureLikelihood):
    """Takes the evidence of the last shard for that of all."""

    def add(self, parts):
        return parts[-1]


@pytest.mark.joint
def test_a_shard_that_is_lost_is_seen():
    def change(problem):
        return replace(problem, likelihood=LastShard(**settings(problem.likelihood)))

    assert_rejected(stays("rvm, observation, binary", SWEEP, change))


def settings(likelihood):
    return {name: getattr(likelihood, name) for name in ("shared", "real", "background")}


@every_world
def test_evidence_of_shards_adds_up(name):
    """Usages and hits are whole numbers: equal bits. Sums of products: equal but for rounding."""
    world = replace(WORLDS[name], n_shards=1)
    problem, state = world.draw(np.random.default_rng(SEED))
    cut, same = WORLDS[name].draw(np.random.default_rng(SEED))
    assert [len(one.shards) for one in (problem, cut)] == [1, 3]
    for a, b in zip(cells_of(problem), cells_of(cut), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(state.evidence.hits, same.evidence.hits)
    np.testing.assert_allclose(state.evidence.gram, same.evidence.gram, atol=1e-12)
    np.testing.assert_allclose(state.evidence.cross, same.evidence.cross, atol=1e-12)
    moved = [
        redraw_usages(np.random.default_rng(1), *pair) for pair in ((problem, state), (cut, same))
    ]
    np.testing.assert_array_equal(*(used_of(one) for one in moved))


def test_threads_do_not_change_a_bit():
    value, _, trials = gated_table(np.random.default_rng(8), 0.5, 150)
    found = []
    for n_threads in (1, 3):
        problem = start_problem(value, trials, shard_rows=1_000, engine=Threads(n_threads))
        assert len(problem.shards) == 3
        with problem.engine.running():
            state = start_state(sweep_generator(1, 0, 0), problem)
            for sweep in range(3):
                for update in WHOLE:
                    state = update(sweep_generator(1, 0, sweep + 1), problem, state)
        found.append(state)
    np.testing.assert_array_equal(*(used_of(state) for state in found))
    np.testing.assert_array_equal(*(state.own.feature for state in found))
    np.testing.assert_array_equal(*(state.evidence.gram for state in found))


def test_a_start_on_one_shard_finds_what_all_rows_have():
    """The middle shard is guessed, the rows of the others take up what was found."""
    value, used, trials = gated_table(np.random.default_rng(5), 0.5)
    problem = start_problem(value, trials, shard_rows=700)
    assert len(problem.shards) == 3
    state = start_state(np.random.default_rng(1), problem)
    assert agreement(used_of(state), used).min() > 0.95
    again = with_usages(problem, state, used_of(state), np.zeros((len(value), 0)))
    np.testing.assert_array_equal(again.evidence.hits, state.evidence.hits)
    np.testing.assert_allclose(again.evidence.gram, state.evidence.gram)
