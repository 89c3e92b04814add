"""The house: its files, its doors, and the truth of its pages."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from statistics import median

import pytest

import thincrm
from thincrm.models.registry import MODELS
from thincrm.ports import LevyMeasure, Thinning

TOP = Path(__file__).parents[1]
MODULES = sorted((TOP / "src" / "thincrm").rglob("*.py"))
PAGES = [TOP / "README.md", TOP / "CHANGELOG.md", TOP / "CONTRIBUTING.md"]
PAGES += sorted((TOP / "docs").glob("*.md"))
ROOMS = {"levy": LevyMeasure, "thinning": Thinning}
NEEDS_ARGUMENTS = {"FunctionThinning"}  # any function: there is none to assume
RUN_ELSEWHERE = {"testing.md"}  # by tests/testing/test_guide.py
OF_EVERY_MODEL = {
    "command", "draw", "export", "fit_command", "kernel", "likelihood", "model", "results", "start",
    "state", "storage", "sweep", "tables", "terminal", "report/data", "report/page",
}  # fmt: skip
MOST_LINES, MEDIAN_LINES, MOST_ANYTHING = 400, 130, 150
MOST_BYTES = 150_000


def name_of(path):
    return str(path.relative_to(TOP))


def members():
    for room, protocol in ROOMS.items():
        for name in import_module(f"thincrm.{room}").__all__:
            if name not in NEEDS_ARGUMENTS:
                yield pytest.param(room, name, protocol, id=name)


def fenced(page):
    """Return the page's Python examples, and its text without any code."""
    text = page.read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return blocks, re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(page):
    """Return the anchors that the page's headings get on the web."""
    headings = re.findall(r"^#+ (.*)$", fenced(page)[1], re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("page", ["reading.md", "command-line.md"])
def test_every_promise_has_a_test_that_exists(page):
    tests = "\n".join(path.read_text("utf-8") for path in (TOP / "tests").rglob("test_*.py"))
    known = set(re.findall(r"^def (test_\w+)", tests, re.MULTILINE))
    text = (TOP / "docs" / page).read_text("utf-8")
    _, _, promises = text.partition("## What is promised, and the test of it")
    rows = re.findall(r"^\| (?!promise|-)(.*?) \| (.*) \|$", promises, re.MULTILINE)
    assert len(rows) > 10
    for promise, named in rows:
        found = re.findall(r"`(test_\w+)`", named)
        assert found, promise
        assert set(found) <= known, promise


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_are_short_and_say_what_they_show(path):
    text = path.read_text("utf-8")
    assert text.count("\n") <= MOST_LINES
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "a module says in a line what it is for"
    targets = [
        target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets
    ]
    assert path.name == "__init__.py" or "__all__" in [getattr(t, "id", None) for t in targets]


def test_most_modules_are_very_short_and_few_values_are_anything():
    texts = [path.read_text("utf-8") for path in MODULES]
    assert median(text.count("\n") for text in texts) < MEDIAN_LINES
    assert sum(": Any" in line for text in texts for line in text.splitlines()) < MOST_ANYTHING


def test_outside_the_model_folders_no_two_files_have_one_name():
    folders = TOP / "src" / "thincrm" / "models"
    names = [path.name for path in MODULES if not path.is_relative_to(folders)]
    names += [path.name for path in folders.glob("*.py")]
    twice = {name for name in names if names.count(name) > 1}
    assert twice <= {"__init__.py"}


@pytest.mark.parametrize("folder", sorted({*MODELS.values()} - {"thincrm.models.dependent_ibp"}))
def test_model_folders_have_the_same_file_names(folder):
    """But for the dependent IBP: it is a feature model with another law of its curves."""
    place = TOP / "src" / Path(*folder.split("."))
    assert {name for name in OF_EVERY_MODEL if not (place / f"{name}.py").exists()} == set()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_what_a_module_shows_exists(path):
    parts = path.relative_to(TOP / "src").with_suffix("").parts
    module = import_module(".".join(part for part in parts if part != "__init__"))
    missing = [name for name in getattr(module, "__all__", ()) if not hasattr(module, name)]
    assert not missing


def test_the_door_lists_its_names_once_and_in_order():
    names = [name for name in thincrm.__all__ if not name.startswith("_")]
    assert names == sorted(set(names))
    assert set(thincrm.__all__) <= set(dir(thincrm))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        thincrm.nonsense  # noqa: B018


@pytest.mark.parametrize(("room", "name", "protocol"), [*members()])
def test_members_of_a_room_start_from_nothing_and_keep_the_contract(room, name, protocol):
    member = getattr(import_module(f"thincrm.{room}"), name)()
    assert isinstance(member, protocol)
    assert getattr(thincrm, name) is type(member), "the door shows every member"
    assert member == type(member)(), "factors are values"


def test_importing_the_package_is_free():
    code = (
        "import sys, thincrm; heavy = {'numba', 'pandas', 'matplotlib', 'scipy', 'distributed'}; "
        "print(*heavy & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in RUN_ELSEWHERE], ids=name_of
)
def test_examples_run(page, tmp_path, monkeypatch):
    """One after the other, as a reader would run them; the pictures they save go elsewhere."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page.stem}
    for number, block in enumerate(fenced(page)[0], 1):
        exec(compile(block, f"{page.name}, example {number}", "exec"), names)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_resolve(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", fenced(page)[1]):
        if target.startswith(("https://", "mailto:")):
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file) if file else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_a_page_names_exist(page):
    named = re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./*-]+)`", page.read_text("utf-8"))
    missing = [name for name in named if not list(TOP.glob(name))]
    assert not missing


def test_pictures_are_small_and_shown():
    shown = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"!\[[^]]*\]\(([^)\s]+)\)", page.read_text("utf-8"))
    }
    pictures = set((TOP / "docs" / "pictures").iterdir())
    assert pictures <= shown, "a picture that no page shows"
    assert all(picture.stat().st_size <= MOST_BYTES for picture in pictures)


def test_the_version_is_the_same_everywhere():
    assert version("thincrm") == thincrm.__version__
    assert re.search(rf"^## {re.escape(thincrm.__version__)}\b", PAGES[1].read_text("utf-8"), re.M)
