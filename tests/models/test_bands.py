"""Bands: where their ends stand, and that they hold what they say they do."""

import numpy as np
import pytest
from scipy import stats

from thincrm.inference.convergence import tail_ess
from thincrm.models.bands import band


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
    """Chains so short that their draws count as independent; a draw may lack an atom."""
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
    """An atom that one of the chains lacks has the draws of the others."""
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


def test_a_quantity_that_an_atom_has_not_leaves_its_others_alone():
    values = np.random.default_rng(5).normal(size=(40, 3, 2))
    values[10:20] = np.nan  # draws without the atoms
    without = values[:, :2]
    values[:, 2, 0] = np.nan
    chain = np.arange(40) // 20
    found = np.stack(band(values, chain, 0.8))
    np.testing.assert_array_equal(found[:, :2], np.stack(band(without, chain, 0.8)))
    assert np.isnan(found[:, 2, 0]).all()
    assert np.isfinite(found[:, 2, 1]).all()
