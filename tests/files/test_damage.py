"""Files from a stranger, or from a dying disk: a sentence, and never more than that."""

import json
import os
import random
import shutil
import subprocess
import sys
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from hostile import ATTACKS, Battery
from scipy import sparse
from small_run import bits, files, fit

import thincrm as tc
from thincrm.errors import DamagedFile, InvalidInput, ThincrmError
from thincrm.files import record
from thincrm.files.folder import Folder
from thincrm.files.record import _checksum, read_record, write_record
from thincrm.inference import run_log

pytestmark = pytest.mark.filterwarnings("ignore:All .* topics")


@pytest.fixture(scope="module")
def battery(tmp_path_factory):
    return Battery(tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_attacks_end_in_a_sentence_or_a_model(battery, attack):
    outcomes = {battery.attack(attack, seed) for seed in range(300)}
    assert "refused" in outcomes <= {"refused", "read"}


@pytest.mark.parametrize("attack", ATTACKS[:2], ids=lambda attack: attack.__name__)
def test_no_accident_goes_unnoticed(battery, attack):
    """Checksums cover all there is, and the model has one draw: whatever changed, it is refused."""
    for seed in range(300):
        before = {path: path.read_bytes() for path in files(battery.bad) if path.name != "lock"}
        rng = random.Random(seed)
        attack(rng, rng.choice(list(before)))
        same = all(path.read_bytes() == data for path, data in before.items())
        try:
            battery.read()
            seen = False
        except ThincrmError:
            seen = True
        for path, data in before.items():
            path.write_bytes(data)
        assert seen or same, seed


@pytest.fixture
def folder(tmp_path, battery):
    return shutil.copytree(battery.good, tmp_path / "model")


def change(folder, name, **values):
    """Rewrite lines of a manifest, checksum and all."""
    path = folder / f"{name}.json"
    manifest = json.loads(path.read_text()) | values
    manifest.pop("checksum")
    path.write_text(json.dumps(manifest | {"checksum": _checksum(manifest)}))


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        (3, "written by a newer thincrm .*upgrade"),
        (10**300, "newer"),
        (0, "written by an older thincrm .*read it with thincrm 0.1.0"),
        (-1, "older"),
        ("1", "does not say which format"),
        (True, "does not say which format"),
    ],
)
def test_other_versions_say_what_to_do(folder, version, sentence):
    change(folder, "settings", format_version=version)
    with pytest.raises(DamagedFile, match=sentence):
        tc.load(folder)


@pytest.mark.parametrize("name", ["../data.safetensors", "/etc/passwd", "data.npz", 3, None])
def test_manifests_name_no_other_file(folder, name):
    arrays = json.loads((folder / "data.json").read_text())["arrays"]
    change(folder, "data", arrays=arrays | {"file": name})
    with pytest.raises(DamagedFile, match="declares arrays that cannot be"):
        tc.load(folder)


def test_records_of_another_run_or_kind_are_refused(folder, tmp_path):
    fit(n_sweeps=3, n_draws=1, n_chains=1, random_state=9).save(tmp_path / "other")
    for ending in (".json", ".safetensors"):
        shutil.copy(tmp_path / "other" / f"data{ending}", folder / f"data{ending}")
    with pytest.raises(DamagedFile, match="belongs to another run"):
        tc.load(folder)
    change(folder, "settings", kind="draw")
    with pytest.raises(DamagedFile, match="should be of kind 'settings'"):
        tc.load(folder)


@pytest.mark.filterwarnings("ignore:.*left out")
@pytest.mark.parametrize("what", ["link", "pipe", "folder", "linked folder"])
def test_only_plain_files_are_read(folder, what):
    path = folder / "data.safetensors"
    if what == "linked folder":
        (folder / "draws").rename(folder / "elsewhere")
        os.symlink("elsewhere", folder / "draws")
    else:
        path.rename(folder / "elsewhere")
        if what == "link":
            os.symlink("elsewhere", path)
        else:
            (os.mkfifo if what == "pipe" else os.mkdir)(path)
    with pytest.raises(InvalidInput, match=r"link|plain file|cannot be read|no draws"):
        tc.load(folder)


def test_huge_sizes_are_refused_before_anything_is_allocated(folder):
    arrays = json.loads((folder / "data.json").read_text())["arrays"]
    tracemalloc.start()
    for size, shape in ((2**61, [2**58]), (arrays["size"], [2**58]), (10**400, [10**400])):
        tensors = {name: ["float64", *shape] for name in arrays["tensors"]}
        change(folder, "data", arrays=arrays | {"size": size, "tensors": tensors})
        with pytest.raises(DamagedFile):
            tc.load(folder)
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()


def test_counts_that_stand_for_too_many_tokens_cost_nothing_to_read(folder):
    """A cell of 2^31 - 1 words takes eight bytes in the file, and 8 GB as tokens."""
    arrays = safetensors.numpy.load((folder / "data.safetensors").read_bytes())
    arrays["value.counts.data"][:] = 2**31 - 1
    content = json.loads((folder / "data.json").read_text())["content"]
    run = json.loads((folder / "data.json").read_text())["run"]
    write_record(Folder(folder), "data", "data", content, arrays, run, "0.1.0")
    with pytest.raises(InvalidInput, match="no draws"), pytest.warns(UserWarning, match="left out"):
        tc.load(folder)


@pytest.mark.parametrize(
    "text",
    [
        b"", b"[]", b"null", b"{", b'{"format": "thincrm"}', b"\xff\xfe", b"[" * 100_000,
        b'{"format": "thincrm", "format": "thincrm"}', b'{"format": NaN}', b'{"format": 1e999}',
        b'{"format_version": ' + b"9" * 5000 + b"}", b" " * 2**21,
    ],
)  # fmt: skip
def test_texts_that_are_no_manifest(folder, text):
    (folder / "settings.json").write_bytes(text)
    with pytest.raises(DamagedFile):
        tc.load(folder)


def test_reading_takes_no_more_than_twice_what_the_file_declares(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(0.5, (3000, 400)))
    words = [f"word number {i}" for i in range(400)]
    frame = pd.DataFrame(X.toarray(), columns=words)
    model = tc.TopicModel(max_topics=20, n_sweeps=3, n_draws=2, random_state=0, quiet=True)
    model.fit(frame, t=rng.integers(0, 50, 3000).astype(float)).save(tmp_path)
    size = sum(path.stat().st_size for path in files(tmp_path))
    tc.load(tmp_path)
    tracemalloc.start()
    tc.load(tmp_path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > 5e6
    assert most < 2 * size


def test_a_damaged_draw_is_left_out(tmp_path):
    model = fit(tmp_path)
    (tmp_path / "draws" / "0-00016.safetensors").write_bytes(b"junk")
    with pytest.warns(UserWarning, match="0-00016.safetensors has 4 bytes.*left out"):
        loaded = tc.load(tmp_path)
    assert len(loaded.draws_) == len(model.draws_) - 1


def test_a_damaged_draw_of_a_finished_run_is_made_again(tmp_path):
    model = fit(tmp_path)
    for name, how in (("0-00016.safetensors", "has 4 bytes"), ("0-00010.json", "was changed")):
        path = tmp_path / "draws" / name
        good = path.read_bytes()
        path.write_bytes(b"junk")
        with pytest.warns(UserWarning, match=f"{name} {how}") as seen:
            assert bits(tc.resume(tmp_path)) == bits(model)
        assert any("The run is made again from before it" in str(w.message) for w in seen)
        assert path.read_bytes() == good
        assert bits(tc.load(tmp_path)) == bits(model)


@pytest.mark.parametrize("named", [False, True])
def test_a_small_file_does_not_claim_many_words(folder, named):
    """As many words as the file says, without names, would take gigabytes to be told apart."""
    many = 10**8
    found = read_record(Folder(folder), "data", "data")
    found.content["of"]["counts"]["shape"][1] = found.content["of"]["vocabulary"] = many
    found.content["of"]["heldout"]["shape"][1] = many
    found.content["of"]["named"] = named
    write_record(Folder(folder), "data", "data", *found, "0.1.0")
    draw = read_record(Folder(folder / "draws"), "0-00003", "draw")
    draw.content["of"]["words"]["shape"][0] = many
    write_record(Folder(folder / "draws"), "0-00003", "draw", *draw, "0.1.0")
    tracemalloc.start()
    with pytest.raises(DamagedFile, match="the number of words cannot be"):
        tc.load(folder)
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()


@contextmanager
def taking_little():
    """Allow a few megabytes."""
    tracemalloc.start()
    yield
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8e6


def test_a_small_file_does_not_claim_many_draws(folder):
    many = 3 * 10**6
    settings = read_record(Folder(folder), "settings", "settings")
    params = settings.content["of"]["settings"]["of"]["params"]["of"]
    params |= {"n_sweeps": many, "n_draws": many}
    write_record(Folder(folder), "settings", "settings", *settings, "0.1.0")
    results = read_record(Folder(folder), "results", "results")
    results.content["of"]["length"]["of"] |= {"longest": many, "end": many}
    write_record(Folder(folder), "results", "results", *results, "0.1.0")
    with taking_little(), pytest.warns(UserWarning, match="no results"):
        with pytest.raises(InvalidInput, match="no draws"):
            tc.load(folder)


def test_draws_and_traces_are_of_the_chains_there_are(folder):
    """Whose number is an index: such a model could be read and not be saved again."""
    results = read_record(Folder(folder), "results", "results")
    results.arrays["value.trace.chain"][:] = 7
    write_record(Folder(folder), "results", "results", *results, "0.1.0")
    with pytest.warns(UserWarning, match="a trace of other chains"):
        with pytest.raises(InvalidInput, match="no draws"):
            tc.load(folder)


@pytest.mark.parametrize("number", [7, 3.0, True])
def test_a_draw_says_which_it_is(folder, number):
    draw = read_record(Folder(folder / "draws"), "0-00003", "draw")
    draw.content["of"]["sweep"] = number
    write_record(Folder(folder / "draws"), "0-00003", "draw", *draw, "0.1.0")
    with pytest.warns(UserWarning, match="0-00003 is no draw of that chain and sweep"):
        with pytest.raises(InvalidInput, match="no draws"):
            tc.load(folder)


def test_what_could_not_be_read_again_is_not_written(tmp_path):
    X = sparse.csr_array(([1, 2], ([0, 1], [0, 99_999])), shape=(2, 100_000))
    model = tc.TopicModel(max_topics=2, n_sweeps=2, n_draws=1, random_state=0, quiet=True)
    with pytest.raises(InvalidInput, match="100000 columns and words in only 2 cells"):
        model.fit(X, t=[0.0, 1.0], out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """Return a run stopped in its second chain, with two checkpoints."""
    monkeypatch.setattr(run_log, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(run_log, "_LARGEST_SHARE", 1e9)
    note, seen = run_log.RunLog.note, []

    def counting(self, *args):
        seen.append(0)
        if len(seen) == 34:
            raise KeyboardInterrupt
        note(self, *args)

    monkeypatch.setattr(run_log.RunLog, "note", counting)
    with pytest.warns(UserWarning, match="The run stopped"):
        fit(tmp_path)
    monkeypatch.undo()
    return tmp_path


@pytest.mark.parametrize("n_damaged", [1, 2])
def test_a_damaged_checkpoint_falls_back_to_the_one_before(stopped, n_damaged):
    last = sorted((stopped / "checkpoints").glob("*.safetensors"))[-n_damaged:]
    for path in last:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    with pytest.warns(UserWarning, match="checksum does not fit. Going back"):
        assert bits(tc.resume(stopped)) == bits(fit())


def test_warnings_are_printable_in_python_too(stopped, tmp_path):
    run = shutil.copytree(stopped, tmp_path / "run\x1b[2J\u202e")
    with pytest.warns(UserWarning, match="has not finished") as seen:
        tc.load(run)
    assert all(str(warning.message).isprintable() for warning in seen)


def test_a_damaged_draw_is_made_again(stopped):
    path = stopped / "draws" / "0-00010.json"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.warns(UserWarning, match="0-00010.json was changed or damaged"):
        assert bits(tc.resume(stopped)) == bits(fit())


def test_damaged_results_come_back_from_the_checkpoint(tmp_path):
    model = fit(tmp_path)
    path = tmp_path / "results.json"
    path.write_bytes(path.read_bytes()[:-10])
    for read in (tc.load, tc.resume):
        with pytest.warns(UserWarning, match="results.json was changed or damaged"):
            assert bits(read(tmp_path)) == bits(model)
    assert bits(tc.load(tmp_path)) == bits(model)


def test_results_without_a_trace_are_refused(folder):
    record = read_record(Folder(folder), "results", "results")
    record.content["of"]["trace"] = {"is": "dict", "of": {}}
    write_record(Folder(folder), "results", "results", *record, "0.1.0")
    with pytest.raises(DamagedFile, match="draws but no trace"):
        tc.load(folder)


def test_states_are_checked_before_a_run_goes_on(stopped):
    """A checkpoint whose checksums fit, but whose numbers would lead a compiled loop astray."""
    folder = stopped / "checkpoints"
    names = sorted(path.stem for path in folder.glob("*.json"))
    state = "value.chains.1.state"
    local, own = f"{state}.local.0", f"{state}.own"
    changes = [
        (f"{local}.topic", 0, 100), (f"{local}.topic", 0, -1), (f"{own}.theta", 0, np.nan),
        (f"{state}.x.width", 0, 99), (f"{state}.x.weights", 0, np.inf), (f"{own}.shape", 0, 0.0),
        (f"{state}.log_mass", 0, np.nan),
        (f"{state}.evidence.positive", 0, 10**6), (f"{own}.seats", 0, 100),
        (f"{state}.evidence.seats", -1, 100), (f"{state}.evidence.seats", -1, -1),
    ]  # fmt: skip
    for key, place, value in changes:
        before = {}
        for name in names:
            found = read_record(Folder(folder), name, "checkpoint")
            before[name] = found.arrays[key].reshape(-1)[place]
            found.arrays[key].reshape(-1)[place] = value
            write_record(Folder(folder), name, "checkpoint", *found, "0.1.0")
        with pytest.warns(UserWarning, match="cannot be. Going back") as seen:
            run_log.RunLog.reopen(*opened(stopped))
        assert len(seen) == 2
        for name in names:
            found = read_record(Folder(folder), name, "checkpoint")
            found.arrays[key].reshape(-1)[place] = before[name]
            write_record(Folder(folder), name, "checkpoint", *found, "0.1.0")


def opened(path):
    from thincrm.models.loading import _open

    model, folder = _open(path)
    return model._schedule(), folder, model._check_state, model._check_draw


def test_no_code_is_loaded(folder):
    """Reading a model imports nothing that can run what a file says."""
    code = (
        "import sys, builtins, thincrm as tc; tc.load(sys.argv[1]);"
        "import pickle; pickle.Unpickler = pickle.loads = pickle.load = None;"
        "builtins.eval = builtins.exec = None; tc.load(sys.argv[1])"
    )
    subprocess.run([sys.executable, "-c", code, folder], check=True)


def test_what_files_cannot_hold_is_said(tmp_path, monkeypatch):
    with pytest.raises(InvalidInput, match="x cannot be kept in a file: it is an array of comp"):
        write_record(Folder(tmp_path), "a", "draw", None, {"x": np.ones(3, complex)}, "", "")
    monkeypatch.setattr(record, "_MOST_TEXT", 10)
    for arrays in ({}, {"x": np.ones(3)}):
        with pytest.raises(InvalidInput):
            write_record(Folder(tmp_path), "a", "draw", None, arrays, "", "")
    assert not files(tmp_path) or Folder(tmp_path).read(files(tmp_path)[0].name, 1000)
