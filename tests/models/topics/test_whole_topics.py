"""Splits and merges of whole topics at work: as many topics are found as there are."""

import numpy as np
import pytest
from topic_world import level_of, topic_of, with_topics, words_of
from topic_world import problem_of as problem_from

import thincrm as tc
from thincrm.data.counts import as_counts, tokens
from thincrm.data.covariates import covariates
from thincrm.inference.updates import redraw_masses
from thincrm.levy import BetaProcess, GammaProcess
from thincrm.models.topics.factors import NegativeBinomialFactor, PoissonFactor
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.split_merge import split_or_merge
from thincrm.models.topics.start import start_state
from thincrm.models.topics.sweep import SWEEP, move_whole_topics, redraw_tokens
from thincrm.numerics.streams import sweep_generator
from thincrm.thinning import SigmoidGP

FACTORS = PoissonFactor(), NegativeBinomialFactor()


def problem_of(factor=FACTORS[0], n_background=0):
    """Return a corpus of two topics, words 0-19 and words 20-39.

    A third of the documents has the first, a third the second, a third both.
    """
    rng = np.random.default_rng(5)
    word_2P = rng.gamma(0.7, size=40) * np.repeat(np.eye(2), 20, axis=1)
    word_2P /= word_2P.sum(axis=1, keepdims=True)
    has_D2 = np.repeat([[1, 0], [0, 1], [1, 1]], 90, axis=0)
    size_D2 = has_D2 * rng.negative_binomial(2, 0.1, has_D2.shape)
    X = sum(np.array([rng.multinomial(n, word_2P[k]) for n in size_D2[:, k]]) for k in (0, 1))
    thinning, known = SigmoidGP(), covariates(rng.integers(9, size=len(X)))
    return problem_from(
        tokens(as_counts(X)), known.row,
        levy=GammaProcess(5.0, 0.1) if factor.support > 1 else BetaProcess(0.5),
        thinning=thinning, likelihood=TopicLikelihood(factor, None, None),
        prepared=thinning.prepare(known), trials=known.trials, n_atoms=8,
        n_background=n_background,
    )  # fmt: skip


def state_of(problem, topic_of_token, n_sweeps=3):
    """Return a state with given topics, everything else suited to them."""
    rng = sweep_generator(7, 0, 0)
    state = start_state(rng, problem)
    kind = topic_of(state).dtype
    topic = topic_of_token(np.random.default_rng(3), words_of(problem)).astype(kind)
    state = with_topics(problem, state, topic, level_of(state))
    moves = [update for update in SWEEP if update is not redraw_tokens]
    for _ in range(n_sweeps):
        for update in (redraw_masses, *moves):
            state = update(rng, problem, state)
    return state


def cut_in_two(rng, word):
    """Words 0-19 are in topic 1 or 2 by the toss of a coin, the others in 3."""
    return np.where(word < 20, 1 + rng.integers(2, size=word.size), 3)


SINGLE = tuple(update for update in SWEEP if update is not move_whole_topics)


@pytest.mark.parametrize(
    ("updates", "n_topics"), [(SWEEP, 2), (SINGLE, 3)], ids=("with", "without")
)
@pytest.mark.parametrize("factor", FACTORS, ids=lambda factor: type(factor).__name__)
def test_a_topic_cut_in_two_is_made_whole(factor, updates, n_topics):
    """Single tokens do not do it in as many sweeps."""
    problem = problem_of(factor)
    state = state_of(problem, cut_in_two)
    for number in range(1, 41):
        rng = sweep_generator(7, 0, number)
        for update in updates:
            state = update(rng, problem, state)
    share_K = state.evidence.total / state.evidence.total.sum()
    assert (share_K > 0.05).sum() == n_topics


def test_background_topics_are_left_alone():
    problem = problem_of(n_background=3)
    state = state_of(problem, cut_in_two)
    moved, before = state, topic_of(state)
    for number in range(20):
        moved = split_or_merge(sweep_generator(7, 0, number), problem, moved, lambda _: 0.0)
    assert (topic_of(moved) != before).any()
    np.testing.assert_array_equal(topic_of(moved) < 3, before < 3)
    np.testing.assert_array_equal(topic_of(moved)[before < 3], before[before < 3])


def test_as_many_topics_are_found_as_there_are():
    """Six topics through twenty times, one of them always there and in half of the words."""
    rng, n_topics, n_times = np.random.default_rng(0), 6, 20
    word_KP = rng.dirichlet(np.full(300, 0.05), n_topics)
    first = np.concatenate([[0], rng.integers(0, n_times - 5, n_topics - 1)])
    last = np.concatenate([[n_times], first[1:] + rng.integers(4, 10, n_topics - 1)])
    t = rng.integers(0, n_times, 600)
    open_DK = (first <= t[:, None]) & (t[:, None] < last) & (rng.random((600, n_topics)) < 0.7)
    size_DK = open_DK * rng.poisson(25.0 * rng.gamma(1.0, size=open_DK.shape))
    X = np.array([
        sum(rng.multinomial(n, word_P) for n, word_P in zip(size_K, word_KP, strict=True))
        for size_K in size_DK
    ])  # fmt: skip
    some = X.sum(axis=1) > 0
    X, t = X[some], t[some]
    model = tc.TopicModel(max_topics=60, n_sweeps=240, random_state=1, quiet=True).fit(X, t=t)
    share = model.activation().groupby("topic")["share"].mean()
    assert (share > 0.01).sum() == n_topics
