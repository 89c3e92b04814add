"""The report of features in a real browser (see browser_kit.py)."""

import csv
import io
import re

import pytest
from browser_kit import DESKTOP, PHONE, downloaded, state_of


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["features", "pixels"])
def test_the_page_of_features(opened, name, size):
    page = opened(name, size=size, theme="dark")
    assert page.locator(".feature").count() > 0
    assert page.locator("img, iframe, object, base").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert "NaN" not in page.evaluate("document.getElementById('view-body').innerHTML")
    rows = list(csv.reader(io.StringIO(downloaded(page, "#view-tools >> text=CSV"), newline="")))
    assert {row[1] for row in rows[1:]} == {"adds", "used"}
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "@", "+s"))]
    assert downloaded(page, ".feature >> nth=0 >> text=SVG").startswith("<svg")
    page.focus(".feature .focus")
    page.keyboard.press("Home")
    before = page.inner_text(".readout b >> nth=0")
    page.keyboard.press("End")
    assert page.inner_text(".readout b >> nth=0") != before
    page.select_option("#choice-measure", "open")
    assert state_of(page)["measure"] == "open"
    page.click("#theme")
    assert page.get_attribute("html", "data-theme") == "light"
    page.focus("#tab-features")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert state_of(page)["view"] == "model"
    assert "What was learned" in page.inner_text("#view-body")


def test_curves_fade_where_there_are_few(opened):
    page = opened("pixels")
    assert page.locator("mask").count() > 0
    page.wait_for_selector(".focus mask rect", state="attached")
    picture = downloaded(page, ".feature >> nth=0 >> text=SVG")
    name = re.search(r'mask="url\(#([\w-]+)\)"', picture)[1]
    assert f'id="{name}"' in picture
