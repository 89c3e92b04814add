"""`thincrm topics` on many files, and on more text than a run keeps."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli.main import app
from thincrm.models.topics import corpus, fit_command

WORDS = "war peace tax law ship grain".split()


@pytest.fixture
def parts(tmp_path):
    rng = np.random.default_rng(2)
    for number in range(2):
        texts = [" ".join(rng.choice(WORDS, 12)) for _ in range(10)]
        table = pd.DataFrame({"body": texts, "year": 1990 + np.arange(10)})
        table.to_csv(tmp_path / f"part-{number}.csv", index=False)
    return tmp_path


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def test_a_pattern_names_many_files(parts, monkeypatch):
    usual = ("--text", "body", "--date", "year", "--sweeps", 6, "--draws", 3, "--max-topics", 40)
    out = parts / "run"
    done = run("topics", parts / "part-*.csv", *usual, "--out", out)
    assert done.exit_code == 0, done.output
    assert "20 documents, 6 words." in done.output
    assert (out / "source" / "texts.jsonl.gz").exists()
    shares = parts / "shares.csv"
    done = run("infer", out, parts / "part-*.csv", "--out", shares)
    assert done.exit_code == 0, done.output
    assert pd.read_csv(shares)["file"][10] == "part-1.csv, line 2"
    for module in (corpus, fit_command):
        monkeypatch.setattr(module, "MOST_LETTERS", 100)
    done = run("topics", parts / "part-*.csv", *usual, "--out", parts / "large")
    assert done.exit_code == 0, done.output
    assert "letters and are not kept with the run" in done.output
    assert not (parts / "large" / "source" / "texts.jsonl.gz").exists()
    pd.testing.assert_frame_equal(tc.load(parts / "large").trace_, tc.load(out).trace_)
