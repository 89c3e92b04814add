"""Reports of small topic models."""

import pandas as pd
import pytest
from report_cases import WORDS, dates, fitted, texts_of

import thincrm as tc
from thincrm.thinning import Always


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Return reports: dated, hostile, of one time only, and with two topics that do not repeat."""
    folder = tmp_path_factory.mktemp("reports")
    dated, hostile = fitted(t=dates), fitted(WORDS)
    names = [WORDS[i % len(WORDS)] for i in range(hostile.counts_.shape[0])]
    quoted = pd.Series(texts_of(hostile), index=names)
    still = fitted(t=lambda year: 0 * year, thinning=Always())
    plain = tc.write_report(dated, folder / "dated.html", texts=texts_of(dated))
    fleeting = folder / "fleeting.html"
    page = plain.read_text("utf-8").replace('"firm":false', '"firm":true')
    fleeting.write_text(page.replace('"firm":true', '"firm":false', 2), "utf-8")
    return {
        "dated": plain,
        "fleeting": fleeting,
        "hostile": tc.write_report(hostile, folder / "h.html", texts=quoted, title=WORDS[0]),
        "still": tc.write_report(still, folder / "still.html"),
    }
