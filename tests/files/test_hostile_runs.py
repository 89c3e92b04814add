"""Runs of a stranger that have not ended: length and checkpoints, and going on from them."""

import os
import shutil
import signal
import tracemalloc

import numpy as np
import pytest
from hostile import ATTACKS, RunBattery

import thincrm as tc
from thincrm.errors import DamagedFile
from thincrm.files.folder import Folder
from thincrm.files.record import read_record, write_record
from thincrm.inference import run_log
from thincrm.inference.schedule import Schedule
from thincrm.models.loading import _open

pytestmark = pytest.mark.filterwarnings("ignore:All .* (topics|features|clusters)")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return RunBattery(tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_attacks_on_a_run_that_goes_on(runs, attack):
    """Length and checkpoints too, and one more sweep from whatever was read."""
    outcomes = {runs.attack(attack, seed) for seed in range(60)}
    assert "read" in outcomes <= {"refused", "read"}


@pytest.mark.parametrize(
    "family",
    ["features", "clusters", "processes"]
    + [pytest.param(name, marks=pytest.mark.slow) for name in ("levels", "mixed", "censored")],
)
def test_attacks_on_runs_of_other_models(tmp_path, family):
    """Each kind of damage, and one more sweep from whatever was read."""
    other = RunBattery(tmp_path, family)
    for attack in ATTACKS:
        outcomes = {other.attack(attack, seed) for seed in range(25)}
        assert "read" in outcomes <= {"refused", "read"}, attack.__name__


def test_a_move_along_curves_that_cannot_be_comes_to_an_end(runs, tmp_path):
    """Where numbers are so large that nothing beside them counts, a slice was shrunk for ever."""
    run = shutil.copytree(runs.good, tmp_path / "run")
    found = read_record(Folder(run), "data", "data")
    found.arrays["value.prepared.basis_MTJ"][2, 8, 3] = -4.6e18
    write_record(Folder(run), "data", "data", *found, "0.1.0")
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a compiled loop hears nothing else
        tc.resume(run, n_sweeps=7)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture(scope="module")
def mixed_runs(tmp_path_factory):
    return RunBattery(tmp_path_factory.mktemp("mixed"), "mixed")


def test_categories_are_the_indices_they_were(mixed_runs, tmp_path):
    """Another scale of their column made them indices beyond all that is there: a crash."""
    run = shutil.copytree(mixed_runs.good, tmp_path / "run")
    found = read_record(Folder(run), "data", "data")
    found.arrays["value.scale.level_P"][2] = -128.0
    write_record(Folder(run), "data", "data", *found, "0.1.0")
    with pytest.raises(DamagedFile, match="the scale cannot be"):
        tc.load(run)


def test_numbers_that_do_not_go_together_are_a_sentence(runs, tmp_path):
    run = shutil.copytree(runs.good, tmp_path / "run")
    folder = Folder(run / "checkpoints")
    for name in {path.stem for path in folder.path.iterdir()}:
        found = read_record(folder, name, "checkpoint")
        (chain,) = found.content["of"]["chains"]
        chain["of"]["state"]["of"]["own"]["of"]["burstiness"] = 0
        write_record(folder, name, "checkpoint", *found, "0.1.0")
    with pytest.raises(DamagedFile, match="do not go together"):
        tc.resume(run, n_sweeps=7)


def test_a_small_file_does_not_claim_many_chains():
    places = [run_log.ChainState(0, 1, "somewhere")]
    trace = {"chain": np.array([10**6]), "sweep": np.array([1])}
    tracemalloc.start()
    with pytest.raises(DamagedFile, match="where the run stood"):
        run_log.read_checkpoint({"chains": places, "trace": trace}, Schedule(3, 1, 1, 0))
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()


def test_states_have_the_types_that_loops_are_compiled_for(runs, tmp_path):
    """Any other would be compiled for, which takes a minute each."""
    run = shutil.copytree(runs.good, tmp_path / "run")
    folder, key = Folder(run / "checkpoints"), "value.chains.0.state.local.0.topic"
    names = {path.stem for path in folder.path.iterdir()}
    for name in names:
        found = read_record(folder, name, "checkpoint")
        found.arrays[key] = found.arrays[key].astype(np.int64)
        write_record(folder, name, "checkpoint", *found, "0.1.0")
    model, files = _open(run)
    model._read_length(files)
    with pytest.warns(UserWarning, match="cannot be. Going back") as seen:
        run_log.RunLog.reopen(model._schedule(), files, model._check_state, model._check_draw)
    assert len(seen) == len(names) == 2


@pytest.mark.parametrize("part", ["labels", "words.data", "words.indices", "documents.indptr"])
def test_draws_have_the_types_that_loops_are_compiled_for(runs, tmp_path, part):
    run = shutil.copytree(runs.good, tmp_path / "run")
    folder = Folder(run / "draws")
    name = min(path.stem for path in folder.path.iterdir())
    chain, sweep = map(int, name.split("-"))
    model, files = _open(run)
    model._read_length(files)
    model._check_draw(files.read_draw(chain, sweep))
    found = read_record(folder, name, "draw")
    found.arrays[f"value.{part}"] = found.arrays[f"value.{part}"].astype(np.int8)
    write_record(folder, name, "draw", *found, "0.1.0")
    with pytest.raises(DamagedFile):
        model._check_draw(files.read_draw(chain, sweep))
