"""A real browser for reports: Chromium, headless, which opens files from disk.

Needs the package playwright (`pip install --group browser`) and a Chromium on the path. A folder of
tests has a fixture `files`: its reports by name.
"""

import shutil
from urllib.parse import parse_qs

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DESKTOP, PHONE = (1280, 900), (390, 844)


def foreign(url, start):
    return not url.startswith((start, "data:,", "blob:"))


def state_of(page):
    return {key: value[0] for key, value in parse_qs(page.url.partition("#")[2]).items()}


def downloaded(page, selector):
    with page.expect_download() as download:
        page.click(selector)
    return download.value.path().read_text("utf-8")


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on the path")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, files):
    """Return a function that opens a report; afterwards nothing may have gone wrong in it."""
    contexts, trouble = [], []

    def open_it(name=None, state="", size=DESKTOP, theme="light"):
        context = browser.new_context(
            viewport=dict(zip(("width", "height"), size, strict=True)), color_scheme=theme
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        start = files[name or next(iter(files))].as_uri()
        page.on("request", lambda r: trouble.append(r.url) if foreign(r.url, start) else None)
        page.goto(f"{start}#{state}")
        page.wait_for_selector("#view-body > *")
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert not trouble
