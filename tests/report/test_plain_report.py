"""The plain page, which a model from outside the package gets for nothing."""

import csv
import io

import numpy as np
import pytest
from browser_kit import DESKTOP, PHONE, downloaded, state_of
from page_outline import read

import thincrm as tc
from thincrm.errors import InvalidInput


def test_its_numbers_are_those_of_the_model(lamps, files):
    _, _, data = read(files["plain"])
    assert data["title"] == "Lamps"
    assert data["noun"] == "lamp"
    assert data["time"]["name"] == "distance"
    table, half = lamps.activation(), lamps.activation(level=0.5)
    for k, atom in enumerate(data["atoms"]):
        curve, unit = atom["open"], atom["open"]["unit"]
        for name, known, column in (("mean", table, "mean"), ("low", half, "lower")):
            mine = known[known["lamp"] == k][column]
            np.testing.assert_allclose(np.array(curve[name]) * unit, mine, atol=unit)
    assert data["diagnosis"]["verdict"] == str(lamps.verdict())
    assert [trace["title"] for trace in data["diagnosis"]["traces"]] == [
        "Number of lamps",
        "Log joint",
    ]
    assert data["diagnosis"]["number"]["values"] == [3]
    (caution,) = data["diagnosis"]["cautions"]
    assert caution == "All 3 lamps are in use: their number is cut off there. Raise max_lamps."
    assert [row[0] for row in data["learned"]] == ["Brightness"]


def test_settings_are_in_plain_words_and_factors_describe_themselves(files):
    _, _, data = read(files["plain"])
    rows = {name: (value, sentence) for name, value, sentence in data["settings"]}
    assert rows["Thinning function"][0] == "SigmoidGP"
    assert "per lamp" in rows["Thinning function"][1]
    assert rows["Hue"] == ("warm", "")
    assert rows["Sweeps"][0] == "60"
    assert rows["Version"][0] == f"thincrm {tc.__version__}"


def test_long_tables_are_cut_and_say_so(lamps, files):
    _, _, data = read(files["plain"])
    activation, makers = data["tables"]
    assert [activation["name"], makers["name"]] == ["Activation", "Lamp makers"]
    assert (len(activation["rows"]), activation["n_rows"]) == (200, len(lamps.activation()))
    assert makers["rows"] == [[lamps.makers()[0], "1.25"], [lamps.makers()[1], ""]]


def test_what_only_topics_take_is_refused(lamps, tmp_path):
    with pytest.raises(InvalidInput, match="texts is for topics: a lamp model has none"):
        tc.write_report(lamps, tmp_path / "r.html", texts=["one"])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["plain", "surface", "dark"])
def test_every_view_draws(opened, name, size, theme):
    page = opened(name, size=size, theme=theme)
    for view in ("curves", "tables", "model"):
        page.click(f"#tab-{view}")
        assert state_of(page)["view"] == view
        assert page.locator("#view-body > *").count() > 0
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        drawn = page.evaluate("document.getElementById('view-body').innerHTML")
        assert not [word for word in ("NaN", "undefined", "Infinity") if word in drawn]
    assert page.locator("img, iframe, object, base").count() == 0


def test_curves_are_read_by_keyboard_and_tables_are_chosen(opened):
    page = opened("plain")
    assert page.locator(".feature").count() == 3
    page.focus(".feature .focus")
    page.keyboard.press("Home")
    assert "open with probability" in page.inner_text(".readout >> nth=0")
    assert downloaded(page, ".feature >> nth=0 >> text=SVG").startswith("<svg")
    rows = list(csv.reader(io.StringIO(downloaded(page, "#view-tools >> text=CSV"), newline="")))
    assert rows[0][:3] == ["lamp", "distance", "mean"]
    page.click("#tab-tables")
    assert "The first 200 of 270 rows" in page.inner_text("#view-body")
    page.select_option("#choice-table", label="Lamp makers")
    assert state_of(page)["table"] == "1"
    assert "=HYPERLINK(0)" in page.inner_text("#view-body")
    assert "'=HYPERLINK(0)" in downloaded(page, "#view-tools >> text=CSV")


def test_several_covariates_are_sent_to_the_table(opened):
    page = opened("surface")
    assert "east, north: see the table Activation" in page.inner_text("#view-body")
    page.click("#tab-tables")
    assert page.locator("thead th").all_inner_texts()[:3] == ["lamp", "east", "north"]
