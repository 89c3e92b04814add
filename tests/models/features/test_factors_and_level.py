"""FeatureModel with dense factors and a level that varies: what a user puts in and gets back."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import thincrm as tc
from thincrm.data.covariates import covariates
from thincrm.errors import InvalidInput
from thincrm.models.features import results
from thincrm.models.features.level import Curves
from thincrm.models.features.likelihood import FeatureLikelihood
from thincrm.models.features.state import FeatureGlobals

SMALL = {
    "max_features": 4, "n_sweeps": 90, "n_draws": 30, "random_state": 3, "quiet": True,
    "n_threads": 1,
}  # fmt: skip
DENSE = {**SMALL, "n_factors": 4}


def world(n_rows=150, seed=0):
    """Eight columns: two factors, and a level that is a wave over the covariate."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0.0, 1.0, n_rows))
    wave = np.outer(np.sin(6 * t), np.linspace(-2.0, 2.0, 8))
    table = rng.standard_normal((n_rows, 2)) @ rng.standard_normal((2, 8)) + wave
    table += 0.2 * rng.standard_normal(table.shape)
    hole = rng.random(table.shape) < 0.2
    return table, np.where(hole, np.nan, table), hole, t


@pytest.fixture(scope="module")
def fitted():
    _, holed, _, t = world()
    return tc.FeatureModel(**DENSE).fit(holed, t=t)


def test_holes_are_filled_to_the_noise(fitted):
    table, holed, hole, t = world()
    found = fitted.impute(holed, t=t)
    error = (found.mean - table)[hole]
    inside = ((found.lower <= table) & (table <= found.upper))[hole]
    assert np.sqrt(np.mean(error**2)) < 0.35
    assert 0.8 < inside.mean() < 0.99


def test_a_new_row_without_values_has_the_level(fitted):
    found = fitted.impute(np.full((2, 8), np.nan), t=[0.25, 0.8]).mean
    assert np.all(found[0, [0, 7]] * [-1, 1] > 1.0)
    assert np.all(found[1, [0, 7]] * [1, -1] > 1.0)


def test_several_tables_are_drawn(fitted):
    _, holed, hole, t = world()
    frame = pd.DataFrame(holed, index=np.arange(150)[::-1])
    drawn = fitted.sample_imputations(frame, t=t, n_samples=20)
    assert len(drawn) == 20
    assert all(one.index.equals(frame.index) and not one.isna().any(axis=None) for one in drawn)
    stack = np.stack(drawn)
    assert np.all(stack[:, ~hole] == holed[~hole])
    filled = fitted.impute(frame, t=t)
    spread = (filled.upper - filled.lower).to_numpy()[hole] / 3.29
    assert 0.8 < np.median(stack.std(0)[hole] / spread) < 1.2


def test_rows_start_afresh_under_every_draw(fitted, monkeypatch):
    monkeypatch.setattr(results, "_SWEEPS_AFRESH", 1)  # more would let rows forget by themselves
    _, holed, _, t = world()
    found = []
    for start in (0, 1):
        rows, _ = fitted._rows(holed, t)
        rows[0].local.used[:], rows[0].local.weight[:] = start, 1e3 * start
        found.append([rows[0].mean(features) for _, features in fitted._settled(rows, 1)])
    np.testing.assert_array_equal(*found)


def test_a_loaded_model_says_the_same(fitted, tmp_path):
    fitted.save(tmp_path)
    _, holed, _, t = world()
    again = tc.load(tmp_path)
    for one, other in zip(fitted.impute(holed, t=t), again.impute(holed, t=t), strict=True):
        np.testing.assert_array_equal(one, other)


def test_any_number_of_threads_gives_the_same_bits():
    _, holed, _, t = world(2200)  # more than one block
    options = {**DENSE, "n_sweeps": 3, "n_draws": 1, "max_features": 2}
    found = [tc.FeatureModel(**options | {"n_threads": n}).fit(holed, t=t) for n in (1, 3)]
    np.testing.assert_array_equal(*(model.draws_[-1].feature for model in found))


def test_columns_that_determine_one_another_exactly_are_filled():
    table, holed, hole, t = world()
    for one in (table, holed):
        one[:, 6], one[:, 7] = one[:, 0] + one[:, 1], 3.0
    holed[5, 6:] = np.nan
    found = tc.FeatureModel(**DENSE).fit(holed, t=t).impute(holed, t=t)
    assert np.isfinite(found.mean).all()
    assert found.mean[5, 7] == 3.0
    known = hole[:, 6] & ~hole[:, :2].any(axis=1)
    known[5] = not hole[5, :2].any()
    np.testing.assert_allclose(found.mean[known, 6], table[known, 6], atol=0.02)


def test_the_number_of_factors_does_not_turn_with_them():
    rng = np.random.default_rng(7)
    dense, noise = np.zeros((4, 6)), rng.gamma(5.0, 20.0, 6)
    dense[:2] = rng.standard_normal((2, 6))
    likelihood = FeatureLikelihood(real=True, n_dense=4)
    turned = np.linalg.qr(rng.standard_normal((4, 4)))[0] @ dense
    for loadings in (dense, turned):
        own = FeatureGlobals(np.vstack([np.ones((3, 6)), loadings, np.ones((1, 6))]), noise, 1.0)
        assert likelihood._n_factors(SimpleNamespace(n_atoms=3), own) == 2


def test_one_word_gives_the_papers_model():
    model = tc.FeatureModel(weights="binary", **SMALL)
    _, holed, _, t = world()
    model.values_, model.covariates_ = holed, covariates(t)
    likelihood = model._factors().likelihood
    assert (likelihood.real, likelihood.n_dense, likelihood.level) == (False, 0, ())
    likelihood = model.set_params(weights="real")._factors().likelihood
    assert (likelihood.real, likelihood.n_dense, len(likelihood.level)) == (True, 4, 3)


def test_curves_are_none_where_the_covariate_does_not_vary():
    assert Curves.of(covariates(np.zeros(5))).sizes == ()
    t = np.random.default_rng(0).uniform(size=(80, 2))
    curves = Curves.of(covariates(t))
    assert curves.n_slopes == curves.sizes[0] == 2
    assert curves.at(t).shape == (80, sum(curves.sizes))
    assert np.abs(curves.at(t)).max() < 5


def test_curves_have_no_line_in_them():
    t = np.random.default_rng(0).gamma(2.0, size=(80, 2))
    curves = Curves.of(covariates(t))
    found = curves.at(t)
    line = np.column_stack([np.ones(80), found[:, :2]])
    np.testing.assert_allclose(line.T @ found[:, 2:], 0.0, atol=1e-8)
    assert np.all((found[:, 2:] ** 2).mean(0) > 5e-4)


def test_bad_settings_get_a_sentence():
    _, holed, _, t = world()
    for settings, sentence in (
        ({"level": "wild"}, "level must be one of smooth, constant"),
        ({"n_factors": -1}, "n_factors must be at least 0"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            tc.FeatureModel(**(DENSE | settings)).fit(holed, t=t)


def test_features_that_come_and_go_are_told_from_factors():
    """Two dense factors, and three features of four fifths of the rows in a stretch each."""
    rng = np.random.default_rng(12)
    t = np.sort(rng.uniform(size=300))
    stretch_NK = np.abs(t[:, None] - [0.2, 0.5, 0.8]) < 0.2
    used_NK = stretch_NK & (rng.random((300, 3)) < 0.8)
    table = used_NK @ rng.normal(0.0, 2.0, (3, 20)) + rng.standard_normal((300, 20))
    table += rng.standard_normal((300, 2)) @ rng.standard_normal((2, 20))
    model = tc.FeatureModel(
        weights="binary", n_factors=6, level="smooth", n_sweeps=60, random_state=0, quiet=True
    ).fit(table, t=t)
    found_NK = model.transform(table, t=t)
    found_NK = found_NK[:, found_NK.std(0) > 0.0]
    alike = np.corrcoef(used_NK.T, found_NK.T)[:3, 3:]
    assert np.abs(alike).max(axis=1).min() > 0.9
    assert model.n_features_.median() <= 8


def test_a_fill_is_the_mean_over_draws_of_the_normal_law():
    """No features in use: level plus E[f | seen cells] D, by plain algebra, draw by draw."""
    _, holed, _, t = world()
    model = tc.FeatureModel(**DENSE).fit(holed, t=t)
    assert model.n_features_.max() == 0
    n_used, n_dense = model.draws_[0].n_features, model.n_dense_
    basis = np.column_stack(
        [model.curves_.at(np.asarray(t, float).reshape(len(holed), -1)), np.ones(len(holed))]
    )
    standard = model.scale_.standard(np.asarray(holed, float))
    total = np.zeros(standard.shape)
    for draw in model.draws_:
        loading, level = draw.feature[n_used:][:n_dense], basis @ draw.feature[n_used + n_dense :]
        for n, row in enumerate(standard):
            seen = ~np.isnan(row)
            cov = loading.T @ loading
            inner = (cov + np.diag(1 / draw.noise))[np.ix_(seen, seen)]
            total[n] += level[n] + cov[:, seen] @ np.linalg.solve(inner, (row - level[n])[seen])
    wanted = model.scale_.back(total / len(model.draws_))
    filled, hole = np.asarray(model.impute(holed, t=t).mean), np.isnan(np.asarray(holed))
    np.testing.assert_allclose(filled[hole], wanted[hole], rtol=1e-8, atol=1e-8)
