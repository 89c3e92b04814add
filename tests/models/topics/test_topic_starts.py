"""Chains start from states that are possible, whatever the corpus and the product."""

import numpy as np
import pytest
from topic_world import problem_of as problem_from

from thincrm.data.counts import as_counts, tokens
from thincrm.data.covariates import covariates
from thincrm.inference.updates import log_odds_of
from thincrm.levy import BetaProcess, GammaProcess
from thincrm.models.topics.factors import (
    GammaNegativeBinomialFactor,
    NegativeBinomialFactor,
    PoissonFactor,
)
from thincrm.models.topics.guess import first_topics
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.start import start_state
from thincrm.models.topics.sweep import SWEEP, usage_of
from thincrm.numerics.streams import sweep_generator
from thincrm.numerics.threads import using_threads
from thincrm.thinning import Always, Bump, ProbitRVM, SigmoidGP

THINNINGS = {
    "always": Always(),
    "rvm": ProbitRVM(),
    "gp": SigmoidGP(),
    "gaussian": Bump(),
    "box": Bump(kernel="box", length=0.05),
    "one-sided": Bump(kernel="one-sided", length=0.05),
}
FACTORS = PoissonFactor(), NegativeBinomialFactor(), GammaNegativeBinomialFactor()
CORPORA = {
    "one token": np.array([[1]]),
    "one word": np.array([[3], [0], [5]]),
    "one document": np.array([[3, 0, 2, 0]]),
    "one long document and a short one": np.array([[900, 1], [0, 3]]),
    "many": np.random.default_rng(1).poisson(1.0, (40, 12)),
}


def problem_of(corpus, thinning, factor, n_topics, n_background=0):
    X, chosen = CORPORA[corpus], THINNINGS[thinning]
    times = covariates(np.zeros(len(X)) if thinning == "always" else np.linspace(0, 1, len(X)))
    return problem_from(
        tokens(as_counts(X)), times.row,
        levy=GammaProcess(5.0, 0.1) if factor.support > 1 else BetaProcess(0.5),
        likelihood=TopicLikelihood(factor, None, None), thinning=chosen,
        prepared=chosen.prepare(times), trials=times.trials, n_atoms=n_topics,
        n_background=n_background,
    )  # fmt: skip


def sweeps(seed, problem, state, n_sweeps):
    """Yield the states after each of some sweeps."""
    for number in range(1, n_sweeps + 1):
        rng = sweep_generator(seed, 0, number)
        for update in SWEEP:
            state = update(rng, problem, state)
        yield state


def impossible(problem, state):
    """Return how many pairs of a row and a topic hold tokens though the topic is shut there."""
    shut_TK = log_odds_of(problem, state.x) == -np.inf
    used_TK = state.evidence.positive.reshape(len(shut_TK), -1, problem.n_atoms).sum(1) > 0
    return int(np.sum(shut_TK & used_TK))


@pytest.mark.parametrize("factor", FACTORS, ids=lambda factor: type(factor).__name__)
@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("thinning", THINNINGS)
def test_odd_corpora_run(thinning, corpus, factor):
    for n_topics, n_background in ((1, 0), (17, 1)):
        problem = problem_of(corpus, thinning, factor, n_topics, n_background)
        state = start_state(sweep_generator(1, 0, 0), problem)
        *_, state = sweeps(1, problem, state, 5)
        own = state.own
        numbers = state.log_mass, own.shape, own.theta, own.concentration, own.burstiness
        assert all(np.all(np.isfinite(number)) for number in numbers)
        assert state.evidence.total.sum() == CORPORA[corpus].sum()


@pytest.mark.parametrize("factor", [FACTORS[0], FACTORS[2]], ids=["plain", "levels"])
@pytest.mark.parametrize("thinning", ["box", "one-sided"])
def test_no_token_starts_in_a_topic_that_is_shut_for_sure(thinning, factor):
    """A box is open or shut for sure: the first guess knows nothing of it and is put right."""
    problem = problem_of("many", thinning, factor, n_topics=60)
    state = start_state(sweep_generator(2, 0, 0), problem)
    assert impossible(problem, state) == 0
    assert all(impossible(problem, later) == 0 for later in sweeps(2, problem, state, 10))


def guessing(documents, n_topics):
    """Return what first topics need to know of a problem."""
    return problem_from(
        documents, np.zeros(documents.n_documents), levy=None, thinning=None,
        likelihood=TopicLikelihood(PoissonFactor()), prepared=None,
        trials=np.array([documents.n_documents]), n_atoms=n_topics,
    )  # fmt: skip


def test_a_large_corpus_is_guessed_in_part_and_handed_out():
    """Two blocks of words that never meet: a tenth of the documents is enough to see it."""
    rng = np.random.default_rng(2)
    block = rng.integers(0, 2, 400)
    X = np.zeros((400, 20), int)
    for d, half in enumerate(block):
        X[d, 10 * half : 10 * half + 10] = rng.poisson(2.0, 10)
    documents = tokens(as_counts(X))
    problem, most = guessing(documents, 12), documents.word.size // 10
    (topic,) = first_topics(np.random.default_rng(3), problem, most_tokens=most)
    assert topic.size == documents.word.size
    assert topic.max() < 12
    owner = np.repeat(block, np.diff(documents.start))
    table = np.zeros((2, 12))
    np.add.at(table, (owner, topic), 1)
    assert table.max(axis=0).sum() > 0.99 * topic.size
    with using_threads(1):
        (again,) = first_topics(np.random.default_rng(3), problem, most_tokens=most)
    np.testing.assert_array_equal(topic, again)


def test_room_for_more_topics_is_left_empty():
    """The guess is the same however large the truncation; most atoms beyond it weigh nothing."""
    documents = tokens(as_counts(CORPORA["many"]))
    (few,), (many,) = (
        first_topics(np.random.default_rng(3), guessing(documents, n)) for n in (60, 600)
    )
    np.testing.assert_array_equal(few, many)
    for factor in FACTORS:
        problem = problem_of("many", "gp", factor, 600)
        state = start_state(sweep_generator(3, 0, 0), problem)
        expected_K = documents.n_documents * usage_of(problem, state).mean
        silent = state.evidence.total == 0
        assert silent.sum() >= 580
        assert (expected_K[silent] > 1.0).sum() < 60
