"""Every product of the topic models: each block and the whole sweep leave the joint law alone."""

from dataclasses import replace

import numpy as np
import pytest
from topic_world import (
    World,
    backwards,
    block,
    functionals,
    many,
    topic_of,
    with_likelihood,
    with_topics,
)

from thincrm.inference.updates import redraw_masses
from thincrm.models.topics.documents import TokenMessage
from thincrm.models.topics.envelope import share_bounds
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.sweep import (
    SWEEP,
    WITHOUT_WORDS,
    move_whole_topics,
    rates_of,
    redraw_activations,
    redraw_shape,
    redraw_tokens,
    redraw_topics,
    sizes_of,
    wake_topics,
)
from thincrm.models.topics.usage import token_rates
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test, two_sample_test
from thincrm.thinning import Always, Bump, ProbitRVM, SigmoidGP

pytestmark = pytest.mark.joint
SEED = 20263
THINNINGS = {
    "always": Always(),
    "rvm": ProbitRVM(widths=(2.0, 40.0), bias_mean=0.3, shape=1.5, rate=0.8),
    "gp": SigmoidGP(widths=(2.0, 40.0), bias_mean=0.2),
    "bump": Bump(length=(0.4, 0.5), height=0.9),
}
WORLDS = {
    f"{name}, {kind}": World(thinning, kind == "poisson", **sizes)
    for name, thinning in THINNINGS.items()
    for kind, sizes in {
        "poisson": {"shape": 0.8, "mass": 0.9, "rate": 0.7},
        "negative binomial": {"mass": 0.3, "rate": 8.0},
    }.items()
}
WORLDS["rvm, poisson, bursty"] = replace(WORLDS["rvm, poisson"], burstiness=0.5)
WORLDS["bump, negative binomial, bursty"] = replace(
    WORLDS["bump, negative binomial"], burstiness=0.7
)
SINGLE = tuple(update for update in SWEEP if update is not move_whole_topics)
SWEEPS = [block(update) for update in SINGLE]  # topics of replicates may not change places
STEPS = (*SINGLE[:-1], *WITHOUT_WORDS, redraw_topics)  # one after the other
every_world = pytest.mark.parametrize("name", WORLDS)


def rank(name, blocks, **options):
    world = WORLDS[name]
    options = {"n_first": 1_600, "rng": SEED} | options
    return exact_rank_test(many(world), blocks, functionals(world), **options)


@every_world
def test_tokens(name):
    assert_passed(rank(name, [block(redraw_tokens)], backward=[block(backwards)]))


@every_world
def test_activations(name):
    if name.startswith("always"):
        pytest.skip("nothing to move")
    test = exact_rank_test if name.startswith("bump") else two_sample_test
    world = WORLDS[name]
    blocks = [block(redraw_activations)]
    assert_passed(test(many(world), blocks, functionals(world), n_first=1_600, rng=SEED))


@every_world
def test_globals(name):
    """Shapes, masses and topics, one after the other and back."""
    assert_passed(rank(name, [block(redraw_shape), block(redraw_masses), block(redraw_topics)]))


@every_world
def test_whole_sweep(name):
    world = WORLDS[name]
    verdict = two_sample_test(
        many(world), SWEEPS, functionals(world), n_steps=2, n_first=3_200, rng=SEED
    )
    assert_passed(verdict)


@pytest.mark.parametrize("name", [name for name in WORLDS if name.startswith(("always", "bump"))])
def test_whole_sweep_there_and_back(name):
    """Where every other block is reversible a sweep's reversal is known, and ranks are exact."""
    back = [backwards if update is redraw_tokens else update for update in STEPS[::-1]]
    back.insert(back.index(redraw_activations), wake_topics)
    assert_passed(rank(name, SWEEPS, backward=[block(update) for update in back]))


def weights_without_openness(usage, log_odds_TK, *rest):
    """Weigh unused topics as if they were open: u = shape q."""
    return token_rates(usage, np.where(log_odds_TK > -np.inf, np.inf, -np.inf), *rest)


def weights_of_the_prior(usage, log_odds_TK, *rest):
    """Open unused topics with their prior probability, silence not taken into account."""
    return token_rates(usage, log_odds_TK - usage.log_silent, *rest)


def weights_that_fade(usage, log_odds_TK, *rest):
    """Let a used topic fade with its tokens, where words are not bursty."""
    rates = token_rates(usage, log_odds_TK, *rest)
    return rates._replace(fade_J=1.0 / (1.0 + 0.3 * np.arange(rates.fade_J.size)))


@pytest.mark.parametrize(
    "wrong",
    [weights_without_openness, weights_of_the_prior, weights_that_fade],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("name", ["rvm, poisson", "gp, negative binomial"])
def test_wrong_token_weights_are_rejected(name, wrong):
    class Twin(TopicLikelihood):
        def message(self, problem, state):
            return TokenMessage(rates_of(problem, state, wrong), state.own.seats, sizes_of(problem))

    def change(problem):
        return with_likelihood(Twin, problem)

    there, back = block(redraw_tokens, change), block(backwards, change)
    assert_rejected(rank(name, [there], backward=[back], n_first=6_400))


def with_bounds(change):
    """Return a change of problems: all rows share one bound, and `change` is made to the rates."""

    class Sharing(TopicLikelihood):
        def message(self, problem, state):
            rates = rates_of(problem, state)
            shared = change(share_bounds(rates, len(rates.bin_T), np.inf))
            return TokenMessage(shared, state.own.seats, sizes_of(problem))

    return lambda problem: with_likelihood(Sharing, problem)


def every_proposal_accepted(rates):
    return rates._replace(unused_TK=rates.bound_BK[rates.bin_T])


@pytest.mark.parametrize("name", ["rvm, poisson, bursty", "gp, negative binomial", "bump, poisson"])
def test_tokens_of_rows_that_share_bounds(name):
    for change, verdict, size in (
        (lambda rates: rates, assert_passed, 3_200),
        (every_proposal_accepted, assert_rejected, 6_400),
    ):
        there, back = (block(move, with_bounds(change)) for move in (redraw_tokens, backwards))
        verdict(rank(name, [there], backward=[back], n_first=size))


def stale_evidence(rng, problem, state):
    """Move the tokens but keep what was added up before."""
    moved = redraw_tokens(rng, problem, state)
    return replace(moved, evidence=state.evidence)


def shut_where_silent(rng, problem, state):
    """Take silence for a shut gate."""
    sure = replace(state, log_mass=np.full(state.log_mass.shape, 30.0 if poisson(problem) else 0))
    return replace(redraw_activations(rng, problem, sure), log_mass=state.log_mass)


def poisson(problem):
    return problem.likelihood.support > 1


def topics_of_another_prior(rng, problem, state):
    """Draw topics with a concentration ten per cent too large."""
    return redraw_topics(rng, problem, state.with_own(concentration=1.1 * state.own.concentration))


def echoes_counted(rng, problem, state):
    """Count every token as a fresh draw from its topic, echoes too."""
    moved = redraw_tokens(rng, problem, state)
    return with_topics(problem, moved, topic_of(moved))


SWEEP_TWINS = {
    "stale evidence": ("rvm, poisson", {redraw_tokens: stale_evidence}),
    "silence taken for a shut gate": ("rvm, poisson", {redraw_activations: shut_where_silent}),
    "concentration 10 % too large": ("rvm, poisson", {redraw_topics: topics_of_another_prior}),
    "echoes counted": ("rvm, poisson, bursty", {redraw_tokens: echoes_counted}),
}


@pytest.mark.parametrize("twin", SWEEP_TWINS)
def test_wrong_sweeps_are_rejected(twin):
    name, wrong = SWEEP_TWINS[twin]
    world = WORLDS[name]
    blocks = [block(wrong.get(update, update)) for update in STEPS]
    verdict = two_sample_test(
        many(world), blocks, functionals(world), n_steps=3, n_first=6_400, rng=SEED
    )
    assert_rejected(verdict)
