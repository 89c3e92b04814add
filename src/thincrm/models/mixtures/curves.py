"""Curves of clusters drawn anew, rejected rings and masses integrated out (weighted gates).

Given the clocks, with E(x) = Σ_t V_t p_t(x),

    p(x_k | c, V) ∝ H(x) Π_t p_t(x)^{n_tk} Z(n_k, E(x)),     Z(n, E) = ∫ π^n e^{-Eπ} f_K(π) dπ

* Far: the present x and M - 1 draws from H are put in a pool, and one is taken with chances
  w = p(x) / H(x): that leaves the law above as it is (iterated sampling importance resampling).
* Near (bumps): Metropolis steps to x + s (a - b), a and b from H, s of any order: a step has the
  units of x and is as likely as its opposite.

With the rings that a sweep draws for x, which say more of it than rows do, a curve moves slowly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from scipy.special import expit, log_expit

from thincrm.inference.updates import log_odds_of
from thincrm.levy.marginal import log_evidence
from thincrm.models.mixtures.clusters import take_rows
from thincrm.models.mixtures.state import MixtureProblem, MixtureState
from thincrm.numerics.arrays import Float, Int
from thincrm.ports import MassEvidence
from thincrm.thinning import Bump
from thincrm.thinning.bump import BumpState

__all__ = ["Chances", "renew_curves"]

X = TypeVar("X", bound="tuple[np.ndarray, ...]")

_CELLS, _MOST, _LEAST = 100_000, 8, 2  # curves times covariates; candidates of a cluster
_STEPS, _LEAST_SCALE = 8, -3.0  # near ones; log10 of s
_SHUT = -1e300  # log p where a curve is shut

Chances = Callable[[Float, Float], Float]


def _sum(fit: Float, evidence: Float) -> Float:
    return fit + evidence


def renew_curves(
    rng: np.random.Generator, problem: MixtureProblem, state: MixtureState, chances: Chances = _sum
) -> MixtureState:
    """Redraw x of clusters that have rows, and all masses; `chances` makes log w of its parts."""
    n_background, found = problem.n_background, state.evidence
    used = np.flatnonzero(found.counts[:, n_background:].any(0))
    if problem.likelihood.gates != "weighted" or not (problem.thinning.varies and used.size):
        return state
    curves = _Curves(problem, state, used, chances)
    mine = curves.far(rng, take_rows(state.x, used))
    if isinstance(problem.thinning, Bump):  # few coordinates, all of them free
        mine = curves.near(rng, problem.thinning, mine)
    x = type(state.x)(*(np.array(field) for field in state.x))
    for field, values in zip(x, mine, strict=True):
        field[used] = values
    exposure_K = curves.clock_T @ expit(log_odds_of(problem, x))
    hits = MassEvidence.of(problem.n_atoms, hits=found.counts.sum(0), exposure=exposure_K)
    return replace(state, x=x, log_mass=state.levy.redraw(rng, state.log_mass, hits))


class _Curves:
    """The curves of the used clusters, given their rows and the clocks."""

    def __init__(
        self, problem: MixtureProblem, state: MixtureState, used: Int, chances: Chances
    ) -> None:
        self.problem, self.levy, self.chances = problem, state.levy, chances
        self.clock_T = state.evidence.pace * state.evidence.clock
        self.count_TU = state.evidence.counts[:, problem.n_background + used].astype(float)

    def far(self, rng: np.random.Generator, x: X) -> X:
        """Return for every cluster its x, or one of several draws from H."""
        n_times, n_used = self.count_TU.shape
        size = int(np.clip(_CELLS // (n_times * n_used), _LEAST, _MOST))
        several = self.problem.thinning.draw(rng, n_used * size, self.problem.prepared)
        first = np.arange(n_used) * size
        for field, now in zip(several, x, strict=True):
            field[first] = now
        log_w_UM = self._log_w(several)
        chosen = first + (log_w_UM + rng.gumbel(size=log_w_UM.shape)).argmax(1)
        return type(x)(*take_rows(several, chosen))

    def near(self, rng: np.random.Generator, thinning: Bump, x: BumpState) -> BumpState:
        """Return every x after a few steps x + s (a - b)."""
        prepared, n_used = self.problem.prepared, len(x[0])
        now_U = self._log_w(x)[:, 0] + thinning.log_prob(x, prepared)
        for _ in range(_STEPS):
            one, other = (thinning.draw(rng, n_used, prepared) for _ in range(2))
            scale_U = 10.0 ** rng.uniform(_LEAST_SCALE, 0.0, n_used)
            step = (scale_U * (a - b).T for a, b in zip(one, other, strict=True))
            moved = type(x)(*(field + part.T for field, part in zip(x, step, strict=True)))
            then_U = self._log_w(moved)[:, 0] + thinning.log_prob(moved, prepared)
            taken_U = np.log(rng.random(n_used)) < then_U - now_U
            now_U = np.where(taken_U, then_U, now_U)
            for field, values in zip(x, moved, strict=True):
                field[taken_U] = values[taken_U]
        return x

    def _log_w(self, x: tuple[np.ndarray, ...]) -> Float:
        """Return (U, M) log w; the candidates of a cluster are side by side."""
        n_used = self.count_TU.shape[1]
        log_odds_TC = self.problem.thinning.log_odds(x, self.problem.prepared)
        log_open_TUM = np.maximum(log_expit(log_odds_TC), _SHUT).reshape(
            -1, n_used, len(x[0]) // n_used
        )
        fit_UM = np.einsum("tu,tum->um", self.count_TU, log_open_TUM)
        exposure_UM = (self.clock_T @ expit(log_odds_TC)).reshape(n_used, -1)
        hits_U1 = self.count_TU.sum(0)[:, None]
        evidence_UM = log_evidence(self.levy, self.problem.n_atoms, hits_U1, exposure_UM)
        return self.chances(fit_UM, evidence_UM)
