"""R-hat and effective sample sizes: against ArviZ, against theory, and where they must say no."""

import numpy as np
import pytest

from thincrm.errors import InvalidInput
from thincrm.inference.convergence import bulk_ess, rank_rhat, tail_ess


def autoregression(seed, n_chains, n_draws, phi):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_chains, n_draws))
    x[:, 0] /= np.sqrt(1.0 - phi**2)
    for s in range(1, n_draws):
        x[:, s] += phi * x[:, s - 1]
    return x


@pytest.mark.parametrize("kind", ["plain", "apart", "ties", "heavy", "drift"])
@pytest.mark.parametrize("shape", [(2, 103), (4, 100), (5, 222)])
@pytest.mark.parametrize("phi", [-0.6, 0.0, 0.9])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_agrees_with_arviz(kind, shape, phi):
    arviz = pytest.importorskip("arviz")
    x = autoregression(1, *shape, phi)
    change = {
        "plain": x,
        "apart": x + np.arange(shape[0])[:, None],
        "ties": np.round(x),
        "heavy": np.sinh(2.0 * x),
        "drift": x + 0.02 * np.arange(shape[1]),
    }
    x = change[kind]
    tail = arviz.ess(x, method="tail", prob=(0.05, 0.95))
    theirs = [arviz.rhat(x), arviz.ess(x, method="bulk"), tail]
    np.testing.assert_allclose([rank_rhat(x), bulk_ess(x), tail_ess(x)], theirs, rtol=1e-10)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_the_worth_of_an_autoregression(phi):
    """Its effective sample size is n (1 - phi) / (1 + phi); ranks change little."""
    x = autoregression(2, 4, 20_000, phi)
    assert bulk_ess(x) == pytest.approx(x.size * (1 - phi) / (1 + phi), rel=0.08)
    assert rank_rhat(x) < 1.01
    assert tail_ess(x) > bulk_ess(x) * (0.9 if phi else 0.8)


def test_alternating_draws_are_worth_more_than_their_number():
    assert bulk_ess(autoregression(3, 4, 1_000, -0.5)) > 4_000


def test_chains_apart_in_place_or_in_spread_are_found():
    x = autoregression(4, 4, 400, 0.0)
    away, wide = x.copy(), x.copy()
    away[3] += 2.0
    wide[3] *= 5.0  # the same centre: only the folded ranks see it
    assert rank_rhat(x) < 1.01
    assert rank_rhat(away) > 1.2
    assert rank_rhat(wide) > 1.1
    assert bulk_ess(away) < 50


def test_one_chain_that_drifts_is_found():
    x = autoregression(5, 1, 400, 0.0)
    assert rank_rhat(x) < 1.02
    assert rank_rhat(x + np.linspace(0.0, 3.0, 400)) > 1.2


def test_constants_and_short_chains():
    assert np.isnan(rank_rhat(np.ones((2, 50))))
    assert bulk_ess(np.ones((2, 50))) == 100
    assert rank_rhat(np.repeat([[1.0], [2.0]], 50, axis=1)) == np.inf
    assert np.isnan(rank_rhat(np.random.default_rng(0).random((2, 7))))
    assert np.isnan(bulk_ess(np.random.default_rng(0).random((2, 7))))
    with pytest.raises(InvalidInput, match="chains × draws"):
        rank_rhat(np.ones(5))
    with pytest.raises(InvalidInput, match="finite"):
        bulk_ess([[1.0, np.nan]])
