"""One topic's mass and curve, proposed from what documents would say of them.

With gates and usages integrated out, documents say of a topic with n_d tokens in document d

    fit(x, m) = sum_d log P(n_d | x, m),   P zero-inflated negative binomial (`usage`),

which depends on the documents only through `Uses`. The curve x is drawn from a law near its
conditional given a rough mass (the thinning function's `guide`, or its prior where it has none),
the mass then from a Gaussian at the top of levy(m) fit(x, m). The weight of an atom,

    w(x, m) = H(x) levy(m) exp fit(x, m) / q(x, m),

has the topic's marginal likelihood for its mean, and varies little where q is good.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import gammaln, log_expit

from thincrm.models.topics.levels import spread
from thincrm.models.topics.state import TopicProblem, TopicState
from thincrm.models.topics.usage import Usage
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled
from thincrm.ports import GateEvidence

__all__ = ["Atom", "AtomGuide", "Uses", "fit_of", "usage_at"]

_ROUGH_MASSES = np.linspace(-12.0, 7.0, 39)  # log m, or log m / (1 - m)
_ROUGH_SHARES = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95])  # of documents that are open
_LIKELY_SHARE, _SPREAD = np.log(0.1), 1.5  # of the log of these, where documents do not tell
_STEP, _STEPS, _FLAT = 0.02, 4, 0.05
_WIDE = 1.1  # times the Gaussian's own standard deviation


class Atom(NamedTuple):
    """What a topic has besides its words."""

    x: tuple[np.ndarray, ...]  # of one atom
    log_mass: float
    shape: float


class _CurveLaw(Protocol):
    """A law of one atom's x that its gates alone determine."""

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, ...]: ...

    def log_excess(self, x: tuple[np.ndarray, ...]) -> float: ...


class Uses(NamedTuple):
    """How documents use a topic, or would."""

    positive_R: Int  # documents that do, by row and level
    trials_R: Int
    size_U: Int  # tokens that one of these may have
    times_U: Int  # how many have so many
    total: int

    @classmethod
    def of(cls, n_D: Int, row_D: Int, trials_R: Int) -> Uses:
        """Return the uses of documents with n_D tokens each, of all those there are."""
        size_U, times_U = np.unique(n_D[n_D > 0], return_counts=True)
        positive_R = np.bincount(row_D[n_D > 0], minlength=trials_R.size)
        return cls(positive_R, trials_R, size_U, times_U, int(n_D.sum()))

    @property
    def silent_R(self) -> Int:
        """Return the documents that do not use it."""
        return self.trials_R - self.positive_R


def usage_at(
    problem: TopicProblem, state: TopicState, shape: float | Float, log_mass_G: Float
) -> Usage:
    """Return the negative binomials of several masses, as if each were a topic's."""
    factor, log_share = problem.likelihood.factor, state.own.log_share
    usage: Usage = factor.usage(np.full(log_mass_G.size, shape), log_mass_G)
    return usage if log_share is None else usage._replace(log_share=log_share)


def _log_sizes(usage: Usage, uses: Uses) -> Float:
    """Return the (G,) sums of log G(shape + n) / G(shape) + n log q.

    Where q is the documents' own, the last part is the same whatever topic has the tokens.
    """
    rise_GU = gammaln(usage.shape[:, None] + uses.size_U) - gammaln(usage.shape[:, None])
    fit_G = np.asarray((rise_GU * uses.times_U).sum(axis=1))
    if usage.log_share is None and uses.total > 0:
        fit_G = fit_G + uses.total * np.log(np.maximum(usage.q, 1e-300))
    return fit_G


def fit_of(
    problem: TopicProblem,
    state: TopicState,
    uses: Uses,
    shape: float | Float,
    log_mass_G: Float,
    log_odds_TG: Float,
) -> Float:
    """Return the (G,) fits of several masses, each with its curve or all with one, (T, 1)."""
    usage = usage_at(problem, state, shape, log_mass_G)
    wide, log_odds_RG = spread(usage, log_odds_TG)
    log_silent_RG = np.atleast_2d(wide.log_silent)
    fit_G = _log_sizes(usage, uses)
    _add_rows(
        log_silent_RG, np.ascontiguousarray(log_odds_RG), uses.positive_R, uses.silent_R, fit_G
    )
    return fit_G


@compiled
def _add_rows(
    log_silent_RG: np.ndarray,
    log_odds_RG: np.ndarray,
    positive_R: np.ndarray,
    silent_R: np.ndarray,
    fit_G: np.ndarray,
) -> None:
    """Add positive log [a q] + silent log [1 - a + a q] of all rows, log a / (1 - a) given.

    Tables of one row, or one column, are the same for all.
    """
    one_row, one_curve = len(log_silent_RG) == 1, log_odds_RG.shape[1] == 1
    for r in range(positive_R.size):
        for g in range(fit_G.size):
            log_q = log_silent_RG[0 if one_row else r, g]
            odds = log_odds_RG[r, 0 if one_curve else g]
            log_open, log_shut = -_softplus(-odds), -_softplus(odds)
            if positive_R[r] > 0:
                fit_G[g] += positive_R[r] * (log_open + log_q)
            if silent_R[r] > 0:
                heard = log_open + log_q
                top, low = max(heard, log_shut), min(heard, log_shut)
                if top > -np.inf:
                    top += math.log1p(math.exp(low - top))
                fit_G[g] += silent_R[r] * top


@compiled
def _softplus(x: float) -> float:
    """Return log(1 + e^x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@dataclass(frozen=True, slots=True)
class AtomGuide:
    """The law that a topic's curve and mass are proposed from, given how documents use it."""

    problem: TopicProblem
    state: TopicState
    uses: Uses
    shape: float
    rough: float  # the mass, on the line
    curve: _CurveLaw | None  # None: the prior

    @classmethod
    def of(cls, problem: TopicProblem, state: TopicState, uses: Uses, shape: float) -> AtomGuide:
        """Return the law for documents that use a topic so."""
        rough = _rough_mass(problem, state, uses, shape)
        guide = getattr(problem.thinning, "guide", None)
        curve = None
        if guide is not None:
            usage = usage_at(problem, state, shape, _masses(problem, np.array([rough]))[0])
            curve = guide(_gates(uses, usage, problem.trials.size), problem.prepared)
        return cls(problem, state, uses, shape, rough, curve)

    def draw(self, rng: np.random.Generator) -> tuple[Atom, float]:
        """Draw a curve and a mass; return them with their log w."""
        problem = self.problem
        if self.curve is None:
            x = problem.thinning.draw(rng, 1, problem.prepared)
        else:
            x = self.curve.draw(rng)
        log_odds_T = self._log_odds(x)
        middle, sd = law = self._mass_law(log_odds_T)
        line = np.array([middle + sd * rng.standard_normal()])
        atom = Atom(x, float(_masses(problem, line)[0][0]), self.shape)
        return atom, self._log_weight(atom, log_odds_T, law)

    def log_weight(self, atom: Atom) -> float:
        """Return log w of an atom."""
        log_odds_T = self._log_odds(atom.x)
        return self._log_weight(atom, log_odds_T, self._mass_law(log_odds_T))

    def _log_weight(self, atom: Atom, log_odds_T: Float, law: tuple[float, float]) -> float:
        problem, state, log_mass = self.problem, self.state, np.array([atom.log_mass])
        line, (middle, sd) = _on_line(problem, log_mass), law
        away = (line[0] - middle) / sd
        log_q = -0.5 * away * away - np.log(sd * np.sqrt(2.0 * np.pi))
        log_q -= _masses(problem, line)[1][0]
        fit = fit_of(problem, state, self.uses, self.shape, log_mass, log_odds_T[:, None])[0]
        curve = 0.0 if self.curve is None else self.curve.log_excess(atom.x)
        return float(fit + curve + _log_levy(problem, state, log_mass)[0] - log_q)

    def _log_odds(self, x: tuple[np.ndarray, ...]) -> Float:
        return np.asarray(self.problem.thinning.log_odds(x, self.problem.prepared)[:, 0])

    def _mass_law(self, log_odds_T: Float) -> tuple[float, float]:
        """Return the top of the mass's density on the line, and a standard deviation."""
        at, curvature = self.rough, -_FLAT
        for _ in range(_STEPS):
            line = at + _STEP * np.array([-1.0, 0.0, 1.0])
            log_mass, log_slope = _masses(self.problem, line)
            fit = fit_of(
                self.problem, self.state, self.uses, self.shape, log_mass, log_odds_T[:, None]
            )
            below, here, above = fit + log_slope + _log_levy(self.problem, self.state, log_mass)
            if not np.isfinite([below, here, above]).all():
                break
            curvature = min((above - 2.0 * here + below) / _STEP**2, -_FLAT)
            at += float(np.clip((below - above) / (2.0 * _STEP * curvature), -1.0, 1.0))
        return at, _WIDE / float(np.sqrt(-curvature))


def _masses(problem: TopicProblem, line: Float) -> tuple[Float, Float]:
    """Return log m of places on the line, and log of d log m / d place."""
    if problem.likelihood.support > 1.0:
        return line, np.zeros(line.size)
    return log_expit(line), log_expit(-line)


def _on_line(problem: TopicProblem, log_mass: Float) -> Float:
    if problem.likelihood.support > 1.0:
        return log_mass
    with np.errstate(divide="ignore"):
        return np.asarray(log_mass - np.log(-np.expm1(log_mass)))


def _log_levy(problem: TopicProblem, state: TopicState, log_mass_G: Float) -> Float:
    """Return log prior densities of log masses: of one atom, as many as there are."""
    size, found_G = problem.n_atoms, np.empty(log_mass_G.size)
    all_K = np.full(size, log_mass_G[0])
    for i in range(0, log_mass_G.size, size):
        part = log_mass_G[i : i + size]
        all_K[: part.size] = part
        found_G[i : i + size] = state.levy.log_prob(all_K)[: part.size]
    return found_G


def _rough_mass(problem: TopicProblem, state: TopicState, uses: Uses, shape: float) -> float:
    """Return where on the line a mass suits documents that are all open with one probability."""
    usage = usage_at(problem, state, shape, _masses(problem, _ROUGH_MASSES)[0])
    n_levels = max(1, problem.likelihood.factor.n_levels)
    positive_B, silent_B = (
        part.reshape(-1, n_levels).sum(axis=0) for part in (uses.positive_R, uses.silent_R)
    )
    log_silent_BG = np.broadcast_to(usage.log_silent, (n_levels, _ROUGH_MASSES.size))
    share_H = _ROUGH_SHARES if problem.thinning.varies else np.ones(1)
    share_H11 = share_H[:, None, None]
    quiet_HBG = np.log(np.maximum(1.0 - share_H11 + share_H11 * np.exp(log_silent_BG), 1e-300))
    heard_HBG = np.log(share_H11) + log_silent_BG
    fit_HBG = positive_B[:, None] * heard_HBG + silent_B[:, None] * quiet_HBG
    prior_H = -0.5 * ((np.log(share_H) - _LIKELY_SHARE) / _SPREAD) ** 2
    fit_HG = fit_HBG.sum(axis=1) + _log_sizes(usage, uses) + prior_H[:, None]
    return float(_ROUGH_MASSES[fit_HG.max(axis=0).argmax()])


def _gates(uses: Uses, usage: Usage, n_rows: int) -> GateEvidence:
    """Return what documents say of one topic's gates; levels of a row as their mean."""
    positive_T, trials_T = (
        part.reshape(n_rows, -1).sum(axis=1) for part in (uses.positive_R, uses.trials_R)
    )
    q_B = np.exp(np.broadcast_to(usage.log_silent, (uses.trials_R.size // n_rows, 1)))[:, 0]
    silent_TB = uses.silent_R.reshape(n_rows, -1)
    q_T = (silent_TB * q_B).sum(axis=1) / np.maximum(silent_TB.sum(axis=1), 1)
    log_q_T1 = np.log(np.maximum(q_T, 1e-300))[:, None]
    return GateEvidence(positive_T[:, None], trials_T, log_q_T1)
