"""Long work says a word; short and quiet work does not."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import thincrm as tc
from thincrm.data.covariates import covariates
from thincrm.data.notes import note_long_document, note_many_values, note_wide_table
from thincrm.inference import progress
from thincrm.inference.engine import Serial
from thincrm.numerics import waiting


class Said(threading.Event):
    """A stream that tells when something was written to it."""

    def __init__(self):
        super().__init__()
        self.text, self.is_terminal = "", False

    def isatty(self):
        return self.is_terminal

    def write(self, text):
        self.text += text
        self.set()

    def flush(self):
        pass


@pytest.fixture
def said(monkeypatch):
    stream = Said()
    monkeypatch.setattr(waiting, "sys", SimpleNamespace(stderr=stream))
    return stream


def test_what_takes_long_is_told_while_it_does(said, monkeypatch):
    monkeypatch.setattr(waiting, "_FIRST", 0.001)
    with waiting.telling("reading a.csv"):
        assert said.wait(60)
    assert said.text == "thincrm: reading a.csv, 0 s so far ...\n"


def test_every_stage_that_takes_long_is_told(said, monkeypatch):
    """Also the one that began just after a line about the stage before it."""
    monkeypatch.setattr(waiting, "_FIRST", 0.001)
    monkeypatch.setattr(waiting, "_THEN", 1000.0)
    with waiting.telling("reading a.csv"):
        for stage in ("choosing words", "guessing first topics"):
            assert said.wait(20)
            said.clear()
            waiting.now(stage)
        assert said.wait(20)
    told = [line.split(", ")[0].removeprefix("thincrm: ") for line in said.text.splitlines()]
    assert told == ["reading a.csv", "choosing words", "guessing first topics"]


def test_work_in_the_midst_of_other_work_is_a_stage_of_it(said, monkeypatch):
    """One voice at a time: two would write into each other's line."""
    n_before = threading.active_count()
    monkeypatch.setattr(waiting, "_FIRST", 0.001)
    monkeypatch.setattr(waiting, "_THEN", 1000.0)
    with waiting.telling("opening run"):
        assert said.wait(20)
        said.clear()
        with waiting.telling("reading a.csv"):
            assert said.wait(20)
            assert threading.active_count() == n_before + 1
            said.clear()
        assert said.wait(20)
    told = [line.split(", ")[0].removeprefix("thincrm: ") for line in said.text.splitlines()]
    assert told == ["opening run", "reading a.csv", "opening run"]


def test_a_terminal_has_one_line_that_moves_and_goes(said, monkeypatch):
    monkeypatch.setattr(waiting, "_FIRST", 0.001)
    monkeypatch.setattr(waiting, "_MOVES", 0.001)
    monkeypatch.setenv("COLUMNS", "50")
    said.is_terminal = True
    with waiting.telling("reading a.csv"):
        for _ in range(3):
            assert said.wait(60)
            said.clear()
    line, *others = said.text.split("\r")
    assert line == f"{'thincrm: reading a.csv, 0 s so far ...':49}"
    assert others[-3:] == [line, " " * 49, ""]


def test_the_time_left_is_told_where_it_is_known(said, monkeypatch):
    ticking = SimpleNamespace(monotonic=lambda: ticking.at, at=100.0)
    monkeypatch.setattr(waiting, "time", ticking)
    stage = waiting._Stage("reading", 100.0)
    token = waiting._stage.set(stage)
    try:
        waiting.now("counting words", lambda: 0.25)
        ticking.at = 130.0
        assert stage.line() == "thincrm: counting words, 25 %, 1:30 min left ..."
        waiting.now("reading a\x1b.csv")
        assert stage.line() == "thincrm: reading a\\x1b.csv, 0 s so far ..."
        waiting.now("choosing words")
        assert stage.line() == "thincrm: choosing words, 0 s so far ..."
    finally:
        waiting._stage.reset(token)
    waiting.now("what nobody tells of")


def test_a_first_sweep_that_takes_long_is_told(said, monkeypatch):
    monkeypatch.setattr(waiting, "_FIRST", 0.001)
    with progress.Sweeps(3):
        assert said.wait(60)
    assert "before the first sweep ends" in said.text


def test_short_and_quiet_work_say_nothing(said, monkeypatch):
    with waiting.telling("reading a.csv"):
        pass
    monkeypatch.setattr(waiting, "_FIRST", 0.001)
    with waiting.telling("reading a.csv", quiet=True), progress.Sweeps(3, quiet=True):
        assert not said.wait(0.1)
    assert said.text == ""


def test_size_is_noted_before_the_work_begins():
    counts = sparse.csr_array(np.array([[1, 2], [10**7, 1]]))
    with pytest.warns(UserWarning, match="Document 1 has 10,000,001 words, so a sweep takes long"):
        note_long_document(np.asarray(counts.sum(axis=1)))
    with pytest.warns(UserWarning, match="t has 100,001 distinct values, so a sweep takes long"):
        note_many_values(covariates(np.arange(100_001)))
    with pytest.warns(UserWarning, match="The table has 5,000 columns, so the start and every"):
        tc.FeatureModel()._values(np.zeros((20, 5_000)), reset=True)
    note_long_document(np.array([5, 10**6]))
    note_wide_table(2_000)
    note_many_values(covariates(np.arange(10)))


def test_a_pass_over_shards_tells_how_much_of_it_is_done(said, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    lines = []

    def work(shard, own, message):
        clock[0] += 10.0
        lines.append(waiting._stage.get().line())
        return own, None

    with waiting.telling("starting"):
        waiting.now("handing out")
        for _ in range(2):  # a second pass begins anew
            Serial().map(work, "abcd", (1, 2, 3, 4), None)
        waiting.now("curves")
        lines.append(waiting._stage.get().line())
    left = ["10 s so far", "25 %, 1:00 min left", "50 %, 0:30 min left", "75 %, 0:13 min left"]
    again = ["50 s so far", *left[1:]]
    assert lines == [f"thincrm: handing out, {end} ..." for end in (*left, *again)] + [
        "thincrm: curves, 0 s so far ..."
    ]
