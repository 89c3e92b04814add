"""A kept draw of a feature model, and how features of two draws are matched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from thincrm.numerics.arrays import Float, Int

__all__ = ["FeatureDraw", "match_features"]


@dataclass(frozen=True, slots=True)
class FeatureDraw:
    """One kept draw of one chain of a feature model, in standard units.

    Attributes
    ----------
    chain, sweep : int
        Where the draw comes from.
    feature : (F, P) float
        The K features, and the background below them if there is one.
    noise : (P,) float
        1 / variance of every column's noise.
    log_mass : (K,) float
        Log probability that a row behind an open gate uses the feature.
    x : named tuple
        The thinning function's variables.
    hits : (T, K) int
        Rows at each covariate that use the feature.
    scalars : dict of str to float
        Label-free quantities: number of features, log likelihood, parameters of the Lévy measure.
    """

    chain: int
    sweep: int
    feature: Float
    noise: Float
    log_mass: Float
    x: Any
    hits: Int
    scalars: dict[str, float]

    @property
    def n_features(self) -> int:
        """Return K, used or not."""
        return self.log_mass.size

    @property
    def total(self) -> Int:
        """Return the (K,) rows that use each feature."""
        return np.asarray(self.hits.sum(0))


def match_features(reference: FeatureDraw, draw: FeatureDraw, signed: bool) -> tuple[Int, Float]:
    """Return, for each feature of `reference`, the feature of `draw` that is it, and its sign.

    The assignment maximises the total cosine of the features, each weighed by its rows (Hungarian
    algorithm). Features no row uses are nobody's (-1). The sign is -1 where a feature with real
    weights (not `signed`) came back upside down.
    """
    a_KP, b_LP = reference.feature[: reference.n_features], draw.feature[: draw.n_features]
    size = np.outer(np.linalg.norm(a_KP, axis=1), np.linalg.norm(b_LP, axis=1))
    cosine = (a_KP @ b_LP.T) / np.maximum(size, 1e-300)
    weight = np.sqrt(np.outer(reference.total, draw.total))
    first, second = linear_sum_assignment(-(cosine if signed else np.abs(cosine)) * weight)
    found, sign = np.full(reference.n_features, -1, np.int64), np.ones(reference.n_features)
    kept = weight[first, second] > 0
    found[first[kept]] = second[kept]
    if not signed:
        sign[first] = np.where(cosine[first, second] < 0, -1.0, 1.0)
    return found, sign
