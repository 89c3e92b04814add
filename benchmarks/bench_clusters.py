"""Simulated clusters that come and go: how much of the truth a mixture finds.

    python benchmarks/bench_clusters.py [--first 0] [--sets 10] [--sweeps 1000] [--gates shared]

Every set has 3 to 8 clusters with full covariances in two columns, 2,000 rows at 50 covariates and
a fifth of the cells missing; a cluster's weight is a bump in t. Compared with the truth: the
adjusted Rand index beside that of the true parameters, the number of clusters, the mean absolute
error of shares through t and how often their 90 % bands hold, and R-hat between two chains. "known"
is how often 90 % bands hold if every row's true cluster is given, and the form of the curves: one
set's curves are few numbers, and what bands hold of them differs from set to set by chance.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment, minimize
from scipy.special import log_softmax, softmax
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


def known_covered(truth: Truth, n_draws: int = 2000) -> float:
    """Return what bands of log w_k = a + b t + c t², fitted to the true clusters, hold of shares.

    Coefficients are drawn from the normal law at the maximum of the likelihood.
    """
    n_clusters = truth.share.shape[1]
    column_N3, column_T3 = (np.vander(2.0 * t - 1.0, 3) for t in (truth.t, truth.grid))
    is_K = np.eye(n_clusters)[truth.label]

    def log_weight(value: np.ndarray, column: np.ndarray) -> np.ndarray:
        return np.pad(column @ value.reshape(3, -1), ((0, 0), (1, 0)))

    def loss(value: np.ndarray) -> tuple[float, np.ndarray]:
        log_w = log_weight(value, column_N3)
        slope = column_N3.T @ (softmax(log_w, 1) - is_K)
        return -float((log_softmax(log_w, 1) * is_K).sum()), slope[:, 1:].ravel()

    best = minimize(loss, np.zeros(3 * (n_clusters - 1)), jac=True, method="BFGS").x
    chance = softmax(log_weight(best, column_N3), 1)[:, 1:]
    both = chance[:, :, None] * (np.eye(n_clusters - 1) - chance[:, None, :])
    bend = np.einsum("nij,nk,nl->kilj", both, column_N3, column_N3)
    spread = np.linalg.inv(bend.reshape(best.size, best.size))
    drawn = np.random.default_rng(0).multivariate_normal(best, spread, n_draws)
    low, high = np.quantile(
        [softmax(log_weight(value, column_T3), 1) for value in drawn], [0.05, 0.95], axis=0
    )
    return float(((low <= truth.share) & (truth.share <= high)).mean())


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
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--gates", default="weighted")
    chosen = parser.parse_args()
    rows = []
    for seed in range(chosen.first, chosen.first + chosen.sets):
        truth, begin = simulated(seed), time.perf_counter()
        model = tc.MixtureModel(
            gates=chosen.gates, n_sweeps=chosen.sweeps, n_chains=chosen.chains, random_state=seed,
            quiet=True,
        ).fit(truth.table, t=truth.t)  # fmt: skip
        found = compared(truth, model) | {"known": known_covered(truth)}
        if chosen.chains > 1:
            judged = model.diagnostics()["rhat"]
            found |= {f"R-hat {name}": judged[name] for name in ("n_clusters", "log_joint")}
        found["seconds"] = time.perf_counter() - begin
        rows.append(found)
        print(pd.DataFrame(rows).round(3).tail(1).to_string(header=len(rows) == 1), flush=True)
    print(pd.DataFrame(rows).mean().round(3).to_string())


if __name__ == "__main__":
    main()
