"""Continuous variates against SciPy's laws, at the edges where a plain draw would underflow."""

import numpy as np
import pytest
from drawing import assert_law, assert_mean, draws
from scipy import special, stats

from thincrm.numerics.cholesky import factor
from thincrm.numerics.streams import new_stream, uniform
from thincrm.numerics.variates import (
    beta_logs,
    gamma,
    gaussian_from_precision,
    log_dirichlet,
    log_gamma,
    normal,
    positive_normal,
)


def log_gamma_cdf(shape):
    """P(log G <= x); below -30, exp(shape x) / Gamma(shape + 1) to 13 digits."""

    def cdf(x):
        small = np.exp(np.minimum(shape * x - special.gammaln(shape + 1), 0))
        return np.where(x < -30, small, special.gammainc(shape, np.exp(np.maximum(x, -30))))

    return cdf


def log_beta_cdf(a, b):
    """P(log X <= x), X ~ Beta(a, b); below -30, exp(a x) / (a B(a, b)) to 13 digits."""

    def cdf(x):
        small = np.exp(np.minimum(a * x - np.log(a) - special.betaln(a, b), 0))
        return np.where(x < -30, small, special.betainc(a, b, np.exp(np.clip(x, -30, 0))))

    return cdf


def assert_log_beta(log_x, a, b):
    """The law of log X below -1e-6 (next to 0 logs are rounded), and how often it is below."""
    cdf = log_beta_cdf(a, b)
    kept = float(cdf(np.array(-1e-6)))
    low = log_x < -1e-6
    assert stats.binomtest(int(low.sum()), low.size, min(kept, 1.0)).pvalue > 1e-6
    if low.sum() > 100:
        assert_law(log_x[low], lambda x: cdf(x) / kept)


def test_uniform(size):
    assert_law(draws(1, uniform, n=size), "uniform")


def test_normal(size):
    x = draws(2, normal, n=size)
    assert_law(x, "norm")
    assert_mean(x**2, 1.0, np.sqrt(2))
    assert_mean(x**4, 3.0, np.sqrt(96))


@pytest.mark.parametrize("shape", [1e-6, 1e-3, 0.3, 0.999, 1.0, 2.5, 40.0, 1e6])
def test_log_gamma(shape, size):
    x = draws(3, log_gamma, shape, n=size)
    assert_law(x, log_gamma_cdf(shape))
    assert_mean(x, special.digamma(shape), np.sqrt(special.polygamma(1, shape)))


@pytest.mark.parametrize("shape", [0.3, 1.0, 7.0])
def test_gamma(shape):
    x = draws(4, gamma, shape)
    assert_law(x, stats.gamma(shape).cdf)
    assert_mean(x, shape, np.sqrt(shape))


def test_gamma_is_exactly_zero_where_it_underflows_and_its_log_is_not():
    x, log_x = draws(5, gamma, 1e-3), draws(5, log_gamma, 1e-3)
    assert np.mean(x == 0.0) == pytest.approx(0.475, abs=0.02)
    assert np.all(np.isfinite(log_x))
    assert np.allclose(x, np.exp(log_x), rtol=1e-14, atol=0)


@pytest.mark.parametrize(
    ("a", "b"), [(1e-3, 2e-3), (1e-6, 1.0), (0.5, 0.5), (2.0, 5.0), (1.0, 300.0), (1e5, 2e5)]
)
def test_beta_logs(a, b, size):
    log_x, log_y = draws(6, beta_logs, a, b, n=size).T
    assert_log_beta(log_x, a, b)
    assert_log_beta(log_y, b, a)
    assert np.allclose(np.exp(log_x) + np.exp(log_y), 1.0, atol=1e-12)
    assert max(log_x.max(), log_y.max()) <= 0.0


@pytest.mark.parametrize(
    "shape", [[0.3, 2.0, 1.0], [1e-3, 2e-3, 5e-4, 1e-3], [0.1] * 10, [1e4, 2e4], [5.0]]
)
def test_log_dirichlet(shape):
    shape = np.array(shape)

    def one(state):
        out = np.empty(shape.size)
        log_dirichlet(state, shape, out)
        return out

    x = draws(7, one, n=20_000)
    assert np.allclose(special.logsumexp(x, axis=1), 0.0, atol=1e-12)
    if shape.size == 1:
        return
    for p in (0, shape.size - 1):
        assert_log_beta(x[:, p], shape[p], shape.sum() - shape[p])
    if shape.size > 2 and shape.sum() > 0.5:  # two together are one of their sum
        pair = special.logsumexp(x[:, :2], axis=1)
        assert_law(np.exp(pair), stats.beta(shape[:2].sum(), shape[2:].sum()).cdf)


@pytest.mark.parametrize("mean", [-1e6, -40.0, -8.0, -1.0, -0.5, -0.49, 0.0, 2.0, 8.0, 40.0])
def test_positive_normal(mean, size):
    x = draws(8, positive_normal, mean, n=size)
    assert x.min() > 0.0
    assert_law(x, lambda t: -np.expm1(special.log_ndtr(mean - t) - special.log_ndtr(mean)))


def test_positive_normals_of_any_mean_come_to_an_end():
    x = draws(8, positive_normal, -1e200, n=2_000)
    assert_law(x * 1e200, lambda t: -np.expm1(-t))
    for mean in (-np.inf, np.nan):
        assert not draws(8, positive_normal, mean, n=1)[0] > 0.0


def test_gaussian_from_precision():
    """R (x - Q^-1 b) is standard normal: each entry's law, and no correlation."""
    rng = np.random.default_rng(9)
    root = rng.normal(size=(6, 4))
    Q, b = root.T @ root + np.diag([1e-2, 1.0, 1e2, 1e4]), rng.normal(size=4)

    def one(state):
        out = np.empty(4)
        gaussian_from_precision(state, Q.copy(), b, out)
        return out

    x = draws(9, one, n=20_000)
    z = (x - np.linalg.solve(Q, b)) @ np.linalg.cholesky(Q)
    for j in range(4):
        assert_law(z[:, j], "norm")
        assert_mean(z[:, j] ** 2, 1.0, np.sqrt(2))
        for k in range(j):
            assert_mean(z[:, j] * z[:, k], 0.0, 1.0)


def test_gaussian_of_one_number():
    def one(state):
        out = np.empty(1)
        gaussian_from_precision(state, np.array([[4.0]]), np.array([2.0]), out)
        return out[0]

    assert_law(draws(10, one), stats.norm(0.5, 0.5).cdf)


def test_only_the_upper_triangle_is_read():
    Q = np.array([[2.0, 0.5], [0.5, 1.0]])
    upper = np.array([[2.0, 0.5], [np.nan, 1.0]])
    outs = []
    for matrix in (Q, upper):
        out = np.empty(2)
        gaussian_from_precision(new_stream(np.uint64(1), 1), matrix, np.ones(2), out)
        outs.append(out)
    assert np.array_equal(*outs)
    assert np.all(np.isfinite(outs[0]))


def test_factor_is_used_by_the_gaussian_draw():
    Q = np.array([[4.0, 2.0], [2.0, 5.0]])
    used, direct = Q.copy(), Q.copy()
    gaussian_from_precision(new_stream(np.uint64(1), 1), used, np.ones(2), np.empty(2))
    factor(direct)
    assert np.array_equal(used, direct)
