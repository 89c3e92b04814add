"""Held-out density regression: thinned mixtures beside what else there is, on one split each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from thincrm.experiments.conditional_densities import (
    Density,
    gaussian_process,
    kernel_density,
    variational_mixture,
)
from thincrm.experiments.mixture_settings import MixtureSettings, Pairs
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.model import MixtureModel
from thincrm.models.mixtures.regression import RegressionClusters
from thincrm.numerics.arrays import Float

__all__ = ["METHODS", "PUBLISHED", "run"]

METHODS = ("constant", "linear", "scikit-learn", "gaussian process", "kernel density")
PUBLISHED = {  # Foti and Williamson (2012): the means of logs, then log of means; on other releases
    "motor": "-0.87 to -1.19; -0.40",
    "CMB": "-0.15 to -0.41; -0.06",
}
_KEYS = ("data", "split", "method", "score", "clusters", "covered", "seconds")
_LIKELIHOODS = {"constant": GaussianClusters(), "linear": RegressionClusters()}


def run(
    settings: MixtureSettings,
    report: Callable[[pd.DataFrame], None],
    before: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return a row per data set, split and method: score, clusters, coverage of 90 % intervals.

    Rows of `before` that have the same settings are taken as they are.
    """
    common = {name: getattr(settings, name) for name in ("seed", "sweeps", "max_clusters")}
    rows = _same(before, common)
    known = {(row["data"], row["split"], row["method"]) for row in rows}
    for name, pairs in settings.pairs().items():
        for split in range(settings.splits):
            begin = time.monotonic()
            left = [method for method in METHODS if (name, split, method) not in known]
            for found in _one_split(settings, pairs, split, left):
                seconds = time.monotonic() - begin
                rows.append({"data": name, "split": split, **found, "seconds": seconds, **common})
                report(pd.DataFrame(rows))
                begin = time.monotonic()
    return pd.DataFrame(rows)


def _same(before: pd.DataFrame | None, common: dict[str, int]) -> list[dict[str, object]]:
    """Return the rows that were made with these settings."""
    if before is None or not {*_KEYS, *common} <= set(before.columns):
        return []
    alike = np.all([before[name] == value for name, value in common.items()], axis=0)
    rows = before[alike].to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def _one_split(
    settings: MixtureSettings, pairs: Pairs, split: int, methods: list[str]
) -> Iterator[dict[str, object]]:
    rng = np.random.default_rng([settings.seed, split])
    order = rng.permutation(pairs.y.size)
    out, kept = np.split(order, [max(1, pairs.y.size // 10)])
    t, y, new_t, new_y = pairs.t[kept], pairs.y[kept], pairs.t[out], pairs.y[out]
    for name in methods:
        if name in _LIKELIHOODS:
            model = MixtureModel(
                likelihood=_LIKELIHOODS[name], gates="weighted",
                max_clusters=settings.max_clusters, n_sweeps=settings.sweeps,
                random_state=settings.seed + split, quiet=True,
            ).fit(y[:, None], t=t)  # fmt: skip
            yield {
                "method": name,
                "score": model.score(new_y[:, None], t=new_t),
                "clusters": float(model.n_clusters_.mean()),
                "covered": covered(model, new_t, new_y),
            }
        else:
            density = _rival(name, t, y, settings, split)
            score = float(density(new_t, new_y).mean())
            yield {"method": name, "score": score, "clusters": np.nan, "covered": np.nan}


def _rival(name: str, t: Float, y: Float, settings: MixtureSettings, split: int) -> Density:
    seed = settings.seed + split
    if name == "scikit-learn":
        return variational_mixture(t, y, settings.max_clusters, seed)
    return (gaussian_process if name == "gaussian process" else kernel_density)(t, y, seed)


def covered(model: MixtureModel, t: np.ndarray, y: np.ndarray) -> float:
    """Return the share of held-out responses in their 90 % predictive intervals."""
    ends = model.quantiles(q=(0.05, 0.95), t=t)["predictive"].to_numpy().reshape(2, -1)
    return float(((ends[0] <= y) & (y <= ends[1])).mean())
