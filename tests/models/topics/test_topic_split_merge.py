"""Split and merge of whole topics leave the joint law alone; moves that leave a part out do not."""

from dataclasses import replace

import numpy as np
import pytest
from topic_world import (
    World,
    block,
    functionals,
    lengths_of,
    many,
    topic_of,
    words_of,
)

from thincrm.models.topics.split_merge import split_or_merge
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test
from thincrm.thinning import Always, Bump, ProbitRVM, SigmoidGP

pytestmark = pytest.mark.joint
SEED = 20269
GP = SigmoidGP(widths=(2.0, 40.0), bias_mean=0.2)
CASES = {
    "gp, poisson": World(GP, True, shape=0.8, mass=0.9, rate=0.7),
    "gp, poisson, bursty": World(GP, True, shape=0.8, mass=0.9, rate=0.7, burstiness=0.7),
    "always, negative binomial": World(Always(), False, mass=0.3, rate=8.0),
    "bump, poisson": World(Bump(length=(0.4, 0.5), height=0.9), True, shape=0.8),
    "rvm, levels, bursty": World(
        ProbitRVM(widths=(2.0, 40.0), bias_mean=0.3, shape=1.5, rate=0.8),
        True,
        mass=0.9,
        rate=0.7,
        odds=(0.3, 1.0, 4.0),
        burstiness=0.5,
    ),
}


def plain(problem, state):
    """Return a world of one replicate without what keeps replicates apart."""
    thinning = problem.thinning
    x = thinning.kind(*state.x[:-1])
    problem = replace(problem, thinning=thinning.inner, prepared=thinning.prepared, latest=[])
    return problem, replace(state, x=x)


def tables_drawn(rng, problem, state):
    """Draw anew which tokens are fresh draws, given topics and what words they have."""
    if state.own.burstiness == 0.0:
        return state
    word_N, topic_N, counts = words_of(problem), topic_of(state), state.evidence.counts * 0
    owner_N, before = np.repeat(np.arange(lengths_of(problem).size), lengths_of(problem)), {}
    place = np.argsort(state.own.seats)
    column = np.argsort(state.evidence.seats)
    for cell in zip(owner_N, word_N, topic_N, strict=True):
        n = before.get(cell, 0)
        before[cell], ball = n + 1, state.own.theta[cell[1], place[cell[2]]]
        if rng.random() * (ball + n * state.own.burstiness) < ball or n == 0:
            counts[cell[1], column[cell[2]]] += 1
    return replace(state, evidence=state.evidence._replace(counts=counts))


def moves(move):
    def update(rng, problem, state):
        inner, moved = plain(problem, state)
        for _ in range(4):
            moved = move(rng, inner, moved)
        moved = tables_drawn(rng, problem, moved)
        return replace(moved, x=type(state.x)(*moved.x, state.x.owner))

    return update


def values_of(world):
    """Return the functionals of all blocks, and some that whole topics change most."""
    plain_values = functionals(world)

    def values(state):
        worlds = [one for _, one in state[1]]
        in_use = [one.evidence.total > 0 for one in worlds]
        log_shape = [np.log(one.own.shape) for one in worlds]
        more = {
            "topics in use": np.array([used.sum() for used in in_use]),
            "log mass of unused": np.array(
                [one.log_mass[~used].sum() for one, used in zip(worlds, in_use, strict=True)]
            ),
            "log shapes": np.array([log.sum() for log in log_shape]),
            "squares of log shapes": np.array([(log**2).sum() for log in log_shape]),
        }
        return plain_values(state) | {name: value[: state[0]] for name, value in more.items()}

    return values


def rank(name, move=split_or_merge):
    world = replace(CASES[name], n_replicates=1, n_topics=4)
    blocks = [block(moves(move))]
    return exact_rank_test(many(world), blocks, values_of(world), n_first=800, n_steps=3, rng=SEED)


@pytest.mark.parametrize("name", CASES)
def test_split_and_merge(name):
    assert_passed(rank(name))


def without(part):
    """Return the move with a part of its ratio left out."""

    def move(rng, problem, state):
        return split_or_merge(rng, problem, state, lambda r: r.total() - getattr(r, part))

    return move


TWINS = {
    "without the words": ("gp, poisson", without("words")),
    "without the urns": ("gp, poisson, bursty", without("urns")),
    "without the new atom's curve and mass": ("gp, poisson", without("atoms")),
    "without the shape": ("always, negative binomial", without("shape")),
    "without the silence of the empty atom": ("gp, poisson", without("silence")),
    "without the chance of the sides": ("gp, poisson", without("sides")),
    "without the chance of the choice": ("gp, poisson", without("choice")),
}


@pytest.mark.parametrize("twin", TWINS)
def test_moves_that_leave_a_part_out_are_rejected(twin):
    assert_rejected(rank(*TWINS[twin]))
