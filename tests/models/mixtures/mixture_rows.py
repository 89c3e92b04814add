"""Rows of clusters that come and go, small and large."""

import numpy as np

from thincrm.models.mixtures.model import MixtureModel

MEANS = np.array([[0.0, 0.0], [6.0, 6.0], [-6.0, 6.0]])


def shares_of(rng, times, shared):
    """Return the (T, 3) shares: chances of being open as weights, or as those of shared gates."""
    opened = np.stack([np.exp(-(((times - middle) / 0.2) ** 2)) for middle in (0.1, 0.9)], axis=1)
    if shared:
        opened = (rng.random(opened.shape) < opened).astype(float)
    weight = np.column_stack([np.full(len(times), 0.5), opened])
    return weight / weight.sum(1, keepdims=True)


def come_and_go(seed, n_rows=90, holes=0.1, n_times=9, shared=False):
    """Return (Y, t, truth, shares): one cluster throughout, one early, one late."""
    rng = np.random.default_rng(seed)
    row = rng.integers(0, n_times, n_rows)
    times = np.arange(n_times) / (n_times - 1)
    share_TK, t = shares_of(rng, times, shared), times[row]
    truth = (rng.random((n_rows, 1)) > np.cumsum(share_TK[row], axis=1)).sum(1).clip(max=2)
    Y = MEANS[truth] + rng.standard_normal((n_rows, 2))
    Y[rng.random(Y.shape) < holes] = np.nan
    return Y, t, truth, share_TK


def small(**settings):
    """Return a mixture that is quickly fitted."""
    chosen = {"max_clusters": 8, "n_sweeps": 60, "n_draws": 10, "random_state": 1}
    return MixtureModel(**{**chosen, "n_threads": 1, "quiet": True, **settings})
