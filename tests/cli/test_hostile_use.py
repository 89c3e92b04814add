"""Whatever is asked of the command line, the answer is a sentence: no traceback, no half a run."""

import errno
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import any_run, app
from thincrm.console.run_source import kept_reading
from thincrm.errors import InvalidInput, check_count, check_positive
from thincrm.inference import progress

SMALL = ("--chains", 1, "--sweeps", 6, "--draws", 2, "--max-topics", 5)
pytestmark = pytest.mark.filterwarnings("ignore:All .* topics are in use")


def call(*arguments, **settings):
    return CliRunner(**settings).invoke(app, [str(argument) for argument in arguments])


def assert_told(done, sentence):
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2, done.output
    assert done.stderr.splitlines()[-1].startswith("Error: ")
    assert sentence in done.stderr


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with files good and bad, and a run."""
    where = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    rows = [f"{1800 + i},{' '.join(rng.choice(['wär', 'peace', 'tax'], 9))}" for i in range(20)]
    (where / "ok.csv").write_text("\n".join(["date,body", *rows]) + "\n", "utf-8")
    (where / "empty.csv").write_text("")
    (where / "head.csv").write_text("date,body\n")
    (where / "one.csv").write_text("date,body\n1862,war and peace\n")
    (where / "binary.csv").write_bytes(rng.bytes(5000))
    (where / "latin.csv").write_bytes("date,body\n1862,café\n".encode("latin-1"))
    (where / "utf16.csv").write_bytes("date,body\n1862,war\n".encode("utf-16"))
    (where / "folder.csv").mkdir()
    (where / "mixed.csv").write_text("date,body\n2020-01-01T10:00Z,war\n2020-01-02,war\n")
    fit = ("topics", where / "ok.csv", "--text", "body", "--date", "date", "--out", where / "run")
    done = call(*fit, *SMALL, "--quiet")
    assert done.exit_code == 0, done.output
    return where


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("empty.csv", "must begin with a line that names its columns"),
        ("head.csv", "holds no documents"), ("one.csv", "asks for words in 2 documents"),
        ("binary.csv", "not in the file's encoding"), ("latin.csv", "character 4 is not in"),
        ("utf16.csv", "UTF-16"), ("folder.csv", "holds no text files"),
        ("mixed.csv", "has no time zone"), ("missing.csv", "does not exist"),
    ],
)  # fmt: skip
def test_bad_files(place, tmp_path, name, sentence):
    out = tmp_path / "out"
    fit = ("topics", place / name, "--text", "body", "--date", "date", "--out", out)
    assert_told(call(*fit, *SMALL), sentence)
    assert not out.exists()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--covariate", "date"), "--date or on --covariate"),
        (("--max-topics", "99999999999999999999"), "--max-topics must be at most 100000"),
        (("--min-df", "-1"), "--min-df must be a number of documents"),
        (("--max-df", "nan"), "--max-df must be a number of documents"),
        (("--heldout", "0.01"), "--heldout 0.01 takes none"),
        (("--date-format", "%Q"), "does not have the date format"),
        (("--text", "bdy"), "did you mean 'body'?"),
    ],
)
def test_bad_options(place, tmp_path, more, sentence):
    out = tmp_path / "out"
    fit = ["topics", place / "ok.csv", "--out", out, *more]
    for name, value in (("--text", "body"), ("--date", "date"), *pairs(SMALL)):
        fit += [] if name in more else [name, value]
    assert_told(call(*fit), sentence)
    assert not out.exists()


def pairs(options):
    return zip(options[::2], options[1::2], strict=True)


@pytest.mark.filterwarnings("always:All documents have the same covariate")
def test_all_documents_of_one_date_are_a_run(tmp_path):
    (tmp_path / "same.csv").write_text("date,body\n" + "1862-03-12,war war peace tax\n" * 12)
    fit = ("topics", tmp_path / "same.csv", "--text", "body", "--date", "date", *SMALL)
    done = call(*fit, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert "Note: All documents have the same covariate, so topics cannot come" in done.stderr
    assert "Say --thinning always if that is meant" in done.stderr
    assert call("report", tmp_path / "run").exit_code == 0


@pytest.mark.parametrize("command", ["infer", "date", "report", "evaluate", "export"])
def test_a_place_that_cannot_be_written_is_told_first(place, command):
    given = {"infer": [place / "ok.csv"], "date": [place / "ok.csv"], "export": ["--to", "arviz"]}
    more = given.get(command, [])
    done = call(command, place / "run", *more, "--out", place / "none" / "x")
    assert_told(done, "is no folder: make it")
    assert_told(call(command, place / "none", *more), "holds no run")


def test_a_terminal_without_the_letters_gets_question_marks(place):
    done = call("resume", place / "run", charset="ascii")
    assert done.exit_code == 0, done.output
    assert "w?r" in done.stdout
    done = call("report", place / "run", "--out", place / "ü.html", "--json", charset="ascii")
    assert json.loads(done.stdout)["report"].endswith("ü.html")


def test_quiet_is_quiet_where_a_run_goes_on(place, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "_SILENT_SECONDS", -1.0)
    step = progress.Sweeps.step

    def interrupted(bar, note):
        step(bar, note)
        if bar.done == 4:
            raise KeyboardInterrupt

    fit = ("topics", place / "ok.csv", "--text", "body", "--date", "date", *SMALL)
    with monkeypatch.context() as patch:
        patch.setattr(progress.Sweeps, "step", interrupted)
        assert "sampling" in call(*fit, "--out", tmp_path / "run").stderr
    done = call("resume", tmp_path / "run", "--quiet")
    assert done.exit_code == 0
    assert done.stdout == ""
    assert "sampling" not in done.stderr


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, "file write failed\n, errno = 28", "a.nc"), "No space left on"),
        (MemoryError(), "not enough memory"),
    ],
)
def test_a_full_disk_and_too_little_memory_are_one_line(place, monkeypatch, error, sentence):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(any_run, "resume", fails)
    done = call("resume", place / "run")
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: ")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "more",
    [
        ("topics", "x" * 300 + ".csv", "--out", "new"),
        ("topics", "ok.csv", "--out", "x" * 300),
        ("report", "x" * 300),
        ("report", "run", "--out", "x" * 300),
    ],
)
def test_a_name_that_is_too_long_is_bad_input(place, monkeypatch, more):
    monkeypatch.chdir(place)
    done = call(*more)
    assert done.exit_code == 2, done.output
    assert "too long" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_interrupt_that_a_compiled_call_made_an_error_of(place, monkeypatch):
    """Now and then a compiled call turns Ctrl-C into a SystemError; others stay what they are."""

    def interrupted(*_):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("<built-in> returned a result with an exception set") from error

    def fails(*_):
        raise SystemError("something else")

    monkeypatch.setattr(any_run, "report", interrupted)
    done = call("report", place / "run")
    assert done.exit_code == 130, done.exception
    assert done.stderr == "Interrupted: what was written before stays.\n"
    monkeypatch.setattr(any_run, "report", fails)
    assert isinstance(call("report", place / "run").exception, SystemError)


def test_what_is_not_installed_is_named(place, monkeypatch):
    class Draws:
        def to_netcdf(self, path):
            raise ImportError("No module named 'h5py'")

    monkeypatch.setattr(tc.TopicModel, "to_arviz", lambda _: Draws())
    done = call("export", place / "run", "--to", "arviz", "--out", place / "a.nc")
    assert_told(done, "needs h5netcdf and h5py: pip install 'thincrm[arviz]'")


def test_how_a_strangers_run_was_read_is_checked(place, tmp_path):
    path = tmp_path / "source" / "reading.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"text": {"a": 1}, "date": 5, "covariates": ["x", [1]]}))
    assert kept_reading(tmp_path) == {}
    for text in ("[]", "[" * 10**5, "x"):
        path.write_text(text)
        assert kept_reading(tmp_path) == {}


def test_numbers_out_of_range_are_sentences():
    with pytest.raises(InvalidInput, match="at most 7"):
        check_count("n", 8, most=7)
    for check in (check_count, check_positive):
        with pytest.raises(InvalidInput, match="too large"):
            check("n", 10**400)
    with pytest.raises(InvalidInput, match="random_state must be 0 or more"):
        tc.TopicModel(random_state=-1).fit(np.ones((3, 2), int), t=[1, 2, 3])
    with pytest.raises(InvalidInput, match="max_features must be at most"):
        tc.FeatureModel(max_features=10**9).fit(np.ones((3, 2)), t=[1, 2, 3])
