"""Texts that a fit reads itself, from files or a Dask DataFrame, are those that it is given."""

import numpy as np
import pandas as pd
import pytest

import thincrm as tc
from thincrm.errors import InvalidInput

N_PARTS = 3


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    words = np.array("wheat tariff peace treaty navy gold silver bank".split())
    text = [" ".join(words[rng.integers(0, 8, n)]) for n in rng.integers(1, 12, 30)]
    return pd.DataFrame({"body": text, "published": pd.date_range("1900-01-01", periods=30)})


def fit(X, **options):
    model = tc.TopicModel(max_topics=12, n_sweeps=4, n_draws=1, random_state=1, quiet=True)
    return model.fit(X, **options)


@pytest.fixture(scope="module")
def given(table):
    return fit(table["body"].tolist(), t=table["published"])


def assert_same(model, given):
    pd.testing.assert_frame_equal(model.trace_, given.trace_)
    pd.testing.assert_index_equal(model.vocabulary_, given.vocabulary_)
    assert model.covariates_.labels(model.covariates_.rows).equals(
        given.covariates_.labels(given.covariates_.rows)
    )


def parts(table):
    return np.array_split(np.arange(len(table)), N_PARTS)


def test_tables_that_a_pattern_names(table, given, tmp_path):
    for i, rows in enumerate(parts(table)):
        table.iloc[rows].to_csv(tmp_path / f"part{i}.csv", index=False)
    model = fit(str(tmp_path / "part*.csv"), text="body", date="published")
    assert_same(model, given)
    np.testing.assert_array_equal(
        model.transform(["gold and silver"]), given.transform(["gold and silver"])
    )
    whole = tmp_path / "whole.csv"
    table.to_csv(whole, index=False)
    assert_same(fit(whole, text="body", t=table["published"]), given)


def test_parquet_files(table, given, tmp_path):
    pytest.importorskip("pyarrow")
    for i, rows in enumerate(parts(table)):
        table.iloc[rows].to_parquet(tmp_path / f"part{i}.parquet")
    assert_same(fit(tmp_path / "*.parquet", text="body", date="published"), given)


def test_a_dask_frame(table, given):
    pytest.importorskip("pyarrow")
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.from_pandas(table, npartitions=N_PARTS)
    assert_same(fit(frame, text="body", date="published"), given)
    with pytest.raises(InvalidInput, match=r"X has no column 'words': its columns are body, pub"):
        fit(frame, text="words")
    frame["body"] = frame["body"].where(frame["body"] != table["body"][7])
    with pytest.raises(InvalidInput, match=r"X, row 8, column body: the text is missing"):
        fit(frame, text="body")


def test_new_documents_are_read_from_files_and_frames_too(table, given, tmp_path):
    pytest.importorskip("pyarrow")
    frames = pytest.importorskip("dask.dataframe")
    texts, when = table["body"].tolist(), table["published"]
    table.to_csv(tmp_path / "new.csv", index=False)
    for i, rows in enumerate(parts(table)):
        table.iloc[rows].to_parquet(tmp_path / f"part{i}.parquet")
    shares, undated = given.transform(texts, when), given.transform(texts)
    chance = given.predict_time(texts, evidence="topics")
    assert np.abs(shares - undated).max() > 1e-3  # the dates are used
    frame = frames.from_pandas(table, npartitions=N_PARTS)
    for X in (tmp_path / "new.csv", str(tmp_path / "*.parquet"), frame):
        read = given.transform(X, text="body", date="published")
        np.testing.assert_array_equal(read, shares)
        np.testing.assert_array_equal(given.transform(X, text="body"), undated)
        dated = given.predict_time(X, text="body", evidence="topics")
        pd.testing.assert_frame_equal(dated, chance)
    with pytest.raises(InvalidInput, match="has no column 'text'"):
        given.transform(frame)
    counted = tc.TopicModel(max_topics=4, n_sweeps=4, n_draws=1, random_state=1, quiet=True)
    counted.fit(np.ones((3, 2), int), t=[1, 2, 3])
    with pytest.raises(InvalidInput, match="fitted to counts: pass counts"):
        counted.transform(tmp_path / "new.csv", text="body")


def test_what_does_not_go_together(table, tmp_path):
    with pytest.raises(InvalidInput, match="name columns of files or of a Dask DataFrame"):
        fit(table["body"].tolist(), date="published")
    with pytest.raises(InvalidInput, match="either t or date"):
        fit(tmp_path, t=table["published"], date="published")
    with pytest.raises(InvalidInput, match="stands for no file"):
        fit(str(tmp_path / "*.parquet"), text="body")
