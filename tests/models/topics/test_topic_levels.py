"""Documents with levels of their own (gamma-negative binomial): every block, and whole sweeps."""

import numpy as np
import pytest
from topic_world import World, backwards, block, functionals, many

import thincrm.models.topics.factors.gamma_negative_binomial as factor
import thincrm.models.topics.levels as levels
import thincrm.models.topics.sweep as gibbs
from thincrm.models.topics.sweep import (
    SWEEP,
    redraw_activations,
    redraw_levels,
    redraw_masses,
    redraw_shares,
    redraw_tokens,
)
from thincrm.models.topics.usage import open_gates
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
MOVES = [update for update in SWEEP if update is not redraw_shares]  # replicates have no shares
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


def tokens_for_tables(key, above_KJ, mass_K):
    """Count tokens where tables belong."""
    return above_KJ.sum(1).astype(float)


def open_everywhere(rng, usage, evidence, odds):
    """Expose masses to all documents, shut ones too."""
    return np.where(odds > -np.inf, evidence.trials[:, None], 0)


def open_if_used(rng, usage, evidence, odds):
    """Expose masses to the documents that use the topic alone."""
    return evidence.positive


def levels_mixed_up(rng, usage, evidence, odds):
    """Expose masses to open documents, each as if it had the level before its own."""
    return np.roll(open_gates(rng, usage, evidence, odds), -1, axis=0)


def without_length(key, items, row, start, topics, usage, odds):
    """Forget that a long document wants a high level."""
    short = topics._replace(size=np.zeros_like(topics.size))
    return levels.draw_levels(key, items, row, start, short, usage, odds)


def without_silence(key, items, row, start, topics, usage, odds):
    """Forget what silent topics say of a level."""
    return levels.draw_levels(key, items, row, start, topics, usage, np.full(odds.shape, -np.inf))


def silence_of_open_topics(key, items, row, start, topics, usage, odds):
    """Take all topics for open."""
    opened = np.where(odds > -np.inf, np.inf, -np.inf)
    return levels.draw_levels(key, items, row, start, topics, usage, opened)


class NeverSure:
    """A generator whose binomials are 0: all silent documents are taken for the loudest level's."""

    def binomial(self, n, p):
        return np.zeros_like(n)


def one_level_for_all(rng, usage, evidence, odds):
    return levels.level_gates(NeverSure(), usage, evidence, odds)


TWINS = {
    tokens_for_tables: (redraw_masses, factor, "_tables"),
    open_everywhere: (redraw_masses, gibbs, "open_gates"),
    open_if_used: (redraw_masses, gibbs, "open_gates"),
    levels_mixed_up: (redraw_masses, gibbs, "open_gates"),
    without_length: (redraw_levels, gibbs, "draw_levels"),
    without_silence: (redraw_levels, gibbs, "draw_levels"),
    silence_of_open_topics: (redraw_levels, gibbs, "draw_levels"),
    one_level_for_all: (redraw_activations, gibbs, "level_gates"),
}


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_wrong_blocks_are_rejected(monkeypatch, twin):
    update, module, name = TWINS[twin]
    monkeypatch.setattr(module, name, twin)
    test = two_sample if update is redraw_activations else rank
    assert_rejected(test("rvm", [update]))
