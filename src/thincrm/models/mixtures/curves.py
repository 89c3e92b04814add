"""Curves of clusters drawn anew, rejected rings and masses integrated out (weighted gates).

Given the clocks, with E(x) = Σ_t V_t p_t(x),

    p(x_k | c, V) ∝ H(x) Π_t p_t(x)^{n_tk} Z(n_k, E(x)),     Z(n, E) = ∫ π^n e^{-Eπ} f_K(π) dπ

The present x and M - 1 draws from H are put in a pool, and one is taken with chances
w = p(x) / H(x): that leaves the law above as it is (iterated sampling importance resampling). The
rings that a sweep draws for x say more of it than rows do: with them alone a curve moves slowly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import expit, log_expit

from thincrm.inference.updates import log_odds_of
from thincrm.levy.marginal import log_evidence
from thincrm.models.mixtures.clusters import take_rows
from thincrm.models.mixtures.state import MixtureProblem, MixtureState
from thincrm.numerics.arrays import Float
from thincrm.ports import MassEvidence

__all__ = ["Chances", "renew_curves"]

_CELLS, _MOST, _LEAST = 100_000, 32, 2  # curves times covariates; candidates of a cluster

Chances = Callable[[Float, Float], Float]


def _sum(fit: Float, evidence: Float) -> Float:
    return fit + evidence


def renew_curves(
    rng: np.random.Generator, problem: MixtureProblem, state: MixtureState, chances: Chances = _sum
) -> MixtureState:
    """Redraw x of clusters that have rows, and all masses; `chances` makes log w of its parts."""
    n_background, found = problem.n_background, state.evidence
    count_TA = found.counts[:, n_background:]
    used = np.flatnonzero(count_TA.any(0))
    if problem.likelihood.gates != "weighted" or not (problem.thinning.varies and used.size):
        return state
    clock_T, count_TU = found.pace * found.clock, count_TA[:, used]
    size = int(np.clip(_CELLS // (clock_T.size * used.size), _LEAST, _MOST))
    several = problem.thinning.draw(rng, used.size * size, problem.prepared)
    first = np.arange(used.size) * size
    for field, now in zip(several, state.x, strict=True):
        field[first] = now[used]
    log_odds_TC = problem.thinning.log_odds(several, problem.prepared)
    log_open_TC = log_expit(log_odds_TC).reshape(clock_T.size, used.size, size)
    seen_TU = count_TU > 0
    fit_UM = np.stack(
        [count_TU[seen_TU[:, u], u] @ log_open_TC[seen_TU[:, u], u] for u in range(used.size)]
    )
    exposure_UM = (clock_T @ expit(log_odds_TC)).reshape(used.size, size)
    hits_U1 = count_TU.sum(0)[:, None].astype(float)
    log_w_UM = chances(fit_UM, log_evidence(state.levy, problem.n_atoms, hits_U1, exposure_UM))
    taken = first + (log_w_UM + rng.gumbel(size=log_w_UM.shape)).argmax(1)
    x = type(state.x)(*(np.array(field) for field in state.x))
    for field, values in zip(x, take_rows(several, taken), strict=True):
        field[used] = values
    exposure_K = clock_T @ expit(log_odds_of(problem, x))
    hits = MassEvidence.of(problem.n_atoms, hits=found.counts.sum(0), exposure=exposure_K)
    return replace(state, x=x, log_mass=state.levy.redraw(rng, state.log_mass, hits))
