"""Tables in the terminal: curves of blocks, and when there are any."""

import numpy as np

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
