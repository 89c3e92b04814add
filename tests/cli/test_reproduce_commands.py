"""The command line: help, commands on a small corpus, failures as sentences."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from typer.testing import CliRunner

import thincrm
from thincrm.cli import app
from thincrm.experiments import topics

COMMANDS = ("sotu-perplexity", "sotu-decades", "sotu-topics")


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def data(tmp_path):
    """Return the path of 60 documents of three decades, each with words of its own."""
    rng = np.random.default_rng(3)
    decade = np.repeat([0, 1, 2], 20)
    rate = np.full((60, 30), 0.1)
    for row, place in enumerate(decade):
        rate[row, 10 * place : 10 * (place + 1)] = 2.0
    sparse.save_npz(tmp_path / "tiny_counts.npz", sparse.csr_array(rng.poisson(rate)))
    words = ["[red]", "$x^2$", *(f"word{i}" for i in range(28))]  # not markup, not formulas
    (tmp_path / "tiny_vocab.txt").write_text("\n".join(words), "utf-8")
    years = 1800 + 10 * decade + rng.integers(0, 10, 60)
    pd.DataFrame({"year": years}).to_csv(tmp_path / "tiny_docs.csv", index=False)
    return tmp_path / "tiny_counts.npz"


def test_python_runs_the_package_as_the_command():
    said = subprocess.run(
        [sys.executable, "-m", "thincrm", "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout == f"thincrm {thincrm.__version__}\n"


def test_version_and_help():
    assert call("--version").output == f"thincrm {thincrm.__version__}\n"
    assert "reproduce" in call("--help").output
    listed = call("reproduce", "--help")
    assert listed.exit_code == 0
    assert all(command in listed.output for command in COMMANDS)
    for command in COMMANDS:
        page = call("reproduce", command, "--help")
        assert page.exit_code == 0
        assert "Example: thincrm reproduce" in page.output
        assert "--quick" in page.output


def test_help_waits_for_no_library():
    code = (
        "import sys, thincrm.cli; print(*{'numpy', 'pandas', 'numba', 'sklearn'} & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@pytest.mark.filterwarnings("ignore:All .* topics are in use")
@pytest.mark.parametrize(
    ("command", "said", "files"),
    [
        ("sotu-perplexity", ("624.4", "thinned BNBP"), ("splits.csv", "summary.csv")),
        ("sotu-decades", ("naive Bayes", "6.97"), ("splits.csv", "summary.csv", "guesses.csv")),
        ("sotu-topics", ("early", "The paper's topic on war"), ("words.csv", "curves.csv")),
    ],
)
def test_commands_print_a_table_and_write_files(command, said, files, data, tmp_path):
    out = tmp_path / "new" / "results"
    small = ("--data", data, "--sweeps", 12, "--max-topics", 12, "--seed", 4, "--quick")
    done = call("reproduce", command, *small, "--out", out)
    assert done.exit_code == 0, done.output
    for text in (*said, "60 documents, 30 words", "12 sweeps", "seed 4", "s in all"):
        assert text in done.stdout
    name = command.replace("-", "_")
    expected = {f"{name}_{file}" for file in files}
    pytest.importorskip("matplotlib")
    assert {path.name for path in out.iterdir()} == expected | {f"{name}.png"}
    for file in expected:
        assert len(pd.read_csv(out / file)) > 2


def test_without_matplotlib_one_sentence_stands_for_the_picture(data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    done = call(
        "reproduce", "sotu-topics", "--data", data, "--sweeps", 4, "--max-topics", 30,
        "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "pip install 'thincrm[plot]'" in done.stdout
    assert not (tmp_path / "out" / "sotu_topics.png").exists()


def assert_one_red_sentence(done, sentence):
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_or_wrong_file_is_one_sentence(command, tmp_path):
    options = ("reproduce", command, "--out", tmp_path / "out", "--data")
    assert_one_red_sentence(call(*options, tmp_path / "no_counts.npz"), "does not exist")
    assert_one_red_sentence(call(*options, tmp_path), "ends in _counts.npz")


def test_other_bad_input_is_one_sentence_too(data, tmp_path):
    decades = ("reproduce", "sotu-decades", "--data", data, "--out")
    options = (*decades, tmp_path / "out")
    assert_one_red_sentence(call(*options, "--sweeps", 0), "--sweeps must be at least 2, got 0")
    assert_one_red_sentence(call(*options, "--seed", -1), "--seed must be at least 0, got -1")
    (tmp_path / "file").write_text("")
    assert_one_red_sentence(call(*decades, tmp_path / "file"), "cannot be made")
    pd.DataFrame({"year": np.full(60, 1801)}).to_csv(tmp_path / "tiny_docs.csv", index=False)
    assert_one_red_sentence(call(*options), "the corpus has 1 of them")


def test_an_interrupt_ends_with_130_and_a_sentence(data, tmp_path, monkeypatch):
    def interrupted(settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(topics, "run", interrupted)
    done = call("reproduce", "sotu-topics", "--data", data, "--out", tmp_path / "out")
    assert done.exit_code == 130
    assert done.stderr == "Interrupted: what was written before stays.\n"


@pytest.mark.filterwarnings("default")
def test_warnings_are_notes(data, tmp_path):
    done = call(
        "reproduce", "sotu-topics", "--data", data, "--sweeps", 4, "--max-topics", 3,
        "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "Note: All 3 topics are in use" in done.stderr
    assert "Warning" not in done.stderr


def test_an_unknown_command_or_option_is_a_usage_error():
    assert call("reproduce", "nothing").exit_code == 2
    assert call("reproduce", "sotu-topics", "--splits", 3).exit_code == 2
