"""What new users met on the command line."""

import io
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import app
from thincrm.console import voice
from thincrm.errors import InvalidInput

SMALL = ("--chains", 1, "--sweeps", 6, "--draws", 2)
pytestmark = pytest.mark.filterwarnings("ignore:All .* are in use")


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def assert_told(done, sentence):
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith("Error: ")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_encoding_is_kept_with_the_run(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{1800 + i},{' '.join(rng.choice(['façade', 'été', 'là'], 9))}" for i in range(20)]
    path = tmp_path / "a.csv"
    path.write_bytes("\n".join(["date,text", *rows, ""]).encode("latin-1"))
    fit = ("topics", path, "--date", "date", "--max-topics", 5, *SMALL, "--out", tmp_path / "run")
    assert_told(call(*fit), "encoding; --encoding names another, such as latin-1 (--skip-bad")
    done = call(*fit, "--encoding", "latin-1")
    assert done.exit_code == 0, done.output
    assert "été" in done.stdout
    for command in ("infer", "date"):
        done = call(command, tmp_path / "run", path)
        assert done.exit_code == 0, done.output
    assert_told(call("infer", tmp_path / "run", path, "--encoding", "utf-8"), "file's encoding")
    assert_told(call("infer", tmp_path / "run", path, "--encoding", "utf-16"), "is no encoding")


def test_imputed_cells_of_repeated_labels_have_their_lines(tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(30, 2)) + 5, columns=["a", "b"])
    table["année"], table["when"] = ["Pérou", "Chili"] * 15, np.arange(30)
    table.loc[[4, 6], "a"] = np.nan
    path = tmp_path / "t.csv"
    table.to_csv(path, index=False, encoding="latin-1")
    fit = ("features", path, "--label", "année", "--covariate", "when", "--encoding", "latin-1")
    done = call(*fit, *SMALL, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    done = call("impute", tmp_path / "run", path)
    assert done.exit_code == 0, done.output
    found = pd.read_csv(tmp_path / "run" / "impute.csv")
    assert found["line"].tolist() == [6, 8]
    assert found["année"].tolist() == ["Pérou", "Pérou"]
    assert found["column"].tolist() == ["a", "a"]


def test_a_label_column_in_latin_1_is_no_traceback(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("name,when,x\nBrésil,1,2\nPeru,2,3\n".encode("latin-1"))
    fit = ("features", path, "--label", "name", "--covariate", "when", *SMALL)
    assert_told(call(*fit, "--out", tmp_path / "run"), "t.csv, line 2, column name: character 3")
    assert not (tmp_path / "run").exists()


def test_ambiguous_dates_name_the_option(tmp_path):
    (tmp_path / "a.csv").write_text("text,date\nwar,03/04/1862\n")
    done = call("topics", tmp_path / "a.csv", "--date", "date", "--out", tmp_path / "run")
    assert_told(done, "or say which it is with --date-format, such as %d/%m/%Y")


def empty_npz(shape):
    buffer = io.BytesIO()
    sparse.save_npz(buffer, sparse.csr_array(shape, dtype=np.int64))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.npz", empty_npz((0, 3)), "X has no rows: pass at least one of the documents."),
        ("a.npz", empty_npz((3, 0)), "X has no columns"),
        ("a.npz", empty_npz((3, 2)), "X holds no words at all"),
        ("a.mtx", b"%%MatrixMarket matrix coordinate integer general\n0 0 0\n", "X has no rows"),
        ("a.txt", b"0\n0\n0\n", "X has no rows"),
    ],
)
def test_empty_counts_are_one_sentence(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    assert_told(
        call("topics", tmp_path / name, "--thinning", "always", "--out", tmp_path / "run"), sentence
    )
    assert not (tmp_path / "run").exists()


def test_empty_tables_in_python_are_errors_of_ours():
    with pytest.raises(InvalidInput, match="Y has no rows: pass at least one of the rows"):
        tc.FeatureModel().fit(np.zeros((0, 3)), t=[])
    with pytest.raises(InvalidInput, match="Y has no columns"):
        tc.FeatureModel().fit(pd.DataFrame(index=range(3)), t=[1, 2, 3])
    with pytest.raises(InvalidInput, match="X has no rows"):
        tc.TopicModel().fit([], t=[])


def test_rows_of_one_covariate_are_noted():
    model = tc.FeatureModel(n_sweeps=4, n_draws=2, quiet=True)
    table = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.warns(UserWarning, match="All rows have the same covariate t, so features cannot"):
        model.fit(table, t=np.ones(10))
    model.set_params(thinning=tc.Always()).fit(table, t=np.ones(10))


@pytest.fixture
def told(monkeypatch):
    """Return what commands would say if it took long, and whether they are quiet."""
    said = []

    def telling(what, *, quiet):
        said.append((what, quiet))
        return nullcontext()

    monkeypatch.setattr(voice, "telling", telling)
    return said


def test_reading_and_counting_are_told_and_quiet_is_quiet(tmp_path, told):
    path = tmp_path / "a\x1b.csv"
    path.write_text("text,date,x\n" + "".join(f"war peace,{1800 + i},{i}\n" for i in range(9)))
    read = r"reading a\x1b.csv"  # words are counted on the way
    run, table = tmp_path / "topics", tmp_path / "features"
    clusters, looked = tmp_path / "clusters", "looking at the results"
    for command, *stages in (
        (["topics", path, "--date", "date", "--max-topics", 3, "--out", run], read, looked),
        (["infer", run, path], f"opening {run}", read),
        (["date", run, path], f"opening {run}", read),
        (["report", run], f"opening {run}"),
        (["export", run, "--to", "csv"], f"opening {run}"),
        (["features", path, "--covariate", "date", "--out", table], read, looked),
        (["impute", table, path], f"opening {table}", read),
        (["clusters", path, "--covariate", "date", "--out", clusters], read, looked),
        (["assign", clusters, path], f"opening {clusters}", read),
        (["impute", clusters, path], f"opening {clusters}", read),
    ):
        done = call(*command, *(SMALL if "--out" in command else ()))
        assert done.exit_code == 0, done.output
        assert told == [(stage, False) for stage in stages], command
        told.clear()
    assert call("infer", run, path, "--quiet").exit_code == 0
    assert told == [(f"opening {run}", True), (read, True)]
