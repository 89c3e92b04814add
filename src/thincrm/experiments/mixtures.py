"""Held-out density regression: thinned mixtures beside what else there is, on one split each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from thincrm.experiments.conditional_densities import (
    gaussian_process,
    kernel_density,
    variational_mixture,
)
from thincrm.experiments.mixture_settings import MixtureSettings, Pairs
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.model import MixtureModel
from thincrm.models.mixtures.regression import RegressionClusters

__all__ = ["METHODS", "PUBLISHED", "run"]

METHODS = ("constant", "linear", "scikit-learn", "gaussian process", "kernel density")
PUBLISHED = {  # Foti and Williamson (2012): the means of logs, then log of means; on other releases
    "motor": "-0.87 to -1.19; -0.40",
    "CMB": "-0.15 to -0.41; -0.06",
}
_LIKELIHOODS = {"constant": GaussianClusters(), "linear": RegressionClusters()}


def run(settings: MixtureSettings, report: Callable[[pd.DataFrame], None]) -> pd.DataFrame:
    """Return a row per data set, split and method: score, clusters, coverage of 90 % intervals."""
    rows: list[dict[str, object]] = []
    for name, pairs in settings.pairs().items():
        for split in range(settings.splits):
            begin = time.monotonic()
            for found in _one_split(settings, pairs, split):
                seconds = time.monotonic() - begin
                rows.append({"data": name, "split": split, **found, "seconds": seconds})
                report(pd.DataFrame(rows))
                begin = time.monotonic()
    return pd.DataFrame(rows)


def _one_split(settings: MixtureSettings, pairs: Pairs, split: int) -> Iterator[dict[str, object]]:
    rng = np.random.default_rng([settings.seed, split])
    order = rng.permutation(pairs.y.size)
    out, kept = np.split(order, [max(1, pairs.y.size // 10)])
    t, y, new_t, new_y = pairs.t[kept], pairs.y[kept], pairs.t[out], pairs.y[out]
    for name, likelihood in _LIKELIHOODS.items():
        model = MixtureModel(
            likelihood=likelihood, gates="weighted", max_clusters=settings.max_clusters,
            n_sweeps=settings.sweeps, random_state=settings.seed + split, quiet=True,
        )  # fmt: skip
        model.fit(y[:, None], t=t)
        yield {
            "method": name,
            "score": model.score(new_y[:, None], t=new_t),
            "clusters": float(model.n_clusters_.mean()),
            "covered": covered(model, new_t, new_y),
        }
    rivals = (
        variational_mixture(t, y, settings.max_clusters, settings.seed + split),
        gaussian_process(t, y, settings.seed + split),
        kernel_density(t, y, settings.seed + split),
    )
    for name, density in zip(METHODS[2:], rivals, strict=True):
        score = float(density(new_t, new_y).mean())
        yield {"method": name, "score": score, "clusters": np.nan, "covered": np.nan}


def covered(model: MixtureModel, t: np.ndarray, y: np.ndarray) -> float:
    """Return the share of held-out responses in their 90 % predictive intervals."""
    ends = model.quantiles(q=(0.05, 0.95), t=t)["predictive"].to_numpy().reshape(2, -1)
    return float(((ends[0] <= y) & (y <= ends[1])).mean())
