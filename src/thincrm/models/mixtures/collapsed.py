"""Rows choose their clusters one by one, θ and π integrated out.

Given the clocks an atom's mass has the likelihood π^n e^{-Eπ}, with the exposure E of its gates:
those of `weighted` are averages, silent ones of the others are drawn, held, and forgotten again. So

    P(c_n = k | others) ∝ r_nk (Z(n_k + 1, E_k) / Z(n_k, E_k)) p(y_n | rows of k)

with Z(n, E) = ∫ π^n e^{-Eπ} f_K(π) dπ. A cluster is born at one row and grows within a pass; where
θ and π are given it would need an empty atom that happens to lie at the row and to be heavy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import expit, log_expit

from thincrm.levy.marginal import log_mean_mass
from thincrm.models.mixtures.proposals import View, split_local, view_of
from thincrm.models.mixtures.seats import Seats
from thincrm.models.mixtures.shards import rows_at
from thincrm.models.mixtures.state import MixtureOwn, MixtureProblem, MixtureState
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import fresh_key
from thincrm.ports import MassEvidence

__all__ = ["MOST_ROWS", "Weights", "reseat", "weights_of"]

MOST_ROWS = 2**14  # rows are many: a serial pass is too long
_PASSES = 2

Weights = tuple[Float, Int, Float]  # log w, a row's place in it, exposures


def reseat(
    rng: np.random.Generator, problem: MixtureProblem, state: MixtureState,
    weigh: Callable[[np.random.Generator, View], Weights] | None = None,
) -> MixtureState:  # fmt: skip
    """Let every row choose its cluster again, twice; redraw masses and clusters."""
    n_rows = int(problem.trials.sum())
    if n_rows > MOST_ROWS:
        return state
    view = view_of(problem, state)
    law, hyper, n_atoms = problem.likelihood.clusters, state.own.hyper, problem.n_atoms
    log_weight, place_N, exposure_K = (weigh or weights_of)(rng, view)
    label_N = view.label_N.copy()
    seats = Seats(
        label_N, np.bincount(label_N, minlength=n_atoms),
        np.concatenate([rng.permutation(n_rows) for _ in range(_PASSES)]), place_N, log_weight,
        log_mean_mass(state.levy, n_atoms, n_rows, exposure_K),
    )  # fmt: skip
    packed = law.packed(state.own.params)
    every = [np.arange(shard.order.size) for shard in problem.shards]
    rows = rows_at(problem.engine, problem.shards, every)
    complete = law.complete(fresh_key(rng), rows, label_N, packed)
    stats = law.add_rows(0, n_rows, np.uint64(0), 0, complete, label_N, packed, n_atoms)
    law.reseat(fresh_key(rng), rows, complete, seats, stats, hyper)
    hits = MassEvidence.of(n_atoms, hits=seats.count_K, exposure=exposure_K)
    counts = np.zeros_like(state.evidence.counts)
    np.add.at(counts, (view.row_N, label_N), 1)
    return replace(
        state, local=split_local(view, label_N),
        own=MixtureOwn(law.redraw(rng, stats, hyper), hyper),
        log_mass=state.levy.redraw(rng, state.log_mass, hits),
        evidence=state.evidence._replace(counts=counts),
    )  # fmt: skip


def weights_of(rng: np.random.Generator, view: View) -> Weights:
    """Return log w, where a row's are, and the exposures; silent gates are drawn given the clocks.

    r ~ Bernoulli(s), log odds of s = log p/(1-p) - u π.
    """
    clocks, log_odds_TK, mass_K = view.clocks, view.log_odds_TK, np.exp(view.state.log_mass)
    if clocks.gating == "weighted":
        return log_expit(log_odds_TK), view.row_N, clocks.clock_T @ expit(log_odds_TK)
    clock, place_N = clocks.clock_T, view.row_N
    if clocks.gating == "observation":
        clock, log_odds_TK = clocks.clock_N, log_odds_TK[view.row_N]
        place_N = np.arange(clock.size)
    with np.errstate(invalid="ignore"):
        chance = expit(log_odds_TK - np.outer(clock, mass_K))
    open_WK = (rng.random(chance.shape) < chance) | (log_odds_TK == np.inf)
    open_WK[place_N, view.label_N] = True
    return np.where(open_WK, 0.0, -np.inf), place_N, clock @ open_WK
