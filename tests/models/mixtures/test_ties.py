"""Equal numbers: spread over the cells they were rounded to, so that no cluster is a spike."""

import numpy as np
import pandas as pd
import pytest

import thincrm as tc
from thincrm.models.mixtures.ties import spread_ties


def spread(column, seed=0):
    values = np.asarray(column, float)[:, None]
    return spread_ties(values, np.array([0]), np.ones(len(values), bool), seed)[:, 0]


def test_rounded_numbers_stay_in_their_cells():
    rng = np.random.default_rng(1)
    true = rng.normal(50.0, 25.0, 2000)
    rounded = 5.0 * np.round(true / 5.0)
    found = spread(rounded)
    counts = pd.Series(rounded).map(pd.Series(rounded).value_counts()).to_numpy()
    assert np.abs(found - rounded).max() <= 2.5
    np.testing.assert_array_equal(found[counts == 1], rounded[counts == 1])
    assert len(np.unique(found[counts > 1])) == (counts > 1).sum()
    assert np.abs(found - rounded)[counts > 1].mean() == pytest.approx(1.25, abs=0.06)
    np.testing.assert_array_equal(found, spread(rounded))
    assert np.any(found != spread(rounded, seed=1))


def test_what_is_not_moved():
    rng = np.random.default_rng(2)
    apart = rng.normal(size=50)
    np.testing.assert_array_equal(spread(apart), apart)
    np.testing.assert_array_equal(spread(np.full(9, 3.0)), np.full(9, 3.0))
    holes = np.where(np.arange(60) % 2, np.nan, np.arange(60) // 4)
    np.testing.assert_array_equal(np.isnan(spread(holes)), np.isnan(holes))
    limits = np.array([[1.0], [1.0], [1.0], [2.0]])
    exact = np.array([True, True, False, True])
    assert spread_ties(limits, np.array([0]), exact, 0)[2, 0] == 1.0
    np.testing.assert_array_equal(spread_ties(limits, np.array([], int), exact, 0), limits)


def test_codes_stay_apart_and_far_values_near():
    code = np.repeat([0.0, 1.0], 50)
    assert np.abs(spread(code) - code).max() <= 0.125
    many = np.r_[np.repeat(np.arange(20.0), 3), 500.0, 500.0]
    assert np.abs(spread(many) - many).max() <= 0.5


@pytest.mark.parametrize("likelihood", [None, tc.GaussianClusters("diagonal")])
def test_a_table_of_rounded_numbers_has_numbers_for_results(likelihood):
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 3, 600)
    wind = 5.0 * np.round((np.array([25.0, 45.0, 90.0])[kind] + 8.0 * rng.normal(size=600)) / 5.0)
    table = pd.DataFrame({"wind": wind, "pressure": 2.0 * np.round(500.0 - wind / 4.0)})
    settings = {"n_sweeps": 60, "n_draws": 10, "random_state": 0, "quiet": True}
    model = tc.MixtureModel(likelihood=likelihood, **settings).fit(table, t=rng.normal(size=600))
    found = model.clusters()
    assert np.isfinite(found.to_numpy()).all()
    assert found["sd"].min() > 0.4  # steps of 5 and 2: no spikes
    assert np.isfinite(model.score_samples(table, t=rng.normal(size=600))).all()


@pytest.mark.parametrize("outlier", [False, True])
def test_columns_that_determine_one_another(outlier):
    rng = np.random.default_rng(4)
    table = rng.normal(size=(80, 3))
    table = np.r_[table, np.full((1, 3), 1e12)] if outlier else np.c_[table, table[:, 0]]
    t = rng.normal(size=len(table))
    settings = {"n_sweeps": 60, "n_draws": 10, "random_state": 0, "quiet": True}
    model = tc.MixtureModel(max_clusters=12, **settings).fit(table, t=t)
    assert np.isfinite(model.clusters().to_numpy()).all()
    assert np.isfinite(model.score_samples(table, t=t)).all()


def test_a_response_that_lies_on_a_line():
    t = np.linspace(0.0, 1.0, 80)
    settings = {"n_sweeps": 200, "n_draws": 10, "random_state": 0, "quiet": True}
    model = tc.MixtureModel(**settings).fit(2.0 * t[:, None] + 1.0, t=t)
    found = model.quantiles(q=(0.05, 0.95), t=[0.2, 0.8])["predictive"]
    np.testing.assert_allclose(found, [1.4, 2.6, 1.4, 2.6], atol=0.05)
