"""Every promise about files names its test, and the test is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["files.md", "command-line.md", "reading.md"])
def test_the_tests_that_a_page_names_are_there(page):
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / page).read_text("utf-8")))
    assert len(named) >= 5
    there = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        there |= set(re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE))
    assert not named - there
