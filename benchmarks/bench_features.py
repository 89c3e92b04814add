"""A sweep of the feature model on a large table, and imputation against scikit-learn's.

    python benchmarks/bench_features.py [--rows 100000] [--factors 0] [--imputation]

The table is made up: sums of features, a fifth of it holes. Peers fill in the same holes. Without
factors the sweep is that of the paper's model; with some, that of real weights, so many dense
factors and a smooth level.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.decomposition import FactorAnalysis
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

import thincrm as tc
from thincrm.data.covariates import covariates
from thincrm.inference.engine import Threads
from thincrm.models.features.kernel import as_table
from thincrm.models.features.level import Curves
from thincrm.models.features.likelihood import FeatureLikelihood
from thincrm.models.features.start import start_state
from thincrm.models.features.state import facts_of, shards_of
from thincrm.models.features.sweep import SWEEP
from thincrm.numerics.streams import sweep_generator
from thincrm.numerics.threads import using_threads
from thincrm.ports import Problem

SWEEPS, N_COLUMNS, N_FEATURES = 5, 50, 20


def made_up(n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (table, table with holes, covariates): 8 features, half of them used at the end."""
    rng = np.random.default_rng(0)
    t = np.sort(rng.integers(0, 200, n_rows)) / 200.0
    centre = rng.uniform(0.0, 1.0, 8)
    p = np.exp(-0.5 * ((t[:, None] - centre) / 0.25) ** 2)
    used = rng.random((n_rows, 8)) < 0.8 * p
    table = used @ rng.standard_normal((8, N_COLUMNS)) + 0.5 * rng.standard_normal((n_rows, 50))
    return table, np.where(rng.random(table.shape) < 0.2, np.nan, table), t


def seconds(holed: np.ndarray, t: np.ndarray, n_threads: int, n_factors: int) -> dict[str, float]:
    known, thinning = covariates(t), tc.SigmoidGP(max_centres=20)
    curves = Curves.of(known, varies=n_factors > 0)
    table = as_table(
        holed / np.nanstd(holed, 0), known.trials, shared=False, curves_NC=curves.at(t[:, None])
    )
    likelihood = FeatureLikelihood(real=n_factors > 0, n_dense=n_factors, level=curves.sizes)
    problem = Problem(
        levy=tc.BetaProcess(2.0), thinning=thinning, likelihood=likelihood,
        prepared=thinning.prepare(known), shards=shards_of(table, known.trials),
        trials=known.trials, n_atoms=N_FEATURES, engine=Threads(), facts=facts_of(table),
    )  # fmt: skip
    spent: dict[str, list[float]] = {}
    with using_threads(n_threads):
        state = start_state(sweep_generator(0, 0, 0), problem)
        for sweep in range(SWEEPS):
            rng = sweep_generator(0, 0, sweep + 1)
            for update in SWEEP:
                start = time.perf_counter()
                state = update(rng, problem, state)
                spent.setdefault(update.__name__, []).append(time.perf_counter() - start)
    return {name: float(np.median(times)) for name, times in spent.items()}


def factor_analysis(holed: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Fill holes by factor analysis, the fill-in refined ten times."""
    hole = np.isnan(holed)
    filled = np.where(hole, np.nanmean(holed, 0), holed)
    for _ in range(10):
        model = FactorAnalysis(8).fit(np.column_stack([filled, t]))
        scores = model.transform(np.column_stack([filled, t]))
        guess = (scores @ model.components_ + model.mean_)[:, :-1]
        filled = np.where(hole, guess, holed)
    return filled


def imputation(n_rows: int) -> None:
    table, holed, t = made_up(n_rows)
    hole = np.isnan(holed)
    fills = {
        "column means": lambda: np.where(hole, np.nanmean(holed, 0), holed),
        "FactorAnalysis": lambda: factor_analysis(holed, t),
        "IterativeImputer": lambda: IterativeImputer(random_state=0).fit_transform(
            np.column_stack([holed, t])
        )[:, :-1],
        "FeatureModel": lambda: (
            tc.FeatureModel(weights="binary", n_sweeps=200, random_state=0, quiet=True)
            .fit(holed, t=t)
            .impute(holed, t=t)
            .mean
        ),
    }
    for name, fill in fills.items():
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            error = (fill() - table)[hole]
        spent = time.perf_counter() - start
        print(f"{name:18} root mean squared error {np.sqrt(np.mean(error**2)):.3f}  {spent:6.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--factors", type=int, default=0)
    parser.add_argument("--imputation", action="store_true")
    options = parser.parse_args()
    if options.imputation:
        imputation(min(options.rows, 1000))
        return
    _, holed, t = made_up(options.rows)
    print(
        f"{options.rows} x {N_COLUMNS}, a fifth missing, room for {N_FEATURES} features and "
        f"{options.factors} factors"
    )
    for n_threads in (1, 2):
        parts = seconds(holed, t, n_threads, options.factors)
        total = sum(parts.values())
        shown = ", ".join(f"{name} {value:.3f}" for name, value in parts.items())
        print(f"{n_threads} thread(s): {total:.2f} s a sweep ({shown})")


if __name__ == "__main__":
    main()
