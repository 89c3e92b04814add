"""Where a feature model's chain starts: a guess, then features one by one as long as they pay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thincrm.gibbs.feature_moves import Search, random_share
from thincrm.gibbs.feature_state import FeatureProblem, FeatureState, sums_of
from thincrm.gibbs.features import (
    explore,
    redraw_activations,
    redraw_features,
    redraw_masses,
    redraw_usages,
    redraw_variances,
)
from thincrm.likelihood.feature_guess import guess_usages
from thincrm.numerics.arrays import Float
from thincrm.thinning import Always

__all__ = ["start_state"]

_SEEDS = 10
_STEPS = 8
_SETTLE = 5
_CURVES = 10
_READY = np.log(0.1)  # log probability that a row uses a new feature


def start_state(rng: np.random.Generator, problem: FeatureProblem) -> FeatureState:
    """Return a state to start from.

    A candidate is what expectation-maximisation makes of the residual of a row; the best of a few
    is added if its marginal likelihood pays for its entries (Laplace's approximation). Sweeps with
    every gate open let the features already there make room after each addition.
    """
    always = Always()
    prepared = always.prepare(np.arange(problem.trials.size))
    ungated = replace(problem, thinning=always, prepared=prepared, sure=False)
    state = _guess(rng, ungated)
    for _ in range(problem.n_features):
        unused = np.flatnonzero(~state.used.any(axis=0))
        if unused.size == 0:
            break
        k = int(unused[0])
        vector_P = _candidate(rng, ungated, state, k)
        if vector_P is None:
            break
        state = Search(ungated, state, k).take(rng, vector_P)
        for update in (
            redraw_features,
            redraw_variances,
            redraw_masses,
            explore,
            redraw_usages,
        ) * _SETTLE:
            state = update(rng, ungated, state)
    state = replace(state, x=problem.thinning.draw(rng, problem.n_features, problem.prepared))
    for _ in range(_CURVES):
        state = redraw_activations(rng, problem, state)
    return redraw_masses(rng, problem, state)


def _candidate(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState, k: int
) -> Float | None:
    """Return the best vector for feature k of a few, or None if none pays for its entries."""
    mass = state.log_mass.copy()
    mass[k] = _READY
    search = Search(problem, replace(state, log_mass=mass), k)
    size_N = (search.left_NP**2 * state.noise).sum(1)
    best, vector = 0.0, None
    for row in rng.choice(size_N.size, _SEEDS, p=size_N / size_N.sum()):
        mean_P, precision_P = search.climb(int(row), random_share(rng), _STEPS)
        gain = search.look(mean_P)[0]
        gain += 0.5 * float((np.log(state.scale / precision_P) - state.scale * mean_P**2).sum())
        if gain > best:
            best, vector = gain, mean_P
    return vector


def _guess(rng: np.random.Generator, problem: FeatureProblem) -> FeatureState:
    (n_rows, n_columns), n_features = problem.table.value_NP.shape, problem.n_features
    used = np.zeros((n_rows, n_features), np.int8)
    if not problem.real:
        guess = guess_usages(rng, problem.table, n_features - 1, problem.background)
        used[:, : guess.shape[1]] = guess
    weight = np.zeros((n_rows, n_features if problem.real else 0))
    sums = sums_of(problem, used, weight)
    state = FeatureState(
        used=used,
        weight=weight,
        feature=np.zeros(sums.cross_FP.shape),
        noise=np.full(n_columns, 1.0),
        scale=1.0,
        log_mass=np.full(n_features, _READY),
        x=problem.thinning.draw(rng, n_features, problem.prepared),
        levy=problem.levy,
        gram=sums.gram_FFP,
        cross=sums.cross_FP,
    )
    for update in (redraw_features, redraw_variances) * _SETTLE:
        state = update(rng, problem, state)
    for update in (redraw_masses, redraw_usages, redraw_features, redraw_variances) * _SETTLE:
        state = update(rng, problem, state)
    return state
