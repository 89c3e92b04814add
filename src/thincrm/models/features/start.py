"""Where a feature model's chain starts: a guess, then features one by one as long as they pay.

Two guesses are tried, each for a few sweeps, and the better one stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from thincrm.inference.updates import redraw_activations
from thincrm.models.features.exchange import exchange
from thincrm.models.features.guess import guess_usages, guess_weights, runs_of
from thincrm.models.features.laws import NOISE_PRIOR
from thincrm.models.features.moves import random_share
from thincrm.models.features.score import log_score
from thincrm.models.features.search import Search
from thincrm.models.features.state import (
    FeatureEvidence,
    FeatureFacts,
    FeatureGlobals,
    FeatureLocal,
    FeatureProblem,
    FeatureShard,
    FeatureState,
    add_evidence,
    evidence_of,
    facts_of,
)
from thincrm.models.features.sweep import (
    SWEEP,
    explore,
    redraw_features,
    redraw_masses,
    redraw_usages,
    redraw_variances,
)
from thincrm.numerics.arrays import Float, Int
from thincrm.ports import State
from thincrm.thinning import Always

__all__ = ["start_state"]

_SEEDS = 6
_STEPS = 8
_SETTLE, _SETTLE_DENSE = 5, 40
_CURVES = 10
_TRIAL = 20  # sweeps of each start
Score = Callable[[FeatureProblem, FeatureState], float]
_READY = np.log(0.1)  # log probability that a row uses a new feature


def start_state(
    rng: np.random.Generator, problem: FeatureProblem, score: Score = log_score
) -> FeatureState:
    """Return a state to start from: of two that have run for a few sweeps, the likelier one.

    One guess takes usages to be independent where the covariate is alike, which is what the model
    says; but features that are used by all rows or none there are only seen by the other, which
    takes them to be independent over all rows.
    """
    if len(problem.shards) > 1:
        return _start_on_one(rng, problem)
    run_N = runs_of(problem.trials)
    if problem.likelihood.n_dense > 0:
        return _settled(rng, problem, None if problem.likelihood.real else run_N)
    tried = [_settled(rng, problem, runs) for runs in (run_N, np.zeros_like(run_N))]
    return max(tried, key=lambda state: score(problem, state))


def _start_on_one(rng: np.random.Generator, problem: FeatureProblem) -> FeatureState:
    """Start on the middle shard alone; rows of the others then take up what was found."""
    middle = len(problem.shards) // 2
    one = (replace(problem.shards[middle], first=0),)  # its rows are all there are
    nothing: tuple[None, ...] = (None,)
    facts = problem.engine.map(_facts, one, nothing, None)[1][0]
    trials = problem.engine.map(_trials, one, nothing, None)[1][0]
    state = start_state(rng, replace(problem, shards=one, facts=facts, trials=trials, latest=[]))
    likelihood, n_features = problem.likelihood, problem.n_atoms
    unused = _Room(n_features, likelihood.real, likelihood.background, problem.likelihood.n_dense)
    local, parts = problem.engine.map(
        _unused, problem.shards, (None,) * len(problem.shards), unused
    )
    state = replace(state, local=local, evidence=add_evidence(parts))
    for update in (redraw_usages, redraw_features, redraw_variances) * _SETTLE:
        state = update(rng, problem, state)
    return state


def _facts(shard: FeatureShard, local: None, message: None) -> tuple[None, FeatureFacts]:
    return None, facts_of(shard.table)


def _trials(shard: FeatureShard, local: None, message: None) -> tuple[None, Int]:
    return None, shard.trials


@dataclass(frozen=True, slots=True)
class _Room:
    n_features: int
    real: bool
    background: bool
    n_dense: int


def _unused(shard: FeatureShard, local: None, room: _Room) -> tuple[FeatureLocal, FeatureEvidence]:
    """Return rows that use no feature."""
    n_rows = len(shard.table.value_NP)
    used = np.zeros((n_rows, room.n_features), np.int8)
    weight = np.zeros((n_rows, room.n_features if room.real else 0))
    new = FeatureLocal(used, weight, np.zeros((n_rows, room.n_dense)))
    return new, evidence_of(shard, new, room.background)


def _settled(rng: np.random.Generator, problem: FeatureProblem, run_N: Int | None) -> FeatureState:
    """Return the state that a guess leads to.

    A candidate is what expectation-maximisation makes of the residual of a row; the best of a few
    is added if its marginal likelihood pays for its entries (Laplace's approximation). Sweeps with
    every gate open let the features already there make room after each addition. Beside dense
    factors candidates would not pay: what they explain is the factors' already.
    """
    always = Always()
    prepared = always.prepare(np.arange(problem.trials.size))
    likelihood = replace(problem.likelihood, sure=False)
    ungated = replace(problem, thinning=always, prepared=prepared, likelihood=likelihood, latest=[])
    state = _guess(rng, ungated, run_N)
    for _ in range(problem.n_atoms if likelihood.n_dense == 0 else 0):
        unused = np.flatnonzero(~state.evidence.hits.any(axis=0))
        if unused.size == 0:
            break
        k = int(unused[0])
        found = _candidate(rng, ungated, state, k)
        if found is None:
            break
        state = Search(ungated, found[0], k).take(rng, found[1])
        for update in (
            redraw_features,
            redraw_variances,
            redraw_masses,
            explore,
            redraw_usages,
        ) * _SETTLE:
            state = update(rng, ungated, state)
    state = replace(state, x=problem.thinning.draw(rng, problem.n_atoms, problem.prepared))
    for _ in range(_CURVES):
        state = redraw_activations(rng, problem, state)
    state = redraw_masses(rng, problem, state)
    for step in SWEEP * _TRIAL:
        state = step(rng, problem, state)
    return state


def _candidate(
    rng: np.random.Generator, problem: FeatureProblem, state: FeatureState, k: int
) -> tuple[FeatureState, Float] | None:
    """Return the best of a few vectors for feature k, or None if none pays for its entries.

    With the vector comes a state whose noise, background and mass of k go with it: a feature that
    is missed is noise, and part of the level, so neither must be held while it is looked for.
    """
    search = _refit(problem, state, k, np.zeros(state.own.noise.size), _READY)
    left_NP = search.residuals()[0]
    size_N = (left_NP**2 * search.state.own.noise).sum(1)
    if size_N.sum() == 0.0:
        return None
    best, found = _log_fit(search), None
    for row in rng.choice(size_N.size, _SEEDS, p=size_N / size_N.sum()):
        trial, (vector_P, precision_P) = search, search.climb(int(row), random_share(rng), 1)
        for _ in range(_STEPS):
            share = float(np.mean((precision_P - state.own.scale) / trial.state.own.noise))
            log_mass = trial.state.log_mass[k]
            if not problem.likelihood.real:
                log_mass = np.log(np.clip(share / problem.facts.n_rows, 1e-3, 0.9))
            trial = _refit(problem, trial.state, k, vector_P, log_mass)
            _, vector_P, precision_P = trial.look(vector_P)
        fit = _log_fit(trial) + trial.look(vector_P)[0]
        fit += 0.5 * float(
            (np.log(state.own.scale / precision_P) - state.own.scale * vector_P**2).sum()
        )
        if fit > best:
            best, found = fit, (trial.state, vector_P)
    return found


def _refit(
    problem: FeatureProblem, state: FeatureState, k: int, vector_P: Float, log_mass: float
) -> Search:
    """Return a search whose noise and background are the likeliest beside feature k's vector."""
    own, likelihood = state.own, problem.likelihood
    mass, feature = state.log_mass.copy(), own.feature.copy()
    mass[k] = log_mass
    state = replace(state, log_mass=mass)
    search = Search(problem, state, k)
    _, mean_P, precision_P = search.look(vector_P)
    once_P = mean_P * precision_P / own.noise  # expectations of sum u e and sum u^2
    twice_P = (precision_P - own.scale) / own.noise
    seen_P, total_P = problem.facts.seen_P, search.residuals()[0].sum(0)
    shift_P = np.zeros(total_P.size)
    use_P = once_P * 0.0 if likelihood.real else twice_P
    if likelihood.background:
        shift_P = (total_P - use_P * vector_P) / np.maximum(seen_P, 1.0)
        feature[-1] += shift_P
    error_P = search.square_P - 2 * total_P * shift_P + seen_P * shift_P**2
    error_P = error_P - 2 * (once_P - shift_P * use_P) * vector_P + twice_P * vector_P**2
    shape, rate = NOISE_PRIOR[0], own.rate
    noise = (shape + 0.5 * seen_P) / (rate + 0.5 * np.maximum(error_P, 0.0))
    return Search(problem, state.with_own(feature=feature, noise=noise), k)


def _log_fit(search: Search) -> float:
    """Return the log likelihood of the rows without feature k, and the noise's log prior."""
    noise, shape, rate = search.state.own.noise, NOISE_PRIOR[0], search.state.own.rate
    seen_P = search.problem.facts.seen_P
    prior = float((shape * np.log(noise) - rate * noise).sum())
    return search.log_bare + 0.5 * float((seen_P * np.log(noise)).sum()) + prior


def _guess(rng: np.random.Generator, problem: FeatureProblem, run_N: Int | None) -> FeatureState:
    likelihood, n_features, n_dense = (
        problem.likelihood,
        problem.n_atoms,
        problem.likelihood.n_dense,
    )
    room = _Room(n_features, likelihood.real, likelihood.background, n_dense)
    local, parts = problem.engine.map(_guessed, problem.shards, (None,), (run_N, room))
    evidence = add_evidence(parts)
    n_columns = evidence.cross.shape[1]
    state = State(
        local=local,
        own=FeatureGlobals(
            np.zeros(evidence.cross.shape),
            np.ones(n_columns),
            1.0,
            np.ones(n_dense),
            np.ones((len(likelihood.level), n_columns)),
        ),
        log_mass=np.full(n_features, _READY),
        x=problem.thinning.draw(rng, n_features, problem.prepared),
        levy=problem.levy,
        evidence=evidence,
    )
    for update in (redraw_features, redraw_variances) * _SETTLE:
        state = update(rng, problem, state)
    n_settle = _SETTLE_DENSE if n_dense > 0 else _SETTLE
    settle = redraw_masses, redraw_usages, redraw_features, redraw_variances
    # guessed weights may all be 0, and say nothing of how large entries may grow
    for update in (*settle, *((exchange, *settle) * (n_settle - 1))):
        state = update(rng, problem, state)
    return state


def _guessed(
    shard: FeatureShard, local: None, message: tuple[Int | None, _Room]
) -> tuple[FeatureLocal, FeatureEvidence]:
    """Return guessed usages of the rows: of dense factors if there are any, else of features."""
    run_N, room = message
    new, evidence = _unused(shard, None, room)
    if run_N is None:
        new = new._replace(dense=guess_weights(shard.table, room.n_dense))
    elif not room.real:
        guess = guess_usages(shard.table, run_N, room.n_features - 1, room.background)
        new.used[:, : guess.shape[1]] = guess
    else:
        return new, evidence
    return new, evidence_of(shard, new, room.background)
