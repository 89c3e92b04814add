"""The mixture model's sweep: an ordered list of updates of a state.

split, merge, curves, rows one by one, exchange -> rows (gates, clusters, clocks) -> activations
-> masses, γ -> scale -> clusters
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from thincrm.inference.updates import redraw_activations, redraw_observations, redraw_own
from thincrm.levy import GammaProcess
from thincrm.levy.learning import draw_total
from thincrm.models.mixtures.collapsed import reseat
from thincrm.models.mixtures.curves import renew_curves
from thincrm.models.mixtures.exchange import exchange
from thincrm.models.mixtures.free_curves import are_free, free_curves
from thincrm.models.mixtures.split_merge import split_or_merge
from thincrm.models.mixtures.state import MixtureProblem, MixtureState
from thincrm.numerics.arrays import Float
from thincrm.numerics.slice import slice_move
from thincrm.ports import Update

__all__ = ["LEAST_MASS", "MASS_PRIOR", "SWEEP", "explore", "redraw_masses", "rescale"]

MASS_PRIOR = (1.0, 0.5)  # Gamma(shape, rate) of γ: few clusters
_SMALL, _FEW, _MOST_ROUNDS = 50_000, 6_000, (4, 8)  # rows; rounds of a sweep
_SELDOM = 4  # sweeps to such a move where rows are many: threads share little of it
LEAST_MASS = 0.05  # its lower end: a gamma variable of a smaller shape underflows


def explore(rng: np.random.Generator, problem: MixtureProblem, state: MixtureState) -> MixtureState:
    """Move whole clusters, and rows with clusters integrated out: a few times where rows are few.

    Where rows are many, every fourth sweep has one move of whole clusters or of curves.
    """
    varies, n_rounds = problem.thinning.varies, _rounds(problem)
    if n_rounds <= 1:
        moves = (split_or_merge, exchange, renew_curves) if varies else (split_or_merge,)
        chosen = int(rng.integers(_SELDOM * len(moves)))
        return moves[chosen](rng, problem, state) if chosen < len(moves) else state
    curves = free_curves if are_free(problem) else renew_curves
    for tried in range(n_rounds):
        if 2 * tried % n_rounds < 2:  # twice: seldom taken, and dear
            state = split_or_merge(rng, problem, state)
        state = curves(rng, problem, state)
        state = reseat(rng, problem, state)
    return exchange(rng, problem, state) if varies else state


def _rounds(problem: MixtureProblem) -> int:
    """Return how many rounds a sweep has: more where curves are free, whose rounds are quick."""
    n_rows = int(problem.trials.sum())
    most = int(np.clip(_FEW // n_rows, *_MOST_ROUNDS)) if are_free(problem) else _MOST_ROUNDS[0]
    return min(_SMALL // n_rows, most)


def redraw_masses(
    rng: np.random.Generator, problem: MixtureProblem, state: MixtureState
) -> MixtureState:
    """Redraw γ of a gamma process, the masses integrated out, then the masses.

    The rate is no parameter of a normalised measure: it stays what it is.
    """
    found = problem.likelihood.mass_evidence(rng, problem, state)
    levy = state.levy
    if problem.learn_levy and isinstance(levy, GammaProcess):
        levy = replace(levy, mass=draw_total(levy, rng, found, MASS_PRIOR, LEAST_MASS))
    return replace(state, levy=levy, log_mass=levy.redraw(rng, state.log_mass, found))


def rescale(rng: np.random.Generator, problem: MixtureProblem, state: MixtureState) -> MixtureState:
    """Multiply all masses by b and divide all clocks by it: rows do not notice.

    b Σ π ~ Gamma(γ, rate) for the gamma process; else a slice step on log b, whose log density is
    Σ_k log f_K(log π_k + log b).
    """
    levy, log_mass = state.levy, state.log_mass
    if isinstance(levy, GammaProcess):
        top = float(log_mass.max())
        total = top + math.log(float(np.exp(log_mass - top).sum()))
        shift = math.log(float(rng.gamma(levy.mass)) / levy.rate) - total
    else:

        def log_density(log_b: Float) -> Float:
            return np.array([levy.log_prob(log_mass + log_b[0]).sum()])

        shift = float(slice_move(rng, np.zeros(1), log_density)[0])
    slower = state.evidence._replace(pace=state.evidence.pace * math.exp(-shift))
    return replace(state, log_mass=log_mass + shift, evidence=slower)


SWEEP: tuple[Update, ...] = (
    explore,
    redraw_observations,
    redraw_activations,
    redraw_masses,
    rescale,
    redraw_own,
)
