"""Counts against their exact laws, on both sides of every switch of algorithm."""

import numpy as np
import pytest
from drawing import assert_discrete_law, assert_mean, assert_pmf, draws
from scipy import special, stats

from thincrm.numerics.streams import new_stream
from thincrm.numerics.variates import _stirling_tail, binomial, crt, crt_sum, multinomial, poisson


def crt_pmf(n, concentration):
    """The law of a sum of independent Bernoulli(a / (a + j)), by convolution."""
    pmf = np.ones(1)
    for j in range(n):
        p = concentration / (concentration + j)
        pmf = np.convolve(pmf, [1 - p, p])
    return pmf


BINOMIALS = [
    (1, 0.3),
    (2, 0.999),
    (7, 0.5),
    (19, 0.5),  # n p = 9.5: waiting times
    (20, 0.5),  # n p = 10: rejection
    (40, 0.2499),
    (40, 0.25),
    (35, 0.75),
    (1000, 0.3),
    (1000, 0.0099),
    (1000, 0.995),
    (100_000, 0.5),
    (10_000_000, 1e-9),
    (10_000_000, 1e-7),
    (10_000_000, 1.1e-6),
    (10_000_000, 0.3),
    (10_000_000, 1 - 1e-7),
    (2**40, 1e-11),
    (2**40, 0.25),
]


@pytest.mark.parametrize(("n", "p"), BINOMIALS)
def test_binomial(n, p, size):
    x = draws(1, binomial, n, p, n=size)
    assert x.min() >= 0
    assert x.max() <= n
    assert_discrete_law(x, stats.binom(n, p))
    assert_mean(x, n * p, np.sqrt(n * p * (1 - p)))


@pytest.mark.parametrize("mean", [0.0, 1e-8, 0.7, 15.9, 16.1, 40.0, 1e3, 1e7])
def test_poisson(mean, size):
    x = draws(3, poisson, mean, n=size)
    assert x.min() >= 0
    if mean > 0.0:
        assert_discrete_law(x, stats.poisson(mean))
        assert_mean(x, mean, np.sqrt(mean))


def test_stirling_s_series():
    """log k! = (k + 1/2) log(k + 1) - (k + 1) + log(2 pi)/2 + tail, on both sides of the table."""
    k = np.concatenate([np.arange(200.0), [1e3, 1e6]])
    leading = (k + 0.5) * np.log(k + 1) - (k + 1) + 0.5 * np.log(2 * np.pi)
    tail = np.array([_stirling_tail(one) for one in k])
    assert np.allclose(leading + tail, special.gammaln(k + 1), rtol=1e-14, atol=1e-10)


@pytest.mark.parametrize("p", [1e-18, 1e-19, 1e-30, 1e-300, 5e-324])
def test_binomial_of_hopeless_odds(p):
    """A waiting time longer than any integer is a failure, not an overflow."""
    assert not np.any(draws(2, binomial, 1000, p, n=1000))


def test_binomial_without_chance():
    state = new_stream(np.uint64(1), 1)
    before = state.copy()
    assert binomial(state, 0, 0.5) == 0
    assert binomial(state, -1, 0.5) == 0
    assert binomial(state, 9, 0.0) == 0
    assert binomial(state, 9, 1.0) == 9
    assert binomial(state, 9, 1.5) == 9
    assert np.array_equal(state, before)


def multinomials(seed, n, weight, size=20_000):
    weight = np.asarray(weight, float)

    def one(state):
        out = np.full(weight.size, -1, np.int64)
        multinomial(state, n, weight, out)
        return out

    return draws(seed, one, n=size)


@pytest.mark.parametrize(
    ("n", "weight"),
    [
        (1, [1.0, 2.0, 3.0]),
        (10, [0.5, 0.25, 0.2, 0.05]),
        (30, [1e-9, 3e-9, 2e-9]),
        (1000, [5.0, 1.0, 1e-3, 4.0]),
        (8, [0.0, 1.0, 0.0, 2.0, 0.0]),
        (25, np.arange(1.0, 21.0)),
    ],
)
def test_multinomial(n, weight):
    x = multinomials(3, n, weight)
    p = np.asarray(weight) / np.sum(weight)
    assert np.all(x.sum(1) == n)
    assert np.all(x[:, p == 0] == 0)
    for k in np.flatnonzero(p):
        assert_discrete_law(x[:, k], stats.binom(n, p[k]))
    first, last = np.flatnonzero(p)[[0, -1]]
    assert_discrete_law(x[:, first] + x[:, last], stats.binom(n, min(1.0, p[first] + p[last])))


def test_multinomial_of_nothing_and_of_one_class():
    assert multinomials(4, 0, [1.0, 2.0], size=2).tolist() == [[0, 0]] * 2
    assert multinomials(4, 5, [3.0], size=2).tolist() == [[5]] * 2


@pytest.mark.parametrize(("n", "a"), [(1, 0.1), (5, 0.5), (40, 3.0), (200, 0.02), (30, 1e6)])
def test_crt(n, a, size):
    x = draws(5, crt, n, a, n=size)
    assert_pmf(x, crt_pmf(n, a))
    p = a / (a + np.arange(n))
    assert_mean(x, p.sum(), np.sqrt(np.sum(p * (1 - p))) + 1e-9)


def test_crt_of_nobody():
    assert crt(new_stream(np.uint64(1), 1), 0, 2.0) == 0


@pytest.mark.parametrize("a", [0.05, 0.8, 20.0])
def test_crt_sum_is_a_sum_of_crts(a):
    sizes = [3, 0, 7, 7, 1, 25]
    above = np.array([np.sum(np.array(sizes) > j) for j in range(max(sizes))])
    pmf = np.ones(1)
    for n in sizes:
        pmf = np.convolve(pmf, crt_pmf(n, a))
    assert_pmf(draws(6, crt_sum, above, a, n=20_000), pmf)
    assert crt_sum(new_stream(np.uint64(1), 1), np.zeros(0, np.int64), a) == 0
