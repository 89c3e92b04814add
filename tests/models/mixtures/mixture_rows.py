"""Rows of clusters that come and go, small and large."""

import numpy as np

from thincrm.models.mixtures.model import MixtureModel

MEANS = np.array([[0.0, 0.0], [6.0, 6.0], [-6.0, 6.0]])


def come_and_go(seed, n_rows=90, holes=0.1, n_times=9):
    """Return (Y, t, truth): one cluster throughout, one early, one late."""
    rng = np.random.default_rng(seed)
    t = rng.integers(0, n_times, n_rows) / (n_times - 1)
    weight = np.stack(
        [np.full(n_rows, 0.5), np.exp(-(((t - 0.1) / 0.2) ** 2)), np.exp(-(((t - 0.9) / 0.2) ** 2))]
    )
    edge = np.cumsum(weight, axis=0)
    truth = (rng.random(n_rows) * edge[-1] > edge).sum(0)
    Y = MEANS[truth] + rng.standard_normal((n_rows, 2))
    Y[rng.random(Y.shape) < holes] = np.nan
    return Y, t, truth


def small(**settings):
    """Return a mixture that is quickly fitted."""
    chosen = {"max_clusters": 8, "n_sweeps": 60, "n_draws": 10, "random_state": 1}
    return MixtureModel(**{**chosen, "n_threads": 1, "quiet": True, **settings})
