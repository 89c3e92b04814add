"""The same bits on any number of threads, and from a saved state on."""

import copy
import dataclasses
from itertools import chain

import numpy as np
import pytest
from thincrm.inference.chains import run_chain
from topic_world import counts_of

from thincrm.data.counts import as_counts, tokens
from thincrm.data.covariates import covariates
from thincrm.levy import BetaProcess, GammaProcess
from thincrm.models.topics.factors import (
    GammaNegativeBinomialFactor,
    NegativeBinomialFactor,
    PoissonFactor,
)
from thincrm.models.topics.start import expand, start_state
from thincrm.models.topics.sweep import SWEEP, TopicProblem, rows_of
from thincrm.numerics.streams import sweep_generator
from thincrm.numerics.threads import using_threads
from thincrm.thinning import Bump, ProbitRVM

SEED, N_SWEEPS = 3, 5
PRODUCTS = {
    "rvm, poisson": (GammaProcess(), ProbitRVM(), PoissonFactor()),
    "bump, negative binomial": (BetaProcess(), Bump(), NegativeBinomialFactor()),
    "bump, levels": (GammaProcess(), Bump(), GammaNegativeBinomialFactor()),
}
every_product = pytest.mark.parametrize("name", PRODUCTS)


def problem_of(name):
    """Return 60 documents, two of them empty, over 12 times, 700 words."""
    rng = np.random.default_rng(1)
    levy, thinning, likelihood = PRODUCTS[name]
    topics = rng.dirichlet(np.full(700, 0.05), 5)
    length = rng.poisson(40, 60)
    length[[7, 30]] = 0
    words = [rng.multinomial(n, topics[rng.integers(5)]) for n in length]
    times = covariates(rng.integers(0, 12, 60).astype(float))
    row = times.row.astype(np.int32)
    return TopicProblem(
        levy=levy, thinning=thinning, likelihood=likelihood, prepared=thinning.prepare(times),
        tokens=tokens(as_counts(np.array(words))), row=row,
        order=np.argsort(row, kind="stable").astype(np.int32), trials=times.trials, n_topics=20,
        n_background=1, concentration=None, learn_masses=True, burstiness=None,
    )  # fmt: skip


def sweeps(problem, state, numbers):
    seen = []
    run_chain(SEED, 0, problem, SWEEP, state, numbers, lambda _, s: seen.append(s) or s)
    return seen


def start(problem):
    return start_state(sweep_generator(SEED, 0, 0), problem)


def parts(state):
    """Return every array and number of a state."""
    for field in dataclasses.fields(state):
        value = getattr(state, field.name)
        if dataclasses.is_dataclass(value):
            yield from dataclasses.astuple(value)
        else:
            yield from value if isinstance(value, tuple) else (value,)


def assert_same(a, b):
    pairs = list(zip(parts(a), parts(b), strict=True))
    assert len(pairs) > 15
    for x, y in pairs:
        np.testing.assert_array_equal(x, y)


@every_product
def test_threads_do_not_change_a_bit(name):
    problem = problem_of(name)
    runs = []
    for n_threads in (1, 2, 4):
        with using_threads(n_threads):
            runs.append(sweeps(problem, start(problem), range(1, N_SWEEPS + 1)))
    for other in runs[1:]:
        assert_same(runs[0][-1], other[-1])
    assert not np.array_equal(runs[0][0].topic, runs[0][-1].topic)


@every_product
def test_a_chain_goes_on_from_a_saved_state(name):
    problem = problem_of(name)
    whole = sweeps(problem, start(problem), range(1, N_SWEEPS + 1))
    saved = copy.deepcopy(whole[2])
    with using_threads(2):
        assert_same(sweeps(problem_of(name), saved, range(4, N_SWEEPS + 1))[-1], whole[-1])


@every_product
def test_a_sweep_leaves_the_state_before_it_alone(name):
    problem = problem_of(name)
    state = start(problem)
    kept = copy.deepcopy(state)
    sweeps(problem, state, range(1, 3))
    assert_same(state, kept)


def owner_of(problem):
    return np.repeat(np.arange(problem.row.size), np.diff(problem.tokens.start))


def check_evidence(problem, state):
    """Count again, document by document, what the state says about its tokens."""
    n_documents, K, word = problem.row.size, problem.n_topics, problem.tokens.word
    size_DK = np.zeros((n_documents, K), int)
    np.add.at(size_DK, (owner_of(problem), state.topic), 1)
    evidence, row = state.evidence, rows_of(problem, state.level)
    np.testing.assert_array_equal(evidence.total, size_DK.sum(0))
    assert len(evidence.trials) == len(problem.trials) * max(1, problem.likelihood.n_levels)
    for r in range(len(evidence.trials)):
        here = size_DK[row == r]
        np.testing.assert_array_equal(evidence.positive[r], (here > 0).sum(0))
        assert evidence.trials[r] == len(here)
    for j, row in enumerate(evidence.above):
        np.testing.assert_array_equal(row, (size_DK > j).sum(0))
    cells_PK = np.zeros((problem.tokens.n_words, K), int)
    np.add.at(cells_PK, (word, state.topic), 1)
    fresh_PK = counts_of(evidence)
    assert not evidence.counts[:, evidence.seats.size :].any()
    assert np.all(fresh_PK <= cells_PK)
    assert np.all((fresh_PK > 0) == (cells_PK > 0))
    document, topic, size = state.usage.pairs(problem.tokens)
    found = np.zeros_like(size_DK)
    found[document, topic] = size
    np.testing.assert_array_equal(found, size_DK)
    assert np.isin(np.flatnonzero(evidence.total), state.seats).all()
    np.testing.assert_allclose(state.theta[:, : state.seats.size].sum(0), 1.0, rtol=1e-5)
    assert not state.theta[:, state.seats.size :].any()


@every_product
def test_evidence_is_what_the_tokens_say(name):
    problem = problem_of(name)
    state = start(problem)
    for one in chain([state], sweeps(problem, state, range(1, 4))):
        check_evidence(problem, one)
        assert 0 <= one.topic.min() <= one.topic.max() < problem.n_topics


@every_product
def test_a_larger_truncation_keeps_what_there_is(name):
    problem = problem_of(name)
    state = sweeps(problem, start(problem), range(1, 3))[-1]
    larger, grown = expand(np.random.default_rng(4), problem, state, 45)
    check_evidence(larger, grown)
    np.testing.assert_array_equal(grown.topic, state.topic)
    np.testing.assert_array_equal(grown.log_mass[:20], state.log_mass)
    np.testing.assert_array_equal(grown.shape[:20], state.shape)
    check_evidence(larger, sweeps(larger, grown, range(3, 5))[-1])
