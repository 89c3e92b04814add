"""Reports of a model that has no page of its own."""

import numpy as np
import pandas as pd
import pytest
from plain_model import Lamps

import thincrm as tc


@pytest.fixture(scope="session")
def lamps():
    rng = np.random.default_rng(1)
    return Lamps().fit(pd.Series(np.sort(rng.uniform(0, 50, 90)), name="distance"))


@pytest.fixture(scope="session")
def files(lamps, tmp_path_factory):
    """Return plain reports: along one covariate, along two, and without any atom."""
    folder = tmp_path_factory.mktemp("plain_reports")
    rng = np.random.default_rng(2)
    surface = Lamps().fit(pd.DataFrame(rng.normal(size=(40, 2)), columns=["east", "north"]))
    return {
        "plain": tc.write_report(lamps, folder / "plain.html", title="Lamps"),
        "surface": tc.write_report(surface, folder / "surface.html"),
        "dark": tc.write_report(Lamps().fit(np.arange(5.0), n_lamps=0), folder / "dark.html"),
    }
