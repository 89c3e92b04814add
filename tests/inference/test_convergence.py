"""R-hat and effective sizes: against a plain twin, ArviZ and theory; and where they say no."""

import numpy as np
import pytest
from scipy import stats

from thincrm.errors import InvalidInput
from thincrm.inference.convergence import bulk_ess, ends_ess, rank_rhat, shown_rhat, tail_ess


def autoregression(seed, n_chains, n_draws, phi):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_chains, n_draws))
    x[:, 0] /= np.sqrt(1.0 - phi**2)
    for s in range(1, n_draws):
        x[:, s] += phi * x[:, s - 1]
    return x


KINDS = ["plain", "apart", "ties", "heavy", "drift"]


def changed(x, kind):
    return {
        "plain": x,
        "apart": x + np.arange(len(x))[:, None],
        "ties": np.round(x),
        "heavy": np.sinh(2.0 * x),
        "drift": x + 0.02 * np.arange(x.shape[1]),
    }[kind]


def plain_halves(x):
    half = x.shape[1] // 2
    return [row[:half] for row in x] + [row[len(row) - half :] for row in x]


def plain_scores(chains):
    """Return normal quantiles of average ranks, counted one by one."""
    pooled = np.concatenate(chains)
    rank = np.array([(pooled < v).sum() + ((pooled == v).sum() + 1) / 2 for v in pooled])
    return np.split(stats.norm.ppf((rank - 3 / 8) / (pooled.size + 1 / 4)), len(chains))


def plain_rhat(chains):
    n = len(chains[0])
    within = np.mean([np.var(chain, ddof=1) for chain in chains])
    between = n * np.var([np.mean(chain) for chain in chains], ddof=1)
    return np.sqrt(((n - 1) / n * within + between / n) / within)


def plain_ess(chains):
    """Return M N / tau, lags summed in pairs while these are positive, never rising (Geyer)."""
    n, m = len(chains[0]), len(chains)
    if len(set(np.concatenate(chains))) == 1:
        return m * n

    def covariance(chain, lag):
        gap = chain - chain.mean()
        return sum(gap[i] * gap[i + lag] for i in range(n - lag)) / n

    within = np.mean([np.var(chain, ddof=1) for chain in chains])
    total = (n - 1) / n * within + np.var([chain.mean() for chain in chains], ddof=1)

    def rho(lag):
        if lag == 0:
            return 1.0
        return 1.0 - (within - np.mean([covariance(chain, lag) for chain in chains])) / total

    tau, lag, lowest = -1.0, 0, np.inf
    while True:
        even, pair = rho(lag), rho(lag) + rho(lag + 1)
        if pair <= 0.0 or lag == 2 * ((n - 3) // 2):
            break
        lowest = min(lowest, pair)
        tau, lag = tau + 2.0 * lowest, lag + 2
    tau += max(even, 0.0)
    return m * n / max(tau, 1.0 / np.log10(m * n))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("phi", [-0.6, 0.0, 0.9])
def test_agrees_with_the_plain_twin(kind, phi):
    x = changed(autoregression(1, 3, 61, phi), kind)
    chains = plain_halves(x)
    middle = np.median(np.concatenate(chains))
    folded = [np.abs(chain - middle) for chain in chains]
    rhat = max(plain_rhat(plain_scores(chains)), plain_rhat(plain_scores(folded)))
    ends = [plain_halves((x <= cut).astype(float)) for cut in np.quantile(x, [0.05, 0.95])]
    tail = min(plain_ess(end) for end in ends)
    expected = [rhat, plain_ess(plain_scores(chains)), tail]
    np.testing.assert_allclose([rank_rhat(x), bulk_ess(x), tail_ess(x)], expected, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(2, 103), (4, 100), (5, 222)])
@pytest.mark.parametrize("phi", [-0.6, 0.0, 0.9])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_agrees_with_arviz(kind, shape, phi):
    arviz = pytest.importorskip("arviz")
    x = changed(autoregression(1, *shape, phi), kind)
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


def test_rhat_of_chains_that_stand_still_is_no_long_number():
    still = np.repeat([[1.0], [2.0]], 20, axis=1)
    assert shown_rhat(rank_rhat(still)) == "over 100"
    assert shown_rhat(1.0499) == "1.05"


def test_many_quantities_at_once_are_each_worth_what_they_are_alone():
    drawn = [changed(autoregression(i, 3, 41, 0.3 * i), KINDS[i % 5]) for i in range(4)]
    drawn.append(np.full((3, 41), 2.0))
    alone = [tail_ess(draws_CS) for draws_CS in drawn]
    np.testing.assert_allclose(ends_ess(np.stack(drawn, axis=2), 0.05), alone, rtol=1e-10)
    assert not np.allclose(ends_ess(np.stack(drawn, axis=2), 0.25)[:4], alone[:4])
