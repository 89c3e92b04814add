"""Moves of whole features, usages summed out: births, deaths, splits, merges, recombinations.

Drawn in turn, usages and features seldom find a new feature, cannot lose a superfluous one, and
never take a sum of two features apart. So a pair of features (k, j) is drawn at random, the usages
of both are summed out, and feature k is proposed anew (Metropolis-Hastings):

    A_k + A_j  or  A_k - A_j, which takes sums apart and puts them together; or
    A_k + A_j  and  -A_j  for A_j: rows that lacked the one now have the other; or a draw from
    q(a) = N(a; 0, s2) / 2  +  N(a; m, V) / 2,

where m is reached from the residual of a random row by a few steps of expectation-maximisation
and V is the spread of a feature of that many rows. The row is drawn without a look at the state,
and m and V do not depend on feature k or on either's usages, so q serves for the way back, too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thincrm.models.features.search import Search
from thincrm.models.features.state import (
    BACKGROUND_PRECISION,
    FeatureProblem,
    FeatureState,
    entry_prior,
)
from thincrm.numerics.arrays import Float, Int

__all__ = ["random_share", "recombine", "renew", "turn_over"]

_STEPS = 4
LogNormal = Callable[[Float, Float | float, Float], float]


def log_normal(a_P: Float, mean: Float | float, precision_P: Float) -> float:
    """Return the log density of independent normals, up to a constant."""
    return 0.5 * float((np.log(precision_P) - precision_P * (a_P - mean) ** 2).sum())


def _pair(rng: np.random.Generator, features: Int) -> tuple[int, int]:
    """Return two different ones of some features, or (the only one, -1)."""
    if features.size < 2:
        return int(features[0]), -1
    k, j = rng.choice(features, 2, replace=False)
    return int(k), int(j)


def random_share(rng: np.random.Generator) -> float:
    """Return a share of rows to start from: from 1 to 30 %, even in its logarithm."""
    return float(0.01 * 30.0 ** rng.random())


def renew(
    rng: np.random.Generator,
    problem: FeatureProblem,
    state: FeatureState,
    log_density: LogNormal = log_normal,
) -> FeatureState:
    """Propose a new vector for a random feature: from the prior, or from what is left over."""
    k, j = _pair(rng, np.arange(problem.n_atoms))
    search = Search(problem, state, k, j)
    row = int(rng.integers(problem.facts.n_rows))
    mean_P, precision_P = search.climb(row, random_share(rng), _STEPS)
    prior_P = entry_prior(problem, state.own)
    new_P = rng.standard_normal(mean_P.size)
    new_P = (
        new_P / np.sqrt(prior_P) if rng.random() < 0.5 else mean_P + new_P / np.sqrt(precision_P)
    )

    def log_weight(a_P: Float) -> float:
        prior = log_density(a_P, 0.0, prior_P)
        proposal = np.logaddexp(prior, log_density(a_P, mean_P, precision_P))
        return search.look(a_P)[0] + prior - float(proposal)

    if np.log(rng.random()) < log_weight(new_P) - log_weight(state.own.feature[k]):
        return search.take(rng, new_P)
    return state


def recombine(
    rng: np.random.Generator,
    problem: FeatureProblem,
    state: FeatureState,
    log_density: LogNormal = log_normal,
) -> FeatureState:
    """Propose A_k + A_j, A_k - A_j, or (A_k + A_j, -A_j), of two features in use.

    Both must still be in use thereafter, or the way back would not be open.
    """
    in_use = np.flatnonzero(state.evidence.hits.any(axis=0))
    if in_use.size < 2:
        return state
    k, j = _pair(rng, in_use)
    a_P, b_P = state.own.feature[k], state.own.feature[j]
    new_a_P, new_b_P = ((a_P + b_P, b_P), (a_P - b_P, b_P), (a_P + b_P, -b_P))[rng.integers(3)]
    search, prior_P = Search(problem, state, k, j), entry_prior(problem, state.own)
    gain = search.look(new_a_P, new_b_P)[0] - search.look(a_P)[0]
    gain += log_density(new_a_P, 0.0, prior_P) - log_density(a_P, 0.0, prior_P)
    if np.log(rng.random()) < gain:
        new = search.take(rng, new_a_P, new_b_P)
        return new if new.evidence.hits[:, [k, j]].any(axis=0).all() else state
    return state


def turn_over(
    rng: np.random.Generator,
    problem: FeatureProblem,
    state: FeatureState,
    log_bare: Callable[[Search], float] = lambda search: search.log_bare,
) -> FeatureState:
    """Propose -A_k for A_k, and the background plus A_k: rows with and without it change places."""
    if not problem.likelihood.background:
        return state
    own = state.own
    k, last = int(rng.integers(problem.n_atoms)), len(own.feature) - 1
    old_P, level_P = own.feature[k], own.feature[last]
    here = Search(problem, state, k)
    feature = own.feature.copy()
    feature[last] = level_P + old_P
    there = Search(problem, state.with_own(feature=feature), k)
    prior_P = np.full(old_P.size, BACKGROUND_PRECISION)
    gain = there.look(-old_P)[0] - here.look(old_P)[0] + log_bare(there) - log_bare(here)
    gain += log_normal(level_P + old_P, 0.0, prior_P) - log_normal(level_P, 0.0, prior_P)
    return there.take(rng, -old_P) if np.log(rng.random()) < gain else state
