"""What the two factors say about masses, gates and shapes, against likelihoods written anew."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from thincrm.errors import InvalidInput
from thincrm.models.topics.factors import NegativeBinomialFactor, PoissonFactor
from thincrm.models.topics.usage import (
    TopicEvidence,
    gate_evidence,
    log_silence,
    open_gates,
    padded,
    token_rates,
)
from thincrm.testing import check_conditional, check_gate_law, check_mass_law

FACTORS = {"poisson": PoissonFactor(), "negative binomial": NegativeBinomialFactor()}
ROW = np.array([0, 0, 1, 1, 1, 3])  # nobody sits in row 2
COUNT_DK = np.array([[3, 0, 0], [0, 0, 0], [1, 0, 2], [0, 4, 0], [0, 0, 0], [7, 1, 0]])
GATE_DK = np.array([[1, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]], bool)
SHAPE = {"poisson": np.full(3, 0.8), "negative binomial": np.array([0.8, 2.5, 0.1])}
LOG_A, LOG_B = np.log([0.5, 0.2, 0.03]), np.log([0.4, 0.9, 0.07])
LOG_ODDS_TK = np.array([[0.3, np.inf, -2.0], [1.0, 0.5, -1.0], [0.0, 0.0, 0.0], [9.0, -30.0, 0.0]])

every_factor = pytest.mark.parametrize("name", FACTORS)


def evidence_of(count_DK, row_D, n_rows=4):
    """Add up documents by hand."""
    positive = np.zeros((n_rows, count_DK.shape[1]), int)
    np.add.at(positive, row_D, count_DK > 0)
    above = np.stack([(count_DK > j).sum(0) for j in range(max(1, count_DK.max()))])
    counts = np.zeros((1, padded(count_DK.shape[1])), int)
    counts[0, : count_DK.shape[1]] = count_DK.sum(0)
    trials, seats = np.bincount(row_D, minlength=n_rows), np.arange(positive.shape[1])
    return TopicEvidence(counts, positive, above, trials, seats)


EVIDENCE = evidence_of(COUNT_DK, ROW)


def log_counts(name, shape_K, log_mass_K, gate_DK, count_DK=COUNT_DK):
    """Return log p(counts | gates, masses, shapes): NB where a gate is open, else surely 0."""
    mass = np.exp(log_mass_K)
    q = mass / (1 + mass) if name == "poisson" else mass
    seen = np.broadcast_to(stats.nbinom.logpmf(count_DK, shape_K, 1 - q), count_DK.shape)
    return float(np.where(gate_DK, seen, np.where(count_DK > 0, -np.inf, 0.0)).sum())


@every_factor
def test_mass_law(name):
    found = FACTORS[name].mass_evidence(None, SHAPE[name], LOG_A, EVIDENCE, GATE_DK)
    check_mass_law(lambda m: log_counts(name, SHAPE[name], m, GATE_DK), found, LOG_A, LOG_B)


@every_factor
def test_mass_law_sees_shut_gates_counted(name):
    """The paper's appendix adds up over all documents; silent ones matter."""
    for opened in (np.ones((6, 3), int), COUNT_DK > 0):
        wrong = FACTORS[name].mass_evidence(None, SHAPE[name], LOG_A, EVIDENCE, opened)
        with pytest.raises(AssertionError, match="mass of atom"):
            check_mass_law(lambda m: log_counts(name, SHAPE[name], m, GATE_DK), wrong, LOG_A, LOG_B)


@every_factor
def test_gate_law(name):
    usage = FACTORS[name].usage(SHAPE[name], LOG_A)
    found = gate_evidence(usage, EVIDENCE)
    check_gate_law(lambda g: log_counts(name, SHAPE[name], LOG_A, g), found, GATE_DK, ROW)


@pytest.mark.parametrize("n_open", [0, 3])
def test_conjugate_evidence_of_a_poisson_factor_is_the_total_usage(n_open):
    """Given it the masses see Poisson counts; its law is Gamma(n + e open, 1 + m)."""
    size, e = 20_000, 0.6
    count_DK = np.tile([[2], [0], [5], [0]], (1, size)) * (n_open > 0)
    found = PoissonFactor().conjugate_evidence(
        np.random.default_rng(1),
        np.full(size, e),
        np.full(size, np.log(1.7)),
        evidence_of(count_DK, np.zeros(4, int), 1),
        np.full((1, size), n_open),
    )
    assert np.all(found.hits == count_DK.sum(0))
    assert not found.overflow.any()
    assert not found.misses.any()
    if n_open == 0:
        assert np.all(found.exposure == 0.0)
    else:
        law = stats.gamma(7 + 3 * e, scale=1 / 2.7)
        assert stats.kstest(found.exposure, law.cdf).pvalue > 1e-5


def test_conjugate_evidence_of_a_negative_binomial_is_its_evidence():
    factor, shape = FACTORS["negative binomial"], SHAPE["negative binomial"]
    arguments = np.random.default_rng(1), shape, LOG_A, EVIDENCE, GATE_DK
    found = factor.conjugate_evidence(*arguments)
    expected = factor.mass_evidence(*arguments)
    np.testing.assert_array_equal(found, expected)


def activation(log_odds_TK):
    return expit(log_odds_TK)[ROW]


def log_silent_out(name, shape_K, log_mass_K, log_odds_TK):
    """Return log p(counts | masses, shapes, activations), gates integrated out one by one."""
    total = 0.0
    for d, k in np.ndindex(COUNT_DK.shape):
        a = activation(log_odds_TK)[d, k]
        one = log_counts(name, shape_K[k], log_mass_K[k], np.array(True), COUNT_DK[d, k])
        total += np.log(a * np.exp(one) + (1 - a) * (COUNT_DK[d, k] == 0))
    return total


GRID = [0.01, 0.3, 0.8, 1.0, 4.0, 15.0]


@every_factor
def test_shape_has_its_conditional(name):
    """One shape in common, or one a topic: each with the prior Gamma(1, 1), in logs."""
    possible = LOG_ODDS_TK.copy()
    density = FACTORS[name].shape_density(LOG_A, EVIDENCE, possible)

    def place(h, k):
        return np.full(3, h) if name == "poisson" else np.where(np.arange(3) == k, h, SHAPE[name])

    for k in [0] if name == "poisson" else range(3):

        def joint(h, k=k, rate=1.0, shape=1.0):
            prior = stats.gamma.logpdf(h, shape, scale=1 / rate) + np.log(h)
            return prior + log_silent_out(name, place(h, k), LOG_A, possible)

        def conditional(h, k=k):
            point = np.log([h]) if name == "poisson" else np.log(place(h, k))
            return float(density(point)[k])

        check_conditional(joint, conditional, GRID)
        for wrong in ({"rate": 1.1}, {"shape": 1.1}):
            with pytest.raises(AssertionError, match="the conditional says"):
                check_conditional(lambda h, w=wrong: joint(h, **w), conditional, GRID)


@every_factor
def test_silence_at_the_ends_of_activation(name):
    """Always open, never open: no warning, no NaN, and the plain limits."""
    usage = FACTORS[name].usage(SHAPE[name], LOG_A)
    quiet = evidence_of(np.zeros((5, 3), int), np.zeros(5, int), 1)
    always, never = np.full((1, 3), np.inf), np.full((1, 3), -np.inf)
    for shape in (SHAPE[name], 2.0):
        at = log_silence(usage.log_rest, quiet, always)(shape)
        np.testing.assert_allclose(at, 5 * shape * usage.log_rest)
        np.testing.assert_array_equal(log_silence(usage.log_rest, quiet, never)(shape), 0.0)


@every_factor
def test_fixed_shapes_stay(name):
    fixed = type(FACTORS[name])(shape=0.4)
    shape = fixed.draw_shape(np.random.default_rng(1), 3)
    assert np.all(shape == 0.4)
    moved = fixed.redraw_shape(np.random.default_rng(2), shape, LOG_A, EVIDENCE, LOG_ODDS_TK)
    assert np.all(moved == 0.4)
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(InvalidInput, match="shape must be a finite number above 0"):
            type(fixed)(shape=bad)


def test_shapes_from_the_prior_are_exponential():
    factor, rng = FACTORS["negative binomial"], np.random.default_rng(3)
    assert stats.kstest(factor.draw_shape(rng, 20_000), "expon").pvalue > 1e-5
    old = np.array([3.0, 4.0])
    more = factor.more_shape(rng, old, 20_000)
    assert more[:2].tolist() == [3.0, 4.0]
    assert stats.kstest(more[2:], "expon").pvalue > 1e-5
    common = [PoissonFactor().draw_shape(rng, 3) for _ in range(2_000)]
    assert all(np.ptp(shape) == 0 for shape in common)
    assert stats.kstest([shape[0] for shape in common], "expon").pvalue > 1e-5
    assert np.all(PoissonFactor().more_shape(rng, np.full(2, 0.3), 3) == np.full(5, 0.3))


@every_factor
def test_starts_have_the_mean_they_are_given(name):
    factor = FACTORS[name]
    shape = factor.start_shape(4)
    mean_K = np.array([0.1, 1.0, 30.0, 1e5])
    usage = factor.usage(shape, factor.start_log_mass(shape, mean_K))
    np.testing.assert_allclose(usage.shape * usage.q / np.exp(usage.log_rest), mean_K, rtol=1e-9)


@every_factor
def test_usage_of_extreme_masses(name):
    ends = [-5e3, -700.0, -1e-12, -5e-324]
    log_mass = np.array(ends if name == "negative binomial" else [*ends, 0.0, 1.0, 50.0, 800.0])
    usage = FACTORS[name].usage(np.ones(log_mass.size), log_mass)
    assert np.all((usage.q >= 0) & (usage.q <= 1))
    assert np.all(np.isfinite(usage.log_silent))
    assert np.all(usage.log_silent <= 0)
    for odds in (-np.inf, -800.0, 0.0, 800.0, np.inf):
        theta = np.ones((1, 16), np.float32)
        rates = token_rates(usage, np.full((2, log_mass.size), odds), theta, 0.0, 3)
        assert all(np.all(np.isfinite(part)) and np.all(part >= 0) for part in rates)


@every_factor
def test_token_rates_are_ratios_of_probabilities(name):
    """An unused topic's weight is P(1) / P(0), a used one's (n + 1) P(n + 1) / P(n)."""
    usage = FACTORS[name].usage(SHAPE[name], LOG_A)
    rates = token_rates(usage, LOG_ODDS_TK, np.ones((1, 16), np.float32), 0.25, 9)
    a_TK = expit(LOG_ODDS_TK)
    law = stats.nbinom(SHAPE[name], 1 - usage.q)
    first = a_TK * law.pmf(1) / (1 - a_TK + a_TK * law.pmf(0))
    np.testing.assert_allclose(rates.unused_TK[:, :3], first, rtol=1e-6)
    for n in (1, 2, 9):
        ratio = (n + 1) * law.pmf(n + 1) / law.pmf(n)
        np.testing.assert_allclose(((rates.shape_K + n) * rates.gain_K)[:3], ratio, rtol=1e-12)
        assert rates.fade_J[n] == pytest.approx(4.0 / (4.0 + n))  # s / (s + n)
        assert rates.echo_J[n] == pytest.approx(1.0 / (4.0 + n))
    assert not rates.unused_TK[:, 3:].any()
    assert not rates.gain_K[3:].any()


def test_open_gates_have_their_law():
    """Two rows: documents with tokens are open, the silent ones open with odds a q0 / (1 - a)."""
    size = 40_000
    evidence = TopicEvidence(
        np.zeros((1, size), int),
        np.tile([[1], [0]], (1, size)),
        np.ones((1, size), int),
        np.array([3, 2]),
        np.arange(size),
    )
    usage = PoissonFactor().usage(np.full(size, 0.7), np.full(size, np.log(1.3)))
    log_odds = np.tile([[0.2], [-1.0]], (1, size))
    opened = open_gates(np.random.default_rng(4), usage, evidence, log_odds)
    q0, a = 2.3**-0.7, expit(np.array([0.2, -1.0]))
    first, second = a * q0 / (1 - a + a * q0)
    law = np.convolve(stats.binom.pmf(range(3), 2, first), stats.binom.pmf(range(3), 2, second))
    assert np.all(opened[1] <= 2)
    seen = np.bincount(opened.sum(0), minlength=6)
    assert seen[0] == 0
    assert stats.chisquare(seen[1:], size * law).pvalue > 1e-5
    ends = np.tile([[np.inf], [-np.inf]], (1, size))
    sure = open_gates(np.random.default_rng(5), usage, evidence, ends)
    np.testing.assert_array_equal(sure, np.tile([[3], [0]], (1, size)))
