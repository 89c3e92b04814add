"""One atom of a proposal: its mass and x, given which rows it would have.

* x: M candidates from q, one taken with chances W = w(x) H(x) / q(x), so H cancels and the ratio
  gains the mean of W over w(x). The move back puts the atom's x among M - 1 others. q is H; of
  bumps, half of it is near the atom's rows (`thinning.near_bumps`).
* π: from f_K(π) π^n e^{-Eπ} / Z(n, E) (see `atoms`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thincrm.inference.updates import log_odds_of
from thincrm.levy.marginal import log_evidence
from thincrm.models.mixtures.atoms import Clocks, exposure_of, log_gates
from thincrm.models.mixtures.clusters import take_rows
from thincrm.models.mixtures.shards import MixtureLocal
from thincrm.models.mixtures.state import MixtureProblem, MixtureState
from thincrm.numerics.arrays import Float, Int
from thincrm.ports import MassEvidence
from thincrm.thinning import Bump
from thincrm.thinning.near_bumps import NearBumps

__all__ = ["Atom", "View", "atom_with", "split_local", "view_of"]

_MOST_CANDIDATES, _LEAST_CANDIDATES, _CANDIDATE_ROWS = 64, 4, 200_000


class Atom(NamedTuple):
    """One atom of a proposal, or as it is now."""

    x: Any  # its row of the thinning's tuple, or None (background)
    log_mass: float
    value: float  # log of exp(g + Eπ) Z(n, E)
    pool: float  # log of the mean of W over w(x); 0 where x stays


class View(NamedTuple):
    """What a move looks at: all rows, in the order of shards."""

    problem: MixtureProblem
    state: MixtureState
    label_N: np.ndarray
    row_N: Int
    clocks: Clocks
    log_odds_TK: Float


def view_of(problem: MixtureProblem, state: MixtureState) -> View:
    """Return labels, covariate rows, clocks and curves of a state."""
    local = problem.engine.fetch(state.local)
    label_N = np.concatenate([own.label for own in local])
    row_N = np.repeat(np.arange(problem.trials.size), problem.trials)
    found, gating = state.evidence, problem.likelihood.gates
    clock_N, clock_T = np.zeros(0), found.pace * found.clock
    if gating == "observation":
        clock_N = found.pace * np.concatenate([own.clock for own in local])
        clock_T = np.bincount(row_N, clock_N, problem.trials.size) / problem.trials
    clocks = Clocks(gating, clock_T, problem.trials, clock_N, row_N)
    return View(problem, state, label_N, row_N, clocks, log_odds_of(problem, state.x))


def atom_with(
    rng: np.random.Generator, view: View, k: int, rows: Int, free: bool, fresh: bool,
    n_tries: int | None = None,
) -> Atom:  # fmt: skip
    """Return one atom with given rows; `free`: its x is one of several candidates.

    n_tries: so many candidates, all from H.
    """
    problem, state, clocks = view.problem, view.state, view.clocks
    count_T = np.bincount(view.row_N[rows], minlength=problem.trials.size)
    used = float(clocks.clock_N[rows].sum()) if clocks.clock_N.size else 0.0
    place, n_atoms = k - problem.n_background, problem.n_atoms
    hits = np.array([float(rows.size)])
    x: Any = None
    log_odds_T, pool, choice = view.log_odds_TK[:, k], 0.0, 0
    if place >= 0:
        x = take_rows(state.x, [place])
    if place >= 0 and free:
        size = n_tries or _n_candidates(problem)
        law = _Anywhere(problem) if n_tries else _law_of(problem, count_T)
        several = law.draw(rng, size)
        if not fresh:  # the atom's own x is one of the candidates
            several = type(x)(
                *(np.concatenate([a, b[1:]]) for a, b in zip(x, several, strict=True))
            )
        log_odds_TM = problem.thinning.log_odds(several, problem.prepared)
        exposure_M, fit_M = exposure_of(clocks, log_odds_TM, count_T, used)
        log_w = fit_M + log_evidence(state.levy, n_atoms, np.repeat(hits, size), exposure_M)
        log_all = log_w + law.log_prior_over(several)
        top = log_all.max()
        weight = np.exp(log_all - top) if top > -np.inf else np.ones(size)
        if fresh:
            choice = int(rng.choice(size, p=weight / weight.sum()))
            x = take_rows(several, [choice])
            log_odds_T = log_odds_TM[:, choice]
        with np.errstate(divide="ignore", invalid="ignore"):
            pool = float(np.log(weight.mean()) + top - log_w[choice])
    exposure, _ = exposure_of(clocks, log_odds_T[:, None], count_T, used)
    log_mass = float(state.log_mass[k])
    if fresh:
        log_mass = _draw_mass(rng, view, k, rows.size, float(exposure[0]))
    mass = float(np.exp(log_mass))
    value = log_gates(clocks, log_odds_T, count_T, rows, mass) + float(exposure[0]) * mass
    value += float(log_evidence(state.levy, n_atoms, hits, exposure)[0])
    return Atom(x, log_mass, value, pool)


def _draw_mass(rng: np.random.Generator, view: View, k: int, hits: int, exposure: float) -> float:
    """Draw log π from f_K(π) π^hits e^{-exposure π} / Z."""
    state = view.state
    hits_K, exposure_K = np.zeros(state.log_mass.size), np.ones(state.log_mass.size)
    hits_K[k], exposure_K[k] = hits, exposure
    found = MassEvidence.of(state.log_mass.size, hits=hits_K, exposure=exposure_K)
    return float(state.levy.redraw(rng, state.log_mass, found)[k])


class _Anywhere:
    """The prior H as a law of candidates."""

    def __init__(self, problem: MixtureProblem) -> None:
        self.problem = problem

    def draw(self, rng: np.random.Generator, size: int) -> Any:
        """Draw from H."""
        return self.problem.thinning.draw(rng, size, self.problem.prepared)

    def log_prior_over(self, x: Any) -> Float:
        """Return log H / H."""
        return np.zeros(len(x[0]))


def _law_of(problem: MixtureProblem, count_T: Int) -> NearBumps | _Anywhere:
    """Return the law that candidates for an atom with such rows are drawn from."""
    if isinstance(problem.thinning, Bump):
        return NearBumps(problem.thinning, problem.prepared, count_T)
    return _Anywhere(problem)


def _n_candidates(problem: MixtureProblem) -> int:
    n_rows = problem.trials.size
    return int(np.clip(_CANDIDATE_ROWS // n_rows, _LEAST_CANDIDATES, _MOST_CANDIDATES))


def split_local(view: View, label_N: np.ndarray) -> tuple[MixtureLocal, ...]:
    """Return new labels as the shards keep them."""
    problem, state = view.problem, view.state
    ends = np.cumsum([shard.order.size for shard in problem.shards])[:-1]
    return tuple(
        MixtureLocal(label, own.clock)
        for label, own in zip(
            np.split(label_N, ends), problem.engine.fetch(state.local), strict=True
        )
    )
