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
from dataclasses import replace
from typing import TypeVar

import numpy as np

from thincrm.models.features.search_kernel import Pair, look_at, strip, take_up
from thincrm.models.features.state import (
    BACKGROUND_PRECISION,
    FeatureProblem,
    FeatureState,
    blocks_of,
    features_of,
    sums_of,
)
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.threads import map_blocks

__all__ = ["Search", "random_share", "recombine", "renew", "turn_over"]

_STEPS = 4
R = TypeVar("R")


class Search:
    """Looks for the vector of feature k, all but it and its partner j given (j < 0: no partner)."""

    def __init__(self, problem: FeatureProblem, state: FeatureState, k: int, j: int = -1) -> None:
        self.problem, self.state, self.k, self.j = problem, state, k, j
        self.cuts = blocks_of(problem.table)
        features = features_of(problem, state)
        both = [k, j if j >= 0 else k]
        self.pair = Pair(
            np.ascontiguousarray(features.log_open_TK[:, both].T),
            np.ascontiguousarray(features.log_shut_TK[:, both].T),
            features.log_mass_K[both],
            features.log_rest_K[both],
            state.noise,
            problem.real,
        )
        self.partner_P = state.feature[j] if j >= 0 else np.zeros(state.noise.size)
        self.left_NP = np.empty(problem.table.value_NP.shape)
        table, used, weight = problem.table, state.used, state.weight
        self._blocks(
            lambda first, stop: strip(
                first, stop, k, j, table, features, used, weight, self.left_NP
            )
        )

    @property
    def log_bare(self) -> float:
        """Return the log likelihood of the rows without the pair, up to a constant."""
        return -0.5 * float((self.left_NP**2).sum(0) @ self.state.noise)

    def _blocks(self, work: Callable[[int, int], R]) -> list[R]:
        cuts = self.cuts
        return map_blocks(lambda b, _: work(cuts[b], cuts[b + 1]), len(cuts) - 1, 1)

    def look(self, a_P: Float, b_P: Float | None = None) -> tuple[float, Float, Float]:
        """Return the candidate's log marginal likelihood, and the normal law it suggests.

        The law is that of a feature whose rows use it as they would use the candidate: mean and
        precision of every entry.
        """
        table, noise = self.problem.table, self.state.noise
        beside_P = self.partner_P if b_P is None else b_P

        def work(first: int, stop: int) -> tuple[float, Float]:
            pull = np.zeros((2, a_P.size))
            log = look_at(first, stop, table, self.pair, self.left_NP, a_P, beside_P, pull)
            return log, pull

        parts = self._blocks(work)
        pull = np.sum([part[1] for part in parts], axis=0)
        precision_P = noise * pull[1] + self.state.scale
        return sum(part[0] for part in parts), noise * pull[0] / precision_P, precision_P

    def climb(self, row: int, share: float, n_steps: int) -> tuple[Float, Float]:
        """Return the normal law (mean, precision) reached from the rows most like a given one.

        Likeness is the projection on the row's residual, over the row's seen cells; the first
        guess is the mean residual of the `share` of rows most like it.
        """
        seen_NP, left_NP = self.problem.table.seen_NP, self.left_NP
        weight_P = self.state.noise * left_NP[row]
        like_N = left_NP @ weight_P / np.sqrt(seen_NP @ (weight_P * left_NP[row]) + 1e-12)
        n_like = max(2, round(share * like_N.size))
        most = np.argpartition(-like_N, min(n_like, like_N.size) - 1)[:n_like]
        a_P = left_NP[most].sum(0) / np.maximum(seen_NP[most].sum(0), 1.0)
        precision_P = a_P
        for _ in range(n_steps):
            _, a_P, precision_P = self.look(a_P)
        return a_P, precision_P

    def take(self, rng: np.random.Generator, a_P: Float, b_P: Float | None = None) -> FeatureState:
        """Return the state with feature k (and j) replaced, and usages of both drawn."""
        state, problem, key = self.state, self.problem, fresh_key(rng)
        used, weight, feature = state.used.copy(), state.weight.copy(), state.feature.copy()
        feature[self.k] = a_P
        beside_P = self.partner_P if b_P is None else b_P
        if self.j >= 0:
            feature[self.j] = beside_P
        self._blocks(
            lambda first, stop: take_up(
                first, stop, key, self.k, self.j, problem.table, self.pair, self.left_NP,
                a_P, beside_P, used, weight,
            )
        )  # fmt: skip
        sums = sums_of(problem, used, weight)
        return replace(
            state, used=used, weight=weight, feature=feature, gram=sums.gram_FFP,
            cross=sums.cross_FP,
        )  # fmt: skip


def _pair(rng: np.random.Generator, features: Int) -> tuple[int, int]:
    """Return two different ones of some features, or (the only one, -1)."""
    if features.size < 2:
        return int(features[0]), -1
    k, j = rng.choice(features, 2, replace=False)
    return int(k), int(j)


def random_share(rng: np.random.Generator) -> float:
    """Return a share of rows to start from: from 1 to 30 %, even in its logarithm."""
    return float(0.01 * 30.0 ** rng.random())


def renew(rng: np.random.Generator, problem: FeatureProblem, state: FeatureState) -> FeatureState:
    """Propose a new vector for a random feature: from the prior, or from what is left over."""
    k, j = _pair(rng, np.arange(problem.n_features))
    search = Search(problem, state, k, j)
    row = int(rng.integers(len(state.used)))
    mean_P, precision_P = search.climb(row, random_share(rng), _STEPS)
    prior_P = np.full(mean_P.size, state.scale)
    new_P = rng.standard_normal(mean_P.size)
    new_P = (
        new_P / np.sqrt(prior_P) if rng.random() < 0.5 else mean_P + new_P / np.sqrt(precision_P)
    )

    def log_weight(a_P: Float) -> float:
        prior = _log_normal(a_P, 0.0, prior_P)
        proposal = np.logaddexp(prior, _log_normal(a_P, mean_P, precision_P))
        return search.look(a_P)[0] + prior - float(proposal)

    if np.log(rng.random()) < log_weight(new_P) - log_weight(state.feature[k]):
        return search.take(rng, new_P)
    return state


def recombine(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
) -> FeatureState:
    """Propose A_k + A_j, A_k - A_j, or (A_k + A_j, -A_j), of two features in use.

    Both must still be in use thereafter, or the way back would not be open.
    """
    in_use = np.flatnonzero(state.used.any(axis=0))
    if in_use.size < 2:
        return state
    k, j = _pair(rng, in_use)
    a_P, b_P = state.feature[k], state.feature[j]
    new_a_P, new_b_P = ((a_P + b_P, b_P), (a_P - b_P, b_P), (a_P + b_P, -b_P))[rng.integers(3)]
    search, prior_P = Search(problem, state, k, j), np.full(a_P.size, state.scale)
    gain = search.look(new_a_P, new_b_P)[0] - search.look(a_P)[0]
    gain += _log_normal(new_a_P, 0.0, prior_P) - _log_normal(a_P, 0.0, prior_P)
    if np.log(rng.random()) < gain:
        new = search.take(rng, new_a_P, new_b_P)
        return new if new.used[:, [k, j]].any(axis=0).all() else state
    return state


def turn_over(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
) -> FeatureState:
    """Propose -A_k for A_k, and the background plus A_k: rows with and without it change places."""
    if not problem.background:
        return state
    k, last = int(rng.integers(problem.n_features)), len(state.feature) - 1
    old_P, level_P = state.feature[k], state.feature[last]
    here = Search(problem, state, k)
    feature = state.feature.copy()
    feature[last] = level_P + old_P
    there = Search(problem, replace(state, feature=feature), k)
    prior_P = np.full(old_P.size, BACKGROUND_PRECISION)
    gain = there.look(-old_P)[0] - here.look(old_P)[0] + there.log_bare - here.log_bare
    gain += _log_normal(level_P + old_P, 0.0, prior_P) - _log_normal(level_P, 0.0, prior_P)
    return there.take(rng, -old_P) if np.log(rng.random()) < gain else state


def _log_normal(a_P: Float, mean: Float | float, precision_P: Float) -> float:
    return 0.5 * float((np.log(precision_P) - precision_P * (a_P - mean) ** 2).sum())
