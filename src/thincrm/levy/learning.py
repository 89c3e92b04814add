"""Learn a Lévy measure's own parameters from its masses' evidence, the masses integrated out.

Given the masses of a finite approximation the total mass hardly moves: those of unused atoms pin
it down. So it is drawn without them, and the masses after it: one exact block.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import singledispatch
from typing import NamedTuple

import numpy as np
from scipy.special import betaln

from thincrm.levy.beta import BetaProcess
from thincrm.levy.gamma import GammaProcess
from thincrm.numerics.arrays import Float
from thincrm.numerics.compiled import compiled
from thincrm.numerics.slice import slice_move
from thincrm.numerics.streams import fresh_key, new_stream
from thincrm.numerics.variates import crt
from thincrm.ports import LevyMeasure, MassEvidence

__all__ = ["PRIORS", "LevyPriors", "draw_total", "learn", "learn_concentration", "mass_density"]


class LevyPriors(NamedTuple):
    """Gamma(shape, rate) priors of the parameters that Lévy measures have."""

    mass: tuple[float, float] = (1.0, 0.1)
    rate: tuple[float, float] = (1.0, 0.1)
    concentration: tuple[float, float] = (1.0, 0.5)


PRIORS = LevyPriors()


@singledispatch
def learn(
    levy: LevyMeasure,
    rng: np.random.Generator,
    log_mass: Float,
    evidence: MassEvidence,
    priors: LevyPriors = PRIORS,
) -> tuple[LevyMeasure, Float]:
    """Return (Lévy measure with new parameters, new log masses): here only the masses move."""
    return levy, levy.redraw(rng, log_mass, evidence)


@learn.register
def _(
    levy: GammaProcess,
    rng: np.random.Generator,
    log_mass: Float,
    evidence: MassEvidence,
    priors: LevyPriors = PRIORS,
) -> tuple[GammaProcess, Float]:
    """Draw the mass (see `draw_total`), the masses, then the rate given the masses.

    rate ~ Gamma(a' + mass, b' + sum masses)
    """
    levy = replace(levy, mass=draw_total(levy, rng, evidence, priors.mass))
    log_mass = levy.redraw(rng, log_mass, evidence)
    total = float(np.exp(log_mass).sum())
    rate = rng.gamma(priors.rate[0] + levy.mass) / (priors.rate[1] + total)
    return replace(levy, rate=rate), log_mass


def draw_total(
    levy: GammaProcess,
    rng: np.random.Generator,
    evidence: MassEvidence,
    prior: tuple[float, float],
    least: float = 0.0,
) -> float:
    """Draw the mass of a gamma process given hits and exposure, the atoms' masses integrated out.

    l_k ~ CRT(hits_k, mass/K),   mass ~ Gamma(a + sum l, b + sum_k log(1 + exposure_k / rate) / K)

    `prior` is (a, b), cut off below `least`.
    """
    n_atoms = evidence.hits.size
    state = new_stream(fresh_key(rng), 0)
    tables = _tables(state, evidence.hits.astype(np.int64), levy.mass / n_atoms)
    pull = float(np.log1p(evidence.exposure / levy.rate).sum()) / n_atoms
    while True:
        mass = float(rng.gamma(prior[0] + tables)) / (prior[1] + pull)
        if mass >= least:
            return max(mass, 1e-12)


@compiled
def _tables(state: np.ndarray, hits_K: np.ndarray, concentration: float) -> int:
    total = 0
    for k in range(hits_K.size):
        total += crt(state, hits_K[k], concentration)
    return total


@learn.register
def _(
    levy: BetaProcess,
    rng: np.random.Generator,
    log_mass: Float,
    evidence: MassEvidence,
    priors: LevyPriors = PRIORS,
) -> tuple[BetaProcess, Float]:
    """Slice the mass in (0, K) given hits and misses, then draw the masses."""
    n_atoms = log_mass.size
    start = np.array([math.log(levy.mass / (n_atoms - levy.mass))])
    logit = float(slice_move(rng, start, mass_density(levy, evidence, priors))[0])
    levy = replace(levy, mass=n_atoms / (1.0 + math.exp(-logit)))
    return levy, levy.redraw(rng, log_mass, evidence)


def mass_density(
    levy: BetaProcess, evidence: MassEvidence, priors: LevyPriors = PRIORS
) -> Callable[[Float], Float]:
    """Return f(logit(mass / K)) = the log density of a beta process's mass, atoms integrated out.

    log f(mass) = sum_k log B(c mass/K + hits, c(1 - mass/K) + misses) / B(c mass/K, c(1 - mass/K))
    """
    n_atoms, c = evidence.hits.size, levy.concentration

    def log_density(logit: Float) -> Float:
        share = 1.0 / (1.0 + math.exp(-float(logit[0])))
        a, b = c * share, c * (1.0 - share)
        if not 0.0 < share < 1.0 or min(a, b) < 1e-300:
            return np.array([-np.inf])
        fit = betaln(a + evidence.hits, b + evidence.misses).sum() - n_atoms * betaln(a, b)
        mass = n_atoms * share
        prior = priors.mass[0] * math.log(mass) - priors.mass[1] * mass + math.log1p(-share)
        return np.array([fit + prior])

    return log_density


def learn_concentration(
    levy: LevyMeasure,
    rng: np.random.Generator,
    evidence: MassEvidence,
    priors: LevyPriors = PRIORS,
) -> LevyMeasure:
    """Return the Lévy measure with a new concentration where it is a beta process.

    A slice step on log c given hits and misses, the masses integrated out: redraw them next.
    """
    if not isinstance(levy, BetaProcess):
        return levy
    n_atoms, share = evidence.hits.size, levy.mass / evidence.hits.size
    shape, rate = priors.concentration

    def log_density(log_c: Float) -> Float:
        c = math.exp(min(float(log_c[0]), 50.0))
        a, b = c * share, c * (1.0 - share)
        if min(a, b) < 1e-300:
            return np.array([-np.inf])
        fit = betaln(a + evidence.hits, b + evidence.misses).sum() - n_atoms * betaln(a, b)
        return np.array([fit + shape * log_c[0] - rate * c])

    log_c = slice_move(rng, np.array([math.log(levy.concentration)]), log_density)
    return replace(levy, concentration=math.exp(float(log_c[0])))
