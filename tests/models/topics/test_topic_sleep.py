"""Topics that sleep through a sweep: the law of the state is as it was, and they cost nothing."""

from functools import partial

import numpy as np
import pytest
from test_topic_sweep import WORLDS
from test_topic_threads import problem_of, start, sweeps
from topic_world import World, backwards, block, functionals, many, topic_of, with_likelihood

from thincrm.models.topics.documents import TokenMessage
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.start import expand
from thincrm.models.topics.sweep import (
    rates_of,
    redraw_activations,
    redraw_tokens,
    sizes_of,
    wake_topics,
)
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test
from thincrm.thinning import ProbitRVM

SEED = 20267
SLEEPY = 300.0  # tokens below which topics of these worlds may sleep: 120 documents, a few each
CASES = {name: WORLDS[name] for name in ("always, poisson", "bump, negative binomial, bursty")}
CASES["rvm, levels"] = World(
    ProbitRVM(widths=(2.0, 40.0), bias_mean=0.3, shape=1.5, rate=0.8),
    True, mass=0.9, rate=0.7, odds=(0.3, 1.0, 4.0), burstiness=0.5,
)  # fmt: skip


wake_few = partial(wake_topics, rare=SLEEPY)


def rank(name, choose=wake_few, change=lambda problem: problem, **options):
    """Wake some, move tokens; then back."""
    world = CASES[name]
    blocks = [block(choose), block(redraw_tokens, change)]
    back = [block(choose), block(backwards, change), block(choose)]
    options = {"n_first": 3_200, "rng": SEED} | options
    return exact_rank_test(many(world), blocks, functionals(world), backward=back, **options)


@pytest.mark.joint
@pytest.mark.parametrize("name", CASES)
def test_tokens_of_those_awake(name):
    assert_passed(rank(name))


@pytest.mark.joint
def test_curves_of_those_awake():
    def both(rng, problem, state):
        return redraw_activations(rng, problem, wake_few(rng, problem, state))

    world = CASES["bump, negative binomial, bursty"]
    blocks = [block(both)]
    assert_passed(exact_rank_test(many(world), blocks, functionals(world), n_first=1_600, rng=SEED))


def sleep_if_silent(rng, problem, state):
    """Let nobody sleep who has tokens: the choice then depends on what tokens change."""
    chosen = wake_few(rng, problem, state)
    return chosen.with_own(asleep=chosen.own.asleep & (state.evidence.total == 0))


class Restless(TopicLikelihood):
    """Lets tokens leave those asleep."""

    def message(self, problem, state):
        rates = rates_of(problem, state)
        rates = rates._replace(shape_K=np.where(rates.shape_K > 0.0, rates.shape_K, 1.0))
        return TokenMessage(rates, state.own.seats, sizes_of(problem))


@pytest.mark.joint
def test_sleep_for_the_silent_alone_is_rejected():
    assert_rejected(rank("always, poisson", sleep_if_silent))


@pytest.mark.joint
def test_tokens_that_leave_in_their_sleep_are_rejected():
    assert_rejected(rank("always, poisson", change=partial(with_likelihood, Restless)))


def test_who_sleeps_keeps_its_tokens_and_gets_no_more():
    problem, state = CASES["rvm, levels"].draw(np.random.default_rng(SEED))
    chosen = wake_few(np.random.default_rng(1), problem, state)
    asleep, total = chosen.own.asleep, state.evidence.total
    for some in (asleep & (total > 0), asleep & (total == 0), ~asleep):
        assert some.any()
    moved = redraw_tokens(np.random.default_rng(2), problem, chosen)
    before, after = topic_of(state), topic_of(moved)
    held = np.isin(before, np.flatnonzero(asleep))
    np.testing.assert_array_equal(after[held], before[held])
    assert not asleep[after[~held]].any()
    assert (after[~held] != before[~held]).any()
    curves = redraw_activations(np.random.default_rng(3), problem, moved).x
    still = asleep & (moved.evidence.total == 0)
    for new, old in zip(curves, state.x, strict=True):
        np.testing.assert_array_equal(new[still], old[still])
    assert (curves[0] != state.x[0]).any()


@pytest.mark.parametrize("name", ["rvm, poisson", "bump, negative binomial", "bump, levels"])
def test_a_larger_truncation_is_hardly_any_work(name):
    """Ten times as many topics: tables of words have few more columns, if any."""
    problem = problem_of(name)
    state = sweeps(problem, start(problem), range(1, 6))[-1]
    larger, grown = expand(np.random.default_rng(4), problem, state, 10 * problem.n_atoms)
    width = []
    for one in sweeps(larger, grown, range(6, 12)):
        chosen = wake_topics(np.random.default_rng(5), larger, one)
        width.append(rates_of(larger, chosen).theta_PK.shape[1])
    assert np.median(width) <= problem.n_atoms + 44, width
