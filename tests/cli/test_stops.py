"""Runs that lose their folder, never begin, or are interrupted: what is kept, and which code."""

import errno
import os
import shutil
import signal

import numpy as np
import pytest
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import app
from thincrm.errors import InvalidInput
from thincrm.inference.progress import Sweeps
from thincrm.models.topics.terminal import TopicTerminal

SMALL = ("--chains", 1, "--sweeps", 15, "--draws", 5, "--max-topics", 5, "--seed", 3)
pytestmark = pytest.mark.filterwarnings("default")


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("stops") / "ok.csv"
    rng = np.random.default_rng(0)
    rows = [f"{1800 + i},{' '.join(rng.choice(['war', 'peace', 'tax'], 9))}" for i in range(20)]
    path.write_text("\n".join(["date,body", *rows]) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def whole(corpus):
    run = corpus.parent / "whole"
    assert topics(corpus, run).exit_code == 0
    return run


def topics(corpus, run):
    return call("topics", corpus, "--text", "body", "--date", "date", "--out", run, *SMALL)


@pytest.fixture
def at_sweep(monkeypatch):
    """Return a way to do something after a sweep of the next run."""

    def do(number, what):
        step = Sweeps.step

        def stepped(bar, note):
            step(bar, note)
            if bar.done == number:
                monkeypatch.setattr(Sweeps, "step", step)
                what()

        monkeypatch.setattr(Sweeps, "step", stepped)

    return do


def tables(run):
    return {path.name: path.read_bytes() for path in (run / "tables").iterdir()}


@pytest.mark.parametrize("number", [3, 12])
def test_a_folder_that_is_removed_while_it_is_written(corpus, whole, tmp_path, at_sweep, number):
    """What the model found is written again, and the code is not 0."""
    run = tmp_path / "run"
    at_sweep(number, lambda: shutil.rmtree(run))
    done = topics(corpus, run)
    assert done.exit_code == 1, done.output
    assert "was moved or removed while it was written" in done.stderr
    assert call("resume", run, "--quiet").exit_code == 0
    assert tables(run) == tables(whole)


def test_a_folder_that_is_moved_while_it_is_written(corpus, whole, tmp_path, at_sweep):
    """The run goes on where the folder is now; nothing of it is removed."""
    run, moved = tmp_path / "run", tmp_path / "moved"
    at_sweep(7, lambda: run.rename(moved))
    done = topics(corpus, run)
    assert done.exit_code == 1, done.output
    assert (moved / "results.json").exists()
    assert (moved / "source" / "texts.jsonl.gz").exists()
    for place in (run, moved):
        assert call("resume", place, "--quiet").exit_code == 0
        assert tables(place) == tables(whole)


def test_another_folder_in_its_place_is_left_alone(corpus, tmp_path, at_sweep):
    run, moved = tmp_path / "run", tmp_path / "moved"

    def swap():
        run.rename(moved)
        run.mkdir()
        (run / "mine.txt").write_text("mine")

    at_sweep(7, swap)
    done = topics(corpus, run)
    assert done.exit_code == 1, done.output
    assert f"is saved in {run}-2, without texts" in done.stderr
    assert [path.name for path in run.iterdir()] == ["mine.txt"]
    for place in (moved, tmp_path / "run-2"):
        assert tc.load(place).complete_


def test_a_disk_that_stays_full_ends_with_code_1(corpus, tmp_path, at_sweep):
    run = tmp_path / "run"

    def fill():
        results_file = run / "results.json"
        results_file.mkdir()  # nothing can be renamed to it

    at_sweep(7, fill)
    done = topics(corpus, run)
    assert done.exit_code == 1, done.output
    assert "thincrm resume" in done.stderr
    (run / "results.json").rmdir()
    assert call("resume", run, "--quiet").exit_code == 0


@pytest.mark.parametrize("left", ["lock", "source", "data.json", "settings.json"])
def test_a_run_that_was_killed_before_it_began_begins_anew(corpus, whole, tmp_path, left):
    """Each file of the beginning is the first that is missing."""
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    for name in ("tables", "draws", "checkpoints"):
        shutil.rmtree(run / name)
    order = ["lock", "source", "data.safetensors", "data.json", "settings.json"]
    for path in sorted(run.iterdir()):
        if path.name not in order[: order.index(left)]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if left != "lock":
        (run / ".tmp-0123456789abcdef").write_text("half")
        done = call("resume", run)
        assert done.exit_code == 2
        assert "was stopped before it began: begin it there again" in done.stderr
    done = topics(corpus, run)
    assert done.exit_code == 0, done.output
    assert tables(run) == tables(whole)
    assert not list(run.rglob(".tmp-*"))


@pytest.mark.parametrize("name", ["mine.txt", "source/mine.py", ".tmp-mine"])
def test_a_folder_of_ones_own_is_not_taken_for_one(corpus, tmp_path, name):
    (tmp_path / "lock").write_text("")
    (tmp_path / "source").mkdir()
    (tmp_path / name).write_text("mine")
    done = topics(corpus, tmp_path)
    assert done.exit_code == 2
    assert f"is not empty ({name}) and holds no run" in done.stderr
    assert (tmp_path / name).read_text() == "mine"


def test_code_2_means_that_nothing_was_written(corpus, whole, tmp_path, monkeypatch):
    """The same failure has code 2 before anything was written and code 1 after."""

    def fails(*_, **__):
        raise InvalidInput("It cannot be shown.")

    monkeypatch.setattr(TopicTerminal, "table", fails)
    done = topics(corpus, tmp_path / "run")
    assert done.exit_code == 1
    assert "It cannot be shown." in done.stderr
    monkeypatch.setattr(TopicTerminal, "texts", fails)
    before = {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()}
    assert call("report", whole).exit_code == 2
    assert {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()} == before


def test_a_disk_that_is_full_at_the_start_has_code_1(corpus, tmp_path, monkeypatch):
    from thincrm.files import operations

    class Full(operations.Operations):
        def write(self, file, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(operations, "current", Full())
    done = topics(corpus, tmp_path / "run")
    assert done.exit_code == 1
    assert "No space left" in done.stderr
    assert done.stderr.count("\n") == 1
    monkeypatch.undo()
    assert topics(corpus, tmp_path / "run").exit_code == 0


@pytest.fixture
def listening():
    """Hear interrupts, which a process in the background may have been told to ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_before_the_first_draw_says_what_is_there(
    corpus, whole, tmp_path, at_sweep, listening
):
    """Nothing to show yet, as it says; the run goes on from there."""
    run = tmp_path / "run"
    at_sweep(2, lambda: signal.raise_signal(signal.SIGINT))
    done = topics(corpus, run)
    assert done.exit_code == 130, done.output
    assert f"Interrupted before the first draw: 'thincrm resume {run}' goes on." in done.stderr
    # one at the stop; a slow machine has made another before it
    assert len(list((run / "checkpoints").glob("*.json"))) in (1, 2)
    done = call("report", run)
    assert done.exit_code == 2
    assert f"has no draws yet: 'thincrm resume {run}' goes on with the run" in done.stderr
    assert call("resume", run, "--quiet").exit_code == 0
    assert tables(run) == tables(whole)
