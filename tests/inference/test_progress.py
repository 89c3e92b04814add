"""Progress that is redirected to a file grows as the work does."""

import sys
import time

import pytest

from thincrm.inference import driver, progress


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    ticking = Clock()
    monkeypatch.setattr(progress, "time", ticking)
    return ticking


def sweep(clock, seconds, said, **settings):
    """Return how many lines were there after each of 100 sweeps."""
    lines = []
    with progress.Sweeps(100, **settings) as bar:
        for _ in range(100):
            clock.now += seconds
            bar.step("7 [red]topics")
            lines.append(said().count("\n"))
    return lines


def test_redirected_progress_is_a_line_every_half_minute(clock, capsys):
    written = ""

    def said():
        nonlocal written
        written += capsys.readouterr().err
        return written

    lines = sweep(clock, 3.0, said)
    assert lines[:11] == [1] * 10 + [2]  # at once, then after thirty seconds
    assert lines[-1] == 10
    said()
    first, *_, last = written.splitlines()
    assert first == "sampling: 1 of 100 sweeps, 0.3 sweeps/s, 7 [red]topics"
    assert last.startswith("sampling: 100 of 100 sweeps, 0:00 min left")
    assert "\x1b" not in written


def test_the_time_left_is_that_of_sweeps_and_not_of_the_start(clock, capsys):
    with progress.Sweeps(101) as bar:
        clock.now += 1000.0
        for _ in range(101):
            bar.step("7 topics")
            clock.now += 3.0
    second = capsys.readouterr().err.splitlines()[1]
    assert second.startswith("sampling: 11 of 101 sweeps, 4:30 min left")


def test_there_may_be_more_than_was_thought(clock, capsys):
    with progress.Sweeps(1) as bar:
        for more in (3, 0, 0, 0):
            clock.now += 30.0
            bar.step("7 topics")
            bar.more(more)
    lines = [line.partition(", 0.0")[0] for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "sampling: 1 of 1 sweeps", "sampling: 2 of 4 sweeps, 1:00 min left",
        "sampling: 3 of 4 sweeps, 0:30 min left", "sampling: 4 of 4 sweeps, 0:00 min left",
    ]  # fmt: skip


def test_a_limit_says_how_much_time_there_is():
    soon, never = driver.Limit(time.monotonic() + 90.2), driver.Limit()
    assert soon.said == ", 1:30 min at most"
    assert never.said == ""


def test_short_and_quiet_work_say_nothing(clock, capsys):
    sweep(clock, 0.01, lambda: "")
    sweep(clock, 3.0, lambda: "", quiet=True)
    assert capsys.readouterr().err == ""


def test_a_terminal_has_a_bar_that_takes_nothing_for_markup(clock, capsys, monkeypatch):
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda _: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    sweep(clock, 3.0, lambda: "")
    said = capsys.readouterr().err
    assert "7 [red]topics" in said.replace("\x1b[0m", "")
