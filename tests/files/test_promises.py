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


WRITES = re.compile(
    r"\.(write_text|write_bytes|unlink|rmdir|touch|mkdir|symlink_to|hardlink_to)\("
    r"|\b(makedirs|rmtree|copyfile|copytree|os\.remove|os\.unlink|os\.rename|os\.replace)\("
    r"""|\bopen\([^)\n]*["'][rb]*[wax+]"""
)
OWN = {"files", "numerics/cache_place.py"}  # the door to the file system; where loops are kept


def test_only_one_room_writes_files():
    """Whatever is written goes through the room that follows no link and leaves no half a file."""
    package = ROOT / "src" / "thincrm"
    for path in package.rglob("*.py"):
        name = path.relative_to(package).as_posix()
        if not {name, name.partition("/")[0]} & OWN:
            found = WRITES.search(path.read_text("utf-8"))
            assert found is None, f"{name}: {found[0]}"
    assert WRITES.search('with open(path, "wb") as file:')
