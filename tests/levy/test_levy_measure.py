"""The measures themselves: density, tail and its inverse, moments, Laplace exponent."""

import numpy as np
import pytest
from levy_members import MEMBERS, every_member, has_moments, quad_over_masses
from scipy import special

from thincrm.errors import UndefinedMoment
from thincrm.levy import (
    BetaProcess,
    GammaProcess,
    GeneralizedGammaProcess,
    StableBetaProcess,
    StableProcess,
)
from thincrm.levy.special import log_gamma_ratio, log_hit, log_upper_beta, log_upper_gamma
from thincrm.ports import LevyMeasure


@every_member
def test_member_keeps_the_port(levy):
    assert isinstance(levy, LevyMeasure)
    assert levy.support in (1.0, np.inf)


@every_member
@pytest.mark.parametrize("x", [1e-9, 1e-3, 0.2, 0.7, 0.95])
def test_tail_is_the_integral_of_the_density(levy, x):
    assert levy.tail(x) == pytest.approx(quad_over_masses(levy, lambda m: 1.0, low=x), rel=1e-7)


@every_member
def test_tail_inverse_comes_back_over_many_orders_of_magnitude(levy):
    x = np.append(10.0 ** np.arange(-200.0, 0.0, 2.5), [0.3, 0.6, 0.9, 0.999])
    if levy.support == np.inf:
        x = np.append(x, [1.5, 4.0, 9.0])
    np.testing.assert_allclose(levy.tail_inverse(levy.tail(x)), x, rtol=1e-10)
    level = 10.0 ** np.linspace(-12, 4, 200)
    log_x = levy.log_tail_inverse(level)
    assert np.all(np.isfinite(log_x))
    assert np.all(np.diff(log_x) <= 0)
    seen = (log_x > -700) & (log_x < -1e-6 if levy.support == 1.0 else log_x < 700)
    np.testing.assert_allclose(levy.tail(np.exp(log_x[seen])), level[seen], rtol=1e-9)


@pytest.mark.parametrize("c", [0.02, 0.4, 1.0, 1.7, 40.0])
def test_beta_tail_inverse_far_below_the_smallest_float(c):
    """There the tail is γc(-log x - ψ(c) - Euler's constant) to the last digit."""
    levy = BetaProcess(mass=2.0, concentration=c)
    level = np.array([1e3, 1e5, 1e8]) * c
    expected = -level / (2.0 * c) - special.digamma(c) - np.euler_gamma
    np.testing.assert_allclose(levy.log_tail_inverse(level), expected, rtol=1e-12)


def test_closed_forms_of_known_cases():
    x = np.array([1e-100, 1e-5, 0.03, 0.5, 0.99])
    np.testing.assert_allclose(GammaProcess(2.0, 3.0).tail(x), 2.0 * special.exp1(3.0 * x))
    np.testing.assert_allclose(BetaProcess(2.0, 1.0).tail(x), -2.0 * np.log(x), rtol=1e-12)
    stable = StableProcess(2.0, 0.3)
    np.testing.assert_allclose(stable.tail(x), 2.0 * x**-0.3 / special.gamma(0.7))
    inverse_gaussian = GeneralizedGammaProcess(1.0, 0.5, 0.5)
    expected = 2 * np.exp(-x / 2) / np.sqrt(np.pi * x) - np.sqrt(2) * special.erfc(np.sqrt(x / 2))
    np.testing.assert_allclose(inverse_gaussian.tail(x), expected)


def test_ends_of_the_tail():
    for levy in MEMBERS:
        assert levy.tail(0.0) == np.inf
        assert levy.tail_inverse(0.0) == levy.support
        assert levy.tail_inverse(np.inf) == 0.0
        assert levy.tail(levy.support) == 0.0
        assert np.array_equal(levy.levy_density([-1.0, 0.0, levy.support]), np.zeros(3))


def test_small_discount_tends_to_no_discount():
    x = 10.0 ** np.arange(-30.0, 0.0)
    gamma, nearly_gamma = GammaProcess(2.0, 3.0), GeneralizedGammaProcess(2.0, 1e-8, 3.0)
    np.testing.assert_allclose(nearly_gamma.tail(x), gamma.tail(x), rtol=1e-5)
    beta, nearly_beta = BetaProcess(2.0, 3.0), StableBetaProcess(2.0, 3.0, 1e-8)
    np.testing.assert_allclose(nearly_beta.tail(x), beta.tail(x), rtol=1e-5)
    np.testing.assert_allclose(
        nearly_beta.laplace_exponent([1.0, 1e9]), beta.laplace_exponent([1.0, 1e9]), rtol=1e-5
    )


@every_member
@pytest.mark.parametrize("n", [1, 2, 2.5])
def test_moments_are_integrals(levy, n):
    if has_moments(levy):
        expected = quad_over_masses(levy, lambda m: m**n)
        assert levy.moment(n) == pytest.approx(expected, rel=1e-7)


def test_first_moments_by_hand():
    assert GammaProcess(2.0, 4.0).moment(1) == pytest.approx(0.5)
    assert GammaProcess(2.0, 4.0).moment(2) == pytest.approx(0.125)
    assert BetaProcess(2.0, 3.0).moment(1) == pytest.approx(2.0)
    assert BetaProcess(2.0, 3.0).moment(2) == pytest.approx(0.5)
    assert StableBetaProcess(2.0, 3.0, 0.4).moment(1) == pytest.approx(2.0)
    assert StableBetaProcess(2.0, 3.0, 0.4).moment(2) == pytest.approx(2.0 * 0.6 / 4.0)
    assert GeneralizedGammaProcess(2.0, 0.5, 4.0).moment(1) == pytest.approx(1.0)


def test_infinite_moments_say_so():
    for n in (1, 2, 0.2):
        with pytest.raises(UndefinedMoment, match="infinite"):
            StableProcess().moment(n)
    with pytest.raises(UndefinedMoment, match="above its discount"):
        GeneralizedGammaProcess(discount=0.5).moment(0.4)
    with pytest.raises(UndefinedMoment, match="above its discount"):
        StableBetaProcess(discount=0.5).moment(0.5)


@every_member
def test_laplace_exponent_is_an_integral(levy):
    u = np.array([1e-6, 2.0, 50.0, 1e6])
    expected = [quad_over_masses(levy, lambda m, rate=rate: -np.expm1(-rate * m)) for rate in u]
    np.testing.assert_allclose(levy.laplace_exponent(u), expected, rtol=1e-7)
    assert levy.laplace_exponent(0.0) == 0.0
    assert levy.laplace_exponent(np.ones((2, 3))).shape == (2, 3)


@pytest.mark.parametrize("c", [0.01, 0.5, 1.0, 30.0])
def test_laplace_exponent_is_smooth_where_the_expansion_takes_over(c):
    for levy in (BetaProcess(1.0, c), StableBetaProcess(1.0, c, 0.3)):
        bound = 1e4 * (1.0 + c * c)
        below, above = levy.laplace_exponent([bound * (1 - 1e-12), bound])
        assert above == pytest.approx(below, rel=1e-11)


def test_laplace_exponent_of_the_standard_beta_process():
    """At c = 1 it is Ein(u) = log u + Euler's constant + E1(u)."""
    u = np.array([0.01, 1.0, 30.0, 1e5, 1e200])
    expected = np.log(u) + np.euler_gamma + special.exp1(u)
    np.testing.assert_allclose(BetaProcess(2.0, 1.0).laplace_exponent(u), 2.0 * expected)


def test_special_functions_against_scipy():
    z = 10.0 ** np.linspace(-8, 2.5, 60)
    for discount in (0.1, 0.5, 0.9):
        upper = special.gammaincc(1 - discount, z) * special.gamma(1 - discount)
        safe = z < 20  # the recurrence used here as reference cancels beyond
        by_parts = (z**-discount * np.exp(-z) - upper)[safe] / discount
        ours = np.exp(log_upper_gamma(np.log(z), discount))
        np.testing.assert_allclose(ours[safe], by_parts, rtol=1e-11 / discount)
    np.testing.assert_allclose(np.exp(log_upper_gamma(np.log(z), 0.0)), special.exp1(z))
    x = np.linspace(0.001, 0.999, 40)
    for b in (0.3, 1.0, 8.0):
        expected = (1 - x) ** b / b * special.hyp2f1(1, b, b + 1, 1 - x)
        np.testing.assert_allclose(np.exp(log_upper_beta(np.log(x), 0.0, b)), expected)
    for step in (0.0, 0.3, 0.99):
        product = np.log(np.arange(30, 60) + step).sum() - np.log(np.arange(30, 60)).sum()
        climb = log_gamma_ratio(60.0, step) - log_gamma_ratio(30.0, step)
        assert climb == pytest.approx(product, abs=1e-12)
    log_q = np.array([-1000.0, -40.0, -1.0, 2.0, 800.0])
    expected = [-1000.0, -40.0, np.log(1 - np.exp(-np.exp(-1))), np.log1p(-np.exp(-np.exp(2))), 0]
    np.testing.assert_allclose(log_hit(log_q), expected, rtol=1e-14)
