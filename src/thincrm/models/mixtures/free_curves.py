"""Curves and masses moved together, clusters of rows and clocks summed out (weighted gates, bumps).

    p(y | x, π, θ) = Π_n Σ_k w_tk f_nk / B_t,     w_tk = p_t(x_k) π_k,  B_t = Σ_j w_tj

How sharply one cluster takes over from another is all but known given which rows are whose, and so
is B_t given the clocks: with either held, curves go nowhere.
With u = t / scale and Gaussian bumps

    log w_k = α + β'u + η |u|²,     η = -1 / 2l²,   β = m / l²,   α = log π - |m|² / 2l²

so Metropolis steps add the same quadratic to one cluster, to those on one side of some t (which
changes how the two sides meet, and nothing else), or to all (which changes no shares). A step is as
likely as its opposite; the volume of (m, log l, log π) changes by (l' / l)^{2C + 2} of each.

Some rows, drawn by lot, keep their clusters meanwhile, w f of that cluster alone in the sum: the
clusters that they are in are those that move. (Which clusters have rows is not known while rows are
summed out.) Then all rows redraw their clusters, and the clocks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import log_expit

from thincrm.inference.updates import redraw_observations
from thincrm.levy import GammaProcess
from thincrm.models.mixtures.free_loops import Rules, Used, move_used
from thincrm.models.mixtures.proposals import View, view_of
from thincrm.models.mixtures.shards import rows_at
from thincrm.models.mixtures.state import MixtureProblem, MixtureState
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import fresh_key
from thincrm.thinning import Bump
from thincrm.thinning.bump import BumpState

__all__ = ["are_free", "free_curves", "move_curves"]

_KEPT = 0.125  # of the rows: the chance to keep its cluster
_RULES = Rules()


def are_free(problem: MixtureProblem) -> bool:
    """Tell whether curves can move so: Gaussian bumps, a gamma process, weighted gates."""
    bumps = isinstance(problem.thinning, Bump) and problem.thinning.kernel == "gaussian"
    return (
        bumps and isinstance(problem.levy, GammaProcess) and problem.likelihood.gates == "weighted"
    )


def free_curves(
    rng: np.random.Generator, problem: MixtureProblem, state: MixtureState, rules: Rules = _RULES
) -> MixtureState:
    """Move curves and masses of clusters; redraw rows' clusters and the clocks."""
    kept = np.flatnonzero(rng.random(int(problem.trials.sum())) < _KEPT)
    return redraw_observations(rng, problem, move_curves(rng, problem, state, kept, rules))


def move_curves(
    rng: np.random.Generator, problem: MixtureProblem, state: MixtureState, kept: Int, rules: Rules
) -> MixtureState:
    """Move curves and masses given the clusters of the kept rows: half a move, see `free_curves`.

    Which clusters a round moves has nothing to do with their curves, and its steps are alike; so
    the rounds one after the other are reversible.
    """
    thinning, levy, first = problem.thinning, state.levy, problem.n_background
    if not isinstance(thinning, Bump) or not isinstance(levy, GammaProcess):
        return state
    view = view_of(problem, state)
    used = np.unique(view.label_N[kept])
    used = used[used >= first]
    if not used.size:
        return state
    x, log_mass = BumpState(*map(np.array, state.x)), state.log_mass.copy()
    mine = _used(view, levy, used, kept)
    move_used(fresh_key(rng), thinning.prior_of(problem.prepared), mine, rules)
    x.location[used - first], x.log_length[used - first] = mine.x_UE[:, :-2], mine.x_UE[:, -2]
    log_mass[used] = mine.x_UE[:, -1]
    return replace(state, x=x, log_mass=log_mass)


def _used(view: View, levy: GammaProcess, used: Int, kept: Int) -> Used:
    """Return the clusters that move, and what all others weigh."""
    problem, state, row_N = view.problem, view.state, view.row_N
    log_w_TK = log_expit(view.log_odds_TK) + state.log_mass
    every = [np.arange(shard.order.size) for shard in problem.shards]
    rows, law = rows_at(problem.engine, problem.shards, every), problem.likelihood.clusters
    log_NK = np.empty((row_N.size, problem.n_atoms))
    law.log_density(0, row_N.size, rows, law.packed(state.own.params), log_NK)
    own = log_NK[kept, view.label_N[kept]]
    log_NK[kept] = -np.inf
    log_NK[kept, view.label_N[kept]] = own
    others, place = np.setdiff1d(np.arange(problem.n_atoms), used), used - problem.n_background
    label_V, place_VC = view.label_N[kept], problem.prepared.covariates.rows[row_N[kept]]
    return Used(
        np.column_stack([*(field[place] for field in state.x), state.log_mass[used]]),
        np.array([place_VC[label_V == k].mean(0) for k in used]),
        np.ascontiguousarray(log_NK[:, used].T), np.ascontiguousarray(log_w_TK[:, used].T),
        _log_sum(log_w_TK[row_N][:, others] + log_NK[:, others]), _log_sum(log_w_TK[:, others]),
        row_N, problem.trials, levy.mass / problem.n_atoms, levy.rate,
    )  # fmt: skip


def _log_sum(log_w_TK: Float) -> Float:
    """Return log Σ_k w: what scipy's takes to look at its arguments is longer than the sum."""
    top_T = log_w_TK.max(axis=1, initial=-np.inf)
    shift_T = np.where(top_T == -np.inf, 0.0, top_T)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(log_w_TK - shift_T[:, None]).sum(axis=1)) + shift_T)
