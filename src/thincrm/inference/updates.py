"""The updates that all models share: observations, activations, masses, the likelihood's own.

    map     each shard redraws its own variables given the globals, and returns its evidence
    add     evidence(A and B) = evidence(A) + evidence(B)
    redraw  the globals from the sum

An update is a function (rng, problem, state) -> state that leaves the posterior invariant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from thincrm.levy.learning import PRIORS, LevyPriors, learn
from thincrm.numerics.arrays import Float
from thincrm.numerics.streams import fresh_key
from thincrm.ports import Likelihood, Problem, State

__all__ = [
    "SWEEP",
    "log_odds_of",
    "redraw_activations",
    "redraw_masses",
    "redraw_observations",
    "redraw_own",
]

Chain = State[Any, Any, Any]
R = TypeVar("R")


def log_odds_of(problem: Problem[Any, Any], x: object) -> Float:
    """Return the (T, K) log odds of being open; background atoms always are.

    Several updates of a sweep ask for those of the same x, so the latest are remembered.
    """
    latest = problem.latest
    if not latest or latest[0] is not x or latest[1] is not problem.thinning:
        thinned = problem.thinning.log_odds(x, problem.prepared)
        always = np.full((len(thinned), problem.n_background), np.inf)
        latest[:] = x, problem.thinning, np.concatenate([always, thinned], axis=1)
    return np.asarray(latest[2])


def _redraw_shard(
    likelihood: Likelihood[Any, Any, Any, Any],
    shard: object,
    local: object,
    sent: tuple[np.uint64, Any],
) -> tuple[Any, Any]:
    return likelihood.redraw_local(sent[0], shard, local, sent[1])


def redraw_observations(
    rng: np.random.Generator, problem: Problem[Any, Any], state: Chain
) -> Chain:
    """Redraw what belongs to observations, shard by shard, and add up what they say."""
    likelihood = problem.likelihood
    sent = fresh_key(rng), likelihood.message(problem, state)
    work: Callable[..., tuple[Any, Any]] = partial(_redraw_shard, likelihood)
    add = likelihood.add if getattr(likelihood, "adds_exactly", False) else None
    local, parts = problem.engine.map(work, problem.shards, state.local, sent, add)
    return replace(state, local=local, evidence=likelihood.add(parts))


def redraw_activations(rng: np.random.Generator, problem: Problem[Any, Any], state: Chain) -> Chain:
    """Redraw the thinning function's variables, gates integrated out."""
    gates = problem.likelihood.gate_evidence(rng, problem, state)
    return replace(state, x=problem.thinning.redraw(rng, state.x, gates, problem.prepared))


def redraw_masses(
    rng: np.random.Generator, problem: Problem[Any, Any], state: Chain, priors: LevyPriors = PRIORS
) -> Chain:
    """Redraw the masses and, if they are learned, the Lévy measure's own parameters with them."""
    found = problem.likelihood.mass_evidence(rng, problem, state)
    if not problem.learn_levy:
        return replace(state, log_mass=state.levy.redraw(rng, state.log_mass, found))
    levy, log_mass = learn(state.levy, rng, state.log_mass, found, priors)
    return replace(state, levy=levy, log_mass=log_mass)


def redraw_own(rng: np.random.Generator, problem: Problem[Any, Any], state: Chain) -> Chain:
    """Redraw the likelihood's own globals."""
    return replace(state, own=problem.likelihood.redraw_own(rng, problem, state))


SWEEP = (redraw_observations, redraw_activations, redraw_masses, redraw_own)
