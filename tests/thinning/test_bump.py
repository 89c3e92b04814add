"""Bumps: exact integrals, exact prior means, and a redraw that leaves the posterior alone."""

import itertools

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import erfc, expit

from thincrm.errors import ThincrmError
from thincrm.ports import GateEvidence, Thinning
from thincrm.testing import assert_passed, assert_rejected, exact_rank_test
from thincrm.thinning.bump import Bump, BumpState
from thincrm.thinning.kernels import KERNELS, length_rule

T = np.array([0.0, 0.2, 0.25, 0.6, 1.0])
PLAIN = {
    "gaussian": lambda d: np.exp(-(d**2) / 2),
    "box": lambda d: (np.abs(d) <= 1) * 1.0,
    "exponential": lambda d: np.exp(-np.abs(d)),
    "one-sided": lambda d: np.where(d >= 0, np.exp(-np.abs(d)), 0.0),
}


def close_in_mean(draws, expected, n_tests):
    """Two-sided z tests of independent draws (last axis), level 1e-5 for all `n_tests` together."""
    error = draws.std(-1) / np.sqrt(draws.shape[-1])
    z = (draws.mean(-1) - expected) / np.where(error > 0, error, 1.0)
    assert np.all(np.abs(z) < stats.norm.isf(1e-5 / (2 * n_tests))), z


def integral(f, ends):
    return sum(integrate.quad(f, a, b, epsabs=1e-13)[0] for a, b in itertools.pairwise(ends))


def check_integrals(name, low, high, u, v, length):
    kernel = KERNELS[name]
    bends = [u, v, (u + v) / 2, u - length, u + length, v - length, v + length]
    ends = [low, *sorted(b for b in bends if low < b < high), high]

    def k(m, t):
        return float(PLAIN[name]((t - m) / length))

    area = integral(lambda m: k(m, u), ends)
    product = integral(lambda m: k(m, u) * k(m, v), ends)
    smaller = integral(lambda m: min(k(m, u), k(m, v)), ends)
    assert kernel.area(low, high, u, length) == pytest.approx(area, abs=1e-11)
    assert kernel.product(low, high, u, v, length) == pytest.approx(product, abs=1e-11)
    assert kernel.smaller(low, high, u, v, length) == pytest.approx(smaller, abs=1e-11)


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_integrals_equal_quadrature(name):
    rng = np.random.default_rng(1)
    for _ in range(10):
        window, pair = np.sort(2 * rng.normal(size=2)), np.sort(rng.normal(size=2))
        check_integrals(name, *window, *pair, rng.gamma(2.0))


@pytest.mark.parametrize("spread", [0.1, 0.5, 2.0])
def test_length_rule_is_exact_across_bends(spread):
    bends = np.array([[0.05, 0.3, 1.7]])
    length, weight = length_rule(0.3, spread, bends)
    assert weight.sum() == pytest.approx(1.0, abs=1e-12)
    bent = sum(np.minimum(length, bend) for bend in bends[0])

    def below(bend):  # E min(l, bend) of a log-normal
        z = np.log(bend / 0.3) / spread
        partial = 0.3 * np.exp(spread**2 / 2) * stats.norm.cdf(z - spread)
        return partial + bend * stats.norm.sf(z)

    assert (bent * weight).sum() == pytest.approx(sum(map(below, bends[0])), abs=1e-11)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("length", [0.3, (0.3, 0.8)])
def test_prior_means_equal_monte_carlo(kernel, length):
    thinning = Bump(kernel, length, height=0.9)
    assert isinstance(thinning, Thinning)
    prepared = thinning.prepare(T)
    p = expit(thinning.log_odds(thinning.draw(11, 100_000, prepared), prepared))
    close_in_mean(p, thinning.mean_activation(prepared), 55)
    product = thinning.pair_activation(prepared, T, T, "independent")
    smaller = thinning.pair_activation(prepared, T, T, "comonotone")
    for i in range(5):
        close_in_mean(p[i] * p, product[i], 55)
        close_in_mean(np.minimum(p[i], p), smaller[i], 55)
    assert np.allclose(np.diag(smaller), thinning.mean_activation(prepared), atol=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "box", "exponential"])
def test_prior_means_of_two_columns_equal_monte_carlo(kernel):
    t = np.random.default_rng(2).random((4, 2)) * [1.0, 50.0]
    thinning = Bump(kernel, (0.4, 0.4), scale=(1.0, 40.0))
    prepared = thinning.prepare(t)
    p = expit(thinning.log_odds(thinning.draw(12, 100_000, prepared), prepared, t))
    close_in_mean(p, thinning.mean_activation(prepared, t), 36)
    product = thinning.pair_activation(prepared, t, t, "independent")
    smaller = thinning.pair_activation(prepared, t, t, "comonotone")
    for i in range(4):
        close_in_mean(p[i] * p, product[i], 36)
        # quasi-Monte Carlo is good to 1e-4, a tenth of the standard error here
        close_in_mean(np.minimum(p[i], p), smaller[i], 36)


@pytest.mark.parametrize("kernel", KERNELS)
def test_correlations_on_a_long_window_are_the_closed_forms(kernel):
    length, height = 0.7, 0.8
    t = np.array([0.0, 0.2, 0.9, 2.5])
    thinning = Bump(kernel, length, height=height, window=(-40.0, 40.0), scale=1.0)
    prepared = thinning.prepare(t)
    mean = thinning.mean_activation(prepared, t)
    product = thinning.pair_activation(prepared, 0.0, t, "independent")[0]
    smaller = thinning.pair_activation(prepared, 0.0, t, "comonotone")[0]
    d = t / length
    independent, comonotone = {
        "gaussian": (np.exp(-(d**2) / 4) / np.sqrt(2), erfc(d / (2 * np.sqrt(2)))),
        "exponential": (0.5 * (1 + d) * np.exp(-d), np.exp(-d / 2)),
        "box": (np.maximum(1 - d / 2, 0), np.maximum(1 - d / 2, 0)),
        "one-sided": (0.5 * np.exp(-d), np.exp(-d)),
    }[kernel]
    assert np.allclose(product / mean[0], height * independent, atol=1e-9)
    assert np.allclose(smaller / mean[0], comonotone, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_log_odds_are_those_of_the_formula_and_never_nan(kernel):
    thinning = Bump(kernel, (0.3, 0.5), scale=2.0)
    prepared = thinning.prepare(T)
    x = BumpState(np.array([[0.2], [0.5], [50.0]]), np.log([0.5, 1e-3, 0.1]))
    p = PLAIN[kernel]((T[:, None] - x.location[:, 0]) / (2.0 * np.exp(x.log_length)))
    log_odds = thinning.log_odds(x, prepared)
    assert np.allclose(expit(log_odds), p, atol=1e-12)
    assert not np.isnan(log_odds).any()
    assert log_odds[1, 0] == np.inf  # height 1 at its own location


def test_log_prob_is_the_density_of_draw():
    thinning = Bump("gaussian", (0.3, 0.5))
    prepared = thinning.prepare(T)
    x = thinning.draw(0, 5, prepared)
    density = stats.norm.logpdf(x.log_length, np.log(0.3), 0.5) - np.log(1 + 2 * 0.9)
    assert np.allclose(thinning.log_prob(x, prepared), density)
    outside = x._replace(location=x.location + 100.0)
    assert np.all(thinning.log_prob(outside, prepared) == -np.inf)
    fixed = Bump("gaussian", 0.3)
    assert np.allclose(fixed.log_prob(fixed.draw(0, 5, prepared), prepared), -np.log(1 + 2 * 0.9))


TRIALS = np.array([1, 2, 0, 1, 2])
SILENCE = {"hidden": np.array([-0.1, -1.0, -0.5, -0.3, -2.0]), "seen": np.full(5, -np.inf)}


def rank_test(thinning, mover, log_q, seed):
    """Gandy and Scott's exact rank test of redraw: one atom is one replicate."""
    prepared = thinning.prepare(T)

    def draw(rng, n):
        x = thinning.draw(rng, n, prepared)
        opened = rng.binomial(TRIALS[:, None], expit(thinning.log_odds(x, prepared)))
        positive = rng.binomial(opened, -np.expm1(log_q)[:, None])
        return x, GateEvidence.of(positive, TRIALS, np.repeat(log_q[:, None], n, axis=1))

    def functionals(state):
        x, evidence = state
        p = expit(thinning.log_odds(x, prepared))
        out = {
            "location": x.location[:, 0],
            "distance": np.abs(x.location[:, 0] - 0.4),
            "mean p": p.mean(0),
            "fit": x.location[:, 0] * (evidence.positive * T[:, None]).sum(0),
            "seen p": (evidence.positive * p).sum(0) - (TRIALS[:, None] * p).sum(0),
        }
        return out if isinstance(thinning.length, float) else {**out, "length": x.log_length}

    def block(rng, state):
        return mover.redraw(rng, state[0], state[1], prepared), state[1]

    return exact_rank_test(draw, [block], functionals, n_steps=3, n_first=5000, rng=seed)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("length", "silence"), [((0.2, 0.7), "hidden"), ((0.2, 0.7), "seen"), (0.3, "hidden")]
)
def test_redraw_leaves_the_posterior_invariant(kernel, length, silence):
    thinning = Bump(kernel, length, height=0.8)
    assert_passed(rank_test(thinning, thinning, SILENCE[silence], 20130429))


class Forgetful(Bump):
    """Takes the silent gates for shut ones."""

    def redraw(self, rng, x, evidence, prepared):
        shut = GateEvidence.of(evidence.positive, evidence.trials, -np.inf)
        return Bump.redraw(self, rng, x, shut, prepared)


class Careless(Bump):
    """Has another prior of the length."""

    def redraw(self, rng, x, evidence, prepared):
        wider = Bump(self.kernel, (0.2, 1.4), self.height)
        return wider.redraw(rng, x, evidence, prepared)


@pytest.mark.parametrize("twin", [Forgetful, Careless])
def test_broken_redraws_are_rejected(twin):
    thinning = Bump("gaussian", (0.2, 0.7), height=0.8)
    broken = twin("gaussian", (0.2, 0.7), height=0.8)
    assert_rejected(rank_test(thinning, broken, SILENCE["hidden"], 20130429))


@pytest.mark.joint
def test_redraw_of_two_columns_leaves_the_posterior_invariant():
    t = np.random.default_rng(3).random((5, 2))
    thinning = Bump("box", (0.5, 0.6))
    prepared = thinning.prepare(t)

    def draw(rng, n):
        x = thinning.draw(rng, n, prepared)
        opened = rng.binomial(TRIALS[:, None], expit(thinning.log_odds(x, prepared)))
        positive = rng.binomial(opened, 0.7)
        return x, GateEvidence.of(positive, TRIALS, np.full((5, n), np.log(0.3)))

    def functionals(state):
        x, evidence = state
        return {
            "first": x.location[:, 0],
            "second": x.location[:, 1],
            "length": x.log_length,
            "fit": (x.location * (evidence.positive.T @ prepared.covariates.rows)).sum(1),
        }

    def block(rng, state):
        return thinning.redraw(rng, *state, prepared), state[1]

    assert_passed(exact_rank_test(draw, [block], functionals, n_steps=4, rng=7))


def test_redraw_without_evidence_is_draw():
    thinning = Bump("box", (0.2, 0.7))
    prepared = thinning.prepare(T)
    start = BumpState(np.full((4000, 1), 0.5), np.full(4000, np.log(0.2)))
    none = GateEvidence.of(np.zeros((5, 4000), int), np.zeros(5, int), 0.0)
    x = thinning.redraw(5, start, none, prepared)
    assert np.unique(x.location).size > 3990  # the last move is a fresh draw that always accepts
    low, high = float(prepared.low[0]), float(prepared.high[0])
    assert stats.kstest(x.location[:, 0], stats.uniform(low, high - low).cdf).pvalue > 1e-5
    assert stats.kstest(x.log_length, stats.norm(np.log(0.2), 0.7).cdf).pvalue > 1e-5


def test_a_state_without_likelihood_waits_for_one_that_has_some():
    thinning = Bump("box", (0.2, 0.7))
    prepared = thinning.prepare(T)
    far = BumpState(np.full((300, 1), -0.5), np.full(300, np.log(0.01)))
    seen = GateEvidence.from_counts(
        np.repeat([[0], [0], [0], [1], [1]], 300, axis=1), TRIALS * 0 + 1
    )
    x = far
    for sweep in range(60):
        x = thinning.redraw(sweep, x, seen, prepared)
    p = expit(thinning.log_odds(x, prepared))
    found = p[3] * p[4] == 1
    assert found.mean() > 0.9
    assert np.all(x.location[~found] == -0.5)


def test_dates_and_one_lone_covariate():
    dates = ["1990-01-01", "1995-06-01", "2000-01-01"]
    thinning = Bump(window=("1980-01-01", "2010-01-01"))
    prepared = thinning.prepare(dates)
    x = thinning.draw(0, 10, prepared)
    assert thinning.log_odds(x, prepared, "1993-05-05").shape == (1, 10)
    assert thinning.mean_activation(prepared, "1993-05-05") == pytest.approx(
        thinning.mean_activation(prepared, "1996-05-05"), rel=0.05
    )
    for kernel in KERNELS:
        lone = Bump(kernel).prepare(3.0)
        assert 0 < Bump(kernel).mean_activation(lone)[0] < 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"kernel": "cosine"}, "kernel must be one of gaussian, box"),
        ({"length": -1.0}, "length must be a finite number above 0"),
        ({"length": "long"}, "length must be a number"),
        ({"length": (0.1, 0.0)}, "length's spread must be"),
        ({"length": (0.1, 0.2, 0.3)}, r"a pair \(median, spread\)"),
        ({"height": 1.5}, "height is a probability"),
        ({"height": 0.0}, "height must be a finite number above 0"),
    ],
)
def test_bad_hyper_parameters_give_a_sentence(arguments, words):
    with pytest.raises(ThincrmError, match=words):
        Bump(**arguments)


@pytest.mark.parametrize(
    ("thinning", "t", "words"),
    [
        (Bump("one-sided"), np.ones((3, 2)), "needs a covariate with an order"),
        (Bump(window=(1.0, 0.0)), T, "lowest below its highest"),
        (Bump(window=3.0), T, r"window must be a pair"),
        (Bump(scale=-1.0), T, "scale must be a positive number"),
        (Bump(scale=(1.0, 2.0)), T, "scale must be a positive number"),
        (Bump(window=("1990-01-01", "2000-01-01")), T, "kind"),
    ],
)
def test_bad_covariates_give_a_sentence(thinning, t, words):
    with pytest.raises(ThincrmError, match=words):
        thinning.prepare(t)


def test_products_of_hyper_parameters_all_prepare_and_draw():
    for kernel, length, height in itertools.product(KERNELS, (0.1, (0.2, 0.3)), (0.5, 1.0)):
        thinning = Bump(kernel, length, height)
        prepared = thinning.prepare([1800, 1900, 1900, 2000])
        assert thinning.log_odds(thinning.draw(1, 3, prepared), prepared).shape == (3, 3)
