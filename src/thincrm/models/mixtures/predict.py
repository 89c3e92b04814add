"""What a draw says of rows it has not seen: densities, distribution functions, quantiles."""

from __future__ import annotations

import numpy as np

from thincrm.models.mixtures.clusters import Clusters, Params, Rows, TableClusters
from thincrm.numerics.arrays import Bool, Float
from thincrm.numerics.threads import map_blocks

__all__ = ["log_joint_density", "mixture_cdf", "mixture_quantile"]

_BLOCK_ROWS = 2048
_HALVINGS = 80


def log_joint_density(law: Clusters, rows: Rows, params: Params, log_weight_NA: Float) -> Float:
    """Return the (N, A) logs of w_nk f(y_n | θ_k): their log-sum over k is the log density.

    Divided by that sum they are the chances that row n is of cluster k.
    """
    packed = law.packed(params)
    out_NA = np.empty(log_weight_NA.shape)

    def work(first: int, stop: int) -> None:
        law.log_density(first, stop, rows, packed, out_NA[first:stop])

    map_blocks(work, len(out_NA), _BLOCK_ROWS)
    return np.asarray(out_NA + log_weight_NA)


def mixture_cdf(
    law: TableClusters, params: Params, column: int, y_G: Float, weight_TA: Float
) -> Float:
    """Return the (T, G) probabilities that a new value of a column is at most y."""
    return np.asarray(weight_TA @ law.cdf(params, column, y_G).T)


def mixture_quantile(
    law: TableClusters, params: Params, column: int, q_Q: Float, weight_TA: Float
) -> Float:
    """Return the (T, Q) quantiles of a new value of a column, by bisection."""
    low, high = (np.full((len(weight_TA), q_Q.size), end) for end in law.reach(params, column, q_Q))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        cdf_A = law.cdf(params, column, middle.ravel()).reshape(*middle.shape, -1)
        below: Bool = np.einsum("tqa,ta->tq", cdf_A, weight_TA) < q_Q
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(high)
