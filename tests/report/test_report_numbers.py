"""Numbers that every page has, against plain counting."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd

from thincrm.inference.diagnostics import Verdict
from thincrm.report.diagnosis import diagnosis
from thincrm.report.packed_curves import curves_of
from thincrm.report.plain_words import learned

NUMBERS = [3, 4, 4, 5, 5, 5, 5, 6, 6, 7, 8, 9, 4, 5, 6, 5, 5, 7, 6, 5]
DRAWS = [
    SimpleNamespace(chain=i // 10, sweep=i % 10, scalars={"n_lamps": float(n), "mass": 0.5 * n})
    for i, n in enumerate(NUMBERS)
]


def diagnosed(trace):
    index = pd.Index(["n_lamps", "mass"], name="quantity")
    model = SimpleNamespace(
        draws_=DRAWS,
        trace_=trace,
        verdict=lambda: Verdict("The chains agree.", True),
        diagnostics=lambda: pd.DataFrame({"mean": [5.45, 2.725], "rhat": [1.0123, 1.5]}, index),
    )
    return diagnosis(model, "lamp")


def trace_of(n_sweeps):
    index = pd.MultiIndex.from_product([[0, 1], range(n_sweeps)], names=["chain", "sweep"])
    return pd.DataFrame({"log_joint": -0.5 * np.arange(2.0 * n_sweeps)}, index)


def test_the_number_of_atoms_is_counted_over_draws():
    found = diagnosed(trace_of(10))
    number, many = found["number"], Counter(NUMBERS)
    assert dict(zip(number["values"], number["counts"], strict=True)) == many
    assert number["mean"] == round(sum(NUMBERS) / len(NUMBERS), 1)
    ordered = sorted(NUMBERS)
    assert number["band"] == [ordered[round(0.05 * 19)], ordered[round(0.95 * 19)]] == [4, 8]
    assert (found["draws"], found["chains"], found["ok"]) == (20, 2, True)
    assert found["table"] == {
        "columns": ["mean", "rhat"],
        "rows": [["n_lamps", "5.45", "1.012"], ["mass", "2.725", "1.5"]],
    }


def test_traces_are_of_every_chain_and_thinned_to_three_hundred_sweeps():
    (trace,) = diagnosed(trace_of(700))["traces"]
    assert trace["title"] == "Log joint"
    for chain, shown in enumerate(trace["chains"]):
        assert shown["sweeps"] == list(range(0, 700, 3))
        assert shown["values"] == [-0.5 * (700 * chain + sweep) for sweep in shown["sweeps"]]


def test_what_was_learned_is_a_mean_with_90_per_cent_of_the_draws():
    (row,) = learned(DRAWS, {"mass": ("Mass", "Larger: more."), "rate": ("Rate", "")})
    mass = sorted(0.5 * n for n in NUMBERS)

    def at(share):
        place = share * 19
        low = int(place)
        return mass[low] + (place - low) * (mass[low + 1] - mass[low])

    between = f"{at(0.05):.3g} to {at(0.95):.3g}"
    assert row == ["Mass", f"{sum(mass) / 20:.3g}", between, "Larger: more."]


def test_curves_have_the_wide_and_the_narrow_band():
    rng = np.random.default_rng(0)
    names = ["lower", "upper", "share", "share_lower", "share_upper", "mean"]
    wide, narrow = (pd.DataFrame(rng.random((6, 6)), columns=names) for _ in range(2))
    for mean, prefix in (("mean", ""), ("share", "share_")):
        expected = {
            "mean": wide[mean],
            "lower": wide[f"{prefix}lower"],
            "upper": wide[f"{prefix}upper"],
            "low": narrow[f"{prefix}lower"],
            "high": narrow[f"{prefix}upper"],
        }
        for k, curve in enumerate(curves_of(wide, narrow, 3, mean, prefix)):
            for name, column in expected.items():
                values = np.array(curve[name]) * curve["unit"]
                np.testing.assert_allclose(values, column[3 * k : 3 * k + 3], atol=curve["unit"])
