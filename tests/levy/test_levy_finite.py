"""The finite i.i.d. approximations: density, draws, total mass, and what they tend to."""

import dataclasses

import numpy as np
import pytest
from levy_members import (
    every_member,
    has_moments,
    line_grid,
    log_prob_at,
    per_atom,
    settings_of,
)
from scipy import stats

import thincrm.levy
from thincrm.levy import BetaProcess, GammaProcess, StableBetaProcess
from thincrm.levy.log_draws import log_beta_draw, log_gamma_draw, log_power_uniform

Z = stats.norm.isf(0.5e-5)  # two-sided false alarms: one in 100 000


def finite_integral(levy, n_atoms, function):
    """Return E function(m) for one atom of the approximation with `n_atoms` atoms."""
    log_mass, weight = line_grid(levy.support)
    density = np.exp(log_prob_at(levy, log_mass, n_atoms)) * weight
    return float(np.sum(density * function(np.exp(log_mass))))


@every_member
def test_law_of_an_atom_depends_on_mass_per_atom(levy):
    log_mass = np.linspace(-40.0, -0.01, 30)
    whole = log_prob_at(levy, log_mass, 6)
    apart = np.concatenate([levy.log_prob(row) for row in log_mass.reshape(5, 6)])
    np.testing.assert_allclose(whole, apart, rtol=1e-10)


@every_member
@pytest.mark.parametrize("n_atoms", [5, 60, 400])
def test_density_integrates_to_one(levy, n_atoms):
    total = finite_integral(levy, n_atoms, np.ones_like)
    assert total == pytest.approx(1.0, abs=1e-6)


@every_member
def test_intensity_tends_to_the_levy_density(levy):
    """K f_K(m) -> ν0(m), and so K E(1 - e^{-um}) -> the Laplace exponent."""
    x = np.array([0.01, 0.1, 0.5, 0.9])
    n_atoms = 200_000
    log_mass = np.full(n_atoms, -1.0)
    log_mass[: x.size] = np.log(x)
    intensity = n_atoms * np.exp(levy.log_prob(log_mass)[: x.size]) / x
    np.testing.assert_allclose(intensity, levy.levy_density(x), rtol=1e-3)


@every_member
def test_missing_mean_mass(levy):
    """What the finite approximation lacks in mean total mass is known in closed form."""
    if has_moments(levy):
        for n_atoms in (5, 60):
            mean = n_atoms * finite_integral(levy, n_atoms, lambda m: m)
            missing = levy.missing_mass(n_atoms, method="finite")
            assert mean + missing == pytest.approx(levy.moment(1), rel=1e-6)


def test_missing_mass_of_the_stable_process():
    """K f_K = ν0 (1 - e^{-am}), so what is missing is ∫ m ν0 e^{-am}."""
    levy = thincrm.levy.StableProcess(2.0, 0.6)
    log_mass, weight = line_grid(np.inf)
    moderate = (log_mass > -300) & (log_mass < 3)
    log_mass, weight = log_mass[moderate], weight[moderate]
    whole = np.exp(levy._log_density(log_mass))
    left_out = whole - 30 * np.exp(log_prob_at(levy, log_mass, 30))
    missing = np.sum(left_out * np.exp(log_mass) * weight)
    assert levy.missing_mass(30, method="finite") == pytest.approx(missing, rel=1e-6)


def cdf_of(levy, n_atoms, log_mass):
    grid, weight = line_grid(levy.support)
    density = np.exp(log_prob_at(levy, grid, n_atoms)) * weight
    middle = np.cumsum(density) - 0.5 * density
    return np.interp(log_mass, grid, middle)


@pytest.mark.parametrize("ratio", [0.7, 0.05])
@pytest.mark.parametrize("setting", [0, 1, 2])
@pytest.mark.parametrize("name", thincrm.levy.__all__)
def test_draws_follow_log_prob(name, setting, ratio):
    n_atoms = 40_000
    levy = per_atom(getattr(thincrm.levy, name), setting, ratio, n_atoms)
    log_mass = levy.draw_log_mass(20, n_atoms)
    uniform = cdf_of(levy, n_atoms, log_mass)
    assert stats.kstest(uniform, "uniform").pvalue > 1e-5, "seed 20"


@pytest.mark.parametrize("name", thincrm.levy.__all__)
def test_a_wrong_mass_is_seen(name):
    """The broken twin of the test above: 10 % too much mass per atom."""
    n_atoms = 40_000
    cls = getattr(thincrm.levy, name)
    wrong = per_atom(cls, 0, 0.055, n_atoms)
    uniform = cdf_of(per_atom(cls, 0, 0.05, n_atoms), n_atoms, wrong.draw_log_mass(20, n_atoms))
    assert stats.kstest(uniform, "uniform").pvalue < 1e-5


@pytest.mark.parametrize("setting", [0, 1, 2])
@pytest.mark.parametrize("name", thincrm.levy.__all__)
def test_total_mass_has_the_exact_mean_and_variance(name, setting):
    cls = getattr(thincrm.levy, name)
    levy = cls(**settings_of(cls)[setting])
    if not has_moments(levy):
        pytest.skip("no moments")
    n_atoms, n_draws = 12, 5000
    many = dataclasses.replace(levy, mass=levy.mass * n_draws)  # the same law for each atom
    total = many.draw(21, n_atoms * n_draws).reshape(n_draws, n_atoms).sum(1)
    mean = n_atoms * finite_integral(levy, n_atoms, lambda m: m)
    variance = n_atoms * finite_integral(levy, n_atoms, lambda m: m**2) - mean**2 / n_atoms
    fourth = np.mean((total - mean) ** 4)
    assert abs(total.mean() - mean) < Z * np.sqrt(variance / n_draws), "seed 21"
    spread = np.sqrt((fourth - variance**2) / n_draws)
    assert abs(np.mean((total - mean) ** 2) - variance) < Z * spread, "seed 21"


def test_gamma_total_mass_is_exact_for_every_number_of_atoms():
    rng = np.random.default_rng(22)
    for n_atoms in (1, 30):
        levy = GammaProcess(0.7, 2.0)
        total = [levy.draw(rng, n_atoms).sum() for _ in range(5000)]
        assert stats.kstest(total, stats.gamma(0.7, scale=0.5).cdf).pvalue > 1e-5, "seed 22"


@pytest.mark.parametrize("concentration", [0.01, 1.0, 30.0])
def test_log_masses_keep_what_masses_lose(concentration):
    """Tiny masses have finite logs; masses next to 1 keep a negative log and are not 1."""
    levy = BetaProcess(1.0, concentration)
    log_mass = levy.draw_log_mass(23, 5000)
    assert np.all(np.isfinite(log_mass))
    assert np.all(log_mass < 0)
    assert np.all(np.isfinite(levy.log_prob(log_mass)))
    assert np.all(levy.draw(23, 5000) < 1.0)
    assert GammaProcess().draw_log_mass(1, 100_000).min() < -1e5
    np.testing.assert_allclose(levy.draw(23, 50), np.exp(levy.draw_log_mass(23, 50)))


def test_density_is_zero_outside_the_support():
    for levy in (BetaProcess(0.5), StableBetaProcess()):
        assert np.array_equal(levy.log_prob(np.array([0.0, 1.0])), [-np.inf, -np.inf])


def test_tiny_discount_with_a_cut_beyond_the_largest_float():
    """At discount 1e-3 and 3000 atoms the cut `a` is about e^1400; it is only used in logs."""
    for levy in (
        StableBetaProcess(1.0, 1.0, 1e-3),
        thincrm.levy.GeneralizedGammaProcess(1.0, 1e-3, 1.0),
        thincrm.levy.StableProcess(1.0, 0.01),
    ):
        log_mass = levy.draw_log_mass(24, 3000)
        assert np.all(np.isfinite(log_mass))
        assert np.all(np.isfinite(levy.log_prob(log_mass)))


def test_variates():
    rng = np.random.default_rng(25)
    log_g = log_gamma_draw(rng, 0.3, 20_000)
    assert stats.kstest(np.exp(log_g), stats.gamma(0.3).cdf).pvalue > 1e-5, "seed 25"
    log_x = log_beta_draw(rng, 0.4, 2.5, 20_000)
    assert stats.kstest(np.exp(log_x), stats.beta(0.4, 2.5).cdf).pvalue > 1e-5, "seed 25"
    for power in (-4.0, -1e-9, 0.0, 0.3):
        low, high = np.full(20_000, np.log(0.5)), np.full(20_000, np.log(8.0))
        r = np.exp(log_power_uniform(rng, low, high, np.full(20_000, power)))
        uniform = (
            np.log(r / 0.5) / np.log(16.0)
            if abs(power) < 1e-3
            else (r**power - 0.5**power) / (8.0**power - 0.5**power)
        )
        assert stats.kstest(uniform, "uniform").pvalue > 1e-5, f"seed 25, power {power}"
