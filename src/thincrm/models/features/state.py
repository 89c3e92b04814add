"""A feature model's problem and state, and what every update reads off them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_expit

from thincrm.levy.special import log_rest
from thincrm.models.features.kernel import Features, Sums, Table, add_rows
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.threads import map_blocks

__all__ = [
    "BACKGROUND_PRECISION",
    "FeatureProblem",
    "FeatureState",
    "add_up",
    "blocks_of",
    "features_of",
    "sums_of",
]

_BLOCK_ROWS = 2048
BACKGROUND_PRECISION = 0.25  # of the level of a column where every feature is shut


@dataclass(frozen=True, slots=True)
class FeatureProblem:
    """What does not change: the model's factors and the table, its rows sorted by covariate."""

    levy: Any
    thinning: Any
    prepared: Any
    table: Table
    trials: Int  # T: rows at each covariate
    shared: bool  # one gate a covariate, not one a row
    real: bool
    background: bool
    n_features: int
    learn_masses: bool
    sure: bool = False  # masses are 1: behind an open gate a feature is used


@dataclass(frozen=True, slots=True)
class FeatureState:
    """Where a chain stands."""

    used: np.ndarray  # N x K, int8: z
    weight: Float  # N x K, or N x 0 where all weights are 1: s, of no meaning where z = 0
    feature: Float  # F x P: A, and the background below it
    noise: Float  # P: 1 / sigma_p^2
    scale: float  # 1 / sigma_A^2
    log_mass: Float  # K
    x: Any
    levy: Any
    gram: Float  # F x F x P and F x P: sums over the rows, see Sums
    cross: Float


def features_of(problem: FeatureProblem, state: FeatureState) -> Features:
    """Return what the rows are made of."""
    log_odds = problem.thinning.log_odds(state.x, problem.prepared)
    return Features(
        state.feature, state.noise, log_expit(log_odds), log_expit(-log_odds), state.log_mass,
        log_rest(state.log_mass), problem.real,
    )  # fmt: skip


def blocks_of(table: Table) -> list[int]:
    """Return where to cut the groups into blocks of about equal rows, whatever the threads."""
    n_rows = int(table.start_G[-1])
    cuts = np.searchsorted(table.start_G, np.arange(0, n_rows, _BLOCK_ROWS))
    return [*np.unique(cuts).tolist(), table.row_G.size]


def sums_of(problem: FeatureProblem, used: np.ndarray, weight: Float) -> Sums:
    """Return the rows' sums of given usages."""
    table, cuts = problem.table, blocks_of(problem.table)
    shape = problem.n_features + int(problem.background), table.value_NP.shape[1]

    def work(block: int, _: int) -> Sums:
        sums = Sums.zero(*shape)
        first, stop = table.start_G[cuts[block]], table.start_G[cuts[block + 1]]
        add_rows(first, stop, table, used, weight, problem.real, sums)
        return sums

    return add_up(map_blocks(work, len(cuts) - 1, 1))


def add_up(parts: list[Sums]) -> Sums:
    """Add block after block, in order: floats, so the order is part of the result."""
    return Sums(*(np.sum(piece, axis=0) for piece in zip(*parts, strict=True)))
