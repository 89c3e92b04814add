"""Kept draws of a mixture, and the weights of clusters at any covariate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from thincrm.inference.updates import log_odds_of
from thincrm.models.mixtures.clusters import Hyper, Params, take_rows
from thincrm.models.mixtures.evidence import Gating
from thincrm.models.mixtures.shards import labels_in_order
from thincrm.models.mixtures.state import MixtureProblem, MixtureState
from thincrm.numerics.arrays import Bool, Float, Int
from thincrm.numerics.compiled import compiled

__all__ = ["MixtureDraw", "atom_log_odds", "keep_draw", "predictive_weights", "summary_of"]

_LEAST_SHARE = 1e-4  # of all mass: lighter clusters without rows are left out
_STEP, _FIRST, _LAST = 0.5, -20.0, 40.0  # of the trapezoid rule in log u


@dataclass(frozen=True, slots=True)
class MixtureDraw:
    """One kept draw of one chain, in standard units.

    Clusters with rows come first, the largest leading; then those without rows that are heavy
    enough to matter to predictions. A is their number.

    Attributes
    ----------
    chain, sweep : int
        Where the draw comes from.
    n_used : int
        Clusters with rows.
    log_mass : (A,) float
    background : (A,) bool
        Always open: such clusters have no x.
    x : named tuple
        The thinning function's variables of the others, in order.
    params, hyper : named tuples
        Parameters of the A clusters, and of their prior.
    labels : (N,) int
        Cluster of every row, in the data's order; int16 where that is enough.
    counts : (T, n_used) int
        Rows of each cluster at every distinct covariate row.
    scalars : dict of str to float
        Label-free quantities (see `summary_of`).
    """

    chain: int
    sweep: int
    n_used: int
    log_mass: Float
    background: Bool
    x: Any
    params: Params
    hyper: Hyper
    labels: np.ndarray
    counts: Int
    scalars: dict[str, float]


def summary_of(problem: MixtureProblem, state: MixtureState) -> dict[str, float]:
    """Return the number of clusters, γ, and the log joint density of rows and labels.

    log joint = Σ_k log ∫ Π f dG0 + Σ_tk n_tk log (p_tk π_k / Σ_j p_tj π_j): clusters' parameters
    integrated out, gates averaged.
    """
    counts, law = state.evidence.counts, problem.likelihood.clusters
    log_rate = log_expit(log_odds_of(problem, state.x)) + state.log_mass
    top = log_rate.max(1, keepdims=True)
    log_share = log_rate - top - np.log(np.exp(log_rate - top).sum(1, keepdims=True))
    used = counts > 0
    fit = law.log_marginal(state.evidence.stats, state.own.hyper).sum()
    return {
        "n_clusters": float(used.any(0).sum()),
        "log_joint": float(fit + (counts[used] * log_share[used]).sum()),
        "largest_share": float(counts.sum(0).max() / counts.sum()),
        "mass": float(state.levy.mass),
    }


def keep_draw(problem: MixtureProblem, state: MixtureState, chain: int, sweep: int) -> MixtureDraw:
    """Return what tables and predictions need of a state."""
    size_K = state.evidence.counts.sum(0)
    n_used = int((size_K > 0).sum())
    share_K = np.exp(state.log_mass - state.log_mass.max())
    heavy_K = (size_K == 0) & (share_K > _LEAST_SHARE * share_K.sum())
    order = np.argsort(-size_K, kind="stable")
    kept = np.concatenate([order[:n_used], np.flatnonzero(heavy_K)])
    name_K = np.zeros(problem.n_atoms, np.int16 if problem.n_atoms < 2**15 else np.int32)
    name_K[kept] = np.arange(kept.size)
    labels = labels_in_order(problem.shards, problem.engine.fetch(state.local))
    thinned = kept[kept >= problem.n_background] - problem.n_background
    return MixtureDraw(
        chain, sweep, n_used, state.log_mass[kept], kept < problem.n_background,
        take_rows(state.x, thinned), take_rows(state.own.params, kept), state.own.hyper,
        name_K[labels], state.evidence.counts[:, kept[:n_used]], summary_of(problem, state),
    )  # fmt: skip


def atom_log_odds(draw: MixtureDraw, thinning: Any, prepared: Any, t: Any = None) -> Float:
    """Return the (T, A) log odds of being open, at the prepared rows or at any covariates."""
    inner = thinning.log_odds(draw.x, prepared, t)
    out = np.full((len(inner), draw.log_mass.size), np.inf)
    out[:, ~draw.background] = inner
    return out


def predictive_weights(gates: Gating, log_mass: Float, log_odds_TA: Float) -> Float:
    """Return the (T, A) probabilities that a new row at t is of each cluster.

    weighted     w_k = p_k π_k / Σ_j p_j π_j
    else         w_k = E[r_k π_k / Σ_j r_j π_j] = ∫ π_k s_k(u) M(u) du,
                 M(u) = Π_j (1 - p_j + p_j e^{-uπ_j}),  s = p e^{-uπ} / (1 - p + p e^{-uπ})

    by the trapezoid rule in log u (error 1e-8), divided by P(something is open).
    """
    mass_A = np.exp(log_mass - log_mass.max())
    mass_A = mass_A / mass_A.sum()
    if gates == "weighted":
        log_rate = log_expit(log_odds_TA) + np.log(mass_A)
        rate = np.exp(log_rate - log_rate.max(1, keepdims=True))
        return np.asarray(rate / rate.sum(1, keepdims=True))
    last = np.log(_LAST / mass_A.min())
    log_u = np.arange(_FIRST, last, _STEP)
    left_UA = np.exp(-np.multiply.outer(np.exp(log_u), mass_A))
    out = np.empty(log_odds_TA.shape)
    _integrate(np.exp(log_u) * _STEP, left_UA, mass_A, expit(log_odds_TA), expit(-log_odds_TA), out)
    return np.asarray(out / out.sum(1, keepdims=True))


@compiled
def _integrate(
    step_U: np.ndarray, left_UA: np.ndarray, mass_A: np.ndarray, open_TA: np.ndarray,
    shut_TA: np.ndarray, out_TA: np.ndarray,
) -> None:  # fmt: skip
    for t in range(open_TA.shape[0]):
        out_TA[t] = 0.0
        for u in range(step_U.size):
            silent = step_U[u]
            for k in range(mass_A.size):
                silent *= shut_TA[t, k] + open_TA[t, k] * left_UA[u, k]
            if silent > 0.0:
                for k in range(mass_A.size):
                    seen = open_TA[t, k] * left_UA[u, k]
                    if seen > 0.0:
                        out_TA[t, k] += silent * mass_A[k] * seen / (shut_TA[t, k] + seen)
