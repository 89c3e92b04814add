"""The feature model's sweep: an ordered list of updates of a state.

usages -> features and variances -> activations -> masses and their law. Gates are never kept:
usages and activations are drawn with the gates summed out, and masses draw for themselves
which of the silent gates are open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import expit

from thincrm.levy.learning import learn, learn_concentration
from thincrm.levy.special import log_rest
from thincrm.models.features.kernel import Features, Sums, Table, redraw_rows
from thincrm.models.features.laws import (
    draw_features,
    draw_noise,
    draw_scale,
    squared_error,
)
from thincrm.models.features.moves import recombine, renew, turn_over
from thincrm.models.features.state import (
    BACKGROUND_PRECISION,
    FeatureProblem,
    FeatureState,
    add_up,
    blocks_of,
    features_of,
)
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.threads import map_blocks
from thincrm.ports import GateEvidence, MassEvidence

__all__ = ["SWEEP", "hits_of", "redraw_table"]

_SMALL_TABLE, _MOST_TRIES = 500_000, 4


Update = Callable[[np.random.Generator, FeatureProblem, FeatureState], FeatureState]


def redraw_table(
    rng: np.random.Generator, table: Table, features: Features, used: np.ndarray, weight: Float
) -> Sums:
    """Redraw gates, usages and weights in place; return the rows' sums."""
    key, cuts = fresh_key(rng), blocks_of(table)
    shape = features.feature_FP.shape

    def work(block: int, _: int) -> Sums:
        sums = Sums.zero(*shape)
        redraw_rows(cuts[block], cuts[block + 1], key, table, features, used, weight, sums)
        return sums

    return add_up(map_blocks(work, len(cuts) - 1, 1))


def redraw_usages(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
) -> FeatureState:
    """Redraw which rows use which features, and how strongly, gates summed out."""
    used, weight = state.used.copy(), state.weight.copy()
    sums = redraw_table(rng, problem.table, features_of(problem, state), used, weight)
    return replace(state, used=used, weight=weight, gram=sums.gram_FFP, cross=sums.cross_FP)


def redraw_features(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
) -> FeatureState:
    """Redraw the features and the background."""
    sums, n_features = Sums(state.gram, state.cross), problem.n_features
    prior_F = np.full(len(state.feature), state.scale)
    prior_F[n_features:] = BACKGROUND_PRECISION
    return replace(state, feature=draw_features(rng, sums, state.noise, prior_F))


def redraw_variances(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
) -> FeatureState:
    """Redraw the variance of every column's noise, and that of the features."""
    value, seen = problem.table.value_NP, problem.table.seen_NP
    sums = Sums(state.gram, state.cross)
    error_P = squared_error(sums, (value**2).sum(0), state.feature)
    return replace(
        state,
        noise=draw_noise(rng, seen.sum(0), error_P),
        scale=draw_scale(rng, state.feature[: problem.n_features]),
    )


def hits_of(problem: FeatureProblem, state: FeatureState) -> Int:
    """Return the (T, K) rows at each covariate that use each feature."""
    start_T = np.concatenate([[0], np.cumsum(problem.trials)[:-1]])
    return np.asarray(np.add.reduceat(state.used, start_T, axis=0, dtype=np.int64))


def gate_evidence(problem: FeatureProblem, state: FeatureState) -> GateEvidence:
    """Return what usages say of the gates: a gate behind which a feature is used is open.

    A silent one has q = (1 - pi)^m, m the rows behind it.
    """
    hits, rest = hits_of(problem, state), log_rest(state.log_mass)
    if not problem.shared:
        return GateEvidence(hits, problem.trials, np.tile(rest, (len(hits), 1)))
    once = np.ones_like(problem.trials)
    return GateEvidence((hits > 0).astype(np.int64), once, np.outer(problem.trials, rest))


def redraw_activations(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
) -> FeatureState:
    """Redraw the thinning function's variables, gates summed out."""
    found = gate_evidence(problem, state)
    return replace(state, x=problem.thinning.redraw(rng, state.x, found, problem.prepared))


def mass_evidence(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
) -> MassEvidence:
    """Draw the silent gates that are open; rows behind open gates are hits or misses."""
    gates = gate_evidence(problem, state)
    log_odds = problem.thinning.log_odds(state.x, problem.prepared)
    silent = gates.trials[:, None] - gates.positive
    opened = rng.binomial(silent, expit(log_odds + gates.log_q)) + gates.positive
    rows = opened * problem.trials[:, None] if problem.shared else opened
    hits = hits_of(problem, state).sum(0)
    return MassEvidence.of(problem.n_features, hits=hits, misses=rows.sum(0) - hits)


def redraw_masses(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
) -> FeatureState:
    """Redraw the masses, and the Lévy measure's parameters with the masses integrated out."""
    if problem.sure:
        return replace(state, log_mass=np.zeros(problem.n_features))
    found = mass_evidence(rng, problem, state)
    if not problem.learn_masses:
        return replace(state, log_mass=state.levy.redraw(rng, state.log_mass, found))
    levy = learn_concentration(state.levy, rng, found)
    levy, log_mass = learn(levy, rng, state.log_mass, found)
    return replace(state, levy=levy, log_mass=log_mass)


class _Held:
    """Activations that stay as they are while features move: computed once, not at every try."""

    def __init__(self, log_odds_TK: Float) -> None:
        self._log_odds_TK = log_odds_TK

    def log_odds(self, x: object, prepared: object) -> Float:
        return self._log_odds_TK


def explore(rng: np.random.Generator, problem: FeatureProblem, state: FeatureState) -> FeatureState:
    """Try moves of whole features: a few where the table is small, else one of each kind."""
    held = _Held(problem.thinning.log_odds(state.x, problem.prepared))
    problem = replace(problem, thinning=held)
    n_tries = int(np.clip(_SMALL_TABLE // problem.table.value_NP.size, 1, _MOST_TRIES))
    for move in (renew, recombine, turn_over) * n_tries:
        state = move(rng, problem, state)
    return state


SWEEP: tuple[Update, ...] = (
    explore,
    redraw_usages,
    redraw_features,
    redraw_variances,
    redraw_activations,
    redraw_masses,
)
