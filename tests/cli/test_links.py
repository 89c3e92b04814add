"""A stranger's run with links in it: nothing outside of it is written, removed or read."""

import os
import shutil
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import app
from thincrm.console.run_source import kept_reading, kept_texts
from thincrm.errors import DamagedFile, InvalidInput
from thincrm.inference.progress import Sweeps
from thincrm.report import write_report

SMALL = ("--chains", 1, "--sweeps", 9, "--draws", 3, "--max-topics", 5)
SECRET = "a private file"
pytestmark = pytest.mark.filterwarnings("default")  # notes on standard error are welcome


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with a corpus, and a run of it that was stopped after its first draws."""
    where = tmp_path_factory.mktemp("links")
    rng = np.random.default_rng(0)
    rows = [f"{1800 + i},{' '.join(rng.choice(['war', 'peace', 'tax'], 9))}" for i in range(20)]
    (where / "ok.csv").write_text("\n".join(["date,body", *rows]) + "\n", "utf-8")
    fit = ("topics", where / "ok.csv", "--text", "body", "--date", "date", "--out", where / "run")
    step = Sweeps.step

    def interrupted(bar, note):
        step(bar, note)
        if bar.done == 7:
            raise KeyboardInterrupt

    Sweeps.step = interrupted
    try:
        assert call(*fit, *SMALL, "--quiet").exit_code == 130
    finally:
        Sweeps.step = step
    for command in COMMANDS:
        if command != "resume":
            assert run(command, where / "run", where).exit_code == 0, command
    return where


COMMANDS = {
    "report": (),
    "infer": ("CORPUS",),
    "date": ("CORPUS", "--text", "body"),
    "export": ("--to", "csv"),
    "resume": ("--quiet",),
}
OUTPUTS = (
    "tables/topics.csv", "tables/trace.csv", "report.html", "infer.csv", "date.csv", "lock",
    ".tmp-0123456789abcdef",
)  # fmt: skip
RECORDS = (
    "settings.json", "data.json", "data.safetensors", "results.json", "results.safetensors",
    "draws/0-00005.json", "draws/0-00005.safetensors", "draws/0-00009.json",
    "checkpoints/00000001.json", "checkpoints/00000009.json", "checkpoints/00000002.safetensors",
    "source/reading.json", "source/texts.jsonl.gz",
    "tables", "draws", "checkpoints", "source",
)  # fmt: skip


def run(command, folder, where):
    more = [where / "ok.csv" if part == "CORPUS" else part for part in COMMANDS[command]]
    return call(command, folder, *more)


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("name", "target"),
    [
        *((name, "secret") for name in OUTPUTS),
        *((name, "same") for name in RECORDS),
        *(pytest.param(name, "same", marks=pytest.mark.slow) for name in OUTPUTS),
        *(pytest.param(name, "secret", marks=pytest.mark.slow) for name in RECORDS),
    ],
)
def test_no_command_follows_a_link(place, tmp_path, name, target):
    """same: what the link leads to would be taken for the run's own; secret: it would not."""
    folder, outside = tmp_path / "run", tmp_path / "outside"
    shutil.copytree(place / "run", folder)
    link = folder / name
    outside.mkdir()
    away = outside / "away"
    if link.is_dir():
        shutil.move(link, away)
    elif link.exists() and target == "same":
        link.rename(away)
    else:
        away.write_text(SECRET)
        link.unlink(missing_ok=True)
    link.symlink_to(away)
    before = contents(outside)
    for command in COMMANDS:
        done = run(command, folder, place)
        assert isinstance(done.exception, SystemExit | None), (command, done.exception)
        assert done.exit_code in (0, 1, 2), (command, done.output)
        assert contents(outside) == before, command
        assert SECRET not in done.output


@pytest.mark.parametrize("name", ["tables", "draws", "checkpoints", "source"])
def test_linked_folders_are_refused_before_the_lock_is_taken(place, tmp_path, name):
    folder = tmp_path / "run"
    shutil.copytree(place / "run", folder)
    shutil.move(folder / name, tmp_path / "outside")
    (folder / name).symlink_to(tmp_path / "outside")
    (folder / "lock").unlink()
    done = run("resume", folder, place)
    assert done.exit_code == 2
    assert f"{name} is a link: a run keeps its files in its own folder." in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (folder / "lock").exists()


@pytest.mark.parametrize("name", ["reading.json", "texts.jsonl.gz"])
@pytest.mark.parametrize("what", ["pipe", "zero", "folder", "link"])
def test_the_source_is_read_from_plain_files_only(place, tmp_path, name, what):
    folder = tmp_path / "run"
    shutil.copytree(place / "run", folder)
    path = folder / "source" / name
    path.rename(tmp_path / "away")
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if what == "zero" else tmp_path / "away")
    if name == "reading.json":
        assert kept_reading(folder) == {}
        return
    with pytest.warns(UserWarning, match="damaged, so there are no quotations"):
        assert kept_texts(folder, 20) is None
    assert run("report", folder, place).exit_code == 0
    assert "war peace" not in (folder / "report.html").read_text("utf-8")


def test_packed_texts_that_grow_without_end_are_left(tmp_path):
    import gzip

    source = tmp_path / "source"
    source.mkdir()
    line = b'{"name": "a", "text": "' + b" " * 2**20 + b'"}\n'
    (source / "texts.jsonl.gz").write_bytes(gzip.compress(line * 200))
    with pytest.warns(UserWarning, match="no quotations"):
        assert kept_texts(tmp_path, 200) is None
    (source / "texts.jsonl.gz").write_bytes(gzip.compress(line * 20))
    assert len(kept_texts(tmp_path, 20)) == 20


def test_python_follows_no_link_in_a_run_either(place, tmp_path):
    folder, outside = tmp_path / "run", tmp_path / "outside"
    shutil.copytree(place / "run", folder)
    outside.mkdir()
    (outside / "mine").write_text(SECRET)
    shutil.rmtree(folder / "tables")
    (folder / "tables").symlink_to(outside)
    (folder / "page.html").symlink_to(outside / "mine")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = tc.load(folder)
    with pytest.raises((DamagedFile, InvalidInput, OSError), match="is a link"):
        model.to_csv(folder / "tables")
    write_report(model, folder / "page.html")
    assert not (folder / "page.html").is_symlink()
    assert [path.name for path in outside.iterdir()] == ["mine"]
    assert (outside / "mine").read_text() == SECRET


def test_what_the_user_names_is_replaced_whole(place, tmp_path):
    """Outside of a run: a link is replaced, what it led to stays; a device is refused."""
    (tmp_path / "mine").write_text(SECRET)
    (tmp_path / "page.html").symlink_to(tmp_path / "mine")
    (tmp_path / "private.html").write_text("")
    (tmp_path / "private.html").chmod(0o600)
    for name in ("page.html", "private.html"):
        done = call("report", place / "run", "--out", tmp_path / name)
        assert done.exit_code == 0, done.output
        assert (tmp_path / name).read_text("utf-8").startswith("<!")
    assert (tmp_path / "mine").read_text() == SECRET
    assert (tmp_path / "private.html").stat().st_mode & 0o777 == 0o600
    (tmp_path / "null").symlink_to("/dev/null")
    done = call("report", place / "run", "--out", tmp_path / "null")
    assert done.exit_code == 2
    assert "not a plain file" in done.stderr
    assert (tmp_path / "null").is_symlink()


def test_a_run_may_be_named_by_a_link_of_ones_own(place, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "disk")
    fit = ("topics", place / "ok.csv", "--text", "body", "--date", "date", *SMALL)
    done = call(*fit, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    for command in COMMANDS:
        done = run(command, tmp_path / "run", place)
        assert done.exit_code == 0, done.output
    assert (tmp_path / "disk" / "report.html").exists()
