"""Both moves against known targets: the law stays (rank test), and is reached from elsewhere."""

import numpy as np
import pytest
from scipy import special, stats

from thincrm.errors import InvalidInput
from thincrm.numerics.slice import elliptical_slice, slice_move
from thincrm.testing import assert_passed, exact_rank_test


def log_gamma_density(x):
    """log X for X ~ Gamma(0.5, 1)."""
    return 0.5 * x - np.exp(x)


def positive_density(x):
    """X ~ Gamma(0.7, 1): unbounded at 0, nothing below."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 0, -0.3 * np.log(np.abs(x)) - x, -np.inf)


def two_humps(x):
    return np.logaddexp(-0.5 * (x + 2) ** 2, np.log(2.0) - 2.0 * (x - 2) ** 2)


def draw_two_humps(rng, n):
    left = rng.random(n) < 0.5  # both have the same weight: 1 / 1 and 2 * 0.5
    return np.where(left, rng.normal(-2, 1, n), rng.normal(2, 0.5, n))


def two_boxes(x):
    """Uniform on (0, 1) and (1.8, 2.8): it is up to chance whether an interval spans the gap."""
    return np.where(((x > 0) & (x < 1)) | ((x > 1.8) & (x < 2.8)), 0.0, -np.inf)


def draw_two_boxes(rng, n):
    return rng.random(n) + 1.8 * (rng.random(n) < 0.5)


TARGETS = {
    "skewed": (log_gamma_density, lambda rng, n: np.log(rng.gamma(0.5, size=n)), 1.0),
    "skewed, width far too small": (
        log_gamma_density,
        lambda rng, n: np.log(rng.gamma(0.5, size=n)),
        0.2,
    ),
    "positive": (positive_density, lambda rng, n: rng.gamma(0.7, size=n), 1.0),
    "two boxes": (two_boxes, draw_two_boxes, 1.0),
    "two humps": (two_humps, draw_two_humps, 1.5),
    "two humps, width far too large": (two_humps, draw_two_humps, 50.0),
}


@pytest.mark.parametrize("name", TARGETS)
def test_a_slice_move_keeps_its_target(name):
    log_density, draw, width = TARGETS[name]

    def move(rng, x):
        return slice_move(rng, x, log_density, width=width)

    def functionals(x):
        return {"x": x, "distance": np.abs(x - 1), "density": log_density(x)}

    assert_passed(exact_rank_test(draw, [move], functionals, n_steps=4, n_first=10_000, rng=1))


@pytest.mark.parametrize("name", TARGETS)
def test_a_slice_move_gets_there(name):
    log_density, draw, width = TARGETS[name]
    rng = np.random.default_rng(2)
    x = np.full(5000, 0.9)
    for _ in range(60):
        x = slice_move(rng, x, log_density, width=width)
    assert stats.ks_2samp(x, draw(rng, 50_000)).pvalue > 1e-6


def test_slice_targets_of_their_own():
    """K different targets at once: x_k ~ N(k, (k + 1)^2)."""
    k = np.repeat(np.arange(5.0), 4000)
    rng = np.random.default_rng(3)
    x = k.copy()
    for _ in range(30):
        x = slice_move(rng, x, lambda x: -0.5 * ((x - k) / (k + 1)) ** 2)
    z = ((x - k) / (k + 1)).reshape(5, -1)
    for row in z:
        assert stats.kstest(row, "norm").pvalue > 1e-6


def test_a_slice_move_leaves_its_argument_alone():
    x = np.array([0.5, 1.0])
    out = slice_move(1, x, log_gamma_density)
    assert x.tolist() == [0.5, 1.0]
    assert not np.any(out == x)
    assert np.array_equal(out, slice_move(1, x, log_gamma_density))


def test_a_slice_move_from_outside_the_support_is_refused():
    with pytest.raises(InvalidInput, match="starts outside the support"):
        slice_move(1, np.array([1.0, -1.0]), positive_density)
    with pytest.raises(InvalidInput, match="starts outside the support"):
        slice_move(1, np.array([np.nan]), log_gamma_density)


ROOT = np.array([[1.0, 0.0], [0.8, 0.6]])  # prior covariance ROOT ROOT'


def probit_log_likelihood(x_KJ, y_KI):
    design_JI = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, -3.0]])
    return special.log_ndtr(np.where(y_KI, 1.0, -1.0) * (x_KJ @ design_JI)).sum(1)


def draw_probit(rng, n):
    x = rng.normal(size=(n, 2)) @ ROOT.T
    z = x @ np.array([[2.0, 1.0, 0.0], [0.0, 1.0, -3.0]]) + rng.normal(size=(n, 3))
    return {"x": x, "y": z > 0}


def elliptical(rng, s):
    fresh = rng.normal(size=s["x"].shape) @ ROOT.T
    x = elliptical_slice(rng, s["x"], fresh, lambda x: probit_log_likelihood(x, s["y"]))
    return s | {"x": x}


def test_an_elliptical_slice_keeps_its_posterior():
    def functionals(s):
        x = s["x"]
        return {
            "x0": x[:, 0],
            "x1": x[:, 1],
            "x0 x1": x[:, 0] * x[:, 1],
            "size": (x**2).sum(1),
            "log-likelihood": probit_log_likelihood(x, s["y"]),
        }

    verdict = exact_rank_test(
        draw_probit, [elliptical], functionals, n_steps=4, n_first=10_000, rng=4
    )
    assert_passed(verdict)


def test_an_elliptical_slice_gets_there():
    """Gaussian likelihood y ~ N(x0 + x1, 0.1^2), y = 1.5: the posterior is known."""
    prior = ROOT @ ROOT.T
    a = np.ones(2)
    covariance = prior - np.outer(prior @ a, prior @ a) / (a @ prior @ a + 0.01)
    mean = prior @ a * 1.5 / (a @ prior @ a + 0.01)
    rng = np.random.default_rng(5)
    x = np.zeros((3000, 2))
    for _ in range(100):
        fresh = rng.normal(size=x.shape) @ ROOT.T
        x = elliptical_slice(rng, x, fresh, lambda x: -0.5 * ((x.sum(1) - 1.5) / 0.1) ** 2)
    z = np.linalg.solve(np.linalg.cholesky(covariance), (x - mean).T)
    assert stats.kstest(z[0], "norm").pvalue > 1e-6
    assert stats.kstest(z[1], "norm").pvalue > 1e-6
    assert abs(np.sum(z[0] * z[1])) / np.sqrt(3000) < 4.9


def test_an_elliptical_slice_without_data_turns_by_a_uniform_angle():
    """x cos a + Z sin a with x = 3: not the prior at once, and not where it was."""
    rng = np.random.default_rng(6)
    fresh = rng.normal(size=(20_000, 1))
    x = elliptical_slice(rng, np.full((20_000, 1), 3.0), fresh, lambda x: np.zeros(len(x)))
    angle = (np.arange(2000) + 0.5) * 2 * np.pi / 2000
    grid = np.linspace(-6, 6, 1201)
    cdf = special.ndtr((grid[:, None] - 3 * np.cos(angle)) / np.abs(np.sin(angle))).mean(1)
    assert stats.kstest(x[:, 0], lambda v: np.interp(v, grid, cdf)).pvalue > 1e-6
