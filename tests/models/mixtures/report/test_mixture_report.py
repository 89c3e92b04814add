"""The report of a mixture: its numbers are those of the tables; and in a real browser."""

import csv
import io
import re

import numpy as np
import pytest
from browser_kit import DESKTOP, PHONE, downloaded, state_of
from page_outline import read

FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.])|.*[;|\t][=+@-]", re.DOTALL)


def test_its_numbers_are_those_of_the_tables(models, files):
    model = models["years"]
    _, _, data = read(files["years"])
    assert data["noun"] == "cluster"
    sizes, typical = model.sizes(), model.clusters()
    shares = model.activation()
    assert [cluster["rows"] for cluster in data["clusters"]] == [*sizes["rows"]]
    for k, cluster in enumerate(data["clusters"]):
        assert sorted(entry[0] for entry in cluster["entries"]) == sorted(typical.loc[k].index)
        for name, *numbers, is_probability in cluster["entries"]:
            known = typical.loc[k].loc[name][["mean", "lower", "upper", "sd"]]
            np.testing.assert_allclose(np.array(numbers, float), known, rtol=1e-3)
            assert is_probability == (" = " in name)
        curve = cluster["share_at"]
        mine = shares[shares["cluster"] == k]["share"]
        np.testing.assert_allclose(
            np.array(curve["mean"]) * curve["unit"], mine, atol=1.01 * curve["unit"]
        )
        for row in cluster["examples"]:
            assert model.labels_[int(row[0].removeprefix("row "))] == k
    assert [part["name"] for part in data["values"]] == ["size", "visits"]
    known = model.quantiles(q=0.5, column="size", t=model.covariates_.labels())["predictive"]
    np.testing.assert_allclose(data["values"][0]["mean"], known, rtol=1e-3)
    assert data["partition"]["radius"] == pytest.approx(model.credible_ball().radius, rel=1e-3)
    assert data["places"] == []
    together = np.array(data["partition"]["similar"])
    np.testing.assert_allclose(
        together, model.similarity(data["partition"]["rows"]), rtol=1e-3, atol=1e-9
    )


def test_two_covariates_are_a_map(models, files):
    _, _, data = read(files["map"])
    share = models["map"].activation()
    assert len(data["places"]) == len(models["map"].covariates_.rows)
    x, y, k, best = data["places"][0]
    here = share[(share["t0"] == x) & (share["t1"] == y)]
    assert here["share"].max() == pytest.approx(best, rel=1e-3)
    assert here.loc[here["share"].idxmax(), "cluster"] == k
    assert data["values"] == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_page_in_a_browser(opened, size):
    page = opened("years", size=size, theme="dark")
    assert page.locator(".feature").count() > 0
    assert page.locator("img, iframe, object, base, script + b").count() == 0
    for view in ("clusters", "values", "partition", "tables", "model"):
        page.click(f"#tab-{view}")
        assert state_of(page)["view"] == view
        assert "NaN" not in page.evaluate("document.getElementById('view-body').innerHTML")
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        text = downloaded(page, "#view-tools >> text=CSV")
        rows = [*csv.reader(io.StringIO(text, newline=""))]
        assert len(rows) > 1
        assert not [cell for row in rows for cell in row if FORMULA.match(cell)]
    page.click("#tab-values")
    page.select_option("#choice-column", "1")
    page.focus(".focus")
    page.keyboard.press("End")
    assert page.inner_text(".readout b") == "1998"


def test_the_map_in_a_browser(opened):
    page = opened("map")
    page.click("#tab-map")
    assert page.locator("#view-body circle").count() > 5
    assert "NaN" not in page.evaluate("document.getElementById('view-body').innerHTML")
