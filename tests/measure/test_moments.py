"""Exact moments of thinned measures against Monte Carlo, for every product of factors."""

import numpy as np
import pytest
from measure_cases import Many, assert_means, blocks, thinnings
from scipy import stats

from thincrm.errors import ThincrmError, UndefinedMoment
from thincrm.levy import (
    BetaProcess,
    GammaProcess,
    GeneralizedGammaProcess,
    StableBetaProcess,
    StableProcess,
)
from thincrm.measure import ThinnedCRM
from thincrm.thinning.always import Always
from thincrm.thinning.bump import Bump

LEVY = {  # masses that keep totals from being very skewed: products of them have power
    "gamma": GammaProcess(8.0, 1.5),
    "beta": BetaProcess(6.0, 2.0),
    "generalized gamma": GeneralizedGammaProcess(6.0, 0.2, 1.2),
    "stable beta": StableBetaProcess(6.0, 2.0, 0.2),
}
THINNING = thinnings()
LAWS = ("independent", "shared", "comonotone", "weighted")
T = np.array([0.0, 0.3, 0.3, 1.0])


def measure(levy, thinning, law, **more):
    weighted = law == "weighted"
    coupling = "independent" if weighted else law
    return ThinnedCRM(levy, thinning, coupling=coupling, weighted=weighted, **more)


def check_moments(levy, thinning, law, n, seed):
    """Compare the means, variances and covariances at T with those of n realisations."""
    crm = measure(Many(levy, n), thinning, law)
    total = blocks(crm.draw(T, rng=seed, error=5e-3).weights, n)
    mean, variance, covariance = crm.mean(T), crm.variance(T), crm.covariance(T, T)
    centred = total - mean[:, None]
    for i in range(4):
        assert_means(total[i], mean[i], 14)
        assert_means(centred[i] ** 2, variance[i], 14)
        for j in range(i):
            assert_means(centred[i] * centred[j], covariance[i, j], 14)
    if law in ("shared", "comonotone"):
        assert np.array_equal(total[1], total[2])
    elif law == "weighted":
        assert np.array_equal(total[1], total[2])
        assert np.allclose(np.diag(covariance), variance)
    elif not isinstance(thinning, Always) and thinning != THINNING["box"]:
        assert not np.array_equal(total[1], total[2])
    scale = np.sqrt(np.outer(variance, variance))
    assert np.allclose(crm.correlation(T, T), covariance / scale)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["gaussian", "box", "function"])
def test_gamma_moments(name, law):
    check_moments(LEVY["gamma"], THINNING[name], law, 3000, 1)


@pytest.mark.parametrize("levy", LEVY)
def test_moments_of_every_levy_measure(levy):
    check_moments(LEVY[levy], THINNING["exponential"], "independent", 3000, 2)


@pytest.mark.joint
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", THINNING)
@pytest.mark.parametrize("levy", LEVY)
def test_moments_of_every_product(levy, name, law):
    check_moments(LEVY[levy], THINNING[name], law, 3000, 3)


def test_the_moments_of_a_set():
    crm = ThinnedCRM(LEVY["gamma"], THINNING["gaussian"], base=stats.norm(1, 2))
    share = stats.norm(1, 2).cdf(2.0) - stats.norm(1, 2).cdf(0.0)
    for moment in (crm.mean, crm.variance):
        assert moment(T, (0.0, 2.0)) == pytest.approx(share * moment(T))
    assert crm.covariance(0.0, T, (0, 2)) == pytest.approx(share * crm.covariance(0.0, T))
    n = 4000
    many = ThinnedCRM(Many(crm.levy, n), crm.thinning, crm.base)
    drawn = many.draw(T, rng=4, error=1e-3)
    inside = (drawn.locations > 0) & (drawn.locations < 2)
    part = blocks(drawn.weights * inside, n)[1]
    assert_means(part, crm.mean(T, (0, 2))[1], 2)
    assert_means((part - crm.mean(T, (0, 2))[1]) ** 2, crm.variance(T, (0, 2))[1], 2)
    uniform = ThinnedCRM(LEVY["gamma"], Always())
    assert uniform.mean(0.0, (0.25, 5.0)) == pytest.approx(0.75 * uniform.mean(0.0))
    assert uniform.mean(0.0, (-3.0, 0.0)) == 0.0
    discrete = ThinnedCRM(LEVY["gamma"], Always(), base=stats.randint(1, 7))
    assert discrete.mean(0.0, (2, 3)) == pytest.approx(2 / 6 * uniform.mean(0.0))


def test_scalars_in_scalar_out():
    crm = ThinnedCRM(LEVY["gamma"], THINNING["gaussian"], covariates=T)
    assert all(isinstance(v, float) for v in (crm.mean(0.1), crm.variance(0.1)))
    assert isinstance(crm.covariance(0.1, 0.2), float)
    assert isinstance(crm.correlation(0.1, 0.2), float)
    assert crm.correlation(0.1, T).shape == (4,)
    assert crm.correlation([0.1], T).shape == (1, 4)
    assert crm.correlation(T, 0.1).shape == (4,)
    assert crm.mean([0.1]).shape == (1,)
    assert crm.correlation(0.1, 0.2) == crm.correlation([*T, 0.1], [0.2])[4, 0]


def test_the_nugget_and_the_printed_formula():
    """Gaussian bumps on a long line, in closed form: distance 1, length 1.5."""
    bump = Bump("gaussian", 1.5, window=(-60.0, 60.0), scale=1.0)
    independent, shared, comonotone, weighted = (measure(GammaProcess(), bump, law) for law in LAWS)
    assert independent.correlation(0.0, 1.0) == pytest.approx(0.633, abs=5e-4)
    assert shared.correlation(0.0, 1.0) == independent.correlation(0.0, 1.0)
    assert comonotone.correlation(0.0, 1.0) == pytest.approx(0.739, abs=5e-4)
    assert weighted.correlation(0.0, 1.0) == pytest.approx(0.895, abs=5e-4)
    assert independent.paper_correlation(0.0, 1.0) == weighted.correlation(0.0, 1.0)
    assert independent.correlation(0.0, 0.0) == pytest.approx(1 / np.sqrt(2))
    assert shared.correlation(0.0, 0.0) == pytest.approx(1.0)
    assert shared.correlation(0.0, 1e-9) == pytest.approx(1 / np.sqrt(2))
    assert comonotone.correlation(0.0, 1e-9) == pytest.approx(1.0)


@pytest.mark.parametrize("law", LAWS)
def test_the_correlation_is_the_same_for_every_levy_measure(law):
    found = [measure(levy, THINNING["gaussian"], law).correlation(T, T) for levy in LEVY.values()]
    assert all(np.allclose(one, found[0]) for one in found)


def test_stable_moments_are_refused():
    crm = ThinnedCRM(StableProcess(), THINNING["gaussian"])
    for ask in (crm.mean, crm.variance):
        with pytest.raises(UndefinedMoment, match="infinite"):
            ask(0.0)
    for ask in (crm.covariance, crm.correlation, crm.paper_correlation):
        with pytest.raises(UndefinedMoment, match="infinite"):
            ask(0.0, 1.0)
    assert np.all(crm.draw(T, rng=0, error=0.01).total() >= 0)


def test_bad_arguments_of_moments_give_a_sentence():
    crm = ThinnedCRM(GammaProcess(), Bump("box", 0.1, window=(5.0, 6.0), scale=1.0))
    with pytest.raises(UndefinedMoment, match="no atom can be open"):
        crm.correlation(0.0, 5.5)
    with pytest.raises(ThincrmError, match="not of one kind"):
        crm.correlation(0.0, "1990-01-01")
    with pytest.raises(ThincrmError, match="different numbers of columns"):
        crm.correlation(0.0, np.ones((2, 2)))
    with pytest.raises(ThincrmError, match="t\\[1\\] is not a finite number"):
        crm.mean([5.0, np.nan])
    with pytest.raises(ThincrmError, match="low <= high"):
        crm.mean(5.5, (1.0, 0.0))
    with pytest.raises(ThincrmError, match="must be an interval"):
        crm.mean(5.5, 3.0)
    sampled = ThinnedCRM(GammaProcess(), Always(), base=lambda rng, n: rng.random(n))
    with pytest.raises(ThincrmError, match="base probability of A"):
        sampled.mean(0.0, (0.0, 0.5))
