"""Fewer covariate rows: who is pooled, what is kept."""

import numpy as np
import pandas as pd
import pytest

import thincrm as tc
from thincrm.data.covariates import covariates
from thincrm.data.rounding import rounded


def days(n=5000, seed=0):
    rng = np.random.default_rng(seed)
    early, late = rng.integers(0, 9000, n // 5), rng.integers(9000, 10_000, n - n // 5)
    return np.concatenate([early, late]).astype(float)


def test_few_rows_stay_as_they_are():
    known = covariates(days())
    assert rounded(known, None) is known
    assert rounded(known, len(known.rows)) is known


@pytest.mark.parametrize("most", [1, 2, 50, 300])
def test_rows_are_fewer_and_observations_keep_their_own(most):
    t = days()
    known, fewer = covariates(t), rounded(covariates(t), most)
    assert len(fewer.rows) == most
    assert np.isin(fewer.rows, known.rows).all(), "rows are covariates of the data"
    assert (np.diff(fewer.rows[:, 0]) > 0).all()
    np.testing.assert_array_equal(fewer.observed()[:, 0], t)
    np.testing.assert_array_equal(np.bincount(fewer.row), fewer.trials)
    assert (np.diff(fewer.row[np.argsort(t, kind="stable")]) >= 0).all(), "neighbours are pooled"


def test_rows_know_how_many_values_they_stand_for():
    t = days()
    fewer = rounded(covariates(t), 50)
    plain = [np.unique(t[fewer.row == row]).size for row in range(50)]
    np.testing.assert_array_equal(fewer.n_values(), plain)
    assert (covariates(t).n_values() == 1).all()
    both = rounded(covariates(np.column_stack([t, np.arange(t.size) % 2])), 50)
    plain = [len(np.unique(both.observed()[both.row == row], axis=0)) for row in range(50)]
    np.testing.assert_array_equal(both.n_values(), plain)


def test_dense_places_keep_their_detail():
    fewer = rounded(covariates(days()), 100)
    assert (fewer.rows[:, 0] >= 9000).mean() > 0.7
    assert fewer.trials.max() <= 2.5 * fewer.trials.mean()


def test_groups_are_never_pooled():
    rng = np.random.default_rng(1)
    table = np.column_stack([rng.integers(0, 3, 4000), rng.random(4000)])
    fewer = rounded(covariates(table), 40)
    assert len(fewer.rows) == 40
    np.testing.assert_array_equal(fewer.rows[fewer.row, 0], table[:, 0])


def test_places_on_a_map():
    rng = np.random.default_rng(2)
    place = rng.normal(size=(3000, 2)) * [1.0, 50.0]
    fewer = rounded(covariates(place), 200)
    assert len(fewer.rows) == 200
    moved = np.abs(fewer.rows[fewer.row] - place) / place.std(axis=0)
    assert np.median(moved) < 0.15


def test_same_rows_whatever_the_order():
    t = days(1000)
    order = np.random.default_rng(3).permutation(t.size)
    one, two = rounded(covariates(t), 60), rounded(covariates(t[order]), 60)
    np.testing.assert_array_equal(one.rows, two.rows)
    np.testing.assert_array_equal(one.row[order], two.row)


def test_a_model_says_so_once_and_keeps_dates(capsys, tmp_path):
    rng = np.random.default_rng(4)
    dates = pd.Series(pd.Timestamp("2001-01-01") + pd.to_timedelta(np.arange(400), "D"))
    counts = rng.poisson(1.0, (400, 6)) + 1
    model = tc.TopicModel(max_topics=8, n_sweeps=6, n_draws=2, max_rows=50, random_state=0)
    model.fit(counts, t=dates, out=tmp_path / "run")
    said = capsys.readouterr().err
    assert "400 distinct covariates: curves are followed at 50 of them" in said
    assert model.activation()["t"].nunique() == 50
    assert set(model.documents(least=1e-9)["t"]) == set(dates)
    loaded = tc.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.covariates_.own, model.covariates_.own)
    assert loaded.activation().equals(model.activation())
    free = model.activation(t=dates[:3])
    assert free["t"].nunique() == 3


@pytest.mark.parametrize("most", [40, None])
def test_pooled_dates_weigh_as_they_would_by_themselves(most):
    """What says nothing is as likely from any distinct date, however many rows stand for them."""
    t = np.r_[0:8000:100, np.repeat(np.arange(9000, 9040), 8)]  # of 40 rows 33 are late ones
    counts = np.random.default_rng(0).poisson(1.0, (t.size, 9))
    model = tc.TopicModel(
        max_topics=4, n_sweeps=6, n_draws=2, n_chains=1, max_rows=most, random_state=0, quiet=True
    ).fit(counts, t=t)
    for method in ("gibbs", "cheap", "particles"):
        chance = model.predict_time(np.zeros((1, 9), int), evidence="topics", method=method).iloc[0]
        assert chance[chance.index < 9000].sum() == pytest.approx(80 / 120, rel=1e-6), method
