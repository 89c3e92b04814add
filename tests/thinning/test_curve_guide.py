"""The law that proposals of whole curves come from: its density, and where it lies."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_expit
from scipy.stats import multivariate_normal

from thincrm.ports import GateEvidence
from thincrm.thinning import SigmoidGP

T = 30
TRIALS = np.full(T, 40)


def evidence(q=0.3):
    open_T = np.exp(-0.5 * ((np.arange(T) - 12.0) / 4.0) ** 2)
    heard_T = np.random.default_rng(1).binomial(TRIALS, 0.8 * open_T * (1.0 - q))
    return GateEvidence.of(heard_T[:, None], TRIALS, [np.log(q)])


def plain_density(thinning, prepared, width, size):
    """Return f(w) = log prior + log likelihood of the first coordinates, others left out."""
    basis_TJ = prepared.basis_MTJ[width][:, :size]
    mean_J, precision_J = thinning._prior(size)
    seen = evidence()

    def density(w_J):
        log_odds = thinning.log_odds(
            type(thinning.draw(0, 1, prepared))(
                np.append(w_J, np.zeros(prepared.basis_MTJ.shape[2] - size))[None],
                np.array([width]),
            ),
            prepared,
        )
        fit = seen.log_likelihood(log_expit(log_odds), log_expit(-log_odds))[0]
        return fit - 0.5 * float(precision_J @ (w_J - mean_J) ** 2)

    return density, basis_TJ


@pytest.mark.parametrize("link", ["probit", "logistic"])
def test_centres_are_where_the_conditional_density_is_largest(link):
    thinning = SigmoidGP(link=link)
    prepared = thinning.prepare(np.repeat(np.arange(T), TRIALS))
    law = thinning.guide(evidence(), prepared).inner
    width = int(law.log_share_M.argmax())
    density, basis_TJ = plain_density(thinning, prepared, width, law.centre_MJ.shape[1])
    best = minimize(lambda w: -density(w), law.centre_MJ[width], options={"maxiter": 300}).x
    np.testing.assert_allclose(basis_TJ @ law.centre_MJ[width], basis_TJ @ best, atol=0.15)


def test_density_is_that_of_a_gaussian_times_the_prior_of_the_rest():
    thinning = SigmoidGP()
    prepared = thinning.prepare(np.repeat(np.arange(T), TRIALS))
    guide = thinning.guide(evidence(), prepared)
    law = guide.inner
    size = law.centre_MJ.shape[1]
    assert size < prepared.basis_MTJ.shape[2]
    rng = np.random.default_rng(2)
    for _ in range(5):
        x = guide.draw(rng)
        w_J, m = x.weights[0], int(x.width[0])
        root_JJ = np.triu(law.factor_MJJ[m])
        covariance = np.linalg.inv(root_JJ.T @ root_JJ)
        log_q = multivariate_normal.logpdf(w_J[:size], law.centre_MJ[m], covariance)
        mean_J, precision_J = thinning._prior(w_J.size)
        rest = slice(size, None)
        normal = 0.5 * (np.log(precision_J / (2 * np.pi)) - precision_J * (w_J - mean_J) ** 2)
        log_q += law.log_share_M[m] + normal[rest].sum()
        expected = thinning.log_prob(x, prepared)[0] - log_q
        assert guide.log_excess(x) == pytest.approx(expected, abs=1e-6)
