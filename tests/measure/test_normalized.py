"""Normalised measures: a Dirichlet process at every covariate, joined as the formula says."""

from collections import Counter

import numpy as np
import pytest
from measure_cases import assert_means, thinnings
from scipy import stats
from scipy.special import expit

from thincrm.errors import ThincrmError
from thincrm.levy import BetaProcess, GammaProcess, GeneralizedGammaProcess, StableProcess
from thincrm.measure import ThinnedCRM
from thincrm.measure.normalized import shared_weight
from thincrm.thinning.always import Always
from thincrm.thinning.bump import Bump

T = np.array([0.0, 0.3, 1.0])
THINNING = thinnings()


def ewens(alpha):
    """Return the chances that three draws from DP(alpha) have 1, 2 or 3 distinct values."""
    weights = np.array([2.0, 3.0 * alpha, alpha**2])
    return weights / weights.sum()


def assert_ewens(distinct, alpha, n_tests):
    count = Counter(distinct)
    observed = np.array([count[k] for k in (1, 2, 3)])
    p = stats.chisquare(observed, ewens(alpha) * observed.sum()).pvalue
    assert p > 1e-5 / n_tests, (observed, ewens(alpha) * observed.sum(), p)


def distinct_of_three(rng, weights_TK):
    """Return how many distinct atoms three draws from each D_t have."""
    return [np.unique(rng.choice(w.size, 3, p=w / w.sum())).size for w in weights_TK]


def check_dirichlet(thinning, coupling, n, seed):
    """Partition law at every t, mean and correlation, from n independent draws."""
    crm = ThinnedCRM(GammaProcess(4.0), thinning, coupling=coupling)
    family = crm.normalized()
    rng = np.random.default_rng(seed)
    share, distinct = np.empty((n, 3)), np.empty((n, 3), int)
    for i in range(n):
        drawn = family.draw(T, rng)
        share[i] = drawn.measure((0.0, 0.4))
        distinct[i] = distinct_of_three(rng, drawn.weights)
    concentration = family.concentration(T)
    assert np.allclose(concentration, crm.mean(T))
    sd = np.sqrt(family.variance(T, (0.0, 0.4)))
    centred = (share - family.mean((0.0, 0.4))) / sd
    correlation = family.correlation(T, T)
    for i in range(3):
        assert_ewens(distinct[:, i], concentration[i], 12)
        assert_means(centred[:, i], 0.0, 12)
        assert_means(centred[:, i] ** 2, 1.0, 12)
        for j in range(i):
            assert_means(centred[:, i] * centred[:, j], correlation[i, j], 12)


@pytest.mark.parametrize(
    ("name", "coupling"),
    [("gaussian", "independent"), ("box", "shared"), ("exponential", "comonotone")],
)
def test_each_measure_is_a_dirichlet_process(name, coupling):
    check_dirichlet(THINNING[name], coupling, 500, 1)


@pytest.mark.joint
@pytest.mark.parametrize("coupling", ["independent", "comonotone"])
@pytest.mark.parametrize("name", THINNING)
def test_each_measure_is_a_dirichlet_process_whatever_the_thinning(name, coupling):
    check_dirichlet(THINNING[name], coupling, 500, 2)


@pytest.mark.parametrize(
    "shapes", [(1.0, 0.0, 0.0), (0.3, 0.2, 0.5), (2.0, 1.0, 0.5), (100.0, 50.0, 200.0)]
)
def test_shared_weight_equals_monte_carlo(shapes):
    rng = np.random.default_rng(3)
    s0, s1, s2 = (rng.gamma(a, size=400_000) if a > 0 else np.zeros(400_000) for a in shapes)
    products = s0 / (s0 + s1) * s0 / (s0 + s2)
    if shapes[1:] == (0.0, 0.0):
        assert shared_weight(*shapes) == pytest.approx(1.0, abs=1e-12)
    else:
        assert_means(products, shared_weight(*shapes), 3)


def test_shared_weight_in_closed_form_and_at_its_ends():
    # with S2 = 0 the product is one beta variate; its mean is a0 / (a0 + a1)
    for a0, a1 in [(1e-8, 1e-8), (0.01, 3.0), (5.0, 0.2), (1e5, 3e5)]:
        assert shared_weight(a0, a1, 0.0) == pytest.approx(a0 / (a0 + a1), rel=1e-10)
        assert shared_weight(a0, 0.0, a1) == pytest.approx(a0 / (a0 + a1), rel=1e-10)
    assert shared_weight(0.0, 1.0, 2.0) == 0.0


@pytest.mark.parametrize("mass", [0.5, 5.0, 50.0])
def test_the_correlation_equals_that_of_gamma_totals(mass):
    """Atoms open at both covariates, or at one alone, in and out of A: independent gammas."""
    crm = ThinnedCRM(GammaProcess(mass), Bump(length=0.5))
    both = crm.covariance(0.0, 1.0)  # mass E[r r'], since m2 = mass
    only_s, only_t = crm.mean([0.0, 1.0]) - both
    rng, b = np.random.default_rng(8), 0.3
    inside = [rng.gamma(a * b, size=400_000) for a in (both, only_s, only_t)]
    outside = [rng.gamma(a * (1 - b), size=400_000) for a in (both, only_s, only_t)]
    share = [
        (inside[0] + inside[i]) / (inside[0] + inside[i] + outside[0] + outside[i]) for i in (1, 2)
    ]
    family = crm.normalized()
    sd = np.sqrt(family.variance([0.0, 1.0], (0.0, b)))
    product = (share[0] - b) * (share[1] - b) / sd[0] / sd[1]
    assert_means(product, family.correlation(0.0, 1.0), 3)


def test_the_correlation_is_one_where_the_measures_are_one():
    shared = ThinnedCRM(GammaProcess(3.0), Bump(), coupling="shared").normalized()
    assert shared.correlation(0.3, 0.3) == pytest.approx(1.0)
    assert np.all(shared.correlation(T, T)[np.triu_indices(3, 1)] < 1)
    independent = ThinnedCRM(GammaProcess(3.0), Bump()).normalized()
    assert independent.correlation(0.3, 0.3) < 1
    everywhere = ThinnedCRM(GammaProcess(3.0), Always()).normalized()
    assert everywhere.correlation(T, T) == pytest.approx(np.ones((3, 3)))
    assert everywhere.concentration(0.0) == 3.0


@pytest.mark.parametrize(
    "levy", [GammaProcess(0.5), GammaProcess(5.0), GeneralizedGammaProcess(1.0, 0.2, 1.0)]
)
def test_the_share_left_out_has_the_mean_that_was_asked_for(levy):
    bump, error, n = Bump(length=0.5), 0.05, 2000
    family = ThinnedCRM(levy, bump).normalized()
    cut = family.draw(T, rng=0, error=error).n_atoms
    arrivals = np.cumsum(np.random.default_rng(4).standard_exponential((n, 5 * cut)), axis=1)
    log_masses = levy.log_tail_inverse(arrivals)
    prepared = bump.prepare(T)
    x = bump.draw(5, n * 5 * cut, prepared)
    p = expit(bump.log_odds(x, prepared))
    gates = (np.random.default_rng(6).random(p.shape) < p).reshape(3, n, -1)
    weight = gates * np.exp(log_masses - log_masses[:, :1])
    total = weight.sum(2)
    missing = np.where(total > 0, weight[:, :, cut:].sum(2) / np.where(total > 0, total, 1), 1.0)
    assert np.all(missing.mean(1) <= error + 4.42 * missing.std(1) / np.sqrt(n))


def test_weights_sum_to_one_even_where_masses_underflow():
    for levy in (
        GammaProcess(0.01),
        GammaProcess(1e4),
        BetaProcess(1.0, 2.0),
        StableProcess(1.0, 0.3),
    ):
        drawn = ThinnedCRM(levy, Bump(length=0.5)).normalized().draw(T, rng=1, error=0.02)
        assert np.allclose(drawn.total(), 1.0)
    weighted = ThinnedCRM(GammaProcess(), Bump(), weighted=True).normalized().draw(T, rng=1)
    assert np.allclose(weighted.total(), 1.0)


def test_all_shut_is_all_zero():
    nowhere = ThinnedCRM(GammaProcess(), Bump("box", 0.1, window=(5.0, 6.0), scale=1.0))
    drawn = nowhere.normalized().draw([0.0, 5.5], rng=0)
    assert drawn.total().tolist() == pytest.approx([0.0, 1.0])
    assert ThinnedCRM(GammaProcess(), Always()).normalized().draw(0.0, 0, 5).n_atoms == 5


def test_what_is_not_known_is_refused_in_a_sentence():
    for crm in (
        ThinnedCRM(BetaProcess(), Bump()),
        ThinnedCRM(GammaProcess(), Bump(), weighted=True),
    ):
        for ask in (
            lambda family: family.correlation(0.0, 1.0),
            lambda family: family.concentration(0.0),
            lambda family: family.variance(0.0, (0.0, 0.5)),
        ):
            with pytest.raises(ThincrmError, match="known for thinned gamma processes"):
                ask(crm.normalized())
    slow = ThinnedCRM(StableProcess(1.0, 0.9), Bump()).normalized()
    with pytest.raises(ThincrmError, match="larger error"):
        slow.draw(T, rng=0)
