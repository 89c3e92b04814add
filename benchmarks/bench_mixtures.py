"""A sweep of the mixture model against an iteration of scikit-learn's variational mixture.

    python benchmarks/bench_mixtures.py [--rows 100000] [--threads 1] [--covariance diagonal]

Both have the same made-up table: 10 columns, 20 clusters; the same run times both. Times are the
main thread's, so set OPENBLAS_NUM_THREADS=1; with --threads above 1 they are the wall's.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings

import numpy as np
from sklearn.mixture import BayesianGaussianMixture

import thincrm as tc
from thincrm.data.covariates import covariates
from thincrm.inference.engine import Threads
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.likelihood import MixtureLikelihood
from thincrm.models.mixtures.shards import as_shards
from thincrm.numerics.streams import sweep_generator
from thincrm.ports import Problem

WALL = "--threads" in sys.argv
SWEEPS, N_COLUMNS, N_CLUSTERS = 13, 10, 20


def clock() -> float:
    """Return seconds: of this thread's work, which other programs do not change, or the wall's."""
    return time.perf_counter() if WALL else time.thread_time()


def made_up(n_rows: int, n_times: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (table, covariates): 12 clusters that come and go."""
    rng = np.random.default_rng(0)
    t = rng.integers(0, n_times, n_rows) / n_times
    centre, place = rng.uniform(0.0, 1.0, 12), 2.0 * rng.standard_normal((12, N_COLUMNS))
    share = np.exp(-0.5 * ((t[:, None] - centre) / 0.3) ** 2)
    edge = np.cumsum(share, axis=1)
    label = (rng.random((n_rows, 1)) * edge[:, -1:] > edge).sum(1)
    table = place[label] + rng.standard_normal((n_rows, N_COLUMNS))
    return (table - table.mean(0)) / table.std(0), t


def sweep_seconds(
    table: np.ndarray, t: np.ndarray, gates: str, covariance: str, n_threads: int
) -> dict[str, float]:
    """Return the mean seconds of each update, the first left out: some often do nothing."""
    known, thinning = covariates(t), tc.Bump()
    spec = GaussianClusters(covariance)
    likelihood = MixtureLikelihood(spec.law(), gates)
    problem = Problem(
        levy=tc.GammaProcess(), thinning=thinning, likelihood=likelihood,
        prepared=thinning.prepare(known), trials=known.trials, n_atoms=N_CLUSTERS,
        shards=as_shards(spec.rows(table), known.row, known.trials), n_background=1,
        engine=Threads(n_threads),
    )  # fmt: skip
    spent: dict[str, list[float]] = {}
    with problem.engine.running():
        state = likelihood.start(sweep_generator(0, 0, 0), problem)
        for sweep in range(SWEEPS):
            rng = sweep_generator(0, 0, sweep + 1)
            for update in likelihood.updates:
                begin = clock()
                state = update(rng, problem, state)
                spent.setdefault(update.__name__, []).append(clock() - begin)
    return {name: float(np.mean(times[1:])) for name, times in spent.items()}


def iteration_seconds(table: np.ndarray, covariance: str) -> float:
    """Return the seconds of one variational iteration: eleven less one, over ten."""
    spent = []
    for n_iterations in (1, 11):
        kind = "diag" if covariance == "diagonal" else covariance
        model = BayesianGaussianMixture(
            n_components=N_CLUSTERS, covariance_type=kind, max_iter=n_iterations, tol=0.0,
            init_params="random", random_state=0,
        )  # fmt: skip
        begin = clock()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(table)
        spent.append(clock() - begin)
    return (spent[1] - spent[0]) / 10.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--covariance", default="diagonal")
    chosen = parser.parse_args()
    table, t = made_up(chosen.rows, chosen.times)
    peer = iteration_seconds(table, chosen.covariance)
    print(f"scikit-learn's iteration: {1e3 * peer:.1f} ms")
    for gates in ("shared", "weighted", "observation"):
        spent = sweep_seconds(table, t, gates, chosen.covariance, chosen.threads)
        total = sum(spent.values())
        parts = ", ".join(f"{name} {1e3 * value:.1f}" for name, value in spent.items())
        print(f"{gates}: {1e3 * total:.1f} ms a sweep, ratio {total / peer:.2f}  ({parts})")


if __name__ == "__main__":
    main()
