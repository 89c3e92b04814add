"""MixtureLikelihood: each row is of one cluster, drawn from the normalised open masses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_expit

from thincrm.errors import InvalidInput
from thincrm.inference.updates import log_odds_of
from thincrm.models.mixtures.clusters import Clusters, add_stats, take_rows
from thincrm.models.mixtures.draw import MixtureDraw, keep_draw, summary_of
from thincrm.models.mixtures.evidence import (
    Gating,
    MixtureEvidence,
    add_evidence,
    gate_evidence,
    mass_evidence,
)
from thincrm.models.mixtures.kernel import (
    count_rows,
    draw_clocks,
    draw_rejected,
    pick_observation,
    pick_shared,
    pick_weighted,
)
from thincrm.models.mixtures.shards import MixtureLocal, MixtureShard, row_blocks
from thincrm.models.mixtures.start import start_state
from thincrm.models.mixtures.state import Message, MixtureOwn, MixtureProblem, MixtureState
from thincrm.models.mixtures.sweep import SWEEP
from thincrm.numerics.arrays import Float
from thincrm.numerics.streams import fold_key
from thincrm.numerics.threads import map_blocks
from thincrm.ports import GateEvidence, MassEvidence, Update

__all__ = ["MixtureLikelihood"]

_CLOCKS, _REJECTED, _AUGMENTED = 1, 2, 3  # branches of a sweep's key


@dataclass(frozen=True, slots=True)
class MixtureLikelihood:
    """A normalised thinned measure mixed over the laws of clusters.

        P(c_n = k) = r_k π_k / Σ_j r_j π_j,     y_n ~ f(· | θ_{c_n})

    with gates r_tk ~ Bernoulli(p_tk) shared by the rows at a covariate value ("shared"), or drawn
    for every row ("observation"), or averaged out, r_tk = p_tk ("weighted").

    Parameters
    ----------
    clusters : Clusters
        The law inside clusters.
    gates : {"shared", "weighted", "observation"}
    """

    clusters: Clusters
    gates: Gating = "shared"

    def __post_init__(self) -> None:
        if self.gates not in ("shared", "weighted", "observation"):
            raise InvalidInput(
                f"gates must be 'shared', 'weighted' or 'observation', got {self.gates!r}."
            )

    @property
    def support(self) -> float:
        """Return infinity: masses have no upper end."""
        return float(np.inf)

    @property
    def updates(self) -> tuple[Update, ...]:
        """Return the sweep."""
        return SWEEP

    def start(self, rng: np.random.Generator, problem: MixtureProblem) -> MixtureState:
        """Return a state to start a chain from."""
        return start_state(rng, problem)

    def message(self, problem: MixtureProblem, state: MixtureState) -> Message:
        """Return clusters packed for loops, masses and log odds."""
        found = state.evidence
        return Message(
            self.clusters.packed(state.own.params), state.log_mass, log_odds_of(problem, state.x),
            found.pace * found.clock, found.pace,
        )  # fmt: skip

    def redraw_local(
        self, key: np.uint64, shard: MixtureShard, local: MixtureLocal, message: Message
    ) -> tuple[MixtureLocal, MixtureEvidence]:
        """Redraw gates, clusters and clocks of a shard's rows."""
        groups = shard.groups
        here = slice(groups.first_t, groups.first_t + groups.start_G.size - 1)
        log_odds_GK = message.log_odds[here]
        sure = not np.isfinite(log_odds_GK).any()
        shared = self.gates == "shared" and not sure
        label_N, clock_N = local.label.copy(), local.clock.copy()
        n_atoms, n_groups = message.log_mass.size, len(log_odds_GK)
        odds_GK = np.exp(np.minimum(log_odds_GK, 700.0))
        odds_GK[log_odds_GK == np.inf] = np.inf
        log_weight_GK, mass_K = log_expit(log_odds_GK) + message.log_mass, np.exp(message.log_mass)
        open_GK = np.zeros((n_groups if shared else 0, n_atoms), np.int8)
        blocks = row_blocks(groups, whole_groups=shared)
        branch = np.uint64(fold_key(key, _AUGMENTED))

        def work(block: int, _: int) -> tuple[Any, ...]:
            g, h, first, stop = blocks[block]
            log_RK = np.empty((stop - first, n_atoms))
            self.clusters.log_density(first, stop, shard.rows, message.packed, log_RK)
            open_HK = np.zeros((h - g if self.gates == "observation" else 0, n_atoms), np.int64)
            exposure_K = np.zeros(n_atoms)
            if shared:
                pick_shared(
                    g, h, key, groups, odds_GK, message.log_mass, message.clock[here], log_RK,
                    label_N, open_GK,
                )  # fmt: skip
            elif self.gates == "observation":
                pick_observation(
                    first, stop, key, groups, odds_GK, log_weight_GK, mass_K, message.pace,
                    log_RK, label_N, clock_N, open_HK, exposure_K,
                )  # fmt: skip
            else:
                pick_weighted(first, stop, key, groups, log_weight_GK, log_RK, label_N)
            stats = self.clusters.add_rows(
                first, stop, branch, groups.first_row, shard.rows, label_N, message.packed, n_atoms
            )
            return stats, open_HK, exposure_K

        clock_G, gates_GK = np.zeros(0), np.zeros((0, n_atoms), np.int64)

        def ring(rate_GK: Float) -> None:
            nonlocal clock_G, gates_GK
            clock_G = np.empty(n_groups)
            branch = np.uint64(fold_key(key, _CLOCKS))
            opened_G = np.asarray(rate_GK.sum(1))
            draw_clocks(branch, groups.first_t, np.diff(groups.start_G), opened_G, clock_G)
            if self.gates == "weighted":
                gates_GK = np.empty((n_groups, n_atoms), np.int64)
                rejected = np.uint64(fold_key(key, _REJECTED))
                draw_rejected(rejected, groups.first_t, clock_G, mass_K, odds_GK, gates_GK)

        def meanwhile() -> None:
            if not shared and self.gates != "observation":  # clocks do not wait for gates
                ring(np.exp(log_weight_GK))

        done = map_blocks(work, len(blocks), 1, meanwhile)
        if shared:
            ring(np.asarray(open_GK * mass_K, float))
        exposure_K = np.zeros(n_atoms)
        if self.gates == "observation":
            gates_GK = np.zeros((n_groups, n_atoms), np.int64)
            for (g, h, *_), (_, open_HK, exposed_K) in zip(blocks, done, strict=True):
                gates_GK[g:h] += open_HK
                exposure_K += exposed_K
        counts_GK = np.zeros((n_groups, n_atoms), np.int64)
        count_rows(groups.group_N, label_N, counts_GK)
        stats = add_stats([found[0] for found in done])
        found = MixtureEvidence(counts_GK, gates_GK, clock_G, exposure_K, stats)
        return MixtureLocal(label_N, clock_N), found

    def add(self, parts: Sequence[MixtureEvidence]) -> MixtureEvidence:
        """Return the evidence of all shards."""
        return add_evidence(parts)

    def gate_evidence(
        self, rng: np.random.Generator, problem: MixtureProblem, state: MixtureState
    ) -> GateEvidence:
        """Return what rows say of the thinned atoms' gates."""
        return gate_evidence(
            self.gates, state.evidence, problem.trials, state.log_mass, problem.n_background
        )

    def mass_evidence(
        self, rng: np.random.Generator, problem: MixtureProblem, state: MixtureState
    ) -> MassEvidence:
        """Draw the shared gates that are silent; return what is then said of the masses."""
        log_odds = log_odds_of(problem, state.x)
        return mass_evidence(self.gates, rng, state.evidence, log_odds, state.log_mass)

    def redraw_own(
        self, rng: np.random.Generator, problem: MixtureProblem, state: MixtureState
    ) -> MixtureOwn:
        """Redraw the clusters' parameters and, with those of empty ones, their prior's.

        θ_used | rows, then hyper | θ_used, then θ_empty | hyper.
        """
        clusters, hyper = self.clusters, state.own.hyper
        params = clusters.redraw(rng, state.evidence.stats, hyper)
        empty_K = state.evidence.counts.sum(0) == 0
        hyper = clusters.redraw_hyper(rng, take_rows(params, ~empty_K), hyper)
        fresh = clusters.draw(rng, int(empty_K.sum()), hyper)
        for array_K, new in zip(params, fresh, strict=True):
            array_K[empty_K] = new
        return MixtureOwn(params, hyper)

    def summary(self, problem: MixtureProblem, state: MixtureState) -> dict[str, float]:
        """Return label-free numbers of a state."""
        return summary_of(problem, state)

    def keep(
        self, problem: MixtureProblem, state: MixtureState, chain: int, sweep: int
    ) -> MixtureDraw:
        """Return the draw to keep of a state."""
        return keep_draw(problem, state, chain, sweep)
