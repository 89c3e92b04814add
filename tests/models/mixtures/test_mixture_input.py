"""Whatever is given: a sentence or a defined result."""

import numpy as np
import pandas as pd
import pytest
from mixture_rows import come_and_go, small

import thincrm as tc
from thincrm.errors import InvalidInput, InvalidType

Y, T, *_ = come_and_go(5, n_rows=40)
QUICK = {"n_sweeps": 6, "n_draws": 2}


def refused(model, table, t, match):
    with pytest.raises((InvalidInput, InvalidType), match=match):
        model.fit(table, t=t)


def test_rows_that_cannot_be_fitted():
    refused(small(), Y[:1], T[:1], "1 sample and no column that varies")
    refused(small(), np.ones((5, 2)), np.arange(5), "5 samples and no column that varies")
    refused(small(), np.full((5, 2), np.nan), np.arange(5), "no value at all")
    refused(small(), np.where(Y > 3, np.inf, Y), T, "contains infinity")
    refused(small(), Y, T[:-1], "inconsistent numbers of samples")
    refused(small(), Y, np.where(T > 0.5, np.nan, T), "is not a finite number")


def test_a_constant_column_says_nothing():
    table = np.column_stack([Y, np.full(len(Y), 7.0)])
    model = small(**QUICK).fit(table, t=T)
    bare = small(**QUICK).fit(Y, t=T)
    np.testing.assert_array_equal(model.labels_, bare.labels_)
    np.testing.assert_allclose(model.score_samples(table, t=T), bare.score_samples(Y, t=T))
    assert (model.clusters().xs("2", level="column")["mean"] == 7.0).all()
    table[0] = np.nan
    assert model.impute(table, t=T).mean[0, 2] == 7.0
    assert (model.sample_predictive()[..., 2] == 7.0).all()
    with pytest.raises(InvalidInput, match="constant"):
        model.density(column=2)


def test_rows_without_any_value_are_kept():
    table = Y.copy()
    table[:3] = np.nan
    model = small(**QUICK).fit(table, t=T)
    assert model.labels_.size == len(Y)
    assert np.isfinite(model.impute(table, t=T).mean).all()
    np.testing.assert_allclose(model.score_samples(table[:1], t=T[:1]), 0.0, atol=1e-9)


def test_a_repeated_index_and_an_index_in_another_order():
    table = pd.DataFrame(Y, index=[0] * len(Y), columns=["a", "b"])
    when = pd.Series(T, index=[0] * len(Y))
    model = small(**QUICK).fit(table, t=when)
    np.testing.assert_array_equal(model.labels_, small(**QUICK).fit(Y, t=T).labels_)
    assert [*model.impute(table, t=when).mean.index] == [0] * len(Y)
    table.index = range(len(Y))
    refused(small(), table, pd.Series(T, index=range(len(Y))).sample(frac=1.0), "another order")


def test_many_categories_and_categories_where_there_should_be_none():
    table = pd.DataFrame({"a": np.arange(10_000.0), "id": [f"r{i}" for i in range(10_000)]})
    refused(small(), table, np.arange(10_000) % 3, "has 10,000 categories")
    table = pd.DataFrame({"a": Y[:, 0], "b": ["x", "y"] * 20})
    refused(small(likelihood=tc.GaussianClusters()), table, T, "not numbers")
    assert small(**QUICK).fit(table, t=T).layout_.kinds == ("number", "category")


def test_numbers_that_are_names():
    """A few values that come again and again, whole or not; 3 is 3.0 is "3.0"."""
    stage, half = np.arange(160) % 4 + 1.0, np.arange(160) % 3 / 2.0
    table = pd.DataFrame({"a": np.tile(Y[:, 0], 4), "yes": np.arange(160) % 2, "half": half})
    table["stage"] = np.where(np.arange(160) == 7, np.nan, stage)
    model = small(**QUICK).fit(table, t=np.tile(T, 4))
    assert model.layout_.kinds == ("number", "category", "category", "category")
    assert model.layout_.levels == ((), ("0", "1"), ("0", "0.5", "1"), ("1", "2", "3", "4"))
    expected = model.predict_proba(table[:5], t=T[:5])
    for column in (table["stage"].astype("Int64"), table["stage"].astype(object).map(str)):
        found = model.predict_proba(table.assign(stage=column)[:5], t=T[:5])
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(InvalidInput, match="holds '5', which the fit has not seen"):
        model.predict(table.assign(stage=5)[:5], t=T[:5])
    few = small(**QUICK).fit(table[:7], t=T[:7])
    assert few.layout_.kinds[1:] == ("number", "number", "number")


def test_factors_that_do_not_fit():
    refused(small(levy=tc.BetaProcess()), Y, T, r"masses in \(0, inf\)")
    refused(small(likelihood="gaussian"), Y, T, "likelihood must be")
    refused(small(gates="row"), Y, T, "gates must be")
    refused(small(n_background=8), Y, T, "n_background must be at most 7")
    refused(small(max_clusters=0), Y, T, "max_clusters must be at least 1")


def test_questions_that_have_no_answer():
    model = small(**QUICK).fit(Y, t=T)
    for ask, match in (
        (model.density, "say which"),
        (lambda: model.density(column="z"), "no column 'z'"),
        (lambda: model.quantiles(q=1.0, column=0), "strictly between 0 and 1"),
        (lambda: model.probability_below("a", column=0), "must be a number"),
        (lambda: model.predict(Y), "t is missing"),
        (lambda: model.credible_ball(1.5), "level"),
        (lambda: model.similarity([0, 99]), "places from 0 to 39"),
        (lambda: model.activation(level=0.0), "level"),
    ):
        with pytest.raises(InvalidInput, match=match):
            ask()


def test_two_covariates_dates_and_a_series():
    both = np.column_stack([T, np.arange(len(Y)) % 3])
    model = small(**QUICK).fit(Y, t=both)
    assert [*model.activation().columns[:3]] == ["cluster", "t0", "t1"]
    assert "first_active" not in model.tables()
    with pytest.raises(InvalidInput, match="order"):
        model.first_active()
    when = pd.Timestamp("2001-01-01") + pd.to_timedelta((T * 800).astype(int), "D")
    model = small(**QUICK).fit(pd.Series(Y[:, 0], name="height"), t=when)
    assert model.density(t=["2001-03-01"]).shape == (100, 5)
    assert model.first_active()["median"].dtype.kind == "M"
    assert model.impute(pd.Series(Y[:, 0], name="height"), t=when).mean.name == "height"


@pytest.mark.filterwarnings("ignore:No covariate", "ignore:All 8 clusters")  # few sweeps
def test_no_covariate_and_no_background():
    assert small(**QUICK).fit(Y).predict(Y).size == len(Y)
    for gates in ("shared", "weighted", "observation"):
        model = small(gates=gates, n_background=0, **QUICK).fit(Y, t=T)
        assert np.isfinite(model.sample_predictive(t=[0.123, 5.0], n_samples=3)).all()
        assert np.isfinite(model.score(Y, t=T))


@pytest.mark.parametrize("levy", [tc.GeneralizedGammaProcess(), tc.StableProcess()], ids=repr)
@pytest.mark.parametrize("thinning", [tc.SigmoidGP(), tc.ProbitRVM(), tc.Always()], ids=repr)
def test_other_factors(levy, thinning):
    model = small(levy=levy, thinning=thinning, **QUICK).fit(Y, t=T)
    assert np.isfinite(model.score(Y, t=T))
    assert model.activation()["mean"].between(0, 1).all()


def test_what_was_chosen_is_said(capsys):
    small(quiet=False, **QUICK).fit(Y, t=T)
    said = capsys.readouterr().err
    assert "columns: 2 of numbers; likelihood=GaussianClusters(covariance='full'" in said
