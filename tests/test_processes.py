"""Named processes against the laws their authors publish."""

import numpy as np
import pytest
from measure_cases import Many, assert_means, blocks
from scipy import stats
from scipy.special import hyp2f1

from thincrm.errors import ThincrmError
from thincrm.measure import ThinnedCRM
from thincrm.measure.normalized import shared_weight
from thincrm.processes import (
    kernel_beta_process,
    kernel_weighted_gamma_process,
    markov_gamma_process,
    ornstein_uhlenbeck_dirichlet_process,
    size_biased_deletion_chain,
    spatial_normalized_gamma_process,
    thinned_beta_process,
    thinned_gamma_process,
)

ALPHA = 1.3


def assert_ewens(distinct, alpha, n_tests=1):
    """Test how many distinct values three draws from DP(alpha) have."""
    chance = np.array([2.0, 3.0 * alpha, alpha**2]) / ((alpha + 1) * (alpha + 2))
    observed = np.bincount(distinct, minlength=4)[1:]
    assert stats.chisquare(observed, chance * observed.sum()).pvalue > 1e-5 / n_tests, observed


def test_kernel_weighted_gamma_process():
    """Cov(B_s, B_t) = mass E[K(s) K(t)]; shares of one draw change little between near times."""
    t = np.array([0.0, 0.01, 1.0])
    family = kernel_weighted_gamma_process(5.0, length=0.3, covariates=t)
    prepared = family.crm.thinning.prepare(t)
    pair = family.crm.thinning.pair_activation(prepared, t, t, "independent")
    assert np.allclose(family.crm.covariance(t, t), 5.0 * pair)
    drawn = family.draw(t, rng=0)
    assert np.allclose(drawn.total(), 1.0)
    near, far = (np.abs(drawn.weights[0] - drawn.weights[i]).sum() for i in (1, 2))
    assert near < 0.1 < far


@pytest.mark.parametrize("locations", ["multiple", "single"])
def test_thinned_processes(locations):
    t = np.array([0.0, 0.5, 1.0])
    beta = thinned_beta_process(2.0, 3.0, locations, covariates=t)
    gamma = thinned_gamma_process(2.0, 4.0, locations, covariates=t)
    mean = beta.mean(t)
    assert np.allclose(beta.variance(t), mean / 4.0)
    assert np.allclose(gamma.mean(t), mean / 4.0)
    assert np.allclose(gamma.variance(t), mean / 16.0)
    assert np.allclose(gamma.normalized().concentration(t), mean)
    assert beta.draw(t, rng=0).gates.shape[0] == 3


def test_kernel_beta_process():
    """E B_t = mass E[K] and Cov = mass E[K K'] / (c + 1), weighted and not thinned."""
    t = np.array([0.0, 0.4])
    crm = kernel_beta_process(2.0, 3.0, "gaussian", 0.5)
    prepared = crm.thinning.prepare(t)
    pair = crm.thinning.pair_activation(prepared, t, t, "independent")
    assert np.allclose(crm.mean(t), 2.0 * crm.thinning.mean_activation(prepared))
    assert np.allclose(crm.covariance(t, t), 2.0 * pair / 4.0)
    assert np.allclose(crm.variance(t), np.diag(crm.covariance(t, t)))
    # a gate per observation gives features the same second moments, a shared gate does not
    thinned = thinned_beta_process(2.0, 3.0, "single")
    per_datum = type(crm)(crm.levy, crm.thinning)
    shared = type(crm)(crm.levy, crm.thinning, coupling="shared")
    assert np.allclose(per_datum.covariance(t, t), crm.covariance(t, t))
    assert np.all(np.diag(shared.covariance(t, t)) > np.diag(crm.covariance(t, t)))
    assert not thinned.weighted


def test_spatial_normalized_gamma_process():
    """D_t normalises the windows over t: independent gamma totals of the three kinds of atom."""
    length, window, mass = 0.3, (-1.0, 2.0), 6.0
    family = spatial_normalized_gamma_process(mass, length, window, scale=1.0)
    assert family.concentration(0.5) == pytest.approx(mass * 2 * length / 3.0)
    assert family.concentration(-1.0) == pytest.approx(mass * length / 3.0)  # half is outside
    assert family.correlation(0.5, 0.5) == pytest.approx(1.0)
    assert family.correlation(0.2, 0.9) == 0.0  # no window covers both
    both, one = mass * (2 * length - 0.25) / 3.0, mass * 0.25 / 3.0
    expected = shared_weight(both, one, one) * (both + one + 1) / (both + 1)
    assert family.correlation(0.5, 0.75) == pytest.approx(expected)
    drawn = family.draw([0.5, 0.5, 0.75], rng=0)
    assert set(np.unique(drawn.probability)) <= {0.0, 1.0}
    assert np.array_equal(drawn.weights[0], drawn.weights[1])


def totals(crm, t, n, seed):
    """Return (T, n) total masses of independent realisations."""
    rng = np.random.default_rng(seed)
    return np.column_stack([crm.draw(t, rng).weights.sum(1) for _ in range(n)])


def test_ornstein_uhlenbeck_dirichlet_process():
    """Gamma(mass) totals, correlation exp(-rate distance), Dirichlet process margins."""
    mass, rate, t, n = ALPHA, 0.7, np.array([0.0, 1.0, 3.0]), 1500
    family = ornstein_uhlenbeck_dirichlet_process(mass, rate, (0.0, 3.0))
    assert family.crm.mean(t) == pytest.approx(np.full(3, mass))
    assert family.crm.variance(t) == pytest.approx(np.full(3, mass))
    decay = np.exp(-rate * np.abs(np.subtract.outer(t, t)))
    assert family.crm.correlation(t, t) == pytest.approx(decay)
    total = totals(family.crm, t, n, 1)
    for i in range(3):
        assert stats.kstest(total[i], stats.gamma(mass).cdf).pvalue > 1e-5 / 3
    assert_means((total[0] - mass) * (total[1] - mass), mass * decay[0, 1])
    rng = np.random.default_rng(2)
    distinct, share = np.empty((n, 3), int), np.empty((n, 3))
    for i in range(n):
        drawn = family.draw(t, rng)
        picks = [rng.choice(w.size, 3, p=w / w.sum()) for w in drawn.weights]
        distinct[i] = [np.unique(pick).size for pick in picks]
        share[i] = drawn.measure((0.0, 0.5))
    for i in range(3):
        assert_ewens(distinct[:, i], mass, 3)
    # D_t = w D_s + (1 - w) D', w independent of D_s: the correlation is E[w]
    q = decay[0, 1]
    expected = q * hyp2f1(1, 1, mass + 1, 1 - q)
    product = (share[:, 0] - 0.5) * (share[:, 1] - 0.5) / (0.25 / (mass + 1))
    assert_means(product, expected)


def test_an_ornstein_uhlenbeck_process_of_small_mass_is_never_empty():
    family = ornstein_uhlenbeck_dirichlet_process(0.2, 1.0, (0.0, 1.0))
    rng = np.random.default_rng(3)
    assert all(np.allclose(family.draw([0.0, 1.0], rng).total(), 1.0) for _ in range(200))


def test_markov_gamma_process():
    """Gamma(mass) at every step, correlation q^|i-j|, births of total mass (1-q) mass."""
    mass, q, steps, n = ALPHA, 0.6, np.arange(4), 1500
    crm = markov_gamma_process(mass, q, 4)
    assert crm.mean(steps) == pytest.approx(np.full(4, mass))
    assert crm.correlation(steps, steps) == pytest.approx(
        q ** np.abs(np.subtract.outer(steps, steps))
    )
    assert crm.normalized().concentration(steps) == pytest.approx(np.full(4, mass))
    drawn = ThinnedCRM(Many(crm.levy, n), crm.thinning, coupling="comonotone").draw(steps, rng=4)
    total = blocks(drawn.weights, n)
    for i in range(4):
        assert stats.kstest(total[i], stats.gamma(mass).cdf).pvalue > 1e-5 / 4
    # an atom that has died stays dead, and births are independent of what was there
    births = np.diff(drawn.gates.astype(int), axis=0, prepend=0) == 1
    assert births.sum(0).max() == 1
    born = blocks(births * drawn.masses, n)[1]
    assert stats.kstest(born, stats.gamma((1 - q) * mass).cdf).pvalue > 1e-5
    assert_means((born - (1 - q) * mass) * (total[0] - mass), 0.0)


@pytest.mark.parametrize(("deletion", "survival"), [(1.0, 1.0), (0.5, 0.6), (0.0, 0.4)])
def test_size_biased_deletion_keeps_dirichlet_margins(deletion, survival):
    rng = np.random.default_rng(5)
    chances = {"deletion": deletion, "survival": survival}
    chains = [size_biased_deletion_chain(ALPHA, 4, 10, rng, **chances) for _ in range(1500)]
    cluster = np.stack([chain["cluster"] for chain in chains]).reshape(-1, 4, 10)
    expected = np.sum(ALPHA / (ALPHA + np.arange(10)))  # clusters among ten draws of a DP
    for step in range(4):
        assert_ewens([np.unique(row[:3]).size for row in cluster[:, step]], ALPHA, 8)
        assert_means(np.array([np.unique(row).size for row in cluster[:, step]]), expected, 8)
    kept = (cluster[:, 2, 0] == cluster[:, 3, 0]).mean()
    assert 0.05 < kept < 1 / (1 + ALPHA)  # dependent, but less than within a step


def test_without_deletion_the_chain_is_one_dirichlet_process():
    rng = np.random.default_rng(6)
    chains = [size_biased_deletion_chain(ALPHA, 3, 1, rng, deletion=0.0) for _ in range(2500)]
    assert_ewens([frame["cluster"].nunique() for frame in chains], ALPHA)
    frame = size_biased_deletion_chain(ALPHA, 3, 4, 0, base=stats.norm(9, 0.1))
    assert list(frame.columns) == ["step", "cluster", "location"]
    assert frame.groupby("cluster")["location"].nunique().max() == 1
    assert np.all(np.abs(frame["location"] - 9) < 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: thinned_beta_process(locations="several"), "locations must be"),
        (lambda: thinned_gamma_process(-1.0), "mass must be"),
        (lambda: kernel_beta_process(kernel="cosine"), "kernel must be one of"),
        (lambda: markov_gamma_process(1.0, 1.0, 3), "survival must lie strictly between"),
        (lambda: markov_gamma_process(1.0, 0.5, 0), "n_steps must be at least 1"),
        (lambda: markov_gamma_process(1.0, 0.5, 3).mean(3.0), "must lie between 0 and 2"),
        (lambda: ornstein_uhlenbeck_dirichlet_process(0.0, 1.0, (0, 1)), "mass must be"),
        (lambda: ornstein_uhlenbeck_dirichlet_process(1.0, -1.0, (0, 1)), "rate must be"),
        (lambda: ornstein_uhlenbeck_dirichlet_process(1.0, 1.0, (1, 0)), "span must be"),
        (lambda: ornstein_uhlenbeck_dirichlet_process(1.0, 1.0, 3), "span must be a pair"),
        (lambda: size_biased_deletion_chain(0.0, 2, 2), "concentration must be"),
        (lambda: size_biased_deletion_chain(1.0, 2, 0), "n_per_step must be"),
        (lambda: size_biased_deletion_chain(1.0, 2, 2, deletion=1.5), "deletion is a prob"),
        (lambda: size_biased_deletion_chain(1.0, 2, 2, survival=-1), "survival is a prob"),
    ],
)
def test_bad_arguments_give_a_sentence(call, words):
    with pytest.raises(ThincrmError, match=words):
        call()
