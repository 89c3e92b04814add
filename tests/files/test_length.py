"""Runs that are made longer or shorter: the end changes, never what happens before it."""

import time

import numpy as np
import pytest
from faults import Killed
from small_run import SETTINGS, bits, corpus, files, fit

import thincrm as tc
from thincrm.errors import InvalidInput
from thincrm.inference import driver, run_log
from thincrm.inference.diagnostics import Verdict
from thincrm.inference.progress import Sweeps
from thincrm.models import base
from thincrm.models.loading import _open

pytestmark = pytest.mark.filterwarnings("ignore:All . topics")


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    """Return a run of 18 sweeps that was made one of 40 after its end, and its folder."""
    run = tmp_path_factory.mktemp("longer") / "run"
    fit(run)
    return tc.resume(run, n_sweeps=40), run


def sweeps(model, chain=0):
    return [draw.sweep for draw in model.draws_ if draw.chain == chain]


def killed_after(monkeypatch, n_sweeps):
    """Kill the run in the note of its sweep number `n_sweeps` from now."""
    note, seen = run_log.RunLog.note, []
    monkeypatch.setattr(run_log, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(run_log, "_LARGEST_SHARE", 1e9)

    def counting(self, *args):
        note(self, *args)
        seen.append(0)
        if len(seen) == n_sweeps:
            raise Killed

    monkeypatch.setattr(run_log.RunLog, "note", counting)
    return lambda: monkeypatch.setattr(run_log.RunLog, "note", note)


def test_a_longer_run_has_the_sweeps_it_had_and_more(longer):
    model, run = longer
    assert sweeps(model) == sweeps(model, 1) == [14, 18, 22, 26, 30, 34, 38]
    assert model.n_sweeps_ == 40
    assert model.complete_
    short = fit()
    shared = [draw for draw in bits(short)[0] if draw[0]["of"]["sweep"] in (14, 18)]
    assert [draw for draw in bits(model)[0] if draw[0]["of"]["sweep"] in (14, 18)] == shared
    first = model.trace_.xs(0)
    np.testing.assert_array_equal(first.iloc[:18], short.trace_.xs(0))
    kept = {path.stem for path in files(run / "draws")}
    assert kept == {f"{chain}-{sweep:05d}" for chain in (0, 1) for sweep in sweeps(model)}


def test_a_longer_run_is_read_saved_and_resumed_as_it_is(longer, tmp_path):
    model, run = longer
    assert bits(tc.load(run)) == bits(tc.resume(run)) == bits(model)
    model.save(tmp_path / "saved")
    assert bits(tc.load(tmp_path / "saved")) == bits(model)
    assert bits(tc.resume(tmp_path / "saved", n_sweeps=40)) == bits(model)


@pytest.mark.parametrize("when", [5, 44])
def test_it_does_not_matter_when_a_run_is_made_longer(longer, tmp_path, monkeypatch, when):
    undo = killed_after(monkeypatch, when)
    with pytest.raises(Killed):  # noqa: PT012 - in the one or in the other
        fit(tmp_path / "run")
        tc.resume(tmp_path / "run", n_sweeps=40)
    undo()
    assert bits(tc.resume(tmp_path / "run", n_sweeps=40)) == bits(longer[0])


def test_a_shorter_run_ends_there_and_may_be_made_longer_again(longer):
    model, run = longer
    for end in (18, 25):
        shorter = tc.resume(run, n_sweeps=end)
        assert sweeps(shorter) == [sweep for sweep in sweeps(model) if sweep <= end]
        assert shorter.n_sweeps_ == end
        assert bits(tc.load(run)) == bits(shorter)
    assert bits(tc.resume(run, n_sweeps=40)) == bits(model)


def test_a_stopped_run_may_be_cut_short(tmp_path, monkeypatch):
    undo = killed_after(monkeypatch, 25)  # in the second chain
    with pytest.raises(Killed):
        fit(tmp_path / "run")
    undo()
    shorter = tc.resume(tmp_path / "run", n_sweeps=13)
    assert sweeps(shorter) == sweeps(shorter, 1) == [10, 12]
    with pytest.raises(InvalidInput, match="n_sweeps must be at least 10"):
        tc.resume(tmp_path / "run", n_sweeps=9)
    assert bits(tc.resume(tmp_path / "run", n_sweeps=18)) == bits(fit())


def clock(monkeypatch, n_sweeps):
    """Let every sweep, wherever it runs, take a second by the clock."""
    seen = [0.0]

    def noted(self, *args):
        seen[0] += 1.0
        return note(self, *args)

    note = run_log.RunLog.note
    monkeypatch.setattr(run_log.RunLog, "note", noted)
    monkeypatch.setattr(time, "monotonic", lambda: seen[0])
    return n_sweeps / 60.0


def test_time_ends_a_run_and_the_bits_are_those_of_its_length(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        minutes = clock(patch, 30.0)
        X, t = corpus()
        model = tc.TopicModel(**SETTINGS).fit(X, t=t, out=tmp_path / "run", minutes=minutes)
    assert model.complete_
    assert model.n_sweeps_ == 14
    assert bits(tc.load(tmp_path / "run")) == bits(model)
    fit(tmp_path / "other")
    assert bits(tc.resume(tmp_path / "other", n_sweeps=14)) == bits(model)


def test_a_run_that_has_ended_goes_on_for_so_long(longer, tmp_path, monkeypatch):
    fit(tmp_path / "run")
    with monkeypatch.context() as patch:
        model = tc.resume(tmp_path / "run", minutes=clock(patch, 60.0))
    assert 18 < model.n_sweeps_ < 60
    end = model.n_sweeps_
    fit(tmp_path / "other")
    for length in (27, 41, 62, end):
        same = tc.resume(tmp_path / "other", n_sweeps=length)
    assert bits(same) == bits(model)


def settled_after(monkeypatch, end):
    """Let the verdict be a yes once the run has so many sweeps."""
    monkeypatch.setattr(base, "_FIRST_SWEEPS", 18)

    def unsettled(self, log):
        return "no" if log.schedule.end < end else None

    monkeypatch.setattr(base.Model, "_unsettled", unsettled)


def test_an_auto_run_is_the_run_of_the_length_it_finds(tmp_path, monkeypatch):
    settled_after(monkeypatch, 40)
    model = fit(tmp_path / "run", n_sweeps="auto")
    assert model.n_sweeps_ == 41
    assert bits(model) == bits(fit(n_sweeps="auto"))
    assert bits(tc.load(tmp_path / "run")) == bits(tc.resume(tmp_path / "run")) == bits(model)
    fit(tmp_path / "other")
    assert bits(tc.resume(tmp_path / "other", n_sweeps=41)) == bits(model)
    fit(tmp_path / "third")
    assert bits(tc.resume(tmp_path / "third", n_sweeps="auto")) == bits(model)


@pytest.mark.parametrize("when", [12, 60])
def test_an_auto_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch, when):
    settled_after(monkeypatch, 40)
    undo = killed_after(monkeypatch, when)
    with pytest.raises(Killed):
        fit(tmp_path / "run", n_sweeps="auto")
    undo()
    assert bits(tc.resume(tmp_path / "run")) == bits(fit(n_sweeps="auto"))


def test_chains_side_by_side_go_on_and_end_as_one_after_another(tmp_path, monkeypatch):
    """An hour is enough for all of an auto run, no time at all for the first draws."""
    settled_after(monkeypatch, 20)
    alone = bits(fit(n_sweeps="auto"))
    monkeypatch.setattr(driver, "_WORTH_SECONDS", 0.0)
    model = tc.TopicModel(**SETTINGS | {"n_sweeps": "auto", "n_threads": 2})
    X, t = corpus()
    assert bits(model.fit(X, t=t, minutes=60.0)) == alone
    ended = model.fit(X, t=t, minutes=1e-9, out=tmp_path / "run")
    assert ended.n_sweeps_ == 10
    assert sweeps(ended) == sweeps(ended, 1) == [10]
    assert bits(tc.resume(tmp_path / "run", n_sweeps="auto")) == alone


def test_the_verdict_ends_an_auto_run(monkeypatch):
    """Two verdicts say no, one of them with an estimate; the third is enough, though not a yes."""
    verdicts = [Verdict("few"), Verdict("no", rhat=1.3, worth=40), Verdict("one", enough=True)]
    notes = []
    monkeypatch.setattr(base, "_FIRST_SWEEPS", 6)
    monkeypatch.setattr(tc.TopicModel, "verdict", lambda self: verdicts.pop(0))
    monkeypatch.setattr(Sweeps, "step", lambda self, note: notes.append(note))
    model = fit(n_sweeps="auto", n_chains=1)
    assert model.n_sweeps_ == 14
    assert not verdicts
    assert [len(notes), *(note.partition(", ")[2] for note in (notes[0], notes[6], notes[-1]))] == [
        14, "", "too few draws to judge", "R-hat 1.30 so far, some 22 sweeps of each chain needed",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        (
            Verdict("no", rhat=3.3, worth=0.139),
            "R-hat 3.30 so far, some 4,300 sweeps of each chain",
        ),
        (Verdict("no", rhat=3.3, worth=5.0, missing="topics hold 57%"), "topics hold 57%"),
    ],
)
def test_what_a_yes_waits_for_is_told_in_plain_numbers(verdict, told, monkeypatch):
    verdicts, notes = [verdict, Verdict("one", enough=True)], []
    monkeypatch.setattr(base, "_FIRST_SWEEPS", 6)
    monkeypatch.setattr(tc.TopicModel, "verdict", lambda self: verdicts.pop(0))
    monkeypatch.setattr(Sweeps, "step", lambda self, note: notes.append(note))
    fit(n_sweeps="auto", n_chains=1)
    assert told in notes[-1]


def test_a_length_from_a_stranger_is_checked(tmp_path):
    fit(tmp_path)
    for length in (
        {"longest": 0, "end": 0, "auto": False}, {"longest": 40, "end": 41, "auto": False},
        {"longest": 40, "end": 3, "auto": False}, {"longest": 40, "end": 40, "auto": 1}, {}, 3,
        {"longest": 2**40, "end": 40, "auto": False},
    ):  # fmt: skip
        _, folder = _open(tmp_path)
        folder.write_length(length)
        with pytest.raises(InvalidInput, match=r"length|cannot be"):
            tc.load(tmp_path)


def test_what_is_no_length_is_refused(longer):
    with pytest.raises(InvalidInput, match="minutes must be a finite number above 0"):
        tc.resume(longer[1], minutes=-1.0)
    with pytest.raises(InvalidInput, match="n_sweeps must be a whole number"):
        tc.resume(longer[1], n_sweeps=20.5)
    assert bits(tc.resume(longer[1])) == bits(longer[0])
