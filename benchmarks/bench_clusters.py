"""Simulated clusters that come and go: how much of the truth a mixture finds.

    python benchmarks/bench_clusters.py [--sets 10] [--sweeps 1000] [--gates shared]

Every set has 3 to 8 clusters with full covariances in two columns, 2,000 rows at 50 covariates and
a fifth of the cells missing; a cluster's weight is a bump in t. Compared with the truth: the
adjusted Rand index beside that of the true parameters, the number of clusters, the mean absolute
error of shares through t and how often their 90 % bands hold, and R-hat between two chains.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.stats import multivariate_normal
from sklearn.metrics import adjusted_rand_score

import thincrm as tc
from thincrm.models.mixtures.partition import contingency


class Truth(NamedTuple):
    """A set of rows and what made them."""

    table: np.ndarray  # N x 2
    t: np.ndarray  # N
    label: np.ndarray  # N
    grid: np.ndarray  # T
    share: np.ndarray  # T x K
    best: float  # adjusted Rand index of the likeliest clusters under the true parameters


def simulated(seed: int, n_rows: int = 2000, n_times: int = 50) -> Truth:
    """Return a set of clusters that come and go."""
    rng = np.random.default_rng([14, seed])
    n_clusters = 3 + seed % 6
    mean = _spread_out(rng, n_clusters)
    root = rng.standard_normal((n_clusters, 2, 2)) * 0.5 + 0.7 * np.eye(2)
    covariance = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(2)
    grid = np.linspace(0.0, 1.0, n_times)
    centre = rng.permutation((np.arange(n_clusters) + rng.random(n_clusters)) / n_clusters)
    length, mass = rng.uniform(0.1, 0.35, n_clusters), rng.uniform(0.5, 1.5, n_clusters)
    share = mass * np.exp(-0.5 * ((grid[:, None] - centre) / length) ** 2)
    share /= share.sum(1, keepdims=True)
    row = rng.integers(0, n_times, n_rows)
    label = (rng.random((n_rows, 1)) > np.cumsum(share[row], axis=1)).sum(1)
    noise = np.einsum("nij,nj->ni", np.linalg.cholesky(covariance)[label], _normal(rng, n_rows))
    table = mean[label] + noise
    table[rng.random(table.shape) < 0.2] = np.nan
    log_NK = np.log(share[row]) + _log_density(table, mean, covariance)
    best = adjusted_rand_score(label, log_NK.argmax(1))
    return Truth(table, grid[row], label, grid, share, best)


def _normal(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    return rng.standard_normal((n_rows, 2))


def _spread_out(rng: np.random.Generator, n_clusters: int) -> np.ndarray:
    """Return centres at least 4 apart."""
    found: list[np.ndarray] = []
    while len(found) < n_clusters:
        place = rng.uniform(-8.0, 8.0, 2)
        if all(np.hypot(*(place - other)) > 4.0 for other in found):
            found.append(place)
    return np.array(found)


def _log_density(table: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return (N, K) log densities of the seen cells."""
    out = np.zeros((len(table), len(mean)))
    seen = ~np.isnan(table)
    for columns in ([0], [1], [0, 1]):
        here = np.flatnonzero((seen == np.isin([0, 1], columns)).all(1))
        for k in range(len(mean)):
            law = multivariate_normal(mean[k, columns], covariance[k][np.ix_(columns, columns)])
            out[here, k] = law.logpdf(table[here][:, columns])
    return out


def compared(truth: Truth, model: tc.MixtureModel) -> dict[str, float]:
    """Return how a fitted model compares with the truth."""
    found, n_true = model.activation(t=truth.grid), truth.share.shape[1]
    overlap = contingency(model.labels_, truth.label)
    mine, true = linear_sum_assignment(-overlap)
    share, low, high = (
        found.pivot(index="t", columns="cluster", values=name).to_numpy()[:, mine]
        for name in ("share", "share_lower", "share_upper")
    )
    known = truth.share[:, true]
    score = adjusted_rand_score(truth.label, model.labels_)
    return {
        "true": n_true, "clusters": len(overlap), "drawn": float(model.n_clusters_.mean()),
        "ARI": score, "of best": score / truth.best, "error": float(np.abs(share - known).mean()),
        "covered": float(((low <= known) & (known <= high)).mean()),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--gates", default="weighted")
    chosen = parser.parse_args()
    rows = []
    for seed in range(chosen.sets):
        truth, begin = simulated(seed), time.perf_counter()
        model = tc.MixtureModel(
            gates=chosen.gates, n_sweeps=chosen.sweeps, n_chains=chosen.chains, random_state=seed,
            quiet=True,
        ).fit(truth.table, t=truth.t)  # fmt: skip
        found = compared(truth, model)
        if chosen.chains > 1:
            judged = model.diagnostics()["rhat"]
            found |= {f"R-hat {name}": judged[name] for name in ("n_clusters", "log_joint")}
        found["seconds"] = time.perf_counter() - begin
        rows.append(found)
        print(pd.DataFrame(rows).round(3).tail(1).to_string(header=len(rows) == 1), flush=True)
    print(pd.DataFrame(rows).mean().round(3).to_string())


if __name__ == "__main__":
    main()
