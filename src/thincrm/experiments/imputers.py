"""Ways to fill the holes of a table with a covariate: ours, and plain ones beside them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401 - must come first
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.impute import IterativeImputer
from sklearn.neighbors import KNeighborsRegressor

from thincrm.data.un import Indicators
from thincrm.experiments.feature_settings import UnSettings
from thincrm.models.dependent_ibp.model import DependentIBP
from thincrm.models.features.model import FeatureModel
from thincrm.numerics.arrays import Float
from thincrm.thinning import Always, Bump, ProbitRVM

__all__ = ["DEPENDENT", "EXCHANGEABLE", "FACTORS", "LEVEL", "THINNED", "Filled", "imputations"]

LEVEL = 0.9  # of the intervals
EXCHANGEABLE, DEPENDENT = "exchangeable", "dependent IBP"
THINNED = "thinned, probit RVM"  # the paper's
FACTORS = "factors and a smooth level"  # FeatureModel as it comes
_CENTRES = 20  # of kernels over log GDP, where every country has its own


class Filled(NamedTuple):
    """Predictions of the holes of a table, with intervals (NaN if there are none)."""

    mean: Float
    lower: Float
    upper: Float


def imputations(
    train: Indicators, test: Indicators, settings: UnSettings, seed: int
) -> Iterator[tuple[str, Filled]]:
    """Yield the name of each method, and what it puts into the holes of `test`."""
    for name, model in _models(settings, seed).items():
        model.fit(train.values, t=train.log_gdp)
        filled = model.impute(test.values, t=test.log_gdp, level=LEVEL)
        yield name, Filled(*(np.asarray(part) for part in filled))
    plain: dict[str, Callable[[Indicators, Indicators], Filled]] = {
        "column mean": column_mean,
        "Gaussian, log GDP": on_wealth,
        "Gaussian, log GDP and seen": on_wealth_and_seen,
        "chained regressions": chained,
        "nearest neighbours": neighbours,
        "Gaussian process": process,
    }
    for name, fill in plain.items():
        yield name, fill(train, test)


def _models(settings: UnSettings, seed: int) -> dict[str, Any]:
    """Return the nonparametric models."""
    shared: dict[str, Any] = {
        "max_features": settings.max_features,
        "n_sweeps": settings.sweeps,
        "random_state": seed,
        "quiet": True,
    }
    thinnings = {
        EXCHANGEABLE: Always(),
        THINNED: ProbitRVM((1.0, 4.0, 16.0, 64.0), bias_mean=0.0, max_centres=_CENTRES),
        "thinned, bump": Bump(),
        "thinned, Gaussian process": None,  # FeatureModel's own
    }
    found: dict[str, Any] = {
        name: FeatureModel(thinning=thinning, weights="binary", **shared)
        for name, thinning in thinnings.items()
    }
    return found | {FACTORS: FeatureModel(n_chains=4, **shared), DEPENDENT: DependentIBP(**shared)}


def column_mean(train: Indicators, test: Indicators) -> Filled:
    """Predict every cell by its column's mean."""
    return _regressions(train, test, lambda row_P: [])


def on_wealth(train: Indicators, test: Indicators) -> Filled:
    """Regress every column on log GDP."""
    return _regressions(train, test, lambda row_P: [row_P.size - 1])


def on_wealth_and_seen(train: Indicators, test: Indicators) -> Filled:
    """Regress every column on log GDP and on what the row shows."""
    return _regressions(train, test, lambda row_P: np.flatnonzero(np.isfinite(row_P)).tolist())


def _with_wealth(data: Indicators) -> Float:
    return np.column_stack([data.values, data.log_gdp]).astype(float)


def _regressions(
    train: Indicators, test: Indicators, columns: Callable[[Float], list[int]]
) -> Filled:
    """Fill each hole by least squares on some columns of its row, with Student's interval."""
    known, table = _with_wealth(train), _with_wealth(test)
    out = np.full((3, *test.values.shape), np.nan)
    for row, column in zip(*np.nonzero(np.isnan(table)), strict=True):
        out[:, row, column] = _predict(known, table[row], int(column), columns(table[row]))
    return Filled(*out)


def _predict(known: Float, row_P: Float, column: int, on: list[int]) -> tuple[float, float, float]:
    """Return the prediction of one cell, and the ends of its interval."""
    used = known[np.isfinite(known[:, [column, *on]]).all(axis=1)]
    X, y = np.column_stack([np.ones(len(used)), used[:, on]]), used[:, column]
    x = np.array([1.0, *row_P[on]])
    inverse = np.linalg.pinv(X.T @ X)
    slope = inverse @ X.T @ y
    degrees = max(len(y) - len(x), 1)
    spread = np.sqrt(((y - X @ slope) ** 2).sum() / degrees * (1.0 + x @ inverse @ x))
    reach = stats.t.ppf(0.5 + LEVEL / 2, degrees) * spread
    mean = float(x @ slope)
    return mean, mean - reach, mean + reach


def neighbours(train: Indicators, test: Indicators) -> Filled:
    """Average the 20 countries most alike in log GDP and in what the row shows."""
    return _regressed(lambda n_rows: KNeighborsRegressor(min(20, n_rows)), train, test)


def process(train: Indicators, test: Indicators) -> Filled:
    """Regress on log GDP and on what the row shows by a Gaussian process of given widths."""
    kernel = RBF([1.5, 2.0]) + WhiteKernel(0.6)
    return _regressed(lambda _: GaussianProcessRegressor(kernel, optimizer=None), train, test)


def _regressed(make: Callable[[int], Any], train: Indicators, test: Indicators) -> Filled:
    """Fill each hole by a regression on log GDP and the seen, all in standard units."""
    known, table = _with_wealth(train), _with_wealth(test)
    centre_P, scale_P = np.nanmean(known, axis=0), np.nanstd(known, axis=0)
    known, table = (known - centre_P) / scale_P, (table - centre_P) / scale_P
    mean = table.copy()
    for row, column in zip(*np.nonzero(np.isnan(table)), strict=True):
        on = np.flatnonzero(np.isfinite(table[row]))
        used = known[np.isfinite(known[:, [column, *on]]).all(axis=1)]
        found = make(len(used)).fit(used[:, on], used[:, column])
        mean[row, column] = found.predict(table[row, on][None])[0]
    mean = (mean * scale_P + centre_P)[:, :-1]
    nothing = np.full(mean.shape, np.nan)
    return Filled(mean, nothing, nothing)


def chained(train: Indicators, test: Indicators) -> Filled:
    """Fill by scikit-learn's chained Bayesian ridge regressions, log GDP among the columns."""
    scale_P = np.nanstd(_with_wealth(train), axis=0)
    imputer = IterativeImputer(max_iter=30, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is what it is: a baseline
        imputer.fit(_with_wealth(train) / scale_P)
    mean = (imputer.transform(_with_wealth(test) / scale_P) * scale_P)[:, :-1]
    nothing = np.full(mean.shape, np.nan)
    return Filled(mean, nothing, nothing)
