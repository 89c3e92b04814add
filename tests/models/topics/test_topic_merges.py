"""Topics that are one are merged in the warm-up, others are left alone."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import nbinom
from topic_world import counts_of, lengths_of, level_of, topic_of, with_topics, words_of
from topic_world import problem_of as problem_from

import thincrm as tc
from thincrm.data.counts import as_counts, tokens
from thincrm.data.covariates import covariates
from thincrm.inference.updates import redraw_masses
from thincrm.levy import BetaProcess, GammaProcess
from thincrm.models.topics.factors import (
    GammaNegativeBinomialFactor,
    NegativeBinomialFactor,
    PoissonFactor,
)
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.merges import Scene, is_one, merge_topics
from thincrm.models.topics.pairs import Law, shared_out
from thincrm.models.topics.start import start_state
from thincrm.models.topics.sweep import SWEEP, redraw_tokens
from thincrm.numerics.streams import sweep_generator
from thincrm.thinning import Always, Bump, SigmoidGP

FACTORS = PoissonFactor(), NegativeBinomialFactor(), GammaNegativeBinomialFactor()


def law(shape, q, opened, longest=5):
    gate = np.log([opened]), np.log1p([-opened])
    return Law.of(shape, np.array([q]), *gate, longest)


def test_law_is_a_negative_binomial_behind_a_gate():
    """Words come in an order here, so a count has n! times the chance of an ordered list."""
    found = np.exp(law(1.7, 0.6, 0.3).at(np.arange(6), np.zeros(6, int)))
    n = np.arange(6)
    expected = 0.3 * nbinom.pmf(n, 1.7, 0.4) * np.cumprod(np.maximum(n, 1)) + 0.7 * (n == 0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_words_shared_out_are_all_ways_added_up():
    rng, a, b = np.random.default_rng(1), law(1.7, 0.6, 0.3), law(0.4, 0.9, 0.8)
    start, share = np.array([0, 1, 5, 8]), rng.random(8)
    share[3] = 1.0
    expected = 0.0
    for first, stop in pairwise(start):
        ways = []
        for to_a in product([False, True], repeat=stop - first):
            chance = np.where(to_a, share[first:stop], 1.0 - share[first:stop]).prod()
            counts = sum(to_a), len(to_a) - sum(to_a)
            fits = [
                one.at(np.array([n]), np.array([0]))[0]
                for one, n in zip((a, b), counts, strict=True)
            ]
            with np.errstate(divide="ignore"):
                ways.append(np.log(chance) + sum(fits))
        expected += logsumexp(ways)
    assert shared_out(start, share, np.zeros(3, int), a, b) == pytest.approx(expected, rel=1e-12)


def problem_of(factor=FACTORS[0], thinning=None, n_background=0, in_common=0.0):
    """Return a corpus of two topics: words 0-19, words 20-39, and 40-49 that they have in common.

    A third of the documents has the first, a third the second, a third both.
    """
    rng = np.random.default_rng(5)
    own_2P, common_P = np.repeat(np.eye(2, 3), [20, 20, 10], axis=1), np.arange(50) >= 40
    word_2P = rng.gamma(0.7, size=50) * own_2P
    word_2P *= (1.0 - in_common) / word_2P.sum(axis=1, keepdims=True)
    word_2P += in_common * common_P / common_P.sum()
    has_D2 = np.repeat([[1, 0], [0, 1], [1, 1]], 90, axis=0)
    size_D2 = has_D2 * rng.negative_binomial(2, 0.1, has_D2.shape)
    X = sum(np.array([rng.multinomial(n, word_2P[k]) for n in size_D2[:, k]]) for k in (0, 1))
    thinning = SigmoidGP() if thinning is None else thinning
    known = covariates(rng.integers(1 if isinstance(thinning, Always) else 9, size=len(X)))
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


@pytest.mark.parametrize(
    "thinning", [Always(), SigmoidGP(), Bump()], ids=lambda f: type(f).__name__
)
@pytest.mark.parametrize("factor", FACTORS, ids=lambda factor: type(factor).__name__)
def test_a_topic_cut_in_two_is_made_whole(factor, thinning):
    problem = problem_of(factor, thinning)
    state = state_of(problem, cut_in_two)
    merged = merge_topics(np.random.default_rng(1), problem, state)
    first = words_of(problem) < 20
    whole = np.where(first, topic_of(merged)[first][0], 3)
    assert whole.min() in {1, 2}
    np.testing.assert_array_equal(topic_of(merged), whole)
    again = with_topics(problem, merged, topic_of(merged), level_of(merged))
    for found, expected in zip(merged.evidence, again.evidence, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert np.isfinite(merged.log_mass).all()
    assert merged.own.burstiness == state.own.burstiness  # though all tokens are fresh for now
    assert merge_topics(np.random.default_rng(1), problem, merged) is merged


def test_topics_with_words_in_common_are_left_alone():
    problem = problem_of(in_common=0.6)
    owner = np.repeat(np.arange(270), lengths_of(problem))

    def true_topics(rng, word):
        either = np.where(owner < 180, owner // 90, rng.integers(2, size=word.size))
        return 1 + np.where(word < 40, word // 20, either)

    state = state_of(problem, true_topics)
    counts = counts_of(state.evidence)[:, 1:3].astype(float)
    assert np.corrcoef(counts.T)[0, 1] > 0.3
    assert merge_topics(np.random.default_rng(1), problem, state) is state


def test_background_topics_are_left_alone():
    problem = problem_of(n_background=3)
    state = state_of(problem, cut_in_two)
    assert merge_topics(np.random.default_rng(1), problem, state) is state


def test_a_topic_is_not_merged_into_one_that_is_shut_where_its_words_are():
    problem = problem_of()
    scene = Scene.of(np.random.default_rng(1), problem, state_of(problem, cut_in_two))
    assert is_one(scene, (1, 2))
    log_open_RK = scene.log_open_RK.copy()
    log_open_RK[4, 2] = -np.inf
    assert not is_one(scene._replace(log_open_RK=log_open_RK), (1, 2))


def test_some_documents_of_a_large_corpus_are_enough():
    problem = problem_of()
    state = state_of(problem, cut_in_two)
    most = problem.facts.n_tokens // 4
    merged = merge_topics(np.random.default_rng(1), problem, state, most_tokens=most)
    assert len(np.unique(topic_of(merged))) == 2


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
