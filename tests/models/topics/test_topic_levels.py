"""Documents with levels of their own (gamma-negative binomial): every block, and whole sweeps."""

from dataclasses import replace

import numpy as np
import pytest
from topic_world import (
    World,
    backwards,
    block,
    functionals,
    level_of,
    many,
    topic_of,
    with_likelihood,
    with_topics,
)

from thincrm.inference.updates import redraw_masses
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.sweep import (
    SWEEP,
    gates_of,
    move_whole_topics,
    opened_of,
    redraw_activations,
    redraw_levels,
    redraw_shares,
    redraw_tokens,
)
from thincrm.ports import MassEvidence
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test, two_sample_test
from thincrm.thinning import Always, ProbitRVM, SigmoidGP

pytestmark = pytest.mark.joint
SEED = 20266
SIZES = {"mass": 0.9, "rate": 0.7, "odds": (0.3, 1.0, 4.0)}
WORLDS = {
    "always": World(Always(), True, **SIZES),
    "rvm": World(ProbitRVM(widths=(2.0, 40.0), bias_mean=0.3, shape=1.5, rate=0.8), True, **SIZES),
    "gp, bursty": World(
        SigmoidGP(widths=(2.0, 40.0), bias_mean=0.2), True, burstiness=0.5, **SIZES
    ),
}
NOT_HERE = redraw_shares, move_whole_topics  # replicates have no shares, and keep their topics
MOVES = [update for update in SWEEP if update not in NOT_HERE]
every_world = pytest.mark.parametrize("name", WORLDS)


def rank(name, updates, **options):
    world = WORLDS[name]
    options = {"n_first": 1_600, "rng": SEED} | options
    return exact_rank_test(
        many(world), [block(update) for update in updates], functionals(world), **options
    )


def two_sample(name, updates, **options):
    world = WORLDS[name]
    options = {"n_first": 1_600, "rng": SEED} | options
    return two_sample_test(
        many(world), [block(update) for update in updates], functionals(world), **options
    )


@every_world
def test_levels_and_masses(name):
    assert_passed(rank(name, [redraw_levels, redraw_masses]))


@every_world
def test_tokens(name):
    assert_passed(rank(name, [redraw_tokens], backward=[block(backwards)]))


def test_activations():
    assert_passed(two_sample("rvm", [redraw_activations]))


@every_world
def test_whole_sweep(name):
    assert_passed(two_sample(name, MOVES, n_steps=2))


def evidence_of(opened, tables=None):
    """Return a likelihood that exposes masses to `opened(rng, problem, state)` documents."""

    class Twin(TopicLikelihood):
        def mass_evidence(self, rng, problem, state):
            seen = state.own.shape, state.log_mass, state.evidence, opened(rng, problem, state)
            found = self.factor.mass_evidence(rng, *seen)
            return found if tables is None else tables(found, state)

    return Twin


def tokens_for_tables(found, state):
    """Count tokens where tables belong."""
    return MassEvidence.of(found.hits.size, hits=state.evidence.total, exposure=found.exposure)


def open_everywhere(rng, problem, state):
    """Expose masses to all documents, shut ones too."""
    odds = np.repeat(problem.thinning.log_odds(state.x, None), len(SIZES["odds"]), axis=0)
    return np.where(odds > -np.inf, state.evidence.trials[:, None], 0)


def open_if_used(rng, problem, state):
    """Expose masses to the documents that use the topic alone."""
    return state.evidence.positive


def levels_mixed_up(rng, problem, state):
    """Expose masses to open documents, each as if it had the level before its own."""
    return np.roll(opened_of(rng, problem, state), -1, axis=0)


def without_length(rng, problem, state):
    """Forget that a long document wants a high level."""
    short = tuple(
        one._replace(usage=one.usage._replace(size=np.zeros_like(one.usage.size)))
        for one in state.local
    )
    moved = redraw_levels(rng, problem, replace(state, local=short))
    return with_topics(problem, state, topic_of(state), level_of(moved))


class Seen:
    """A thinning function whose log odds are seen as something else."""

    def __init__(self, thinning, seen):
        self.inner, self.seen = thinning, seen

    def log_odds(self, x, prepared):
        return self.seen(self.inner.log_odds(x, prepared))


def levels_given(seen):
    """Return levels redrawn as if log odds were what `seen` makes of them."""

    def update(rng, problem, state):
        other = replace(problem, thinning=Seen(problem.thinning, seen), latest=[])
        return redraw_levels(rng, other, state)

    return update


def without_silence(odds):
    """Forget what silent topics say of a level."""
    return np.full(odds.shape, -np.inf)


def silence_of_open_topics(odds):
    """Take all topics for open."""
    return np.where(odds > -np.inf, np.inf, -np.inf)


class NeverSure:
    """A generator whose binomials are 0: all silent documents are taken for the loudest level's."""

    def binomial(self, n, p):
        return np.zeros_like(n)


def one_level_for_all(rng, problem, state):
    gates = gates_of(NeverSure(), problem, state, np.arange(problem.n_atoms))
    return replace(state, x=problem.thinning.redraw(rng, state.x, gates, problem.prepared))


UPDATES = {
    "without length": without_length,
    "without silence": levels_given(without_silence),
    "silence of open topics": levels_given(silence_of_open_topics),
}
EVIDENCE = {
    "tokens for tables": evidence_of(opened_of, tokens_for_tables),
    "open everywhere": evidence_of(open_everywhere),
    "open if used": evidence_of(open_if_used),
    "levels mixed up": evidence_of(levels_mixed_up),
}


@pytest.mark.parametrize("twin", UPDATES)
def test_wrong_levels_are_rejected(twin):
    assert_rejected(rank("rvm", [UPDATES[twin]]))


def test_one_level_for_all_is_rejected():
    assert_rejected(two_sample("rvm", [one_level_for_all]))


@pytest.mark.parametrize("twin", EVIDENCE)
def test_wrong_evidence_of_masses_is_rejected(twin):
    def change(problem):
        return with_likelihood(EVIDENCE[twin], problem)

    world, blocks = WORLDS["rvm"], [block(redraw_masses, change)]
    verdict = exact_rank_test(many(world), blocks, functionals(world), n_first=1_600, rng=SEED)
    assert_rejected(verdict)
