"""Table 1 of the paper: what one indicator and the wealth of a country tell of its others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from thincrm.data.un import Indicators
from thincrm.errors import InvalidInput
from thincrm.experiments.feature_settings import UnSettings
from thincrm.experiments.imputers import DEPENDENT, EXCHANGEABLE, THINNED, Filled, imputations
from thincrm.numerics.arrays import Bool, Int, Seed, as_generator

__all__ = ["PAPER", "UnResults", "hold_out", "run"]

TEST_COUNTRIES = 14
PAPER = pd.DataFrame(  # table 1: means, and two standard deviations over folds
    {"paper_rmse": [1.02, 0.85, 0.73], "paper_spread": [0.08, 0.11, 0.05]},
    index=pd.Index([EXCHANGEABLE, THINNED, DEPENDENT], name="model"),
)


@dataclass(frozen=True, slots=True)
class UnResults:
    """What the experiment found.

    Attributes
    ----------
    folds : DataFrame
        A row per fold and model: RMSE in standard deviations of the training countries, share of
        held-out cells in their 90 % intervals, seconds.
    summary : DataFrame
        A row per model: averages over folds, two standard deviations of the RMSE, seconds in all;
        beside them what the paper reports.
    cells : DataFrame
        A row per fold, model and held-out cell: country, indicator, truth, mean, lower, upper.
    table : str
        The size of the data.
    """

    folds: pd.DataFrame
    summary: pd.DataFrame
    cells: pd.DataFrame
    table: str


def run(settings: UnSettings, report: Callable[[pd.DataFrame], None] | None = None) -> UnResults:
    """Hold out 14 countries but for one indicator each, fit to the others, predict; fold by fold.

    Parameters
    ----------
    settings : UnSettings
        See there.
    report : callable or None
        Is given the rows found so far, after each model.
    """
    data = settings.indicators()
    rows: list[dict[str, Any]] = []
    cells = []
    folds = hold_out(data, settings.folds, settings.seed)
    for fold, (test, shown) in enumerate(folds, 1):
        train = _take(data, np.setdiff1d(np.arange(len(data.values)), test))
        full = _take(data, test)
        seen = Indicators(full.values.where(shown), full.log_gdp)
        scale = train.values.std(ddof=0)
        held = full.values.notna().to_numpy() & ~shown
        start = time.perf_counter()
        for model, filled in imputations(train, seen, settings, settings.seed + fold - 1):
            seconds, start = time.perf_counter() - start, time.perf_counter()
            found = _cells(full.values, filled, held).assign(fold=fold, model=model)
            score = _score(found, scale)
            rows.append({"fold": fold, "model": model, **score, "seconds": seconds})
            cells.append(found)
            if report is not None:
                report(pd.DataFrame(rows))
    table = pd.DataFrame(rows)
    every = pd.concat(cells, ignore_index=True)
    return UnResults(table, _summary(table), every, data.size)


def hold_out(data: Indicators, folds: int, rng: Seed) -> Iterator[tuple[Int, Bool]]:
    """Yield the rows of 14 countries that no other fold has, and which cell of each is shown."""
    rng = as_generator(rng)
    n_countries = len(data.values)
    if folds * TEST_COUNTRIES >= n_countries:
        raise InvalidInput(
            f"folds must be at most {(n_countries - 1) // TEST_COUNTRIES}: each holds out "
            f"{TEST_COUNTRIES} other countries, and there are {n_countries}; got {folds}."
        )
    order = rng.permutation(n_countries)
    known = data.values.notna().to_numpy()
    for fold in range(folds):
        test = np.sort(order[fold * TEST_COUNTRIES : (fold + 1) * TEST_COUNTRIES])
        shown = np.zeros((test.size, known.shape[1]), bool)
        for place, country in enumerate(test):
            shown[place, rng.choice(np.flatnonzero(known[country]))] = True
        yield test, shown


def _take(data: Indicators, rows: Int) -> Indicators:
    return Indicators(data.values.iloc[rows], data.log_gdp.iloc[rows])


def _cells(truth: pd.DataFrame, filled: Filled, held: Bool) -> pd.DataFrame:
    """Return a row for every held-out cell."""
    row, column = np.nonzero(held)
    found = {"country": truth.index[row], "indicator": truth.columns[column]}
    parts = {"truth": truth.to_numpy(), **filled._asdict()}
    return pd.DataFrame(found | {name: part[row, column] for name, part in parts.items()})


def _score(cells: pd.DataFrame, scale: pd.Series[float]) -> dict[str, float]:
    """Return the RMSE in standard units, and the share of cells in their intervals."""
    error = (cells["mean"] - cells["truth"]) / cells["indicator"].map(scale)
    inside = cells["truth"].between(cells["lower"], cells["upper"]).mean()
    coverage = inside if cells["lower"].notna().all() else np.nan
    return {"rmse": float(np.sqrt((error**2).mean())), "coverage": float(coverage)}


def _summary(folds: pd.DataFrame) -> pd.DataFrame:
    """Return averages over folds, models in the order they were run."""
    by_model = folds.groupby("model", sort=False)
    means = by_model[["rmse", "coverage"]].mean()
    means.insert(1, "spread", 2.0 * by_model["rmse"].std())
    means["seconds"] = by_model["seconds"].sum()
    return means.join(PAPER)
