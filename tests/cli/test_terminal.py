"""Nothing that others wrote is obeyed by the terminal, wherever it is shown."""

import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import typer
from scipy import sparse
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import app
from thincrm.console.stopping import end_of
from thincrm.errors import CannotWrite, InvalidInput, ThincrmError, in_shell, resume_call
from thincrm.printable import printable

ESCAPE = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil[bold red]x\r\b"
VISIBLE = r"\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil[bold red]x\r\x08"
E_ = ESCAPE[:-2]  # without what ends a line of CSV
SMALL = ("--sweeps", 6, "--draws", 2)
pytestmark = pytest.mark.filterwarnings("ignore:All .* are in use")


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def assert_harmless(*outputs):
    for output in outputs:
        for letter in "\x1b\x9b\x07\x08\r\u202e":
            assert letter not in output.replace("\r\n", "\n"), repr(output)


def assert_told_harmlessly(done):
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2, done.output
    assert "evil" in "".join(filter(str.isalnum, done.stderr))  # a box may cut it
    assert_harmless(done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (ESCAPE, VISIBLE),
        ("größer 東京 नमस्ते می‌خواهم 👩‍🌾 ' \\ [b]", "größer 東京 नमस्ते می‌خواهم 👩‍🌾 ' \\ [b]"),
        ("a\nb\tc\u2028d\ufeffe\udcfff\u2066g", r"a\nb\tc\u2028d\ufeffe\udcfff\u2066g"),
        ("", ""),
    ],
)
def test_printable(text, shown):
    assert printable(text) == shown
    assert printable(shown) == shown


def test_every_error_is_printable():
    for kind in (*ThincrmError.__subclasses__(), InvalidInput, CannotWrite):
        assert str(kind(f"{ESCAPE} is no column.")) == f"{VISIBLE} is no column."


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with data whose names and words are escape sequences."""
    where = tmp_path_factory.mktemp("escapes")
    rng = np.random.default_rng(0)
    sparse.save_npz(where / f"{ESCAPE}.npz", sparse.csr_array(rng.poisson(1.0, (30, 3))))
    sparse.save_npz(where / "counts.npz", sparse.csr_array(rng.poisson(1.0, (30, 3))))
    step = [10 * (i > 15) + rng.normal() for i in range(30)]
    rows = [f"{x:.3f},{x + rng.normal():.3f},{i},{E_}{i}" for i, x in enumerate(step)]
    rows[3] = f",,3,{E_}3"
    head = f"{E_}a,{E_}b,when,{E_}label"
    (where / "table.csv").write_text("\n".join([head, *rows]) + "\n", "utf-8")
    return where


WORDS = [ESCAPE, "peace", "[bold]tax"]


def save(place, name):
    """Keep a run of words that are escape sequences: files of words refuse them, Python not."""
    counts = tc.read_counts(place / "counts.npz", WORDS)
    model = tc.TopicModel(max_topics=3, n_sweeps=6, n_draws=2, random_state=0, quiet=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(counts, t=np.arange(30), out=place / name)
    return place / name


def test_terminal_tables_of_topics(place):
    run = save(place, f"run{ESCAPE}")
    done = call("resume", run)
    assert done.exit_code == 0, done.output
    assert "x1b" in done.stdout
    assert_harmless(done.stdout, done.stderr)
    for more in (
        ["infer", run, place / "counts.npz"],
        ["report", run],
        ["export", run, "--to", "csv"],
    ):
        done = call(*more)
        assert done.exit_code == 0, done.output
        assert "owned" in done.stdout
        assert_harmless(done.stdout, done.stderr)
    words = place / "other.txt"
    words.write_text("war\npeace\ntax\n")
    assert_told_harmlessly(call("infer", run, place / "counts.npz", "--words", words))
    (run / "settings.json").write_text("{")
    assert_told_harmlessly(call("report", run))


def test_terminal_tables_of_features(place):
    out = place / "features"
    label = f"{E_}label"
    done = call("features", place / "table.csv", "--covariate", "when", "--label", label, "--out",
                out, "--weights", "binary", *SMALL)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert r"\x1b" in done.stdout
    assert_harmless(done.stdout, done.stderr)
    done = call("impute", out, place / "table.csv")
    assert done.exit_code == 0, done.output
    assert "red]x3" in done.stdout  # markup would not be there
    assert_harmless(done.stdout, done.stderr)
    done = call("impute", out, place / "table.csv", "--json")
    assert_harmless(done.stdout, done.stderr)
    json.loads(done.stdout)


FILES = {
    "column name": ("a.csv", f"{E_},date\nx,1862\n"),
    "date": ("a.csv", f"text,date\nx,{E_}\n"),
    "json key": ("a.jsonl", json.dumps({ESCAPE: 1}) + "\n"),
    "json raw": ("a.jsonl", f'{{"text": "x", "date": "{E_}"\n'),
    "json value": ("a.jsonl", json.dumps({"text": [ESCAPE], "date": 1}) + "\n"),
    "file name": (f"{ESCAPE}.csv", "text,date\nx,soon\n"),
    "kind": (f"a.{ESCAPE}", "text,date\nx,soon\n"),
    "market": ("evil.mtx", f"%%MatrixMarket matrix coordinate integer {E_}\n1 1 1\n1 1 1\n"),
    "market cell": ("a.mtx", f"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 {E_}\n"),
    "ldac": ("a.ldac", f"1 0:{E_.replace(' ', '')}\n"),
    "uci": ("a.txt", f"%%MatrixMarket {E_}\n"),
    "npz": (f"{ESCAPE}.npz", "x"),
    "parquet": (f"{ESCAPE}.parquet", "PAR1PAR1"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_every_message_on_a_file(case, tmp_path):
    name, content = FILES[case]
    path = tmp_path / name
    path.write_bytes(content.encode("utf-8"))
    run = ("--out", tmp_path / "evil")
    done = call("topics", path, "--date", "date", *run)
    assert done.exit_code == 2, done.output
    assert_harmless(done.stdout, done.stderr)
    done = call("features", path, "--covariate", "date", *run)
    assert done.exit_code == 2, done.output
    assert_harmless(done.stdout, done.stderr)


@pytest.mark.parametrize(
    "more",
    [
        ("topics", f"{ESCAPE}.csv"),
        ("topics", "a.csv", "--text", ESCAPE),
        ("topics", "a.csv", "--stop-words", ESCAPE),
        ("topics", "a.csv", "--min-df", ESCAPE),
        ("topics", "a.csv", "--max-topics", ESCAPE),
        ("topics", "a.csv", "--date-format", ESCAPE, "--date", "date"),
        ("topics", "a.csv", "--words", ESCAPE),
        ("topics", "a.csv", ESCAPE),
        ("topics", "a.csv", "--thinning", ESCAPE),
        ("topics", "a.csv", f"--{ESCAPE}"),
        ("topics", ".", "--date", "name"),
        (ESCAPE,),
        (f"--{ESCAPE}",),
    ],
)
def test_every_message_on_an_option(more, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("text,date\nwar war,1862\nwar,1863\n")
    (tmp_path / f"{ESCAPE}.txt").write_text("undated")
    assert_told_harmlessly(call(*more, *(["--out", "run"] if len(more) > 1 else [])))


def test_a_name_that_is_not_in_utf8(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\x1bevil.csv"
    with open(path, "wb") as file:
        file.write(b"text,date\nx,soon\n")
    done = call("topics", os.fsdecode(path), "--date", "date", "--out", tmp_path / "run")
    assert_told_harmlessly(done)
    assert r"\udcff\x1bevil.csv" in done.stderr


@pytest.mark.filterwarnings("always:.*is damaged")
def test_notes_are_printable(place):
    run = save(place, f"noted{ESCAPE}")
    (run / "source").mkdir(exist_ok=True)
    (run / "source" / "texts.jsonl.gz").write_bytes(b"x")
    done = call("report", run)
    assert "Note: " in done.stderr
    assert_harmless(done.stdout, done.stderr)


def test_a_stop_names_its_run_harmlessly(capsys):
    with pytest.raises(typer.Exit):
        end_of(Path(f"run{ESCAPE}"), complete=False)
    said = capsys.readouterr().err
    assert "owned" in said
    assert_harmless(said)


def test_what_a_sentence_quotes_is_not_translated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call("topics", "my n_sweeps/max_topics.csv", "--out", "run")
    assert "my n_sweeps/max_topics.csv does not exist" in done.stderr
    (tmp_path / "random_state").write_text("")
    done = call("topics", "max_topics.csv", "--out", "random_state")
    assert "Error: random_state is a file: pass the name of a folder." in done.stderr
    (tmp_path / "n_sweeps.csv").write_text("text,min_df\nwar,stop_words\n")
    done = call("topics", "n_sweeps.csv", "--date", "min_df", "--out", "run")
    assert "n_sweeps.csv, line 2, column min_df: 'stop_words' is not a date;" in done.stderr
    assert "(--skip-bad passes over such rows)" in done.stderr
    assert in_shell(resume_call("n_sweeps")) == "'thincrm resume n_sweeps'"
