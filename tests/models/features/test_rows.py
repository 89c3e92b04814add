"""Rows given the globals: the sampler's answers against sums over all usages."""

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from thincrm.models.features.kernel import Features, as_table
from thincrm.models.features.rows import Rows, draw_rows, log_likelihood, row_items

SEED = 20265
VALUE = np.array([[0.8, np.nan, -0.3], [np.nan, 1.1, 0.4]])
N_ROWS = 6_000


def features(real):
    rng = np.random.default_rng(SEED)
    p = np.array([[0.7, 0.2, 0.9], [0.3, 0.6, 1.0]])
    mass = np.array([0.5, 0.3, 0.8])
    with np.errstate(divide="ignore"):
        return Features(
            rng.standard_normal((4, 3)), np.array([2.0, 4.0, 1.0]), np.log(p), np.log1p(-p),
            np.log(mass), np.log1p(-mass), real,
        )  # fmt: skip


def enumerated(parts, row):
    """Return log p(seen cells), P(z) and E[cells | seen] of a row with its own gates."""
    seen = ~np.isnan(VALUE[row])
    chance = np.exp(parts.log_open_TK[row] + parts.log_mass_K)
    logs, uses, means = [], [], []
    for z in product([0, 1], repeat=3):
        a = parts.feature_FP[:3] * np.array(z)[:, None]
        level = parts.feature_FP[3]
        mean = level if parts.real else level + a.sum(0)
        cov = np.diag(1 / parts.precision_P) + (a.T @ a if parts.real else 0.0)
        inner = cov[np.ix_(seen, seen)]
        log = multivariate_normal(mean[seen], inner).logpdf(VALUE[row, seen])
        log += np.log(np.where(z, chance, 1 - chance)).sum()
        shift = np.linalg.solve(inner, VALUE[row, seen] - mean[seen])
        logs.append(log)
        uses.append(z)
        means.append(mean + (cov - np.diag(1 / parts.precision_P))[:, seen] @ shift)
    weight = np.exp(np.array(logs) - logsumexp(logs))
    return logsumexp(logs), weight @ np.array(uses), weight @ np.array(means)


def copies(row):
    table = as_table(np.repeat(VALUE[row : row + 1], N_ROWS, 0), np.array([N_ROWS]), False)
    return table._replace(row_G=np.full(N_ROWS, row))


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("row", [0, 1])
def test_usages_and_cells_are_those_of_the_sum_over_all_usages(row, real):
    parts, rng = features(real), np.random.default_rng(SEED)
    _, use_K, mean_P = enumerated(parts, row)
    rows = Rows(copies(row), 3, real)
    rows.redraw(rng, parts, 60)  # from nowhere near: sixty sweeps of three features
    cells = rows.mean(parts)
    for found, wanted in ((rows.local.used.astype(float), use_K), (cells, mean_P)):
        error = found.std(0) / np.sqrt(N_ROWS) + 1e-9
        assert np.all(np.abs(found.mean(0) - wanted) < 5 * error)


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("row", [0, 1])
def test_annealed_likelihoods_average_to_the_sum_over_all_usages(row, real):
    parts, rng = features(real), np.random.default_rng(SEED)
    wanted, _, _ = enumerated(parts, row)
    ratio = np.exp(log_likelihood(rng, copies(row), parts, 10) - wanted)
    assert abs(ratio.mean() - 1.0) < 5 * ratio.std() / np.sqrt(N_ROWS)


def test_rows_of_one_shared_gate_open_together():
    parts, rng = features(False), np.random.default_rng(SEED)
    parts = parts._replace(log_mass_K=np.full(3, -1e-12))
    start_G = np.arange(0, 2 * N_ROWS + 1, 2)
    used, *_ = draw_rows(rng, parts, start_G, np.zeros(N_ROWS, int))
    assert np.array_equal(used[::2], used[1::2])
    share = np.exp(parts.log_open_TK[0])
    error = np.sqrt(share * (1 - share) / N_ROWS)
    assert np.all(np.abs(used[::2].mean(0) - share) < 5 * error)


def test_streams_belong_to_what_a_row_holds():
    table = as_table(np.vstack([VALUE, VALUE[:1], VALUE[:, ::-1]]), np.array([5]), False)
    items = row_items(table)
    assert items[0] == items[2]
    assert len(set(items.tolist())) == 4


def test_expected_cells_are_those_of_the_joint_normal_law():
    """Weights of factors summed out: E[cells | seen cells] from the covariance, row by row."""
    rng, n_dense = np.random.default_rng(SEED), 2
    parts = features(True)
    parts = parts._replace(feature_FP=rng.standard_normal((3 + n_dense + 1, 3)))
    value = rng.standard_normal((20, 3))
    value[rng.random(value.shape) < 0.4] = np.nan
    rows = Rows(as_table(value, np.array([10, 10]), False), 3, True, n_dense)
    rows.redraw(rng, parts, 3)
    used_NP = rows.usage @ parts.feature_FP[:3] + parts.feature_FP[-1]
    loading = parts.feature_FP[3:-1]
    wanted, halved = np.empty(value.shape), np.empty(value.shape)
    for n, row in enumerate(value):
        seen = ~np.isnan(row)
        for noise, out in ((1.0, wanted), (0.5, halved)):
            cov = loading.T @ loading
            inner = (cov + noise * np.diag(1 / parts.precision_P))[np.ix_(seen, seen)]
            pull = cov[:, seen] @ np.linalg.solve(inner, (row - used_NP[n])[seen])
            out[n] = used_NP[n] + pull
    np.testing.assert_allclose(rows.expected(parts), wanted, atol=1e-10)
    assert np.abs(rows.expected(parts) - halved).max() > 0.1  # the twin: another noise


def test_expected_cells_are_the_mean_of_drawn_ones():
    parts, rng = features(True), np.random.default_rng(SEED)
    parts = parts._replace(feature_FP=rng.standard_normal((5, 3)))
    mass = np.full(3, -np.inf)
    parts = parts._replace(log_mass_K=mass, log_rest_K=np.zeros(3))
    rows = Rows(copies(0), 3, True, 1)
    rows.redraw(rng, parts, 1)
    drawn, expected = rows.mean(parts), rows.expected(parts)
    z = (drawn.mean(0) - expected[0]) / (drawn.std(0) / np.sqrt(N_ROWS))
    assert np.abs(z).max() < 4.7  # three cells share a level of 1e-5
    np.testing.assert_array_equal(expected, np.broadcast_to(expected[0], expected.shape))
