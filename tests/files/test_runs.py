"""A run that is stopped, in whatever way, goes on as if nothing had happened."""

import os
import re
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from faults import Killed, faulty
from small_run import bits, files, fit

import thincrm as tc
from thincrm.errors import CannotWrite, InvalidInput, RunInUse
from thincrm.files.folder import Folder
from thincrm.files.lock import locked
from thincrm.inference import run_log
from thincrm.models.topics import model as topic_model

SCRIPT = Path(__file__).with_name("small_run.py")
GROWING = {"max_topics": "grow", "n_sweeps": 66, "n_chains": 1, "burstiness": 0.0}


pytestmark = pytest.mark.filterwarnings("ignore:All . topics")


@pytest.fixture(autouse=True)
def _checkpoint_after_every_sweep(monkeypatch):
    monkeypatch.setattr(run_log, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(run_log, "_LARGEST_SHARE", 1e9)


@pytest.fixture(scope="module")
def whole():
    return bits(fit())


def stop_after(monkeypatch, n_sweeps, how):
    """Raise `how` in the note of sweep number `n_sweeps`."""
    note, seen = run_log.RunLog.note, []

    def counting(self, *args):
        seen.append(0)
        if len(seen) == n_sweeps:
            raise how
        note(self, *args)

    monkeypatch.setattr(run_log.RunLog, "note", counting)
    return lambda: monkeypatch.setattr(run_log.RunLog, "note", note)


def test_a_run_gives_what_a_fit_gives(tmp_path, whole):
    model = fit(tmp_path / "run")
    assert bits(model) == whole
    assert bits(tc.load(tmp_path / "run")) == whole
    began = time.perf_counter()
    before = {path: path.read_bytes() for path in files(tmp_path)}
    assert bits(tc.resume(tmp_path / "run")) == whole
    assert time.perf_counter() - began < 5
    after = {path: path.read_bytes() for path in files(tmp_path) if path.name != "lock"}
    assert after.items() <= before.items()
    assert len(list((tmp_path / "run" / "checkpoints").glob("*.json"))) == 2


@pytest.mark.parametrize("n_sweeps", [1, 8, 19, 20, 37])
def test_a_crash_costs_nothing(tmp_path, monkeypatch, whole, n_sweeps):
    undo = stop_after(monkeypatch, n_sweeps, Killed)
    with pytest.raises(Killed):
        fit(tmp_path)
    undo()
    assert bits(tc.resume(tmp_path)) == whole


@pytest.mark.parametrize("n_sweeps", [15, 21, 50])
def test_growth_goes_on(tmp_path, monkeypatch, n_sweeps):
    monkeypatch.setattr(topic_model, "_FIRST_GUESS", 2)
    grown = fit(**GROWING)
    assert {draw.scalars["max_topics"] for draw in grown.draws_} == {3}
    undo = stop_after(monkeypatch, n_sweeps, Killed)
    with pytest.raises(Killed):
        fit(tmp_path, **GROWING)
    undo()
    assert bits(tc.resume(tmp_path)) == bits(grown)


@pytest.mark.parametrize(
    "changes",
    [
        {"burstiness": 0.5, "concentration": 1},
        {"burstiness": 0.0, "thinning": tc.Always()},
        {"levy": tc.BetaProcess(2.0, 3.0), "n_background": 2, "thinning": tc.Bump("box")},
        {"levy": tc.StableProcess(2.0, 0.4), "thinning": tc.ProbitRVM(), "learn": False},
    ],
    ids=["fixed", "exchangeable", "windows", "stable"],
)
def test_every_kind_of_state_goes_on(tmp_path, monkeypatch, changes):
    """From the checkpoint itself: no warning that it was found wanting and the run began anew."""
    undo = stop_after(monkeypatch, 15, Killed)
    with pytest.raises(Killed):
        fit(tmp_path, n_chains=1, **changes)
    undo()
    assert bits(tc.resume(tmp_path)) == bits(fit(n_chains=1, **changes))


def test_an_interrupt_stops_cleanly(tmp_path, monkeypatch, whole):
    undo = stop_after(monkeypatch, 33, KeyboardInterrupt)
    with pytest.warns(UserWarning, match="after sweep 12 of 18 of chain 2 of 2.*7 draws.*resume"):
        model = fit(tmp_path)
    undo()
    assert not model.complete_
    assert len(model.topics(2)) > 0
    with pytest.warns(UserWarning, match="has not finished: .* after sweep 12 of 18 of chain 2"):
        loaded = tc.load(tmp_path)
    assert bits(loaded) == bits(model)
    assert not loaded.complete_
    with pytest.raises(InvalidInput, match="has not finished"):
        fit(tmp_path)
    model.save(tmp_path / "copy")
    with pytest.raises(InvalidInput, match="before its run had finished"):
        tc.resume(tmp_path / "copy")
    assert bits(tc.resume(tmp_path)) == whole


def test_an_interrupt_before_the_first_draw_leaves_a_run(tmp_path, monkeypatch, whole):
    undo = stop_after(monkeypatch, 5, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        fit(tmp_path)
    undo()
    with pytest.raises(InvalidInput, match="has no draws yet"):
        tc.load(tmp_path)
    assert bits(tc.resume(tmp_path)) == whole


def kill(folder, n_kills, seed):
    command = [sys.executable, SCRIPT, "kill", folder, str(n_kills), str(seed)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    print(run.stdout)


def test_kill_9_at_random_moments(tmp_path):
    kill(tmp_path, 20, seed=0)


@pytest.mark.slow
def test_kill_9_two_hundred_times(tmp_path):
    kill(tmp_path, 200, seed=1)


@pytest.fixture
def long_run(tmp_path):
    """Yield a process that writes a run without end."""
    command = [sys.executable, SCRIPT, "fit", tmp_path / "run"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as run:
        run.stdout.readline()
        while not (tmp_path / "run" / "checkpoints").exists():
            time.sleep(0.01)
        yield run
        run.kill()


def test_two_processes_do_not_write_one_run(tmp_path, long_run):
    with pytest.raises(RunInUse, match=f"being written by process {long_run.pid} on "):
        tc.resume(tmp_path / "run")
    long_run.kill()
    long_run.wait()
    with locked(Folder(tmp_path / "run")):
        pass  # it died with its process


def test_a_full_disk_does_not_end_a_run(tmp_path, whole):
    """Writes fail for a while, then there is room again."""
    with pytest.warns(UserWarning, match="No space left.*tries again") as seen:
        with faulty(60, 75, how="full"):
            model = fit(tmp_path)
    assert len([w for w in seen if "No space" in str(w.message)]) == 1
    assert bits(model) == whole
    assert bits(tc.load(tmp_path)) == whole


def test_a_disk_that_stays_full_loses_nothing_in_memory(tmp_path, whole):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with faulty(150, how="full"):
            model = fit(tmp_path / "run")
    assert "tries again later" in str(seen[0].message)
    assert re.search("results are not on disk.*save", str(seen[-1].message))
    assert bits(model) == whole
    model.save(tmp_path / "elsewhere")
    assert bits(tc.load(tmp_path / "elsewhere")) == whole
    assert bits(tc.resume(tmp_path / "run")) == whole


def test_a_file_that_grows_too_large_leaves_the_old_one(tmp_path):
    path, folder = tmp_path / "file", Folder(tmp_path)
    folder.write("file", b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(CannotWrite, match=r"could not be written \(File too large\)"):
            folder.write("file", bytes(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"old"
    assert files(tmp_path) == [path]


def test_a_folder_that_may_not_be_written(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(CannotWrite, match="cannot be made"):
        fit(blocked / "run")


def test_a_lock_is_not_a_link(tmp_path):
    os.symlink(tmp_path / "elsewhere", tmp_path / "lock")
    with pytest.raises(CannotWrite, match="lock could"), locked(Folder(tmp_path)):
        pass
    assert not (tmp_path / "elsewhere").exists()
