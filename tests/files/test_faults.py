"""A run is stopped, or the disk is full, at each and every file operation."""

import shutil
import warnings
from contextlib import suppress

import pytest
from faults import Killed, faulty, watched
from small_run import bits, files, fit

import thincrm as tc
from thincrm.errors import CannotWrite
from thincrm.files import Folder, operations
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
    """Of every file of a run: written, then forced; renamed; and after that its folder forced."""
    asked, fresh = [], {}

    class Noting(operations.Operations):
        def create(self, name, within, mode=0o666):
            fresh[name] = super().create(name, within, mode)
            asked.append(("create", fresh[name]))
            return fresh[name]

        def write(self, file, data):
            asked.append(("write", file))
            return super().write(file, data)

        def sync(self, handle):
            asked.append(("sync", handle))
            super().sync(handle)

        def rename(self, old, new, within):
            asked.append(("rename", fresh[old], within))
            super().rename(old, new, within)

    monkeypatch.setattr(operations, "current", Noting())
    begin(tmp_path / "run")
    monkeypatch.undo()
    n_named = 0
    for place, (what, file, *within) in enumerate(asked):
        if what != "rename":
            continue
        n_named += 1
        before = [step[0] for step in asked[:place] if step[1] == file]
        its_own = before[len(before) - before[::-1].index("create") :]  # numbers are used again
        assert its_own[-1] == "sync"
        assert set(its_own[:-1]) <= {"write"}
        assert ("sync", *within) in asked[place:]
    n_files = len([path for path in files(tmp_path) if path.name != "lock"])
    assert n_named > n_files


def test_many_files_are_written_together(tmp_path, monkeypatch):
    """Folders are forced to disk once a group; with threads and without the files are the same."""
    folder, found = Folder(tmp_path), {}
    for few in (1, 1000):
        monkeypatch.setattr("thincrm.files.folder._FEW", few)
        with folder.together():
            for n in range(100):
                folder.write(f"{n}", b"%d" % n)
            assert len(folder.names()) == 100
        found[few] = {name: (tmp_path / name).read_bytes() for name in folder.names()}
        for name in folder.names():
            folder.remove(name)
    assert found[1] == found[1000] == {f"{n}": b"%d" % n for n in range(100)}


@pytest.mark.parametrize("threads", [1, 1000])
def test_a_group_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch, threads):
    monkeypatch.setattr("thincrm.files.folder._FEW", threads)
    folder = Folder(tmp_path)
    folder.write("5", b"before")
    with faulty(how="full") as system:
        _write_ten(folder)
    for n in range(1, system.n_done + 1):
        for name in folder.names():
            folder.remove(name)
        folder.write("5", b"before")
        with suppress(CannotWrite), faulty(n, how="full"):
            _write_ten(folder)
        assert all(len(name) == 1 for name in folder.names()), n
        assert (tmp_path / "5").read_bytes() in (b"before", b"5"), n


def _write_ten(folder):
    with folder.together():
        for n in range(10):
            folder.write(f"{n}", b"%d" % n)


def test_the_faults_are_felt(tmp_path, whole, monkeypatch):
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

    monkeypatch.setattr(folder, "_fill", careless)
    monkeypatch.setattr(folder, "_name_all", lambda group, handle: None)
    bad = 0
    for folder_left in killed_everywhere(tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                check(folder_left, whole, folder_left.name)
            except Exception:
                bad += 1
    assert bad > 5
