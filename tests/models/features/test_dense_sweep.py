"""Dense factors and a level that varies: each block and the whole sweep leave the joint law."""

from dataclasses import replace

import numpy as np
import pytest
from dense_world import N_DENSE, N_FEATURES, DenseWorld, functionals, rows_of, with_local
from topic_world import block, many

from thincrm.inference.updates import redraw_activations
from thincrm.models.features.moves import recombine, renew, turn_over
from thincrm.models.features.sweep import (
    redraw_features,
    redraw_masses,
    redraw_usages,
    redraw_variances,
)
from thincrm.testing import assert_passed, assert_rejected, two_sample_test
from thincrm.thinning import Always, ProbitRVM

pytestmark = pytest.mark.joint
SEED = 20265
WORLDS = {
    "always, binary": DenseWorld(Always(), False, False),
    "rvm, row, real": DenseWorld(ProbitRVM(widths=(2.0, 40.0)), True, True, n_shards=2),
}
SWEEP = (redraw_usages, redraw_features, redraw_variances, redraw_activations, redraw_masses)
every_world = pytest.mark.parametrize("name", WORLDS)


def stays(name, updates, n_first=1_200, n_steps=2):
    world = WORLDS[name]
    blocks = [block(update) for update in updates]
    return two_sample_test(
        many(world), blocks, functionals(world), n_steps=n_steps, n_first=n_first, rng=SEED
    )


@pytest.mark.parametrize("update", SWEEP[:3], ids=lambda update: update.__name__)
def test_blocks(update):
    assert_passed(stays("rvm, row, real", [update]))


@every_world
def test_whole_sweep(name):
    assert_passed(stays(name, SWEEP))


@every_world
def test_moves_of_whole_features(name):
    assert_passed(stays(name, (renew, recombine, turn_over), 600))


def noise_without_factors(rng, problem, state):
    """Count the factors' entries among what tells of the noise, and forget their squares."""
    small = state.with_own(dense=np.zeros(N_DENSE))
    noise = redraw_variances(rng, problem, small).own.noise
    return redraw_variances(rng, problem, state).with_own(noise=noise)


def noise_without_level(rng, problem, state):
    """Count the level's curves among what tells of the noise, and forget their squares."""
    small = state.with_own(level=np.zeros_like(state.own.level))
    noise = redraw_variances(rng, problem, small).own.noise
    return redraw_variances(rng, problem, state).with_own(noise=noise)


def weights_of_other_rows(rng, problem, state):
    """Draw the dense weights, and give each to the next row."""
    moved = redraw_usages(rng, problem, state)
    rows = rows_of(moved)
    return with_local(problem, moved, rows._replace(dense=np.roll(rows.dense, 1, axis=0)))


def little_evidence(rng, problem, state):
    moved = redraw_usages(rng, problem, state.with_own(noise=0.01 * state.own.noise))
    return replace(moved, own=state.own)


def level_without_shrinkage(rng, problem, state):
    weak = state.with_own(level=0.05 * state.own.level)
    return redraw_features(rng, problem, weak).with_own(level=state.own.level)


def factors_without_shrinkage(rng, problem, state):
    weak = state.with_own(dense=0.05 * state.own.dense)
    return redraw_features(rng, problem, weak).with_own(dense=state.own.dense)


def level_as_a_constant(rng, problem, state):
    """Redraw usages as if the level were the same for all rows."""
    feature = state.own.feature.copy()
    feature[N_FEATURES + N_DENSE : -1] = 0.0
    moved = redraw_usages(rng, problem, state.with_own(feature=feature))
    return replace(moved, own=state.own)


def old_rate(rng, problem, state):
    return redraw_variances(rng, problem, state.with_own(rate=4.0 * state.own.rate))


TWINS = {
    "noise without factors": {redraw_variances: noise_without_factors},
    "noise without level": {redraw_variances: noise_without_level},
    "weights of other rows": {redraw_usages: weights_of_other_rows},
    "little evidence": {redraw_usages: little_evidence},
    "level without shrinkage": {redraw_features: level_without_shrinkage},
    "factors without shrinkage": {redraw_features: factors_without_shrinkage},
    "level as a constant": {redraw_usages: level_as_a_constant},
    "noise with another rate": {redraw_variances: old_rate},
}


@pytest.mark.parametrize("twin", TWINS)
def test_wrong_sweeps_are_rejected(twin):
    updates = [TWINS[twin].get(update, update) for update in SWEEP[:3]]
    assert_rejected(stays("always, binary", updates))
