"""Bands of topics: where their ends stand, and that they hold what they say they do."""

import numpy as np
import pandas as pd
import pytest
from made_up_draws import made_up
from scipy import stats
from scipy.special import expit

from thincrm.data.covariates import covariates
from thincrm.inference.convergence import tail_ess
from thincrm.models.topics.bands import band
from thincrm.models.topics.tables import TopicTables

YEARS = np.array([1900, 1901, 1902, 1905, 1901])
VOCABULARY = pd.Index(list("abcdef"))


def slow(seed, n_chains, n_draws, phi):
    """Return chains of standard normal draws, each like the one before."""
    rng = np.random.default_rng(seed)
    x_CS = rng.standard_normal((n_chains, n_draws))
    for s in range(1, n_draws):
        x_CS[:, s] = phi * x_CS[:, s - 1] + np.sqrt(1.0 - phi**2) * x_CS[:, s]
    return x_CS


def plain_ends(draws, n, tail):
    """Return what is at rank tail (n + 1) from either end, were the draws n instead of B."""
    way = max((tail * (n + 1) - 1) / (n - 1), 0.0)
    ordered, place = sorted(draws), np.arange(len(draws))
    last = len(draws) - 1
    return np.interp(way * last, place, ordered), np.interp((1 - way) * last, place, ordered)


def test_few_draws_count_as_independent_ones():
    """One more of 7 is between the second and the sixth with probability 4 / 8."""
    values_BQK = np.random.default_rng(1).standard_normal((7, 3, 2))
    lower, upper = band(values_BQK, np.zeros(7, int), 0.5)
    np.testing.assert_array_equal(lower, np.sort(values_BQK, axis=0)[1])
    np.testing.assert_array_equal(upper, np.sort(values_BQK, axis=0)[5])
    lower, upper = band(values_BQK, np.zeros(7, int), 0.9)  # seven cannot tell
    np.testing.assert_array_equal(lower, values_BQK.min(axis=0))
    np.testing.assert_array_equal(upper, values_BQK.max(axis=0))


def test_bands_are_quantiles_of_what_is_there():
    """Chains so short that their draws count as independent; a draw may lack a topic."""
    rng = np.random.default_rng(4)
    values, chain = rng.normal(size=(31, 5, 4)), np.arange(31) // 7
    values[np.broadcast_to(rng.random((31, 1, 4)) < 0.3, values.shape)] = np.nan
    values[1:, :, 0] = np.nan
    values[0, :, 0] = 1.5
    ends = np.nanquantile(values, [0.1, 0.9], axis=0, method="weibull")
    np.testing.assert_allclose(np.stack(band(values, chain, 0.8)), ends, atol=1e-12)
    assert np.isnan(band(np.full((3, 1, 1), np.nan), np.zeros(3, int), 0.9)).all()


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.95])
def test_ends_stand_where_those_of_fewer_independent_draws_would(phi):
    """A topic that one of the chains lacks has the draws of the others."""
    drawn = np.stack([slow(seed, 4, 50, phi) for seed in range(6)])  # Q K, C, S
    values_BQK = np.moveaxis(drawn.reshape(3, 2, 200), 2, 0).copy()
    values_BQK[50:100, :, 1] = np.nan
    lower, upper = band(values_BQK, np.repeat(np.arange(4), 50), 0.9)
    for q, k in np.ndindex(3, 2):
        chains = drawn.reshape(3, 2, 4, 50)[q, k][[0, 2, 3] if k else [0, 1, 2, 3]]
        n = min(tail_ess(chains), chains.size)
        expected = plain_ends(chains.ravel(), n, 0.05)
        np.testing.assert_allclose([lower[q, k], upper[q, k]], expected, rtol=1e-9)


@pytest.mark.parametrize("phi", [0.0, 0.8, 0.95, 0.98])
def test_bands_of_slow_chains_hold_what_they_say(phi):
    """Those of all draws taken as independent hold less."""
    drawn = np.stack([slow(seed, 4, 100, phi) for seed in range(300)])
    values_BQK = drawn.reshape(300, 400).T[:, None]
    lower, upper = band(values_BQK, np.repeat(np.arange(4), 100), 0.9)
    held = (stats.norm.cdf(upper) - stats.norm.cdf(lower)).mean()
    ends = np.quantile(values_BQK, [0.05, 0.95], axis=0)
    narrow = (stats.norm.cdf(ends[1]) - stats.norm.cdf(ends[0])).mean()
    assert narrow < (0.87 if phi > 0.9 else 0.897)
    assert 0.89 < held < 0.93


def lacking(times):
    """Return draws of four chains; the last has topic 0 and `times` topic 1 as one, column 0."""
    words_of = np.array([[20, 10, 5, 0, 0, 0], [0, 0, 4, 20, 8, 0], [3, 0, 0, 0, 9, 25]])
    both = np.array([words_of[0] + times * words_of[1], words_of[0], words_of[2]])
    draws = [made_up([0, 1, 2], 10 * c + i, c, i, words_of=words_of)
             for c in range(3) for i in range(4)]  # fmt: skip
    return draws + [made_up([0, 2], 40 + i, 3, i, words_of=both) for i in range(4)]


@pytest.mark.parametrize(("times", "akin"), [(2, True), (6, False)])
def test_bands_have_what_a_chain_makes_of_a_topic_it_lacks(times, akin):
    """The chain's own topic that has most of its words, unless these are few of that one's.

    Means are of the chains that have it.
    """
    draws = lacking(times)
    tables = TopicTables(draws, VOCABULARY, covariates(YEARS))
    curves = tables.activation(tables.known.rows, 0.8, lambda draw, _: draw.log_odds)
    consensus = tables.consensus(0.7)
    lacks = np.flatnonzero(consensus.firm() & ~consensus.found[3])
    assert lacks.size
    for k in lacks:
        has = [(draw, int(at[k])) for draw, at in zip(draws[:12], tables.found, strict=False)]
        held_P = tables.told.words(tables.chains)[:, k]
        for draw in draws[12:]:
            words = draw.words.toarray()
            share = [sum(held_P[p] * words[p, j] / max(words[p].sum(), 1) for p in range(6))
                     for j in range(2)]  # fmt: skip
            best = words[:, int(np.argmax(share))]
            near = held_P @ best / np.sqrt((held_P @ held_P) * (best @ best))
            assert (near > 0.35) == akin
            if akin:
                has.append((draw, int(np.argmax(share))))
        assert all(at[k] == -1 for at in tables.found[12:])
        open_BT = np.array([expit(draw.log_odds[:, j]) for draw, j in has])
        mine = curves[curves["topic"] == k]
        np.testing.assert_allclose(mine["mean"], open_BT[:12].mean(axis=0))
        ends = np.quantile(open_BT, [0.1, 0.9], axis=0, method="weibull")
        np.testing.assert_allclose(mine[["lower", "upper"]].T, ends)
