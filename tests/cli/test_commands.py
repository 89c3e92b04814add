"""The command line from a CSV to a report: files, words, codes; failures as sentences."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import app
from thincrm.console.options import AUTO_MINUTES, TABLE_MINUTES, minutes_of
from thincrm.inference.progress import Sweeps

COMMANDS = (
    "topics", "features", "resume", "infer", "date", "impute", "evaluate", "report", "export",
    "reproduce", "demo",
)  # fmt: skip
FRUIT, METAL = ["apple", "pear", "plum", "cherry"], ["iron", "steel", "coal", "copper"]
SMALL = ("--chains", 1, "--sweeps", 15, "--draws", 5, "--max-topics", 12, "--seed", 3)
pytestmark = pytest.mark.filterwarnings("ignore:All .* topics are in use")


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write_corpus(path, n_documents=60):
    rng = np.random.default_rng(0)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["when", "body"])
        for i in range(n_documents):
            words = FRUIT if i < n_documents // 2 else METAL
            text = "The <b>[red]</b> " + " ".join(rng.choice(words, 30))
            table.writerow([f"{1 + i % 28} May {1700 + i}", text])
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with a corpus and a run of it."""
    where = tmp_path_factory.mktemp("cli")
    corpus = write_corpus(where / "corpus.csv")
    done = call(
        "topics", corpus, "--text", "body", "--date", "when", "--out", where / "run", *SMALL
    )
    assert done.exit_code == 0, done.output
    (where / "said.txt").write_text(done.stdout, "utf-8")
    return where


def test_every_command_has_help_with_an_example():
    listed = call("--help").output
    for command in COMMANDS:
        assert command in listed
        page = call(command, "--help")
        assert page.exit_code == 0
        assert "Example: thincrm" in page.output


def test_topics_says_what_it_found_and_keeps_it(place):
    said = (place / "said.txt").read_text("utf-8")
    for part in ("60 documents", "1700", "1759", "█", "apple", "iron", "topics in use", "Next:"):
        assert part in said
    table = pd.read_csv(place / "run" / "tables" / "topics.csv")
    assert {"apple", "iron"} <= set(table["word"])
    activation = pd.read_csv(place / "run" / "tables" / "activation.csv")
    assert activation["t"].iloc[0] == "1700-05-01"


def test_python_and_the_shell_give_the_same(place):
    read = tc.read_texts(place / "corpus.csv", "body", "when")
    model = tc.TopicModel(
        max_topics=12, n_sweeps=15, n_draws=5, random_state=3, quiet=True,
        vectorizer=tc.choose_words(read.texts),
    ).fit(read.texts, t=read.t)  # fmt: skip
    pd.testing.assert_frame_equal(tc.load(place / "run").topics(), model.topics())


def test_a_run_is_made_longer_and_as_fine_as_told(place, tmp_path):
    run = tmp_path / "run"
    fit = ("topics", place / "corpus.csv", "--text", "body", "--date", "when", "--detail", "coarse")
    assert call(*fit, "--out", run, *SMALL, "--quiet").exit_code == 0
    assert call("resume", run, "--sweeps", 20, "--quiet").exit_code == 0
    model = tc.load(run)
    assert model.n_sweeps_ == 20
    assert model.draws_[-1].concentration == 0.3
    assert len(pd.read_csv(run / "tables" / "trace.csv")) == 20
    for wrong in ("soon", "0", "-3"):
        assert_one_red_sentence(
            call("resume", run, "--sweeps", wrong),
            "--sweeps must be a whole number above 0 or auto",
        )
    assert_one_red_sentence(call("resume", run, "--sweeps", 3), "--sweeps must be at least 7")
    assert_one_red_sentence(
        call("resume", run, "--minutes", 0), "--minutes must be a finite number"
    )


def test_topics_runs_until_the_verdict_with_as_many_chains_as_a_corpus_can_have(place, tmp_path):
    from thincrm.models import base
    from thincrm.models.topics import fit_command

    run, seen = tmp_path / "run", []
    fit = ("topics", place / "corpus.csv", "--text", "body", "--date", "when", "--max-topics", 12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "_FIRST_SWEEPS", 6)
        few = fit_command.UNASKED._replace(most_of_four=100, most_of_two=10_000)
        patch.setattr(fit_command, "UNASKED", few)
        patch.setattr(base.Model, "_unsettled", lambda self, log: seen.append(log.n_made))
        done = call(*fit, "--draws", 2, "--threads", 1, "--out", run)
        n_chains = len({draw.chain for draw in tc.load(run).draws_})
    assert done.exit_code == 0, done.output
    assert "2 chains: a corpus of this size takes long (--chains says otherwise)." in done.output
    assert seen == [6]
    assert n_chains == 2


def test_report_quotes_the_texts(place):
    done = call("report", place / "run", "--title", "Fruit & iron")
    assert done.exit_code == 0, done.output
    page = (place / "run" / "report.html").read_text("utf-8")
    assert "Fruit &amp; iron" in page
    assert "\\u003cb\\u003e[" in page
    assert "line 2" in page


def test_infer_and_date(place, tmp_path):
    done = call("infer", place / "run", place / "corpus.csv", "--out", tmp_path / "shares.csv")
    assert done.exit_code == 0, done.output
    assert "of their time" in done.stdout
    shares = pd.read_csv(tmp_path / "shares.csv", index_col="line")
    assert shares.index[0] == 2
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-4)
    undated = tmp_path / "undated.csv"
    undated.write_text("text\n" + " ".join(FRUIT * 5) + "\n" + " ".join(METAL * 5) + "\n")
    done = call("date", place / "run", undated, "--text", "text", "--out", tmp_path / "dates.csv")
    assert done.exit_code == 0, done.output
    dates = pd.read_csv(tmp_path / "dates.csv", parse_dates=["time", "lower", "upper"])
    assert dates["upper"][0].year < 1745
    assert dates["lower"][1].year > 1715
    reasons = pd.read_csv(tmp_path / "dates.csv", dtype=str, keep_default_na=False)
    assert (reasons["words"] + reasons["topics"] != "").all()
    for line, kind in ((0, FRUIT), (1, METAL)):
        assert set(reasons["words"][line].split(", ")) <= {*kind, ""}
    assert "topics" in done.stdout
    done = call("infer", place / "run", undated, "--text", "text", "--out", tmp_path / "s.csv")
    assert "of any time" in done.stdout


def test_names_of_files_are_no_formulas(place, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "=1+1.txt").write_text(" ".join(FRUIT * 5))
    for command in ("infer", "date"):
        done = call(command, place / "run", folder, "--out", tmp_path / "found.csv")
        assert done.exit_code == 0, done.output
        assert pd.read_csv(tmp_path / "found.csv")["file"].tolist() == ["'=1+1.txt"]


def test_evaluate_beats_word_frequencies(place):
    done = call("evaluate", place / "run", "--sweeps", 15, "--heldout", 0.2, "--seed", 3, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["perplexity"] < found["perplexity_of_word_frequencies"]
    seen, held = tc.split_words(tc.load(place / "run").counts_, 0.2, 3)
    share = (seen.toarray().sum(axis=0) + 0.5) / (seen.sum() + 0.5 * seen.shape[1])
    mean = -(held.toarray() * np.log(share)).sum() / held.sum()
    assert found["perplexity_of_word_frequencies"] == pytest.approx(np.exp(mean))
    assert found["held_out_words"] == held.sum()
    assert len(pd.read_csv(place / "run" / "evaluate.csv")) == 1


def test_exports(place, tmp_path):
    assert call("export", place / "run", "--to", "csv", "--out", tmp_path / "t").exit_code == 0
    assert (tmp_path / "t" / "shapes.csv").exists()
    pytest.importorskip("arviz")
    done = call("export", place / "run", "--to", "arviz", "--json", "--out", tmp_path / "a.nc")
    assert json.loads(done.stdout)["files"] == [str(tmp_path / "a.nc")]


def test_quiet_says_nothing_and_json_one_object(place, tmp_path):
    done = call("infer", place / "run", place / "corpus.csv", "--out", tmp_path / "a", "--quiet")
    assert done.stdout == ""
    done = call("resume", place / "run", "--json")
    found = json.loads(done.stdout)
    assert found["complete"] is True
    assert found["n_topics"][0] >= 2


def assert_one_red_sentence(done, sentence):
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


def test_bad_input_is_told_before_any_work(place, tmp_path):
    corpus, out = place / "corpus.csv", tmp_path / "out"
    fit = ("topics", corpus, "--text", "body", "--date", "when")
    assert_one_red_sentence(call(*fit, "--out", place / "run"), "'thincrm report")
    assert_one_red_sentence(call(*fit, "--out", place), "and holds no run")
    assert_one_red_sentence(call(*fit, "--out", corpus), "is a file")
    assert_one_red_sentence(call(*fit, "--out", corpus / "run"), "cannot be written to")
    assert call(*fit, "--out", out, "--sweeps", 0).exit_code == 2
    assert_one_red_sentence(call(*fit, "--out", out, "--max-topics", "x"), "--max-topics must be")
    assert_one_red_sentence(call(*fit, "--out", out, "--min-df", "x"), "--min-df must be a number")
    assert_one_red_sentence(call(*fit, "--out", out, "--stop-words", "x"), "--stop-words is 'x'")
    assert_one_red_sentence(call("topics", corpus, "--out", out), "no column 'text'")
    assert_one_red_sentence(call("topics", tmp_path / "no.csv", "--out", out), "does not exist")
    assert_one_red_sentence(call("report", tmp_path / "no"), "holds no run")
    assert_one_red_sentence(call("report", place / "run", "--out", place), "is a folder")
    assert_one_red_sentence(
        call("impute", place / "run", corpus), "'thincrm impute' does not work with a TopicModel"
    )
    assert_one_red_sentence(call("date", place / "run", corpus, "--level", 2), "level must lie")
    assert call("export", place / "run", "--to", "nothing").exit_code == 2
    (tmp_path / "empty.csv").write_text("body,when\n,1862\n,1863\n")
    empty = call("topics", tmp_path / "empty.csv", *fit[2:], "--out", out)
    assert_one_red_sentence(empty, "No word can be chosen")
    assert not out.exists()


def test_a_bad_row_is_named_or_counted(place, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text((place / "corpus.csv").read_text() + "soon,text\n")
    fit = ("topics", bad, "--text", "body", "--date", "when", "--out", tmp_path / "out", *SMALL)
    done = call(*fit)
    assert_one_red_sentence(done, "bad.csv, line 62, column when: 'soon' is not a date")
    assert "(--skip-bad passes over such rows)" in done.stderr
    done = call(*fit, "--skip-bad", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["skipped"] == 1


def test_counts_with_a_table_of_dates(tmp_path):
    rng = np.random.default_rng(1)
    counts = rng.poisson(2.0, (30, 4))
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(counts))
    (tmp_path / "words.txt").write_text("\n".join(FRUIT))
    (tmp_path / "docs.csv").write_text("year\n" + "\n".join(str(1800 + i) for i in range(30)))
    fit = ("topics", tmp_path / "a.npz", "--words", tmp_path / "words.txt", *SMALL)
    assert_one_red_sentence(
        call(*fit, "--date", "year", "--out", tmp_path / "b"), "the table of their dates"
    )
    dates = ("--metadata", tmp_path / "docs.csv", "--date", "year")
    done = call(*fit, *dates, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert "cherry" in done.stdout
    (tmp_path / "docs.csv").write_text("year\n1800\n")
    assert_one_red_sentence(call(*fit, *dates, "--out", tmp_path / "b"), "has 1 rows but a.npz 30")


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_an_interrupt_in_a_real_process_leaves_a_run_of_use(place, tmp_path):
    run = tmp_path / "run"
    # a shell that runs tests in the background makes its children deaf to the signal
    hear = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{hear}; from thincrm.cli import app; app()", "topics"]
    command += [place / "corpus.csv", "--text", "body", "--date", "when", "--out", run]
    command += ["--sweeps", "1000000", "--draws", "200000", "--max-topics", "12", "--quiet"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 90
        while not list(run.glob("checkpoints/*.json")) and time.monotonic() < deadline:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
        assert process.returncode == 130, said
    assert "Traceback" not in said
    assert f"'thincrm resume {run}' goes on" in said


@pytest.mark.filterwarnings("default")
def test_an_interrupt_keeps_and_shows_what_there_is_so_far(place, tmp_path, monkeypatch):
    run = tmp_path / "run"
    step = Sweeps.step

    def interrupted(bar, note):
        step(bar, note)
        if bar.done == 12:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Sweeps, "step", interrupted)
        fit = ("topics", place / "corpus.csv", "--text", "body", "--date", "when", *SMALL)
        done = call(*fit, "--out", run)
    assert done.exit_code == 130, done.output
    assert "Stopped early" in done.stdout
    assert "thincrm resume" in done.stderr
    assert (run / "tables" / "topics.csv").exists()
    assert call("report", run).exit_code == 0
    assert call("resume", run, "--quiet").exit_code == 0
    whole = (place / "run" / "tables" / "topics.csv").read_text()
    assert (run / "tables" / "topics.csv").read_text() == whole


def test_features_go_on_until_a_yes_unless_told_how_long(tmp_path):
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "gdp"])
    table.to_csv(tmp_path / "t.csv", index=False)
    for name, more in (("auto", ("--minutes", 0.001)), ("told", ("--sweeps", 6, "--draws", 2))):
        run = tmp_path / name
        done = call(
            "features", tmp_path / "t.csv", "--covariate", "gdp", "--out", run, "--chains", 1, *more
        )
        assert done.exit_code == 0, done.output
    settings = [tc.load(tmp_path / name).n_sweeps for name in ("auto", "told")]
    assert settings == ["auto", 6]
    assert minutes_of(None, "auto") == AUTO_MINUTES
    assert minutes_of(None, "auto", TABLE_MINUTES) == TABLE_MINUTES
    assert minutes_of(None, "600") is None
    assert minutes_of(3.0, "auto") == 3.0


def test_features_of_a_table(tmp_path):
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "[c]"])
    table["gdp"] = np.arange(40.0)
    table.loc[3, "a"] = np.nan
    table["a"] += 5.0 * (table["gdp"] > 20)
    table.to_csv(tmp_path / "t.csv", index=False)
    fit = ("features", tmp_path / "t.csv", "--covariate", "gdp", "--out", tmp_path / "run")
    done = call(*fit, "--sweeps", 15, "--draws", 5)
    assert done.exit_code == 0, done.output
    assert "40 rows, 3 columns, 1 missing cells" in done.stdout
    assert (tmp_path / "run" / "tables" / "activation.csv").exists()
    run = tmp_path / "run"
    done = call("impute", run, tmp_path / "t.csv")
    assert done.exit_code == 0, done.output
    (hole,) = pd.read_csv(run / "impute.csv").to_dict("records")
    assert (hole["line"], hole["column"]) == (5, "a")
    assert hole["lower"] < hole["mean"] < hole["upper"]
    done = call("evaluate", run, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["error_in_standard_units"] < found["error_of_column_means"]
    assert call("export", run, "--to", "csv", "--quiet").exit_code == 0
    assert call("resume", run, "--quiet").exit_code == 0
    done = call("report", run, "--title", "Incomes")
    assert done.exit_code == 0, done.output
    page = (run / "report.html").read_text("utf-8")
    assert "<h1>Incomes</h1>" in page
    assert '"noun":"feature"' in page

    for command in ("infer", "date"):
        done = call(command, run, tmp_path / "t.csv")
        assert_one_red_sentence(done, f"'thincrm {command}' does not work with a FeatureModel")
    done = call("export", run, "--to", "pyldavis")
    assert_one_red_sentence(
        done, "'thincrm export --to pyldavis' does not work with a FeatureModel"
    )


def test_report_of_a_run_that_python_wrote(tmp_path):
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.normal(size=(20, 3)), columns=list("abc"))
    model = tc.DependentIBP(max_features=4, n_sweeps=6, n_draws=2, random_state=0, quiet=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few features are allowed here
        model.fit(table, t=np.arange(20.0), out=tmp_path / "run")
    done = call("report", tmp_path / "run", "--json")
    assert done.exit_code == 0, done.output
    page = tmp_path / "run" / "report.html"
    assert json.loads(done.stdout)["report"] == str(page)
    assert "GaussianCopula" in page.read_text("utf-8")
