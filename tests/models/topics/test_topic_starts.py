"""Chains start from states that are possible, whatever the corpus and the product."""

import numpy as np
import pytest
from thincrm.inference.chains import run_chain

from thincrm.data.counts import as_counts, tokens
from thincrm.data.covariates import covariates
from thincrm.levy import BetaProcess, GammaProcess
from thincrm.models.topics import guess as topic_guess
from thincrm.models.topics.factors import (
    GammaNegativeBinomialFactor,
    NegativeBinomialFactor,
    PoissonFactor,
)
from thincrm.models.topics.start import start_state
from thincrm.models.topics.sweep import SWEEP, TopicProblem, log_odds_of, usage_of
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
LIKELIHOODS = PoissonFactor(), NegativeBinomialFactor(), GammaNegativeBinomialFactor()
CORPORA = {
    "one token": np.array([[1]]),
    "one word": np.array([[3], [0], [5]]),
    "one document": np.array([[3, 0, 2, 0]]),
    "one long document and a short one": np.array([[900, 1], [0, 3]]),
    "many": np.random.default_rng(1).poisson(1.0, (40, 12)),
}


def problem_of(corpus, thinning, likelihood, n_topics, n_background=0):
    X, chosen = CORPORA[corpus], THINNINGS[thinning]
    times = covariates(np.zeros(len(X)) if thinning == "always" else np.linspace(0, 1, len(X)))
    row = times.row.astype(np.int32)
    return TopicProblem(
        levy=GammaProcess(5.0, 0.1) if likelihood.support > 1 else BetaProcess(0.5),
        likelihood=likelihood,
        thinning=chosen, prepared=chosen.prepare(times), tokens=tokens(as_counts(X)), row=row,
        order=np.argsort(row, kind="stable").astype(np.int32), trials=times.trials,
        n_topics=n_topics, n_background=n_background, concentration=None, learn_masses=True,
        burstiness=None,
    )  # fmt: skip


def impossible(problem, state):
    """Return how many pairs of a row and a topic hold tokens though the topic is shut there."""
    shut_TK = log_odds_of(problem, state.x) == -np.inf
    used_TK = state.evidence.positive.reshape(len(shut_TK), -1, problem.n_topics).sum(1) > 0
    return int(np.sum(shut_TK & used_TK))


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda factor: type(factor).__name__)
@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("thinning", THINNINGS)
def test_odd_corpora_run(thinning, corpus, likelihood):
    for n_topics, n_background in ((1, 0), (17, 1)):
        problem = problem_of(corpus, thinning, likelihood, n_topics, n_background)
        state = start_state(sweep_generator(1, 0, 0), problem)
        state = run_chain(1, 0, problem, SWEEP, state, range(1, 6), lambda _, s: s)
        numbers = state.log_mass, state.shape, state.theta, state.concentration, state.burstiness
        assert all(np.all(np.isfinite(number)) for number in numbers)
        assert state.evidence.total.sum() == CORPORA[corpus].sum()


@pytest.mark.parametrize("likelihood", [LIKELIHOODS[0], LIKELIHOODS[2]], ids=["plain", "levels"])
@pytest.mark.parametrize("thinning", ["box", "one-sided"])
def test_no_token_starts_in_a_topic_that_is_shut_for_sure(thinning, likelihood):
    """A box is open or shut for sure: the first guess knows nothing of it and is put right."""
    problem = problem_of("many", thinning, likelihood, n_topics=60)
    state = start_state(sweep_generator(2, 0, 0), problem)
    assert impossible(problem, state) == 0
    seen = []
    run_chain(2, 0, problem, SWEEP, state, range(1, 11), lambda _, s: seen.append(s) or s)
    assert all(impossible(problem, later) == 0 for later in seen)


def test_a_large_corpus_is_guessed_in_part_and_handed_out(monkeypatch):
    """Two blocks of words that never meet: a tenth of the documents is enough to see it."""
    rng = np.random.default_rng(2)
    block = rng.integers(0, 2, 400)
    X = np.zeros((400, 20), int)
    for d, half in enumerate(block):
        X[d, 10 * half : 10 * half + 10] = rng.poisson(2.0, 10)
    documents = tokens(as_counts(X))
    monkeypatch.setattr(topic_guess, "_MOST_TOKENS", documents.word.size // 10)
    topic = topic_guess.first_topics(np.random.default_rng(3), documents, 12)
    assert topic.size == documents.word.size
    assert topic.max() < 12
    owner = np.repeat(block, np.diff(documents.start))
    table = np.zeros((2, 12))
    np.add.at(table, (owner, topic), 1)
    assert table.max(axis=0).sum() > 0.99 * topic.size
    with using_threads(1):
        again = topic_guess.first_topics(np.random.default_rng(3), documents, 12)
    np.testing.assert_array_equal(topic, again)


def test_room_for_more_topics_is_left_empty():
    """The guess is the same however large the truncation; most atoms beyond it weigh nothing."""
    documents = problem_of("many", "gp", PoissonFactor(), 1).tokens
    few, many = (
        topic_guess.first_topics(np.random.default_rng(3), documents, n) for n in (60, 600)
    )
    np.testing.assert_array_equal(few, many)
    for likelihood in LIKELIHOODS:
        problem = problem_of("many", "gp", likelihood, 600)
        state = start_state(sweep_generator(3, 0, 0), problem)
        expected_K = problem.row.size * usage_of(problem, state).mean
        silent = state.evidence.total == 0
        assert silent.sum() >= 580
        assert (expected_K[silent] > 1.0).sum() < 60
