"""How good a state of a feature model is, features and gates summed out: to compare starts."""

from __future__ import annotations

import numpy as np
from scipy.special import log_expit

from thincrm.inference.updates import log_odds_of
from thincrm.levy.special import log_rest
from thincrm.models.features.laws import NOISE_PRIOR
from thincrm.models.features.state import (
    FeatureLocal,
    FeatureProblem,
    FeatureShard,
    FeatureState,
    prior_of,
)
from thincrm.models.features.sweep import gate_evidence
from thincrm.numerics.arrays import Float

__all__ = ["log_score"]


def log_score(problem: FeatureProblem, state: FeatureState) -> float:
    """Return log p(table, usages | masses, curves, variances) + log p(noise), up to a constant."""
    return _log_table(problem, state) + _log_usages(problem, state)


def _log_table(problem: FeatureProblem, state: FeatureState) -> float:
    """Return log p(y | u) + log p(noise), column by column, with the features A integrated out.

    A_.p ~ N(0, diag(b)^-1) and V = (U'U w_p + diag(b))^-1 give

        log p(y_p | U) = (cells log w_p - w_p y'y + w_p^2 y'U V U'y + log |V| + log |b|) / 2
    """
    facts, noise = problem.facts, state.own.noise
    prior_FP = prior_of(problem, state.own)
    gram_PFF = np.triu(state.evidence.gram.transpose(2, 0, 1))
    gram_PFF = gram_PFF + np.triu(gram_PFF, 1).transpose(0, 2, 1)
    root_PFF = np.linalg.cholesky(
        gram_PFF * noise[:, None, None] + prior_FP.T[:, :, None] * np.eye(len(prior_FP))
    )
    pull_PF = np.linalg.solve(root_PFF, (noise * state.evidence.cross).T[:, :, None])[:, :, 0]
    log_root = np.log(np.diagonal(root_PFF, axis1=1, axis2=2)).sum()
    shape, rate = NOISE_PRIOR[0], state.own.rate
    cells_P, square_P = facts.seen_P, facts.square_P
    each_P = (shape + 0.5 * cells_P) * np.log(noise) - noise * (rate + 0.5 * square_P)
    total = each_P.sum() + 0.5 * (pull_PF**2).sum() - log_root
    return float(total + 0.5 * np.log(prior_FP).sum())


def _log_usages(problem: FeatureProblem, state: FeatureState) -> float:
    """Return log p(z, s | masses, curves), gates summed out.

    A gate behind which a feature is used is open; a silent one has probability 1 - p + p q.
    """
    gates, hits_TK = gate_evidence(problem, state), state.evidence.hits
    log_odds_TK = log_odds_of(problem, state.x)
    log_open_TK, log_shut_TK = log_expit(log_odds_TK), log_expit(-log_odds_TK)
    total = _times(gates.positive, log_open_TK)
    total += _times(gates.silent, np.logaddexp(log_shut_TK, log_open_TK + gates.log_q))
    total += _times(hits_TK, state.log_mass)
    if problem.likelihood.shared:
        misses_TK = np.where(hits_TK > 0, problem.trials[:, None] - hits_TK, 0)
        total += _times(misses_TK, log_rest(state.log_mass))
    if problem.likelihood.real:
        _, parts = problem.engine.map(_log_weights, problem.shards, state.local, None)
        total -= 0.5 * sum(parts)
    return total


def _log_weights(
    shard: FeatureShard, local: FeatureLocal, message: None
) -> tuple[FeatureLocal, float]:
    """Return -2 log p of the weights of used features."""
    return local, float((local.used * (local.weight**2 + np.log(2.0 * np.pi))).sum())


def _times(count_TK: np.ndarray, log: Float) -> float:
    """Return the sum of count times log, 0 where the count is 0 whatever the log."""
    return float((count_TK * np.where(count_TK > 0, log, 0.0)).sum())
