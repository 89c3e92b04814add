"""A run is stopped, or the disk is full, at each and every file operation."""

import re
import shutil
import warnings

import pytest
from faults import Killed, faulty, watched
from small_run import bits, files, fit

import thincrm as tc
from thincrm.errors import CannotWrite
from thincrm.files import operations
from thincrm.files.run import NewRun
from thincrm.inference import run_log as journal
from thincrm.models.atom_tables import write_tables
from thincrm.report import write_report

TINY = {"n_sweeps": 3, "n_draws": 1, "n_chains": 1}
pytestmark = [
    pytest.mark.filterwarnings("ignore:All . topics"),
    pytest.mark.filterwarnings("ignore:.*No space left"),
]


@pytest.fixture(autouse=True)
def _checkpoint_after_every_sweep(monkeypatch):
    monkeypatch.setattr(journal, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(journal, "_LARGEST_SHARE", 1e9)


@pytest.fixture(scope="module")
def whole():
    return bits(fit(**TINY))


def begin(folder):
    return fit(NewRun(folder, {"reading.json": b"{}", "texts.jsonl.gz": b"texts"}), **TINY)


def go_on(folder):
    """Return what a run comes to that is resumed, or begun anew where it never began."""
    return tc.resume(folder) if (folder / "settings.json").exists() else begin(folder)


def check(folder, whole, place):
    """The same bits, nothing half-written, both checkpoints, and a source that is whole."""
    assert bits(go_on(folder)) == whole, place
    assert bits(tc.load(folder)) == whole, place
    assert not [path for path in files(folder) if path.name.startswith(".tmp")], place
    assert len(files(folder / "checkpoints")) == 4, place
    assert (folder / "source" / "texts.jsonl.gz").read_bytes() == b"texts", place


def killed_everywhere(tmp_path):
    """Yield what a kill leaves of a run: begin, checkpoints, draws, results, at each operation."""
    kept = tmp_path / "kept"
    with watched(tmp_path / "whole", kept) as system:
        begin(tmp_path / "whole")
    assert system.n_done > 100
    return sorted(kept.iterdir(), key=lambda path: int(path.name))


def test_a_kill_at_every_file_operation_of_a_run(tmp_path, whole):
    found = killed_everywhere(tmp_path)
    assert len(found) > 60
    for folder in found:
        check(folder, whole, f"state {folder.name}")


def test_kills_again_and_again(tmp_path, whole):
    """A run that dies every few operations still comes to its end."""
    for attempt in range(1000):
        try:
            with faulty(40 + attempt):
                go_on(tmp_path)
            break
        except Killed:
            continue
    assert attempt > 5
    check(tmp_path, whole, "in the end")


@pytest.mark.parametrize("lasting", [False, True], ids=["for a moment", "from then on"])
def test_a_full_disk_at_every_file_operation_of_a_run(tmp_path, whole, lasting):
    """The run ends before it begins, or has all its results in memory; then it is resumed."""
    with faulty(how="full") as system:
        begin(tmp_path / "whole")
    for n in range(1, system.n_done + 1):
        folder = tmp_path / str(n)
        try:
            with faulty(n, None if lasting else n, how="full"):
                assert bits(begin(folder)) == whole
        except CannotWrite:
            assert not (folder / "settings.json").exists()
        check(folder, whole, f"operation {n}")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fit(tmp_path_factory.mktemp("model") / "run", **TINY)


OUTPUTS = {
    "tables": lambda model, run, table: write_tables(
        {name: table for name in ("topics", "activation", "trace")}, run / "tables"
    ),
    "report": lambda model, run, table: write_report(model, run / "report.html"),
    "save": lambda model, run, table: model.save(run / "copy"),
}


@pytest.mark.parametrize("how", ["kill", "full"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_outputs_are_whole_or_not_there(tmp_path, model, whole, output, how):
    """Killed, or without space, at operation n, for all n: old files stay, new ones are whole."""
    model.save(tmp_path / "run")
    table = model.topics(2)
    write = OUTPUTS[output]
    clean = tmp_path / "clean"
    model.save(clean)
    with faulty(how=how) as system:
        write(model, clean, table)
    wanted = contents(clean)
    run = tmp_path / "run"
    n_felt = 0
    for n in range(1, system.n_done + 1):
        try:
            with faulty(n, how=how):
                write(model, run, table)
        except (Killed, CannotWrite):
            n_felt += 1
        found = contents(run)
        assert found.items() <= wanted.items(), f"operation {n}"
        if how == "full":
            assert not [path for path in files(run) if path.name.startswith(".tmp")]
        if output == "save":
            shutil.rmtree(run / "copy", ignore_errors=True)
    if output != "save":
        tc.resume(run)
        assert not [path for path in files(run) if path.name.startswith(".tmp")]
    write(model, run, table)
    assert contents(run) == wanted
    assert n_felt > 0.7 * system.n_done


def contents(run):
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in files(run)
        if path.name != "lock" and not path.name.startswith(".tmp-")
    }


def test_files_are_forced_to_disk_before_they_get_their_names(tmp_path, monkeypatch):
    """Of every file of a run: create, write, sync, rename, and a sync of the folder."""
    asked = []

    class Noting(operations.Operations):
        def __getattribute__(self, name):
            if name in ("create", "write", "sync", "rename"):
                asked.append(name)
            return super().__getattribute__(name)

    monkeypatch.setattr(operations, "current", Noting())
    begin(tmp_path / "run")
    monkeypatch.undo()
    steps = " ".join(asked[1:-1])  # the first and the last write are of the lock's
    one = "create write( write)* sync rename sync"
    assert re.fullmatch(f"{one}( {one})*", steps), steps
    n_files = len([path for path in files(tmp_path) if path.name != "lock"])
    assert asked.count("rename") > n_files


def test_the_faults_are_felt(tmp_path, whole):
    """The twin of these tests: a writer without rename leaves half a file at some operation."""
    from thincrm.files import folder

    def careless(name, data, handle):
        system = folder.now()
        if system.status(name, handle):
            system.unlink(name, handle)
        file = system.create(name, handle)
        try:
            for part in data() if callable(data) else [data]:
                system.write(file, memoryview(part))
        finally:
            system.close(file)

    careful, folder._write = folder._write, careless
    try:
        bad = 0
        for folder_left in killed_everywhere(tmp_path):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    check(folder_left, whole, folder_left.name)
                except Exception:
                    bad += 1
        assert bad > 5
    finally:
        folder._write = careful
