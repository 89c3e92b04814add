"""`thincrm clusters` and what follows it, on a small table with holes and a category."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import app

SHORT = ["--sweeps", "12", "--draws", "4", "--max-clusters", "6", "--threads", "1", "--quiet"]


def invoke(*words):
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clusters")
    rng = np.random.default_rng(1)
    kind = np.arange(60) % 2
    table = pd.DataFrame(
        {
            "name": [f"row {n}" for n in range(60)],
            "year": 1990 + np.arange(60) // 6,
            "size": np.where(kind, 8.0, 0.0) + rng.standard_normal(60),
            "weight": 50 + rng.standard_normal(60),
            "colour": np.where(kind, "red", "grün"),
        }
    )
    table.loc[3, "weight"], table.loc[4, "colour"] = np.nan, None
    table.to_csv(folder / "table.csv", index=False, encoding="latin-1")
    how = "--covariate year --label name --encoding latin-1 --out".split()
    invoke("clusters", folder / "table.csv", *how, folder / "run", *SHORT)
    return folder


def test_the_run_has_tables_and_a_report(place):
    labels = pd.read_csv(place / "run" / "tables" / "labels.csv")
    assert len(labels) == 60
    kinds = pd.read_csv(place / "run" / "tables" / "clusters.csv")["column"].unique()
    assert {"size", "weight", "colour = red", "colour = grün"} == {*kinds}
    invoke("report", place / "run", "--out", place / "report.html")
    assert "table.csv" in (place / "report.html").read_text("utf-8")


def test_small_tables_have_four_chains_unasked(place, tmp_path):
    assert {draw.chain for draw in tc.load(place / "run").draws_} == {0, 1, 2, 3}
    rng = np.random.default_rng(2)
    pd.DataFrame(rng.normal(size=(2600, 5))).to_csv(tmp_path / "t.csv", index=False)
    short = (
        "--covariate",
        "3",
        "--sweeps",
        "4",
        "--draws",
        "1",
        "--max-clusters",
        "6",
        "--threads",
        "1",
    )
    for asked, number in (((), 2), (("--chains", "1"), 1)):
        run = tmp_path / f"run{number}"
        done = invoke("clusters", tmp_path / "t.csv", *asked, "--out", run, *short)
        assert ("2 chains: a table of this size takes long" in done.output) == (number == 2)
        assert len({draw.chain for draw in tc.load(run).draws_}) == number


def test_new_rows_are_assigned(place):
    done = invoke("assign", place / "run", place / "table.csv", "--out", place / "a.csv", "--json")
    assert json.loads(done.stdout)["rows"] == 60
    found = pd.read_csv(place / "a.csv")
    assert [*found.columns] == ["name", "cluster", "probability", "log_density"]
    assert found["probability"].between(0, 1).all()
    by_kind = found.groupby(np.arange(60) % 2)["cluster"].agg(lambda part: part.mode()[0])
    assert by_kind[0] != by_kind[1]


def test_holes_are_filled(place):
    invoke("impute", place / "run", place / "table.csv", "--out", place / "i.csv")
    found = pd.read_csv(place / "i.csv").set_index("column")
    assert found.loc["colour", "mean"] in ("red", "grün")
    assert float(found.loc["weight", "mean"]) == pytest.approx(50, abs=3)


def test_rows_without_names_are_numbered_once(place, tmp_path):
    table = pd.read_csv(place / "table.csv", encoding="latin-1").drop(columns="name")
    table.to_csv(tmp_path / "t.csv", index=True, index_label="")
    loud = [word for word in SHORT if word != "--quiet"]
    words = ("clusters", tmp_path / "t.csv", "--covariate", "year", "--out", tmp_path / "r", *loud)
    said = invoke(*words).stdout
    assert "A column without a name numbers the rows and is left out (--column" in said
    assert "colour = red 100 %" in said or "colour = red 9" in said
    invoke("impute", tmp_path / "r", tmp_path / "t.csv", "--out", tmp_path / "i.csv")
    found = pd.read_csv(tmp_path / "i.csv")
    assert [*found.columns] == ["line", "column", "mean", "lower", "upper"]
    assert found["line"].tolist() == [5, 6]


def test_a_run_is_evaluated_and_exported(place):
    done = invoke("evaluate", place / "run", "--heldout", "0.2", "--out", place / "e.csv", "--json")
    found = json.loads(done.stdout)
    assert found["held_out_cells"] > 5
    assert found["error_in_standard_units"] < 1.5 * found["error_of_column_means"]
    invoke("export", place / "run", "--to", "csv", "--out", place / "csv")
    assert (place / "csv" / "activation.csv").is_file()


def test_kinds_are_said_and_bad_words_refused(place):
    run = place / "said"
    words = ["--covariate", "year", "--label", "name", "--out", run, *SHORT[:-1]]
    done = CliRunner().invoke(app, [*map(str, ["clusters", place / "table.csv", *words])])
    assert done.exit_code == 2
    assert "line 2, column colour: character 3 is not in the file's encoding" in done.output
    assert "encoding; --encoding names another, such as latin-1" in " ".join(done.output.split())
    assert not run.exists()
    done = invoke("clusters", place / "table.csv", *words, "--encoding", "latin-1")
    assert "size (number)" in done.output
    assert "colour (category)" in done.output
    for wrong in (["--thinning", "nothing"], ["--covariate", "nowhere"]):
        words = ["clusters", place / "table.csv", "--out", place / "x", *SHORT, *wrong]
        done = CliRunner().invoke(app, [*map(str, words)])
        assert done.exit_code == 2


def test_censored_responses(place):
    rng = np.random.default_rng(2)
    year = 1990 + np.arange(60) // 6
    size = year - 1990 + 0.3 * rng.standard_normal(60)
    side = np.where(size > 6, 1, 0)
    table = pd.DataFrame({"year": year, "size": np.minimum(size, 6.0), "side": side})
    table.to_csv(place / "limits.csv", index=False)
    words = ["clusters", place / "limits.csv", "--covariate", "year", "--out"]
    done = invoke(*words, place / "limited", "--censored", "side", *SHORT[:-1])
    assert f"size is the response; {side.sum()} rows are censored" in done.output
    invoke("impute", place / "limited", place / "limits.csv", "--out", place / "l.csv")
    found = pd.read_csv(place / "l.csv")
    assert len(found) == side.sum()
    assert (found["lower"] >= 6).all()
    invoke("assign", place / "limited", place / "limits.csv", "--out", place / "b.csv")
    log_density = pd.read_csv(place / "b.csv")["log_density"]
    assert (log_density[side == 1] <= 0).all()  # log probabilities
    done = invoke("evaluate", place / "limited", "--heldout", "0.3", "--json")
    assert json.loads(done.stdout)["held_out_cells"] < (side == 0).sum()
    for wrong, said in (("nowhere", "has no column 'nowhere'"), ("size", "must be -1")):
        bad = CliRunner().invoke(
            app, [*map(str, words), str(place / "x"), "--censored", wrong, *SHORT]
        )
        assert bad.exit_code == 2
        assert said in " ".join(bad.output.split())
