"""Levels of documents: their conditional, their shares, and what they say of masses and gates."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, gammaln

from thincrm.errors import InvalidInput
from thincrm.models.topics.factors import GammaNegativeBinomialFactor
from thincrm.models.topics.levels import draw_levels, draw_shares, level_gates
from thincrm.models.topics.usage import TopicEvidence, token_rates

ODDS = (0.2, 1.0, 7.0)
FACTOR = GammaNegativeBinomialFactor(ODDS)
MASS = np.array([0.8, 2.5, 0.1])
Q = np.array(ODDS) / (1 + np.array(ODDS))
SHARE = np.array([0.5, 0.3, 0.2])
LOG_ODDS_TK = np.array([[0.3, np.inf, -2.0], [1.0, -np.inf, -1.0]])
USAGE = FACTOR.usage(None, np.log(MASS))._replace(log_share=np.log(SHARE))


def chance_of_levels(count_K, log_odds_K):
    """Return P(level | tokens of each topic), from the definition."""
    a, chance = expit(log_odds_K), SHARE.copy()
    for b, q in enumerate(Q):
        pmf = stats.nbinom.pmf(count_K, MASS, 1 - q)
        chance[b] *= np.prod(a * pmf + (1 - a) * (np.array(count_K) == 0))
    return chance / chance.sum()


@pytest.mark.parametrize(("count", "t"), [([0, 0, 0], 0), ([3, 0, 0], 1), ([2, 9, 1], 0)])
def test_levels_have_their_law(count, t):
    size = 50_000
    used = np.flatnonzero(count)
    topics = (
        np.full(size, used.size),
        np.tile(np.resize(used, 3), size),
        np.tile(np.resize(np.take(count, used), 3), size),
    )
    level = draw_levels(
        np.uint64(1), np.arange(size), np.full(size, t), np.arange(size + 1) * 3,
        topics, USAGE, LOG_ODDS_TK,
    )  # fmt: skip
    law = chance_of_levels(count, LOG_ODDS_TK[t])
    assert stats.chisquare(np.bincount(level, minlength=3), size * law).pvalue > 1e-5


def test_levels_of_numbers_that_cannot_be_are_levels():
    """Levels are places in tables: those of a forged run must not lie beyond them."""
    size, never = 5_000, USAGE._replace(log_share=np.full(3, -np.inf))
    topics = np.zeros(size, int), np.zeros(0, int), np.zeros(0, int)
    for _ in range(20):  # memory that is not written holds anything
        np.full(size, 2**30, np.int32)
        level = draw_levels(
            np.uint64(1), np.arange(size), np.zeros(size, int), np.zeros(size + 1, int),
            topics, never, LOG_ODDS_TK,
        )  # fmt: skip
        assert ((level >= 0) & (level < 3)).all()


def test_shares_are_dirichlet():
    rng, level = np.random.default_rng(2), np.array([0, 2, 2, 2])
    share = np.exp([draw_shares(rng, level, 3) for _ in range(5_000)])
    for b, n in enumerate((1, 0, 3)):
        assert stats.kstest(share[:, b], stats.beta(1 + n, 6 - n).cdf).pvalue > 1e-5


def test_silent_documents_are_sure_or_as_silent_as_the_loudest_there():
    """At row 0 levels 0 and 2, at row 1 level 1 alone: there nothing needs to be drawn."""
    size = 20_000
    usage = USAGE._replace(shape=np.full(size, 0.8))
    positive = np.zeros((6, size), int)
    positive[2] = 1
    trials = np.array([5, 0, 4, 0, 3, 0])
    evidence = TopicEvidence(None, positive, None, trials, None)
    odds = np.tile([[0.3], [1.0]], (1, size))
    found = level_gates(np.random.default_rng(3), usage, evidence, odds)
    a, quiet, least = expit(0.3), (1 - Q[0]) ** 0.8, (1 - Q[2]) ** 0.8
    sure = a * (quiet - least) / (1 - a + a * quiet)
    seen = np.bincount(found.positive[0] - 1, minlength=6)
    assert stats.chisquare(seen, size * stats.binom.pmf(range(6), 5, sure)).pvalue > 1e-5
    assert not found.positive[1].any()
    np.testing.assert_array_equal(found.trials, [9, 3])
    np.testing.assert_allclose(found.log_q[:, 0], 0.8 * np.log1p(-Q[[2, 1]]))


def test_masses_have_the_right_conditional():
    """Tables integrated out: m^(l) with l drawn moves m in balance with prod NB(n_d; m, p_d)."""
    rng, size = np.random.default_rng(4), 100_000
    count_D, level_D, opened = np.array([3, 0, 6, 1]), np.array([0, 1, 2, 2]), [1, 1, 2]
    above = np.tile([[(count_D > j).sum()] for j in range(6)], (1, size))
    evidence = TopicEvidence(None, None, above, None, None)
    open_TK = np.tile(np.array(opened)[:, None], (1, size))
    grid = np.linspace(-9.0, 4.0, 4001)
    log_density = 0.7 * grid - 0.5 * np.exp(grid)  # of log m: a gamma prior
    for n, b in zip(count_D, level_D, strict=True):
        log_density += gammaln(np.exp(grid) + n) - gammaln(np.exp(grid))
        log_density += np.exp(grid) * np.log1p(-Q[b])
    law = np.exp(log_density - log_density.max())
    cdf = np.concatenate([[0.0], np.cumsum((law[1:] + law[:-1]) / 2)])
    start = np.interp(rng.random(size), cdf / cdf[-1], grid)
    found = FACTOR.mass_evidence(rng, np.ones(size), start, evidence, open_TK)
    assert not found.misses.any()
    assert not found.overflow.any()
    np.testing.assert_allclose(found.exposure, -np.log1p(-Q) @ opened)
    moved = np.log(rng.gamma(0.7 + found.hits) / (0.5 + found.exposure))
    assert stats.kstest(moved, lambda x: np.interp(x, grid, cdf / cdf[-1])).pvalue > 1e-5


def test_token_rates_are_ratios_of_probabilities_but_for_a_factor_of_the_document():
    rates = token_rates(USAGE, np.tile(LOG_ODDS_TK[:1], (3, 1)), np.ones((1, 16), np.float32), 0, 9)
    a = expit(LOG_ODDS_TK[0])
    for b, q in enumerate(Q):
        law = stats.nbinom(MASS, 1 - q)
        first = a * law.pmf(1) / (1 - a + a * law.pmf(0))
        np.testing.assert_allclose(rates.unused_TK[b, :3] * q, first, rtol=1e-6)
        more = 5 * law.pmf(5) / law.pmf(4)
        np.testing.assert_allclose(((rates.shape_K + 4) * rates.gain_K)[:3] * q, more, rtol=1e-12)


def test_extreme_masses_give_no_nan():
    log_mass = np.array([-5e3, -700.0, 0.0, 6.0])
    usage = FACTOR.usage(None, log_mass)
    assert np.all(np.isfinite(usage.log_silent))
    assert np.all(usage.log_silent <= 0)
    above = np.array([[0, 0, 3, 2]])
    found = FACTOR.mass_evidence(
        np.random.default_rng(0), np.ones(4), log_mass,
        TopicEvidence(None, None, above, None, None), np.ones((3, 4), int),
    )  # fmt: skip
    np.testing.assert_array_equal(found.hits, above[0])  # a restaurant has a first table


def test_levels_start_near_the_lengths():
    level = GammaNegativeBinomialFactor().start_levels(np.array([0, 1, 40, 10**9]))
    assert level[0] == level[1] == 0
    assert GammaNegativeBinomialFactor().odds[level[2]] == 4.0
    assert level[3] == GammaNegativeBinomialFactor().n_levels - 1


@pytest.mark.parametrize("odds", [(), (1.0, -2.0), (np.nan,), ((1.0,),)])
def test_bad_odds_are_one_sentence(odds):
    with pytest.raises(InvalidInput, match="odds must be positive"):
        GammaNegativeBinomialFactor(odds)
