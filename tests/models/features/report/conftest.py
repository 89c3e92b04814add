"""Reports of small feature models."""

import pytest
from report_cases import WORDS, fitted_features

import thincrm as tc


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Return reports: of named columns, and of pixels."""
    folder = tmp_path_factory.mktemp("feature_reports")
    return {
        "features": tc.write_report(fitted_features(WORDS), folder / "features.html"),
        "pixels": tc.write_report(fitted_features(), folder / "pixels.html"),
    }
