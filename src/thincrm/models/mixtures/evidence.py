"""What rows say of a mixture's globals, and how it becomes the ports' two messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import expit

from thincrm.models.mixtures.clusters import Stats, add_stats
from thincrm.numerics.arrays import Float, Int
from thincrm.ports import GateEvidence, MassEvidence

__all__ = ["Gating", "MixtureEvidence", "add_evidence", "gate_evidence", "mass_evidence"]

Gating = Literal["shared", "weighted", "observation"]


class MixtureEvidence(NamedTuple):
    """Sums over rows; shards follow one another along T.

    ``gates`` is, for gates of observations, how many are open; for weighted ones how many rings
    were rejected; for shared ones nothing (they are summed out). ``pace`` multiplies every clock:
    a move of all masses by b makes it 1 / b.
    """

    counts: Int  # T x K: rows of each cluster
    gates: Int  # T x K, or 0 x K
    clock: Float  # T: V, or empty where every row has its own
    exposure: Float  # K: Σ u r, where every row has its own clock
    stats: Stats
    pace: float = 1.0


def add_evidence(parts: Sequence[MixtureEvidence]) -> MixtureEvidence:
    """Return the evidence of all shards, floats added in shard order."""
    exposure = np.array(parts[0].exposure)
    for part in parts[1:]:
        exposure += part.exposure
    return MixtureEvidence(
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.gates for part in parts]),
        np.concatenate([part.clock for part in parts]),
        exposure,
        add_stats([part.stats for part in parts]),
    )


def gate_evidence(
    gating: Gating, evidence: MixtureEvidence, trials_T: Int, log_mass: Float, first: int
) -> GateEvidence:
    """Return what rows say of the gates of atoms `first` and above.

    shared        open where used, one trial, q = e^{-V_t π_k}
    weighted      rings accepted n_tk out of n_tk + m_tk
    observation   gates seen open
    """
    counts = evidence.counts[:, first:]
    if gating == "shared":
        log_q = -np.outer(evidence.pace * evidence.clock, np.exp(log_mass[first:]))
        return GateEvidence((counts > 0).astype(np.int64), np.ones_like(trials_T), log_q)
    gates = evidence.gates[:, first:]
    sure = np.full(counts.shape, -np.inf)
    if gating == "weighted":
        return GateEvidence(counts, counts + gates, sure)
    return GateEvidence(gates, trials_T, sure)


def mass_evidence(
    gating: Gating,
    rng: np.random.Generator,
    evidence: MixtureEvidence,
    log_odds: Float,
    log_mass: Float,
) -> MassEvidence:
    """Draw shared gates that are silent, r ~ Bernoulli(s(V)); return hits and exposure.

    shared        hits n_k, exposure Σ_t V_t r_tk
    weighted      hits n_k, exposure Σ_t V_t p_tk: rejected rings, which x needs, are summed out
                  (given them a mass that is shut at most rows would hardly move)
    observation   hits n_k, exposure Σ_n u_n r_nk
    """
    n_atoms, hits = log_mass.size, evidence.counts.sum(0)
    if gating == "observation":
        return MassEvidence.of(n_atoms, hits=hits, exposure=evidence.pace * evidence.exposure)
    clock = evidence.pace * evidence.clock
    if gating == "weighted":
        return MassEvidence.of(n_atoms, hits=hits, exposure=clock @ expit(log_odds))
    with np.errstate(invalid="ignore"):
        chance = expit(log_odds - np.outer(clock, np.exp(log_mass)))
    opened = (evidence.counts > 0) | (rng.random(chance.shape) < chance)
    opened |= log_odds == np.inf
    return MassEvidence.of(n_atoms, hits=hits, exposure=(clock[:, None] * opened).sum(0))
