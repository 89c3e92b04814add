"""The same bits on any number of threads, and from a saved state on."""

import copy
import dataclasses
from itertools import chain

import numpy as np
import pytest
from topic_world import counts_of, lengths_of, level_of, rows_of, topic_of, words_of
from topic_world import problem_of as problem_from

from thincrm.data.counts import as_counts, tokens
from thincrm.data.covariates import covariates
from thincrm.inference.engine import Threads
from thincrm.levy import BetaProcess, GammaProcess
from thincrm.models.topics.factors import (
    GammaNegativeBinomialFactor,
    NegativeBinomialFactor,
    PoissonFactor,
)
from thincrm.models.topics.levels import level_rows
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.start import expand
from thincrm.models.topics.usage_counts import DocumentTopics
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


def problem_of(name, **options):
    """Return 60 documents, two of them empty, over 12 times, 700 words."""
    rng = np.random.default_rng(1)
    levy, thinning, factor = PRODUCTS[name]
    topics = rng.dirichlet(np.full(700, 0.05), 5)
    length = rng.poisson(40, 60)
    length[[7, 30]] = 0
    words = [rng.multinomial(n, topics[rng.integers(5)]) for n in length]
    times = covariates(rng.integers(0, 12, 60).astype(float))
    return problem_from(
        tokens(as_counts(np.array(words))), times.row, levy=levy, thinning=thinning,
        likelihood=TopicLikelihood(factor, None, None), prepared=thinning.prepare(times),
        trials=times.trials, n_atoms=20, n_background=1, **options,
    )  # fmt: skip


def sweeps(problem, state, numbers):
    seen = []
    for number in numbers:
        rng = sweep_generator(SEED, 0, number)
        for update in problem.likelihood.updates:
            state = update(rng, problem, state)
        seen.append(state)
    return seen


def start(problem):
    return problem.likelihood.start(sweep_generator(SEED, 0, 0), problem)


def parts(value):
    """Return every array and number of a state."""
    if dataclasses.is_dataclass(value):
        value = tuple(getattr(value, field.name) for field in dataclasses.fields(value))
    if not isinstance(value, tuple):
        yield value
        return
    for part in value:
        yield from parts(part)


def assert_same(a, b):
    pairs = list(zip(parts(a), parts(b), strict=True))
    assert len(pairs) > 15
    for x, y in pairs:
        np.testing.assert_array_equal(x, y)


@every_product
def test_threads_do_not_change_a_bit(name):
    runs = []
    for n_threads in (1, 2, 4):
        problem = problem_of(name, engine=Threads(n_threads))
        with problem.engine.running():
            runs.append(sweeps(problem, start(problem), range(1, N_SWEEPS + 1)))
    for other in runs[1:]:
        assert_same(runs[0][-1], other[-1])
    assert not np.array_equal(topic_of(runs[0][0]), topic_of(runs[0][-1]))


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
    length_D = lengths_of(problem)
    return np.repeat(np.arange(length_D.size), length_D)


def check_evidence(problem, state):
    """Count again, document by document, what the state says about its tokens."""
    row_D, K, word = rows_of(problem), problem.n_atoms, words_of(problem)
    topic, n_documents = topic_of(state), row_D.size
    size_DK = np.zeros((n_documents, K), int)
    np.add.at(size_DK, (owner_of(problem), topic), 1)
    n_levels = problem.likelihood.factor.n_levels
    evidence, row = state.evidence, level_rows(row_D, level_of(state), n_levels)
    np.testing.assert_array_equal(evidence.total, size_DK.sum(0))
    assert len(evidence.trials) == len(problem.trials) * max(1, n_levels)
    for r in range(len(evidence.trials)):
        here = size_DK[row == r]
        np.testing.assert_array_equal(evidence.positive[r], (here > 0).sum(0))
        assert evidence.trials[r] == len(here)
    for j, row in enumerate(evidence.above):
        np.testing.assert_array_equal(row, (size_DK > j).sum(0))
    cells_PK = np.zeros((problem.facts.n_words, K), int)
    np.add.at(cells_PK, (word, topic), 1)
    fresh_PK = counts_of(evidence)
    assert not evidence.counts[:, evidence.seats.size :].any()
    assert np.all(fresh_PK <= cells_PK)
    assert np.all((fresh_PK > 0) == (cells_PK > 0))
    found = np.zeros_like(size_DK)
    for shard, local in zip(problem.shards, state.local, strict=True):
        used = DocumentTopics.of(shard.tokens, local.topic, problem.n_atoms)
        document, topic, size = used.pairs()
        found[shard.first + document, topic] = size
    np.testing.assert_array_equal(found, size_DK)
    own = state.own
    assert np.isin(np.flatnonzero(evidence.total), own.seats).all()
    np.testing.assert_allclose(own.theta[:, : own.seats.size].sum(0), 1.0, rtol=1e-5)
    assert not own.theta[:, own.seats.size :].any()


@every_product
def test_evidence_is_what_the_tokens_say(name):
    problem = problem_of(name)
    state = start(problem)
    for one in chain([state], sweeps(problem, state, range(1, 4))):
        check_evidence(problem, one)
        assert 0 <= topic_of(one).min() <= topic_of(one).max() < problem.n_atoms


@every_product
def test_a_larger_truncation_keeps_what_there_is(name):
    problem = problem_of(name)
    state = sweeps(problem, start(problem), range(1, 3))[-1]
    larger, grown = expand(np.random.default_rng(4), problem, state, 45)
    check_evidence(larger, grown)
    np.testing.assert_array_equal(topic_of(grown), topic_of(state))
    np.testing.assert_array_equal(grown.log_mass[:20], state.log_mass)
    np.testing.assert_array_equal(grown.own.shape[:20], state.own.shape)
    check_evidence(larger, sweeps(larger, grown, range(3, 5))[-1])
