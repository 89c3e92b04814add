"""Options given twice: several values where they may be, a sentence where they may not."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import app

pytestmark = pytest.mark.filterwarnings("ignore:All .* features are in use")
SMALL = ("--sweeps", 6, "--draws", 2, "--max-features", 4)


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"])
    frame["lon"], frame["lat"] = rng.uniform(size=(2, 30)).round(3)
    frame["day"] = pd.date_range("2020-01-01", periods=30).strftime("%Y-%m-%d")
    frame["region"] = ["north", "south", "coast"] * 10
    frame.loc[3, "a"] = np.nan
    path = tmp_path_factory.mktemp("table") / "t.csv"
    frame.to_csv(path, index=False)
    return path


def test_every_covariate_counts(table, tmp_path):
    run = tmp_path / "run"
    both = ("--covariate", "lon", "--covariate", "lat")
    done = call("features", table, *both, "--weights", "real", "--out", run, *SMALL)
    assert done.exit_code == 0, done.output
    assert "30 rows, 2 columns, 1 missing" in done.stdout
    model = tc.load(run)
    assert model.covariates_.names == ("lon", "lat")
    assert list(model.columns_) == ["a", "b"]
    assert model.weights == "real"
    done = call("impute", run, table, "--json")
    assert json.loads(done.stdout)["rows"] == 1
    assert call("evaluate", run, "--json").exit_code == 0
    done = call("impute", run, table, "--covariate", "lon", "--out", tmp_path / "x.csv")
    assert done.exit_code == 2
    assert "1 columns but the model was given 2" in done.stderr


def test_dates_numbers_and_categories_together(table, tmp_path):
    run, new = tmp_path / "run", tmp_path / "new.csv"
    covariates = ("--date", "day", "--category", "region", "--covariate", "lon")
    columns = ("--column", "a", "--column", "b")
    done = call("features", table, *covariates, *columns, "--out", run, *SMALL)
    assert done.exit_code == 0, done.output
    regions = tuple(f"region={name}" for name in ("coast", "north", "south"))
    known = tc.load(run).covariates_
    assert known.names == ("lon", "day (days since 1970)", *regions)
    first = known.observed()[0]
    assert first[1] == 18262.0
    assert first[2:].tolist() == [0.0, 1.0, 0.0]
    frame = pd.read_csv(table)
    frame[frame["region"] == "south"].to_csv(new, index=False)  # a new table may lack a level
    assert call("impute", run, new, "--json").exit_code == 0
    frame.replace("south", "west").to_csv(new, index=False)
    done = call("impute", run, new, "--out", tmp_path / "x.csv")
    assert done.exit_code == 2
    assert "line 3, column region: 'west' is none of coast, north, south" in done.stderr
    frame.assign(day=range(30)).to_csv(new, index=False)
    done = call("impute", run, new, "--out", tmp_path / "x.csv")
    assert "line 2, column day: 0 is not a date" in done.stderr.replace("'", "")


def test_a_date_and_shared_gates(table, tmp_path):
    run = tmp_path / "run"
    columns = ("--column", "a", "--column", "b")
    done = call(
        "features", table, "--date", "day", *columns, "--gates", "row", "--out", run, *SMALL
    )
    assert done.exit_code == 0, done.output
    model = tc.load(run)
    assert model.covariates_.kind == "date"
    assert model.gates == "row"
    assert call("impute", run, table, "--quiet").exit_code == 0


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--date", "day", "--date", "lon"), "--date is given 2 times: give it once"),
        (("--seed", 1, "--seed=2", "--seed", 3), "--seed is given 3 times: give it once"),
        (("--date", "day", "--covariate", "day"), "--covariate names a column twice"),
        (("--covariate", "lon", "--covariate", "lon"), "--covariate names a column twice"),
        (("--covariate", "lon", "--covariate", "region"), "column region: 'north' is not a date"),
    ],
)
def test_no_value_is_dropped_in_silence(table, tmp_path, more, sentence):
    out = tmp_path / "out"
    done = call("features", table, "--out", out, *more)
    assert done.exit_code == 2, done.output
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert not out.exists()


def test_a_value_that_looks_like_an_option_is_a_value(table, tmp_path):
    done = call("report", tmp_path, "--title", "--out", "--out", tmp_path / "r.html")
    assert "holds no run" in done.stderr  # and not that --out is given twice
