"""Where a feature model's chain starts."""

from __future__ import annotations

import numpy as np

from thincrm.gibbs.features import FeatureProblem, FeatureState, redraw_features
from thincrm.likelihood.linear_gaussian import Sums, add_rows

__all__ = ["start_state"]


def start_state(rng: np.random.Generator, problem: FeatureProblem) -> FeatureState:
    """Return a state to start from: random usages, features drawn to fit them."""
    table, n_features = problem.table, problem.n_features
    n_rows, n_columns = table.value_NP.shape
    used = (rng.random((n_rows, n_features)) < 0.2).astype(np.int8)
    weight = rng.standard_normal((n_rows, n_features if problem.real else 0))
    sums = Sums.zero(n_features + int(problem.background), n_columns)
    add_rows(0, n_rows, table, used, weight, problem.real, sums)
    state = FeatureState(
        used=used,
        weight=weight,
        feature=np.zeros(sums.cross_FP.shape),
        noise=np.full(n_columns, 2.0),
        scale=1.0,
        log_mass=np.full(n_features, np.log(0.2)),
        x=problem.thinning.draw(rng, n_features, problem.prepared),
        levy=problem.levy,
        gram=sums.gram_FFP,
        cross=sums.cross_FP,
    )
    return redraw_features(rng, problem, state)
