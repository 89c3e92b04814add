"""A feature model's rows in shards, what belongs to them, and the globals."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from thincrm.inference.updates import log_odds_of
from thincrm.levy.special import log_rest
from thincrm.models.features.kernel import Features, Sums, Table, add_rows
from thincrm.models.features.laws import NOISE_PRIOR
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.threads import map_blocks
from thincrm.ports import Problem, State

if TYPE_CHECKING:
    from thincrm.models.features.likelihood import FeatureLikelihood

__all__ = [
    "BACKGROUND_PRECISION",
    "FeatureEvidence",
    "FeatureFacts",
    "FeatureGlobals",
    "FeatureLocal",
    "FeatureProblem",
    "FeatureShard",
    "FeatureState",
    "add_evidence",
    "entry_prior",
    "evidence_of",
    "facts_of",
    "features_of",
    "log_chances",
    "prior_of",
    "shards_of",
]

SHARD_ROWS = 2**14
_BLOCK_ROWS = 2048
BACKGROUND_PRECISION = 0.25  # of the level of a column where every feature is shut


@dataclass(frozen=True, slots=True)
class FeatureShard:
    """Some rows of the table, sorted by covariate; a shard never cuts a covariate."""

    table: Table
    trials: Int  # T: of its rows at each covariate, all covariates counted
    first: int = 0  # the number of its first row among all

    def blocks(self) -> list[int]:
        """Return where to cut the groups into blocks of about equal rows, whatever the threads."""
        n_rows = int(self.table.start_G[-1])
        if 0 < n_rows <= _BLOCK_ROWS:
            return [0, self.table.row_G.size]
        cuts = np.searchsorted(self.table.start_G, np.arange(0, n_rows, _BLOCK_ROWS))
        return [*np.unique(cuts).tolist(), self.table.row_G.size]


class FeatureLocal(NamedTuple):
    """What belongs to the rows of a shard."""

    used: np.ndarray  # N x K, int8: z
    weight: Float  # N x K, or N x 0 where all weights are 1: s, of no meaning where z = 0
    dense: Float  # N x L: the weights f of the dense factors


@dataclass(frozen=True, slots=True)
class FeatureGlobals:
    """The features, and the variances."""

    feature: Float  # F x P: A, the dense factors and the level below it
    noise: Float  # P: 1 / sigma_p^2
    scale: float  # 1 / sigma_A^2
    dense: Float = field(default_factory=lambda: np.ones(0))  # L: tau, see `prior_of`
    level: Float = field(default_factory=lambda: np.ones((0, 1)))  # S x P: of slopes and curves
    rate: float = NOISE_PRIOR[1]  # of the law of the noise's precisions


class FeatureEvidence(NamedTuple):
    """What rows say of the globals."""

    gram: Float  # F x F x P, F x P, F x F and 1: sums over the rows, see Sums
    cross: Float
    whole: Float
    fit: Float
    hits: Int  # T x K: rows at each covariate that use each feature

    @property
    def sums(self) -> Sums:
        """Return the sums that features and variances need."""
        return Sums(self.gram, self.cross, self.whole, self.fit)


class FeatureFacts(NamedTuple):
    """What the globals' updates must know of all rows."""

    n_rows: int
    seen_P: Float  # seen cells of each column
    square_P: Float  # the sum of their squares


FeatureState = State[FeatureLocal, FeatureGlobals, FeatureEvidence]
FeatureProblem: TypeAlias = "Problem[FeatureShard, FeatureLikelihood]"


def facts_of(table: Table) -> FeatureFacts:
    """Return the facts of all rows."""
    return FeatureFacts(len(table.value_NP), table.seen_NP.sum(0), (table.value_NP**2).sum(0))


def shards_of(
    table: Table, trials_T: Int, shard_rows: int = SHARD_ROWS
) -> tuple[FeatureShard, ...]:
    """Cut rows into shards of about so many: fixed by the data alone."""
    end_T, n_rows = np.cumsum(trials_T), len(table.value_NP)
    n_shards = max(1, round(n_rows / shard_rows))
    ends = np.searchsorted(end_T, n_rows * np.arange(1, n_shards) / n_shards) + 1
    cuts = np.unique([0, *ends.tolist(), trials_T.size])
    return tuple(_shard(table, trials_T, first, stop) for first, stop in pairwise(cuts.tolist()))


def _shard(table: Table, trials_T: Int, first: int, stop: int) -> FeatureShard:
    """Return the rows of covariates first to stop."""
    if stop - first == trials_T.size:
        return FeatureShard(table, trials_T)
    groups = slice(*np.searchsorted(table.row_G, [first, stop]))
    start_G = table.start_G[groups.start : groups.stop + 1]
    rows = slice(int(start_G[0]), int(start_G[-1]))
    trials = np.zeros_like(trials_T)
    trials[first:stop] = trials_T[first:stop]
    part = Table(
        table.value_NP[rows], table.seen_NP[rows], start_G - start_G[0], table.row_G[groups],
        table.item_G[groups], table.basis_NB[rows],
    )  # fmt: skip
    return FeatureShard(part, trials, rows.start)


def features_of(problem: FeatureProblem, state: FeatureState) -> Features:
    """Return what the rows are made of."""
    own = state.own
    return Features(
        own.feature, own.noise, *log_chances(log_odds_of(problem, state.x)), state.log_mass,
        log_rest(state.log_mass), problem.likelihood.real,
    )  # fmt: skip


def log_chances(log_odds: Float) -> tuple[Float, Float]:
    """Return log p and log (1 - p), also where one of them is certain."""
    larger = np.log1p(np.exp(-np.abs(log_odds)))
    return np.minimum(log_odds, 0.0) - larger, np.minimum(-log_odds, 0.0) - larger


def entry_prior(problem: FeatureProblem, own: FeatureGlobals) -> Float:
    """Return the (P,) precisions of a thinned feature's entries.

    Beside dense factors they are in units of their columns' noise, as the factors' are: a feature
    that no row uses is then nothing but another unit of noise, also for columns that have little.
    """
    if problem.likelihood.n_dense > 0:
        return np.asarray(own.scale * own.noise)
    return np.full(own.noise.size, own.scale)


def prior_of(problem: FeatureProblem, own: FeatureGlobals) -> Float:
    """Return the (F, P) precisions of the features' entries: all are normal around 0.

    A dense factor's entries are in units of their columns' noise, D_lp ~ N(0, sigma_p^2 / tau_l),
    so that no factor makes one column's noise vanish for itself. So are a level's slopes and
    curves: those that a column with little noise does not need vanish, too.
    """
    n_free, likelihood = problem.n_atoms + own.dense.size, problem.likelihood
    prior_FP = np.empty(own.feature.shape)
    prior_FP[: problem.n_atoms] = entry_prior(problem, own)
    prior_FP[problem.n_atoms : n_free] = own.dense[:, None] * own.noise
    if likelihood.background:
        prior_FP[n_free:-1] = np.repeat(own.level, likelihood.level, axis=0) * own.noise
        prior_FP[-1] = BACKGROUND_PRECISION
    return prior_FP


def hits_in(shard: FeatureShard, used: np.ndarray) -> Int:
    """Return the (T, K) rows at each covariate that use each feature."""
    hits_TK = np.zeros((shard.trials.size, used.shape[1]), np.int64)
    here = np.flatnonzero(shard.trials)
    start_T = np.concatenate([[0], np.cumsum(shard.trials[here])[:-1]])
    if here.size:
        hits_TK[here] = np.add.reduceat(used, start_T, axis=0, dtype=np.int64)
    return hits_TK


def evidence_of(shard: FeatureShard, local: FeatureLocal, background: bool) -> FeatureEvidence:
    """Return what given usages say."""
    table, cuts, real = shard.table, shard.blocks(), local.weight.shape[1] > 0
    n_free, n_level = local.used.shape[1] + local.dense.shape[1], table.basis_NB.shape[1]
    shape = n_free + n_level * int(background), table.value_NP.shape[1]

    def work(block: int, _: int) -> Sums:
        sums = Sums.zero(*shape)
        first, stop = table.start_G[cuts[block]], table.start_G[cuts[block + 1]]
        add_rows(first, stop, table, *local, real, sums)
        return sums

    sums = add_sums(map_blocks(work, len(cuts) - 1, 1))
    return FeatureEvidence(*sums, hits_in(shard, local.used))


def add_sums(parts: list[Sums]) -> Sums:
    """Add block after block, in order: floats, so the order is part of the result."""
    return Sums(*(np.sum(piece, axis=0) for piece in zip(*parts, strict=True)))


def add_evidence(parts: list[FeatureEvidence]) -> FeatureEvidence:
    """Add shard after shard, in order."""
    return FeatureEvidence(*(np.sum(piece, axis=0) for piece in zip(*parts, strict=True)))
