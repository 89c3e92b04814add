"""Tables in the terminal: curves of blocks, and when there are any."""

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from thincrm.console.terminal_tables import CurveTable, curve
from thincrm.data.covariates import covariates


def test_a_curve_runs_evenly_through_uneven_times():
    known = covariates([1800, 1801, 1802, 1900])
    drawn = curve(known, np.array([0.0, 0.0, 0.0, 0.5]), 11)
    assert drawn[0] == " "
    assert drawn[-1] == "█"
    assert drawn[5] == "▄"
    assert set(curve(known, np.zeros(4))) == {" "}


def test_a_curve_needs_one_covariate():
    one = CurveTable(covariates([1.0, 2.0]), "topic", "words", "last")
    two = CurveTable(covariates(np.ones((2, 2)) * [[1], [2]]), "topic", "words", "last")
    assert len(one.table.columns) == len(two.table.columns) + 2


@pytest.mark.parametrize(("columns", "width"), [("80", 12), ("99", 12), ("100", 24)])
def test_a_narrow_terminal_has_narrow_curves_and_room_for_words(columns, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    grid = CurveTable(covariates([1800, 1900]), "topic", "words", "last")
    grid.add(0, "1 %", np.array([0.5, 0.5]), "war peace")
    out = Console(width=int(columns))
    with out.capture() as told:
        out.print(grid.table)
    assert told.get().count("█") == width
    assert f"1800{' ' * (width - 8)}1900" in told.get()


def test_curves_are_as_wide_as_their_dates(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    days = covariates(pd.to_datetime(["2017-01-01", "2017-02-28"]))
    grid = CurveTable(days, "topic", "words", "last")
    grid.add(0, "1 %", np.array([0.5, 0.5]), "war peace")
    assert list(grid.table.columns[3].cells) == ["█" * 21]
