"""Reports of small mixtures: along a year, and on a map."""

import numpy as np
import pandas as pd
import pytest
from report_cases import WORDS

import thincrm as tc


def table_of(seed=2, n_rows=80):
    """Return (table, year, places): a number, a count and a category; names are hostile."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n_rows)
    table = pd.DataFrame(
        {
            "size": np.where(kind, 8.0, 0.0) + rng.standard_normal(n_rows),
            "visits": rng.poisson(np.where(kind, 9.0, 1.0)),
            WORDS[0]: np.array(WORDS)[2 * (np.arange(n_rows) % (len(WORDS) // 2)) + kind],
        }
    )
    table.loc[3, "size"] = np.nan
    year = pd.Series(1990 + rng.integers(0, 9, n_rows), name=WORDS[1])
    return table, year, rng.integers(0, 4, (n_rows, 2)).astype(float)


def fitted(t):
    settings = {"max_clusters": 6, "n_sweeps": 15, "n_draws": 4, "random_state": 1, "quiet": True}
    return tc.MixtureModel(n_threads=1, **settings).fit(table_of()[0], t=t)


@pytest.fixture(scope="session")
def models():
    _, year, places = table_of()
    return {"years": fitted(year), "map": fitted(places)}


@pytest.fixture(scope="session")
def files(tmp_path_factory, models):
    folder = tmp_path_factory.mktemp("mixture_reports")
    return {name: tc.write_report(model, folder / f"{name}.html") for name, model in models.items()}
