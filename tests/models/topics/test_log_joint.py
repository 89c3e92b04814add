"""The log joint is a density: a plain twin, sums over all states, and the tokens' conditionals."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, gammaln
from tiny_documents import documents_of, length_pmf
from topic_world import (
    TIMES,
    SideBySide,
    World,
    as_state,
    counts_of,
    lengths_of,
    level_of,
    problem_of,
    rows_of,
    sizes,
    topic_of,
    words_of,
)

from thincrm.inference.updates import log_odds_of
from thincrm.models.topics.joint import log_joint
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.sweep import rates_of, usage_of
from thincrm.thinning import ProbitRVM, SigmoidGP

GP = SigmoidGP(widths=(3.0, 12.0), bias_mean=-0.3)
WORLDS = {
    "poisson": World(GP, poisson=True, shape=0.8, n_replicates=1),
    "poisson, bursts": World(GP, poisson=True, shape=0.8, n_replicates=1, burstiness=0.4),
    "negative binomial": World(ProbitRVM(), False, mass=0.4, n_replicates=1, burstiness=0.2),
    "levels": World(GP, True, odds=(0.5, 3.0), n_replicates=1),
    "levels, bursts": World(GP, True, odds=(0.5, 3.0), n_replicates=1, burstiness=0.4),
}
every_world = pytest.mark.parametrize("name", WORLDS)


def plain(problem, state):
    """Return the log joint, a document, a topic and a token at a time."""
    own, evidence = state.own, state.evidence
    usage, log_odds = usage_of(problem, state), log_odds_of(problem, state.x)
    row_D, level_D, size_DK = rows_of(problem), level_of(state), sizes(problem, state)
    fit = 0.0
    for d, size_K in enumerate(size_DK):
        here = usage if level_D is None else usage.at(level_D[d])
        if level_D is not None:
            fit += own.log_share[level_D[d]]
        for k, n in enumerate(size_K):
            opened = expit(log_odds[row_D[d], k])
            chance = opened * stats.nbinom.pmf(n, here.shape[k], 1.0 - here.q[k])
            fit += np.log(chance + (1.0 - opened) * (n == 0)) + gammaln(n + 1)
            for i in range(n):
                fit -= np.log1p(own.burstiness * i)
    ends = np.cumsum(lengths_of(problem))
    for words in np.split(words_of(problem), ends[:-1]):
        fit -= gammaln(np.bincount(words, minlength=1) + 1.0).sum()
    counts_PK = counts_of(evidence)
    n_echoes = size_DK.sum() - counts_PK.sum()
    fit += n_echoes * np.log(own.burstiness) if n_echoes else 0.0
    for counts_P in counts_PK.T:
        prior = np.full(counts_P.size, own.concentration)
        fit += stats.dirichlet_multinomial.logpmf(counts_P, prior, counts_P.sum())
        fit -= gammaln(counts_P.sum() + 1) - gammaln(counts_P + 1.0).sum()
    return fit


def n_before(problem, label_N):
    """Return how many tokens of its word, topic and document come before each token."""
    document = np.repeat(np.arange(lengths_of(problem).size), lengths_of(problem))
    seen, before = {}, []
    for where in zip(document, words_of(problem), label_N, strict=True):
        before.append(seen.get(where, 0))
        seen[where] = before[-1] + 1
    return np.array(before, int)


def drawn(name, seed):
    """Return (problem, state, labels, fresh) of a world, with random topics of tokens."""
    rng, world = np.random.default_rng(seed), WORLDS[name]
    problem, state = world.draw(rng)
    while not 8 <= topic_of(state).size <= 80:
        problem, state = world.draw(rng)
    label = rng.integers(0, world.n_topics, topic_of(state).size).astype(np.int16)
    fresh = n_before(problem, label) == 0
    if world.burstiness == 0.0:
        fresh[:] = True
    fresh |= rng.random(fresh.size) < 0.4
    return problem, at(problem, state, label, fresh), label, fresh


def at(problem, state, label, fresh):
    """Return the state with other topics of tokens."""
    theta_PK, own = state.own.theta[:, : problem.n_atoms], state.own
    return as_state(
        problem, label, fresh, theta_PK, own.shape, state.log_mass, state.x, level_of(state)
    )


@every_world
def test_it_is_that_of_the_plain_twin(name):
    for seed in range(5):
        problem, state, *_ = drawn(name, seed)
        assert log_joint(problem, state) == pytest.approx(plain(problem, state), rel=1e-11)


@every_world
def test_ratios_are_those_of_the_tokens_conditionals(name):
    """Token n goes to topic k with weight R_k (s theta_kp + c_kp) / (s + c_k), theta its mean.

    It may be fresh there, or echo any of the c_kp tokens of its word.
    """
    problem, state, label, fresh = drawn(name, 7)
    rng, own = np.random.default_rng(8), state.own
    word, owner = words_of(problem), np.repeat(np.arange(6), lengths_of(problem))
    level = level_of(state)
    row = rows_of(problem) if level is None else rows_of(problem) * 2 + level
    rates = rates_of(problem, state)
    for n in rng.choice(word.size, 6, replace=False):
        same = (owner == owner[n]) & (np.arange(word.size) != n)
        theirs = same & (word == word[n])
        fresh = fresh.copy()
        fresh[theirs], fresh[n] = True, True  # nobody echoes a token that moves
        found, expected = [], []
        for k in range(problem.n_atoms):
            moved, echoing = label.copy(), fresh.copy()
            moved[n], echoing[n] = k, False
            c, c_p = int((same & (label == k)).sum()), int((theirs & (label == k)).sum())
            counts = counts_of(at(problem, state, moved, echoing).evidence)
            mean = (own.concentration + counts[word[n], k]) / (
                own.concentration * len(counts) + counts[:, k].sum()
            )
            full = rates.gain_K[k] * (rates.shape_K[k] + c)
            weight = full * (mean * rates.fade_J[c] + c_p * rates.echo_J[c])
            expected.append(weight if c else rates.unused_TK[row[owner[n]], k] * mean)
            chance = np.exp(log_joint(problem, at(problem, state, moved, fresh)))
            if own.burstiness > 0.0:
                chance += c_p * np.exp(log_joint(problem, at(problem, state, moved, echoing)))
            found.append(chance)
        np.testing.assert_allclose(
            np.array(found) / sum(found), np.array(expected) / sum(expected), rtol=2e-6
        )


def states(most, n_words, n_topics, bursty):
    """Yield (words, topics, fresh, ways) of all documents of at most so many tokens."""
    for n in range(most + 1):
        for words in itertools.combinations_with_replacement(range(n_words), n):
            for label in itertools.product(range(n_topics), repeat=n):
                pairs = list(zip(words, label, strict=True))
                before = [pairs[:i].count(pair) for i, pair in enumerate(pairs)]
                may = [(True, False) if b and bursty else (True,) for b in before]
                for fresh in itertools.product(*may):
                    echoes = [b for b, f in zip(before, fresh, strict=True) if not f]
                    yield words, label, fresh, np.prod(echoes, initial=1)


@pytest.mark.parametrize(
    ("name", "most"), [("poisson, bursts", (3, 2)), ("levels, bursts", (2, 1))]
)
def test_it_adds_up_to_one(name, most):
    """The sum over all documents up to a length is the chance that none is longer."""
    rng, world, n_words, n_topics = np.random.default_rng(4), WORLDS[name], 2, 2
    thinning = SideBySide(world.thinning, 1, n_topics)
    x = thinning.draw(rng, n_topics, None)
    theta, shape = rng.dirichlet(np.ones(n_words), n_topics).T, np.array([0.8, 0.8])
    log_mass, row = np.log([0.4, 1.1]), np.array([0, 2])
    levels = [None]
    if world.odds is not None:
        levels = [np.array(both) for both in itertools.product(range(2), repeat=2)]
    likelihood = TopicLikelihood(world.factor(), world.concentration, world.burstiness)
    total, of_lengths = 0.0, 0.0
    pairs = [list(states(n, n_words, n_topics, True)) for n in most]
    for one, other in itertools.product(*pairs):
        label, fresh = (a + b for a, b in zip(one[1:3], other[1:3], strict=True))
        problem = problem_of(
            documents_of([one[0], other[0]], n_words), row, levy=None, thinning=thinning,
            likelihood=likelihood, prepared=None, trials=np.bincount(row), n_atoms=n_topics,
        )  # fmt: skip
        given = np.array(label, np.int16), np.array(fresh, bool)
        for level in levels:
            state = as_state(problem, *given, theta, shape, log_mass, x, level)
            total += one[3] * other[3] * np.exp(log_joint(problem, state))
    usage, log_odds = usage_of(problem, state), log_odds_of(problem, x)
    assert len(log_odds) == TIMES.size
    for level in levels:
        chance = 1.0
        for d in range(2):
            here = usage if level is None else usage.at(level[d])
            share = 1.0 if level is None else 0.5
            chance *= share * length_pmf(here, log_odds[row[d]], most[d]).sum()
        of_lengths += chance
    assert total == pytest.approx(of_lengths, rel=1e-10)


@pytest.mark.parametrize("gone", ["gate", "urn", "order"])
def test_a_missing_term_is_seen(gone):
    """The twin, without one of its terms, is another number."""
    problem, state, *_ = drawn("poisson, bursts", 3)
    wrong = {
        "gate": lambda: replace(state, x=state.x._replace(weights=state.x.weights + 0.1)),
        "urn": lambda: state.with_own(burstiness=0.41),
        "order": lambda: state,
    }[gone]()
    facts = problem.facts._replace(log_orders=0.0) if gone == "order" else problem.facts
    assert plain(problem, state) != pytest.approx(
        log_joint(replace(problem, facts=facts), wrong), rel=1e-6
    )
