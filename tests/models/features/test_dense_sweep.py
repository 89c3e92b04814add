"""Dense factors and a level that varies: each block and the whole sweep leave the joint law."""

from dataclasses import replace

import numpy as np
import pytest
from dense_world import N_DENSE, N_FEATURES, DenseWorld, functionals, rows_of, with_local
from scipy.stats import multivariate_normal
from topic_world import block, many

from thincrm.inference.updates import redraw_activations
from thincrm.models.features.exchange import exchange, trade
from thincrm.models.features.moves import recombine, renew, turn_over
from thincrm.models.features.sweep import (
    redraw_features,
    redraw_masses,
    redraw_usages,
    redraw_variances,
)
from thincrm.numerics.streams import new_stream
from thincrm.testing import assert_passed, assert_rejected, two_sample_test
from thincrm.thinning import Always, ProbitRVM

pytestmark = pytest.mark.joint
SEED = 20265
WORLDS = {
    "always, binary": DenseWorld(Always(), False, False),
    "rvm, row, real": DenseWorld(ProbitRVM(widths=(2.0, 40.0)), True, True, n_shards=2),
}
GLOBALS = (redraw_features, redraw_variances, redraw_activations, redraw_masses)
SWEEP = (redraw_usages, *GLOBALS)
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
def test_exchanges(name):
    assert_passed(stays(name, (exchange, redraw_usages)))


@every_world
def test_whole_sweep(name):
    assert_passed(stays(name, (exchange, *SWEEP)))


def test_exchanges_leave_the_rows_sums_alone():
    rng = np.random.default_rng(SEED)
    weight, basis = rng.standard_normal((30, 3)), rng.standard_normal((30, 4))
    dense, level = rng.standard_normal((3, 6)), rng.standard_normal((4, 6))
    whole = weight @ dense + basis @ level
    both = np.hstack([weight, basis])
    gram, one = both.T @ both, np.ones
    trade(new_stream(np.uint64(1), 0), gram, dense, level, one((4, 6)), one(3), one(6))
    moved, left, _, _ = np.linalg.lstsq(dense.T, (whole - basis @ level).T, rcond=None)
    assert np.all(np.abs(moved.T - weight).max(axis=0) > 0.01)
    np.testing.assert_allclose(left, 0.0, atol=1e-20)
    both = np.hstack([moved.T, basis])
    np.testing.assert_allclose(gram, both.T @ both, atol=1e-10)


@every_world
def test_moves_of_whole_features(name):
    assert_passed(stays(name, (renew, recombine, turn_over), 600))


@every_world
def test_numbers_of_a_state_against_plain_normals(name):
    problem, state = WORLDS[name].draw(np.random.default_rng(SEED))
    state = redraw_usages(np.random.default_rng(SEED), problem, state)
    own, used = state.own, rows_of(state)
    tables = [shard.table for shard in problem.shards]
    cell, seen, basis = (
        np.concatenate([getattr(table, part) for table in tables])
        for part in ("value_NP", "seen_NP", "basis_NB")
    )
    usage = used.used * (used.weight if problem.likelihood.real else 1.0)
    dense = own.feature[N_FEATURES : N_FEATURES + N_DENSE]
    around = usage @ own.feature[:N_FEATURES] + basis @ own.feature[N_FEATURES + N_DENSE :]
    spread, total = np.diag(1 / own.noise) + dense.T @ dense, 0.0
    for row, mean, here in zip(cell, around, seen > 0, strict=True):
        if here.any():
            law = multivariate_normal(mean[here], spread[np.ix_(here, here)])
            total += law.logpdf(row[here])
    found = problem.likelihood.summary(problem, state)
    assert found["log_likelihood"] == pytest.approx(total, rel=1e-8)
    given = 1 / np.diag(np.linalg.inv(spread))
    assert found["fill_variance"] == pytest.approx(given.mean(), rel=1e-8)
    level = basis[:, :-1] @ own.feature[N_FEATURES + N_DENSE : -1]
    assert found["level_variance"] == pytest.approx((level**2).mean(), rel=1e-8)


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


def more_rows(rng, problem, state):
    """Exchange as if there were three more rows."""
    facts = problem.facts._replace(n_rows=problem.facts.n_rows + 3)
    return exchange(rng, replace(problem, facts=facts), state)


def level_takes_freely(rng, problem, state):
    weak = state.with_own(level=0.05 * state.own.level)
    return exchange(rng, problem, weak).with_own(level=state.own.level)


def factors_take_freely(rng, problem, state):
    return exchange(rng, problem, state.with_own(dense=0.05 * state.own.dense))


def half_the_sums(rng, problem, state):
    evidence = state.evidence._replace(whole=0.5 * state.evidence.whole)
    return exchange(rng, problem, replace(state, evidence=evidence))


WRONG_EXCHANGES = more_rows, level_takes_freely, factors_take_freely, half_the_sums


@pytest.mark.parametrize("wrong", WRONG_EXCHANGES, ids=lambda wrong: wrong.__name__)
def test_wrong_exchanges_are_rejected(wrong):
    assert_rejected(stays("always, binary", (wrong, redraw_usages), n_steps=4))


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
