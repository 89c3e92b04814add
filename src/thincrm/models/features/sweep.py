"""The feature model's sweep: an ordered list of updates of a state.

exchanges -> usages -> features and variances -> activations -> masses and their law. Gates are
never kept: usages and activations are drawn with the gates summed out, and masses draw for
themselves which of the silent gates are open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import expit

from thincrm.inference.updates import (
    log_odds_of,
    redraw_activations,
    redraw_observations,
)
from thincrm.levy.learning import learn, learn_concentration
from thincrm.levy.special import log_rest
from thincrm.models.features.exchange import exchange
from thincrm.models.features.kernel import Features, Sums, Table, redraw_rows
from thincrm.models.features.laws import (
    DENSE_PRIOR,
    FEATURE_PRIOR,
    LEVEL_PRIOR,
    NOISE_PRIOR,
    draw_features,
    draw_noise,
    draw_precision,
    draw_rate,
    squared_error,
)
from thincrm.models.features.moves import recombine, renew, turn_over
from thincrm.models.features.state import (
    FeatureEvidence,
    FeatureLocal,
    FeatureProblem,
    FeatureShard,
    FeatureState,
    add_sums,
    hits_in,
    prior_of,
)
from thincrm.numerics.arrays import Float
from thincrm.numerics.threads import map_blocks
from thincrm.ports import GateEvidence, MassEvidence

__all__ = ["SWEEP", "redraw_table", "redraw_usages", "redraw_usages_of"]

_SMALL_TABLE, _MOST_TRIES = 500_000, 4
Update = Callable[[np.random.Generator, FeatureProblem, FeatureState], FeatureState]

redraw_usages = redraw_observations


def redraw_table(
    key: np.uint64, shard: FeatureShard, features: Features, local: FeatureLocal
) -> Sums:
    """Redraw gates, usages and weights in place; return the rows' sums."""
    table: Table = shard.table
    cuts, shape = shard.blocks(), features.feature_FP.shape

    def work(block: int, _: int) -> Sums:
        sums = Sums.zero(*shape)
        redraw_rows(cuts[block], cuts[block + 1], key, table, features, *local, sums)
        return sums

    return add_sums(map_blocks(work, len(cuts) - 1, 1))


def redraw_usages_of(
    key: np.uint64, shard: FeatureShard, local: FeatureLocal, features: Features
) -> tuple[FeatureLocal, FeatureEvidence]:
    """Redraw which rows use which features, and how strongly, gates summed out."""
    new = FeatureLocal(*(part.copy() for part in local))
    sums = redraw_table(key, shard, features, new)
    return new, FeatureEvidence(*sums, hits_in(shard, new.used))


def redraw_features(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
) -> FeatureState:
    """Redraw the features, the dense factors and the level, column by column."""
    own = state.own
    prior_FP = prior_of(problem, own)
    return state.with_own(feature=draw_features(rng, state.evidence.sums, own.noise, prior_FP))


def redraw_variances(
    rng: np.random.Generator,
    problem: FeatureProblem,
    state: FeatureState,
    noise_prior: tuple[float, float] | None = None,
    feature_prior: tuple[float, float] = FEATURE_PRIOR,
) -> FeatureState:
    """Redraw the variances: of every column's noise, of the features, of factors and level.

    Beside dense factors the noise's precisions are Gamma(1, rate), the rate learned from them all:
    columns that determine one another have next to none.
    """
    own, facts, rate = state.own, problem.facts, state.own.rate
    n_atoms, feature, dense = problem.n_atoms, own.feature, own.dense
    prior = (NOISE_PRIOR[0], rate) if noise_prior is None else noise_prior
    # entries in units of the noise tell of it too
    level_BP = _curves_of(problem, feature)
    units_BP = np.repeat(own.level, problem.likelihood.level, axis=0)
    error_P = squared_error(state.evidence.sums, facts.square_P, feature)
    error_P = error_P + (units_BP * level_BP**2).sum(0)
    cells_P = facts.seen_P + len(level_BP)
    if dense.size == 0:
        noise = draw_noise(rng, cells_P, error_P, prior)
        scale = draw_precision(rng, feature[:n_atoms], feature_prior)
    else:
        # features that no row uses tell nothing: left out, then drawn with what they depend on
        used_K = state.evidence.hits.any(axis=0)
        used_UP, dense_LP = feature[:n_atoms][used_K], feature[n_atoms : n_atoms + dense.size]
        error_P = error_P + own.scale * (used_UP**2).sum(0) + dense @ dense_LP**2
        noise = draw_noise(rng, cells_P + len(used_UP) + dense.size, error_P, prior)
        rate = draw_rate(rng, noise)
        scale = draw_precision(rng, used_UP * np.sqrt(noise), feature_prior)
        dense = draw_precision(rng, dense_LP * np.sqrt(noise), DENSE_PRIOR, 1)
        feature = feature.copy()
        free_UP = rng.standard_normal((n_atoms - len(used_UP), noise.size))
        feature[:n_atoms][~used_K] = free_UP / np.sqrt(scale * noise)
    level = _level_precisions(rng, problem, level_BP * np.sqrt(noise))
    return state.with_own(
        feature=feature, noise=noise, scale=float(scale), dense=dense, level=level, rate=rate
    )


def _curves_of(problem: FeatureProblem, feature_FP: Float) -> Float:
    """Return the (B, P) slopes and curves of the columns' levels."""
    likelihood = problem.likelihood
    first = problem.n_atoms + likelihood.n_dense
    return feature_FP[first : first + sum(likelihood.level)]


def _level_precisions(rng: np.random.Generator, problem: FeatureProblem, part_BP: Float) -> Float:
    """Draw the (S, P) precisions of every column's slopes and of its curves of each kernel."""
    sizes = problem.likelihood.level
    if not sizes:
        return np.ones((0, part_BP.shape[1]))
    parts = np.split(part_BP, np.cumsum(sizes)[:-1])
    return np.stack([draw_precision(rng, part, LEVEL_PRIOR, 0) for part in parts])


def gate_evidence(problem: FeatureProblem, state: FeatureState) -> GateEvidence:
    """Return what usages say of the gates: a gate behind which a feature is used is open.

    A silent one has q = (1 - pi)^m, m the rows behind it.
    """
    hits, rest = state.evidence.hits, log_rest(state.log_mass)
    if not problem.likelihood.shared:
        return GateEvidence(hits, problem.trials, np.tile(rest, (len(hits), 1)))
    once = np.ones_like(problem.trials)
    return GateEvidence((hits > 0).astype(np.int64), once, np.outer(problem.trials, rest))


def mass_evidence(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
) -> MassEvidence:
    """Draw the silent gates that are open; rows behind open gates are hits or misses."""
    gates, shared = gate_evidence(problem, state), problem.likelihood.shared
    log_odds = log_odds_of(problem, state.x)
    chance = expit(log_odds + gates.log_q)
    if gates.trials.max() > 1:
        opened = rng.binomial(gates.silent, chance) + gates.positive
    else:  # coins: a tenth of the time
        opened = np.where(gates.silent > 0, rng.random(chance.shape) < chance, gates.positive)
    rows = opened * problem.trials[:, None] if shared else opened
    hits = state.evidence.hits.sum(0)
    return MassEvidence.of(problem.n_atoms, hits=hits, misses=rows.sum(0) - hits)


def redraw_masses(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState
) -> FeatureState:
    """Redraw the masses, and the Lévy measure's parameters with the masses integrated out."""
    if problem.likelihood.sure:
        return replace(state, log_mass=np.zeros(problem.n_atoms))
    found = mass_evidence(rng, problem, state)
    if not problem.learn_levy:
        return replace(state, log_mass=state.levy.redraw(rng, state.log_mass, found))
    levy = learn_concentration(state.levy, rng, found)
    levy, log_mass = learn(levy, rng, state.log_mass, found)
    return replace(state, levy=levy, log_mass=log_mass)


def explore(rng: np.random.Generator, problem: FeatureProblem, state: FeatureState) -> FeatureState:
    """Try moves of whole features: a few where the table is small, else one of each kind.

    Beside dense factors, which leave little to them, one of a random kind. Rows that use a feature
    with real weights do so around nothing: they do not change places with those that do not.
    """
    moves: tuple[Update, ...] = renew, recombine, turn_over
    if problem.likelihood.n_dense > 0:
        if problem.likelihood.real:
            moves = renew, recombine, recombine
        return moves[rng.integers(len(moves))](rng, problem, state)
    n_cells = problem.facts.n_rows * problem.facts.seen_P.size
    n_tries = int(np.clip(_SMALL_TABLE // n_cells, 1, _MOST_TRIES))
    for move in moves * n_tries:
        state = move(rng, problem, state)
    return state


SWEEP: tuple[Update, ...] = (
    explore,
    exchange,
    redraw_usages,
    redraw_features,
    redraw_variances,
    redraw_activations,
    redraw_masses,
)
