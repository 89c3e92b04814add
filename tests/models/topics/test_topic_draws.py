"""Topics are Dirichlet, in every branch; their concentration has the right density."""

from functools import partial

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from thincrm.models.topics.usage import MOST_SHAPE, padded
from thincrm.models.topics.words import (
    CONCENTRATION_PRIOR,
    URN_LAW,
    concentration_density,
    draw_topics,
    redraw_concentration,
    urn_density,
)
from thincrm.testing import (
    assert_passed,
    assert_rejected,
    check_conditional,
    exact_rank_test,
    looped,
)

N_TOPICS = 40_000
EDGES = np.array([0, 1e-30, 1e-12, 1e-6, 1e-3, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 1.0])
CASES = {
    "small shapes": (0.05, [0, 0, 0, 0]),
    "small shapes and counts": (0.05, [0, 3, 0, 1]),
    "middling": (0.6, [0, 1, 40, 0]),
    "shapes above one": (2.5, [0, 1, 4, 0]),
    "one": (1.0, [0, 0, 2]),
    "tiny shapes": (0.004, [0, 0, 0]),
    "one word": (0.3, [0]),
}


def columns(case, seed=1, error=1.0):
    concentration, counts = CASES[case]
    counts_PK = np.zeros((len(counts), padded(N_TOPICS)), np.int32)
    counts_PK[:, :N_TOPICS] = np.array(counts)[:, None]
    theta = draw_topics(
        np.random.default_rng(seed), counts_PK, error * concentration, np.arange(N_TOPICS)
    )
    assert theta.dtype == np.float32
    assert not theta[:, N_TOPICS:].any()
    return theta[:, :N_TOPICS].astype(float)


def p_value(share, a, b):
    """Return the chi-square p-value of Beta(a, b) shares, bins that expect little joined."""
    expected = N_TOPICS * np.diff(stats.beta.cdf(EDGES, a, b))
    group = np.minimum(np.cumsum(expected) // 50, (expected.sum() - 50) // 50)
    seen = np.histogram(share, EDGES)[0]
    _, place = np.unique(group, return_inverse=True)
    return stats.chisquare(np.bincount(place, seen), np.bincount(place, expected)).pvalue


def worst_p_value(theta_PK, case):
    """Return the smallest p-value of single words and of pairs of words: all are beta."""
    concentration, counts = CASES[case]
    shape = concentration + np.array(counts)
    sets = [[p] for p in range(len(counts))] + [[0, p] for p in range(1, len(counts) - 1)]
    found = [
        p_value(np.minimum(theta_PK[s].sum(0), 1.0), shape[s].sum(), np.delete(shape, s).sum())
        for s in sets
    ]
    return min(found) * len(found)


@pytest.mark.parametrize("case", [case for case in CASES if case != "one word"])
def test_columns_are_dirichlet(case):
    theta = columns(case)
    np.testing.assert_allclose(theta.sum(0), 1.0, atol=3e-7)
    assert worst_p_value(theta, case) > 1e-5


@pytest.mark.parametrize(
    ("case", "error"),
    [("small shapes", 1.1), ("middling", 1.1), ("shapes above one", 1.1), ("tiny shapes", 1.5)],
)
def test_a_wrong_concentration_is_seen(case, error):
    assert worst_p_value(columns(case, error=error), case) < 1e-5


def test_one_word_is_all_there_is():
    assert np.all(columns("one word") == 1.0)


def test_no_topic_vanishes():
    """With P concentration = 0.012 every seventh sum of gammas is 0 in float32."""
    theta = columns("tiny shapes")
    np.testing.assert_allclose(theta.sum(0), 1.0, atol=3e-7)
    assert np.all(np.isfinite(theta))


def test_topics_are_independent_of_each_other():
    theta = columns("middling")[0]
    z = stats.spearmanr(theta[::2], theta[1::2]).statistic * np.sqrt(N_TOPICS / 2)
    assert abs(z) < 4.42


def counts_of(rng, concentration, n_topics=3, n_words=4):
    """Draw tokens from Dirichlet-multinomials; one topic has none."""
    counts = np.zeros((n_words, padded(n_topics)), np.int32)
    for k, total in enumerate([6, 0, 9][:n_topics]):
        theta = rng.dirichlet(np.full(n_words, concentration))
        counts[:, k] = rng.multinomial(total, theta)
    return counts


def of_value(density):
    """Return the log density of a logarithm as a function of the parameter."""
    return lambda value: float(density(np.log([value]))[0])


def log_joint(counts_PK, n_topics, prior=CONCENTRATION_PRIOR):
    """Return log p(a, counts) with respect to log a."""

    def at(a):
        fit = stats.gamma.logpdf(a, prior[0], scale=1 / prior[1]) + np.log(a)
        for n_P in counts_PK[:, :n_topics].T:
            fit += stats.dirichlet_multinomial.logpmf(n_P, np.full(n_P.size, a), n_P.sum())
        return fit

    return at


GRID = [0.01, 0.2, 0.7, 1.0, 5.0, 80.0]


def test_concentration_has_its_conditional():
    rng = np.random.default_rng(2)
    for n_topics in (1, 3):
        counts = counts_of(rng, 0.5, n_topics)
        density = of_value(concentration_density(counts))
        check_conditional(log_joint(counts, n_topics), density, GRID)
        for prior in ((1.1, 1.0), (1.0, 1.1)):
            with pytest.raises(AssertionError, match="the conditional says"):
                check_conditional(log_joint(counts, n_topics, prior), density, GRID)


def test_concentration_without_tokens_is_the_prior():
    counts = np.zeros((4, 16), np.int32)
    check_conditional(log_joint(counts, 3), of_value(concentration_density(counts)), GRID)


def test_burstiness_has_its_conditional():
    """Tokens of one topic in one document in a row: each is fresh (s of s + i times) or an echo."""
    rng = np.random.default_rng(3)
    runs = [rng.random(n) < 0.7 for n in (1, 1, 2, 5, 9, 30)]
    for fresh in runs:
        fresh[0] = True
    n_seats = int(sum(fresh.sum() for fresh in runs))
    above = np.array([sum(len(fresh) > j for fresh in runs) for j in range(30)])

    def joint(s, prior=URN_LAW[:2]):
        fit = stats.gamma.logpdf(s, prior[0], scale=1 / prior[1]) + np.log(s)
        for fresh in runs:
            place = np.arange(fresh.size)
            fit += np.log(np.where(fresh, s, np.maximum(place, 1)) / (s + place)).sum()
        return fit

    density = of_value(urn_density(n_seats, above))
    grid = [20.5, 25.0, 60.0, 400.0, 3e4]
    check_conditional(joint, density, grid)
    for prior in ((1.1, 0.01), (1.0, 0.011)):
        with pytest.raises(AssertionError, match="the conditional says"):
            check_conditional(lambda s, p=prior: joint(s, p), density, grid)
    assert density(MOST_SHAPE * 0.99) == -np.inf


def draw(rng):
    a = rng.gamma(CONCENTRATION_PRIOR[0], 1 / CONCENTRATION_PRIOR[1])
    return a, counts_of(rng, a)


def functionals(state):
    a, counts = state
    cells = counts[counts > 0]
    fit = (gammaln(a + cells) - gammaln(a)).sum() - gammaln(4 * a + 6) - gammaln(4 * a + 9)
    return {
        "a": a,
        "log a squared": np.log(a) ** 2,
        "a cells": a * cells.size,
        "log-likelihood": fit + 2 * gammaln(4 * a),
    }


def redraw(rng, state, prior=CONCENTRATION_PRIOR):
    return redraw_concentration(rng, state[1], state[0], prior), state[1]


@pytest.mark.joint
def test_concentration_stays_in_its_posterior():
    assert_passed(exact_rank_test(*looped(draw, [redraw], functionals), n_first=1_000, rng=20261))


@pytest.mark.joint
def test_a_jacobian_too_many_is_seen():
    blocks = [partial(redraw, prior=(2.0, 1.0))]
    wrong = exact_rank_test(*looped(draw, blocks, functionals), n_first=1_000, rng=20261)
    assert_rejected(wrong)
