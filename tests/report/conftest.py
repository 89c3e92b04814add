"""A real browser for the report: Chromium, headless, which opens files from disk.

Needs the package playwright (`pip install --group browser`) and a Chromium on the path.
"""

import shutil

import pandas as pd
import pytest
from browser_kit import DESKTOP, foreign
from report_cases import WORDS, dates, fitted, fitted_features, texts_of

import thincrm as tc
from thincrm.thinning import Always

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on the path")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Return reports: dated, hostile, and of one time only."""
    folder = tmp_path_factory.mktemp("reports")
    dated, hostile = fitted(t=dates), fitted(WORDS)
    names = [WORDS[i % len(WORDS)] for i in range(hostile.counts_.shape[0])]
    quoted = pd.Series(texts_of(hostile), index=names)
    still = fitted(t=lambda year: 0 * year, thinning=Always())
    return {
        "dated": tc.write_report(dated, folder / "dated.html", texts=texts_of(dated)),
        "hostile": tc.write_report(hostile, folder / "h.html", texts=quoted, title=WORDS[0]),
        "still": tc.write_report(still, folder / "still.html"),
        "features": tc.write_report(fitted_features(WORDS), folder / "features.html"),
        "pixels": tc.write_report(fitted_features(), folder / "pixels.html"),
    }


@pytest.fixture
def opened(browser, files):
    """Return a function that opens a report; afterwards nothing may have gone wrong in it."""
    contexts, trouble = [], []

    def open_it(name="dated", state="", size=DESKTOP, theme="light"):
        context = browser.new_context(
            viewport=dict(zip(("width", "height"), size, strict=True)), color_scheme=theme
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        start = files[name].as_uri()
        page.on("request", lambda r: trouble.append(r.url) if foreign(r.url, start) else None)
        page.goto(f"{start}#{state}")
        page.wait_for_selector("#view-body > *")
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert not trouble
