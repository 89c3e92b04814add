"""Gamma variables with a bound from below, against their distribution function."""

import numpy as np
import pytest
from scipy import stats

from thincrm.numerics.bounded_gamma import gamma_at_least

CASES = [(2.0, 0.5), (2.0, 1.9), (2.0, 2.1), (5.0, 30.0), (0.3, 0.2), (0.3, 4.0), (1.0, 3.0)]


@pytest.mark.parametrize(("shape", "least"), CASES)
def test_they_have_the_law_of_the_tail(shape, least):
    rate = 3.0
    drawn = gamma_at_least(np.random.default_rng(1), shape, np.full(20_000, rate), least / rate)
    law = stats.gamma(shape, scale=1.0 / rate)
    beyond = law.sf(least / rate)
    assert drawn.min() >= least / rate
    found = stats.kstest(drawn, lambda x: 1.0 - law.sf(x) / beyond)
    assert found.pvalue > 1e-5 / len(CASES)


def test_where_the_bound_is_far_below_the_draws_are_the_usual_ones():
    rate = np.array([0.5, 2.0, 8.0])
    drawn = gamma_at_least(np.random.default_rng(2), 40.0, rate, 1e-6)
    np.testing.assert_array_equal(drawn, np.random.default_rng(2).gamma(40.0, 1.0, 3) / rate)


@pytest.mark.parametrize("rate", [1e300, np.inf, np.nan, 1e-300])
def test_any_rate_comes_to_an_end(rate):
    drawn = gamma_at_least(np.random.default_rng(3), 2.0, np.array([rate]), 1e-6)
    assert drawn.shape == (1,)
    assert not drawn[0] < 1e-6
