"""Series representations, what they leave out, and how many atoms are enough."""

import numpy as np
import pytest
from levy_members import MEMBERS, every_member, has_moments, line_grid
from scipy import stats

from thincrm.errors import InvalidInput, UndefinedMoment
from thincrm.levy import BetaProcess, GammaProcess, GeneralizedGammaProcess, StableProcess

Z = stats.norm.isf(0.5e-5)


def methods_of(levy):
    return ["inverse-levy", *levy._series()]


every_method = pytest.mark.parametrize(
    ("levy", "method"),
    [(levy, method) for levy in MEMBERS for method in methods_of(levy)],
    ids=str,
)


@every_member
def test_inverse_levy_arrivals_are_a_unit_rate_process(levy):
    gaps = []
    for seed in range(4):
        mass = levy.series(seed, 100)
        assert np.all(np.diff(mass) <= 0)
        arrivals = levy.tail(mass[(mass > 1e-300) & (mass < min(levy.support, 1e300))])
        gaps.append(np.diff(arrivals))
    assert stats.kstest(np.concatenate(gaps), "expon").pvalue > 1e-5, "seeds 0..3"


def many_series(levy, method, rng, n_draws, n_atoms):
    """Return (n_draws, n_atoms) masses: what n_draws calls of `series` would give, in one."""
    arrivals = np.cumsum(rng.standard_exponential((n_draws, n_atoms)), axis=1)
    log_mass = levy._chosen_series(method).log_masses(rng, arrivals.ravel())
    return np.exp(log_mass).reshape(n_draws, n_atoms)


@every_method
def test_many_series_are_series(levy, method):
    ours = many_series(levy, method, np.random.default_rng(29), 1, 20)[0]
    np.testing.assert_array_equal(ours, levy.series(29, 20, method))


@every_method
def test_atoms_above_a_level_are_poisson(levy, method):
    """Heavier than x_3 > x_2 > x_1: counts between are independent Poisson, means 1, 1, 1."""
    n_draws, n_atoms = 800, 25 if method == "inverse-levy" else 200
    edges = levy.tail_inverse([3.0, 2.0, 1.0])
    mass = many_series(levy, method, np.random.default_rng(30), n_draws, n_atoms)
    above = np.sum(mass[:, :, None] > edges, axis=1)
    between = np.column_stack([above[:, 2], np.diff(above[:, ::-1], axis=1)])
    whole = between.sum(0)  # Poisson(n_draws) each
    below, over = stats.poisson.cdf(whole, n_draws), stats.poisson.sf(whole - 1, n_draws)
    dispersion = ((between - between.mean(0)) ** 2).sum(0)
    narrow, wide = stats.chi2.cdf(dispersion, n_draws - 1), stats.chi2.sf(dispersion, n_draws - 1)
    tails = [below, over, narrow, wide]
    assert np.min(tails) * np.size(tails) > 1e-5, f"seed 30, {tails}"


@every_method
def test_missing_mass_falls_by_the_mean_of_the_next_masses(levy, method):
    """ε_K - ε_{K+2} = E m_{K+1} + E m_{K+2}; the k-th mass is a function of G_k ~ Gamma(k, 1)."""
    first = 3 if has_moments(levy) else 40  # a stable mass has a variance only late in the series
    rng = np.random.default_rng(31)
    n_draws = 4000 if method == "inverse-levy" else 40_000
    total = variance = 0.0
    for k in (first + 1, first + 2):
        log_mass = levy._chosen_series(method).log_masses(rng, rng.gamma(k, size=n_draws))
        total += np.exp(log_mass).mean()
        variance += np.exp(log_mass).var(ddof=1) / n_draws
    fall = levy.missing_mass(first, method) - levy.missing_mass(first + 2, method)
    assert abs(total - fall) < Z * np.sqrt(variance), "seed 31"


@every_member
def test_missing_mass_of_inverse_levy_is_an_integral_over_arrivals(levy):
    """ε_K = ∫ Gamma(y; K, 1) M(N⁻¹(y)) dy, M(x) = ∫_0^x m ν0, by quadrature in y."""
    grid, weight = line_grid(levy.support)
    pieces = np.exp(levy._log_density(grid) + np.minimum(grid, 20.0)) * weight
    small_mass = np.cumsum(pieces) - 0.5 * pieces
    n_atoms = 9
    y = np.linspace(1e-3, 60.0, 4001)
    below = np.interp(levy.log_tail_inverse(y), grid, small_mass)
    expected = np.trapezoid(stats.gamma(n_atoms).pdf(y) * below, y)
    assert levy.missing_mass(n_atoms) == pytest.approx(expected, rel=1e-4)


@every_method
def test_truncation_bound_holds(levy, method):
    """P(some of N_eff Poisson observations use an atom after the K-th) <= the bound."""
    n_atoms, n_draws = 10, 300
    n_eff = 0.5 / levy.missing_mass(n_atoms, method)
    mass = many_series(levy, method, np.random.default_rng(32), n_draws, 10 * n_atoms)
    used = -np.expm1(-n_eff * mass[:, n_atoms:].sum(1))
    bound = levy.truncation_error(n_atoms, n_eff, method)
    assert bound == pytest.approx(-np.expm1(-0.5))
    chance = np.sqrt(np.log(1e5) / (2 * n_draws))  # Hoeffding: `used` lies between 0 and 1
    assert used.mean() <= bound + chance, "seed 32"


@every_method
def test_missing_mass_decreases_and_the_number_of_atoms_is_smallest(levy, method):
    error, n_eff = 0.3, 2.0
    if isinstance(levy, (GeneralizedGammaProcess, StableProcess)) and levy.discount > 0.5:
        error = 0.9
    n_atoms = levy.n_atoms_for(error, n_eff, method)
    assert levy.truncation_error(n_atoms, n_eff, method) <= error
    if n_atoms > levy._fewest_atoms():
        assert levy.truncation_error(n_atoms - 1, n_eff, method) > error
    assert levy.missing_mass(n_atoms + 5, method) < levy.missing_mass(n_atoms, method)


@pytest.mark.parametrize("mass", [0.1, 1.0, 10.0, 300.0])
def test_closed_forms_of_missing_mass(mass):
    """The beta process with c = 1: inverse-Lévy is Bondesson's series, γ(γ/(1+γ))^K."""
    beta = BetaProcess(mass, 1.0)
    for n_atoms in (1, 4, 30, 300, 3000):
        expected = mass * (mass / (1.0 + mass)) ** n_atoms
        for method in ("inverse-levy", "bondesson", "rejection"):
            assert beta.missing_mass(n_atoms, method) == pytest.approx(expected, rel=1e-8)
    gamma = GammaProcess(mass, 2.0)
    expected = 0.5 * mass * (mass / (1.0 + mass)) ** 7
    assert gamma.missing_mass(7, "bondesson") == pytest.approx(expected)


def test_missing_mass_near_the_stable_limit():
    """A barely tempered process leaves out what the stable one does, in both series."""
    stable, tempered = StableProcess(2.0, 0.5), GeneralizedGammaProcess(1.0, 0.5, 1e-14)
    for n_atoms in (10, 100):
        for method in ("inverse-levy", "size-biased"):
            expected = stable.missing_mass(n_atoms, method)
            assert tempered.missing_mass(n_atoms, method) == pytest.approx(expected, rel=1e-5)


def test_no_series_beats_inverse_levy():
    for levy in MEMBERS:
        for method in methods_of(levy):
            best = levy.missing_mass(20)
            assert levy.missing_mass(20, method) >= best * (1 - 1e-9)


def test_missing_mass_of_the_stable_process_needs_atoms():
    levy = StableProcess(1.0, 0.2)  # the mean exists for more than 1/0.2 - 1 = 4 atoms
    for method in ("inverse-levy", "size-biased"):
        with pytest.raises(UndefinedMoment, match="n_atoms of at least 5"):
            levy.missing_mass(4, method)
        assert np.isfinite(levy.missing_mass(5, method))


def test_logs_of_series_do_not_underflow():
    log_mass = GammaProcess().log_series(33, 2000)
    assert np.all(np.isfinite(log_mass))
    assert log_mass[-1] < -1000
    for method in ("bondesson", "size-biased"):
        assert np.all(np.isfinite(BetaProcess().log_series(34, 3000, method)))


def test_rejected_arrivals_have_no_mass():
    mass = BetaProcess(1.0, 5.0).series(35, 40, "rejection")
    assert np.any(mass == 0.0)
    assert mass.size == 40


def test_unknown_or_unavailable_method_lists_the_others():
    with pytest.raises(InvalidInput, match="'inverse-levy', 'size-biased'"):
        BetaProcess(1.0, 0.5).series(1, 10, "bondesson")
    with pytest.raises(InvalidInput, match="use one of 'inverse-levy', 'bondesson', 'rejection'"):
        GammaProcess().missing_mass(10, "size-biased")
    with pytest.raises(InvalidInput, match="no truncation bound"):
        GammaProcess().truncation_error(10, 5.0, "finite")
    with pytest.raises(InvalidInput, match="no truncation bound"):
        GammaProcess().n_atoms_for(0.1, 5.0, "finite")
    with pytest.raises(InvalidInput, match="atoms would be needed"):
        StableProcess(1.0, 0.9).n_atoms_for(0.01, 10.0)


@pytest.mark.joint
@every_method
def test_laplace_exponent_by_simulation(levy, method):
    n_draws, n_atoms = 1500, 300
    mass = many_series(levy, method, np.random.default_rng(36), n_draws, n_atoms)
    for u in (0.3, 2.0):
        mean = np.exp(-u * mass.sum(1)).mean()
        expected = np.exp(-levy.laplace_exponent(u))
        chance = np.sqrt(np.log(2e5) / (2 * n_draws))
        # what is left out can only raise the mean, by at most u times the missing mass
        assert -chance < mean - expected < chance + u * levy.missing_mass(n_atoms, method), (
            "seed 36"
        )


@pytest.mark.joint
@every_method
def test_moments_by_simulation(levy, method):
    if not has_moments(levy):
        return
    n_draws = 4000
    mass = many_series(levy, method, np.random.default_rng(37), n_draws, 100)
    for n in (2, 3):
        total = np.sum(mass**n, axis=1)
        error = Z * total.std(ddof=1) / np.sqrt(n_draws)
        assert abs(total.mean() - levy.moment(n)) < error, "seed 37"
