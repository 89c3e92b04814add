"""ProbitRVM and SigmoidGP: densities, prior means, covariates of every kind, sentences."""

import numpy as np
import pandas as pd
import pytest
from linear_cases import LOGISTIC, MANY, PROBIT, RVM, T, block, prior_and_gates
from scipy import stats
from scipy.special import expit, log_ndtr

from thincrm.errors import InvalidInput, InvalidType
from thincrm.numerics.threads import using_threads
from thincrm.ports import GateEvidence
from thincrm.thinning.basis import spread_centres
from thincrm.thinning.gp import SigmoidGP
from thincrm.thinning.orthant import bivariate_normal_cdf
from thincrm.thinning.rvm import ProbitRVM

EACH = pytest.mark.parametrize("thinning", [RVM, PROBIT, LOGISTIC], ids=["rvm", "gp", "logistic"])
WHERE = np.array([0.0, 0.35, 0.8])


def test_rvm_log_prob_is_the_product_of_its_densities():
    prepared = RVM.prepare(T)
    x = RVM.draw(3, 5, prepared)
    mean = np.array([-0.7, 0, 0, 0, 0])
    normal = stats.norm.logpdf(x.weights, mean, 1 / np.sqrt(x.precisions)).sum(1)
    gamma = stats.gamma.logpdf(x.precisions, 1.5, scale=1 / 0.8).sum(1)
    np.testing.assert_allclose(RVM.log_prob(x, prepared), normal + gamma - np.log(2))


def test_gp_is_a_gaussian_process_at_its_centres():
    gp = SigmoidGP(widths=(9.0,), amplitude=1.7, bias_spread=0.5)
    basis_TJ = gp.prepare(T).basis_MTJ[0]
    prior = np.ones(basis_TJ.shape[1])
    prior[0] = 0.5**2
    expected = 0.25 + 1.7**2 * np.exp(-9.0 * (T[:, None] - T) ** 2)
    np.testing.assert_allclose(basis_TJ @ np.diag(prior) @ basis_TJ.T, expected, atol=1e-8)


def test_gp_prior_is_what_it_says():
    """The density of draws, their moments, and the mean of a probit: Phi(m / sqrt(1 + var))."""
    gp = SigmoidGP(widths=(9.0, 2.0), amplitude=1.7, bias_mean=-0.4, bias_spread=0.7)
    prepared, n = gp.prepare(T), 200_000
    x = gp.draw(5, n, prepared)
    level, field = x.weights[:, 0], x.weights[:, 1:]
    normal = stats.norm.logpdf(level, -0.4, 0.7) + stats.norm.logpdf(field).sum(1)
    np.testing.assert_allclose(gp.log_prob(x, prepared), normal - np.log(2))
    assert stats.kstest(level[::20], stats.norm(-0.4, 0.7).cdf).pvalue > 1e-5
    assert stats.kstest(level[::20], stats.norm(-0.4, 0.77).cdf).pvalue < 1e-5
    mean = stats.norm.cdf(-0.4 / np.sqrt(1.0 + 0.7**2 + 1.7**2))
    np.testing.assert_allclose(gp.mean_activation(prepared), mean, rtol=1e-6)


@EACH
def test_log_odds_anywhere_agree_with_the_prepared_rows(thinning):
    prepared = thinning.prepare(T)
    x = thinning.draw(1, 7, prepared)
    np.testing.assert_allclose(thinning.log_odds(x, prepared, T), thinning.log_odds(x, prepared))


@EACH
def test_prior_means_agree_with_draws(thinning):
    """Four standard errors and a half, and 4e-4 for quasi-Monte Carlo; false alarm below 1e-5."""
    n, prepared = 200_000, thinning.prepare(T)
    p_TK = expit(thinning.log_odds(thinning.draw(11, n, prepared), prepared, WHERE))
    smaller = np.minimum(p_TK[:, None], p_TK[None])
    for exact, sample in (
        (thinning.mean_activation(prepared, WHERE), p_TK),
        (thinning.pair_activation(prepared, WHERE, WHERE, "independent"), p_TK[:, None] * p_TK),
        (thinning.pair_activation(prepared, WHERE, WHERE, "comonotone"), smaller),
    ):
        error = sample.std(-1) / np.sqrt(n)
        assert np.all(np.abs(sample.mean(-1) - exact) < 4.9 * error + 4e-4)


def test_bivariate_normal_cdf():
    for h, k, rho in [
        (0.3, -1.0, 0.5),
        (-0.2, -0.4, -0.9),
        (0.0, 0.7, 0.2),
        (0, 0, 0.6),
        (1, 1, 1),
    ]:
        exact = stats.multivariate_normal.cdf(
            [h, k], cov=[[1, rho], [rho, 1]], allow_singular=True, abseps=1e-10, releps=1e-10
        )
        found = bivariate_normal_cdf(np.array(float(h)), np.array(float(k)), np.array(float(rho)))
        np.testing.assert_allclose(found, exact, atol=1e-7)


@EACH
def test_same_bits_on_any_number_of_threads(thinning):
    state = prior_and_gates(thinning, MANY, np.full(4, 0.5))(np.random.default_rng(5), 100)
    results = []
    for n_threads in (1, 2, 4):
        with using_threads(n_threads):
            results.append(block(thinning)(np.random.default_rng(9), state)[0])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@EACH
def test_an_old_state_is_left_as_it_was(thinning):
    state = prior_and_gates(thinning, MANY, np.full(4, 0.5))(np.random.default_rng(5), 3)
    before = [part.copy() for part in state[0]]
    block(thinning)(np.random.default_rng(9), state)
    for a, b in zip(before, state[0], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("eta", [-40.0, -8.0, 0.0, 8.0, 40.0])
@pytest.mark.parametrize("log_q", [-np.inf, -600.0, -1.0, 0.0])
def test_extreme_predictors_have_finite_and_right_likelihood(eta, log_q):
    from thincrm.thinning.links import PROBIT, gate_term

    evidence = GateEvidence.of([[2]], [5], [[log_q]])
    open_, shut = log_ndtr(np.array([[eta]])), log_ndtr(np.array([[-eta]]))
    exact = evidence.log_likelihood(open_, shut)[0]
    found = gate_term(eta, PROBIT, 2, 3, np.exp(log_q))
    np.testing.assert_allclose(found, exact, rtol=1e-6)


@pytest.mark.parametrize(
    "t",
    [
        pd.date_range("1790-01-08", periods=40, freq="YS"),
        np.repeat([1.0, 2.0, 5.5], 4),
        np.random.default_rng(0).normal(size=(60, 3)),
        pd.DataFrame({"gdp": [1.0, 3.0, 9.0], "year": [1990, 1991, 2000]}),
        [4.0],
    ],
    ids=["dates", "repeated", "vectors", "table", "one"],
)
@pytest.mark.parametrize("thinning", [ProbitRVM(), SigmoidGP()], ids=["rvm", "gp"])
def test_covariates_of_every_kind(thinning, t):
    prepared = thinning.prepare(t)
    x = thinning.draw(0, 6, prepared)
    trials = prepared.covariates.trials
    evidence = GateEvidence.from_counts(np.zeros((trials.size, 6), int), trials)
    moved = thinning.redraw(1, x, evidence, prepared)
    assert np.isfinite(thinning.log_odds(moved, prepared, t)).all()
    assert thinning.log_odds(moved, prepared).shape == (trials.size, 6)


def test_thousands_of_days_have_at_most_a_hundred_centres():
    days = pd.date_range("2001-01-01", periods=3000)
    prepared = ProbitRVM().prepare(days)
    assert prepared.centres.shape == (100, 1)
    assert prepared.basis_MTJ.shape == (5, 3000, 101)
    assert np.ptp(prepared.centres) == pytest.approx(1.0)
    plane = ProbitRVM(max_centres=9).prepare(np.random.default_rng(1).random((500, 2)))
    gaps = np.sqrt(((plane.centres[:, None] - plane.centres) ** 2).sum(2))
    assert gaps[np.triu_indices(9, 1)].min() > 0.3


def test_given_centres_and_scales_are_used():
    prepared = ProbitRVM(centres=[0.0, 10.0], scale=5.0, widths=(1.0,)).prepare([0.0, 5.0])
    np.testing.assert_allclose(prepared.basis_MTJ[0, 1, 1:], np.exp([-1.0, -1.0]))
    assert spread_centres(prepared.covariates, prepared.scale, None, 10).shape == (2, 1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ProbitRVM(widths=()), "widths"),
        (lambda: ProbitRVM(widths=(1.0, -2.0)), "widths"),
        (lambda: ProbitRVM(shape=0.0), "shape"),
        (lambda: ProbitRVM(rate=-1.0), "rate"),
        (lambda: ProbitRVM(bias_mean=np.nan), "bias_mean"),
        (lambda: ProbitRVM(max_centres=0), "max_centres"),
        (lambda: SigmoidGP(link="cauchit"), "link"),
        (lambda: SigmoidGP(amplitude=0.0), "amplitude"),
        (lambda: ProbitRVM().prepare([1.0, np.nan]), r"t\[1\]"),
        (lambda: ProbitRVM(scale=(1.0, 2.0)).prepare([1.0, 2.0]), "scale"),
        (lambda: GateEvidence.of([[3]], [2], [[0.0]]), "positive"),
        (lambda: GateEvidence.of([[1, 2]], [2, 2], 0.0), "trials"),
        (lambda: GateEvidence.of([[1]], [2], [[0.5]]), "log_q"),
    ],
)
def test_bad_input_is_named(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()


def test_wrong_evidence_and_wrong_covariates_are_named():
    prepared = RVM.prepare(T)
    x = RVM.draw(0, 3, prepared)
    with pytest.raises(InvalidInput, match="4 distinct covariate rows and 3 atoms"):
        RVM.redraw(0, x, GateEvidence.from_counts(np.zeros((2, 3), int), [1, 1]), prepared)
    with pytest.raises(InvalidType, match="date"):
        RVM.log_odds(x, prepared, pd.to_datetime(["2000-01-01"]))
    with pytest.raises(InvalidInput, match="columns"):
        RVM.log_odds(x, prepared, np.zeros((2, 2)))
