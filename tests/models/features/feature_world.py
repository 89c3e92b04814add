"""Small tables drawn from the model's definition, many replicates in one problem.

Replicate r has features, covariate rows and columns of its own: its features are shut for sure
at the rows of the others, and the others' columns are holes in its rows. So one sweep moves all
of them, independently.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit
from topic_world import ROW, TIMES, TRIALS, SideBySide, of_all

from thincrm.inference.engine import Serial
from thincrm.levy import BetaProcess
from thincrm.models.features.kernel import as_table
from thincrm.models.features.laws import NOISE_PRIOR
from thincrm.models.features.likelihood import FeatureLikelihood
from thincrm.models.features.state import (
    BACKGROUND_PRECISION,
    FeatureGlobals,
    FeatureLocal,
    evidence_of,
    facts_of,
    shards_of,
)
from thincrm.models.features.sweep import redraw_variances
from thincrm.ports import Problem, State

SCALE = 0.8  # 1 / sigma_A^2: shared by all replicates, so held


@dataclass(frozen=True)
class World:
    """One product, and the sizes of its small problems."""

    thinning: object
    shared: bool
    real: bool
    background: bool = True
    n_features: int = 2
    n_columns: int = 2
    n_replicates: int = 10
    share: float = 0.4  # mean of a mass
    concentration: float = 3.0
    holes: float = 0.25
    n_shards: int = 1

    def draw(self, rng):
        """Draw (problem, state): globals, gates, usages, cells, from their definitions."""
        R, K, P, N = self.n_replicates, self.n_features, self.n_columns, ROW.size
        thinning = SideBySide(self.thinning, R, K)
        x = thinning.draw(rng, R * K, None)
        open_TRK = expit(thinning.inside(x))
        open_RTK = open_TRK.reshape(TIMES.size, R, K).transpose(1, 0, 2)
        c, m = self.concentration, self.share
        mass_RK = rng.beta(c * m, c * (1 - m), (R, K))
        gate = rng.random((R, TIMES.size, K)) < open_RTK
        gate = gate[:, ROW] if self.shared else rng.random((R, N, K)) < open_RTK[:, ROW]
        used_RNK = gate & (rng.random((R, N, K)) < mass_RK[:, None])
        weight_RNK = rng.standard_normal((R, N, K)) if self.real else np.ones((R, N, K))
        feature = rng.standard_normal((R * K + self.background, R * P)) / np.sqrt(SCALE)
        feature[R * K :] *= np.sqrt(SCALE / BACKGROUND_PRECISION)
        noise = rng.gamma(NOISE_PRIOR[0], 1 / NOISE_PRIOR[1], R * P)
        used, weight = (np.zeros((R, N, R, K)) for _ in range(2))
        used[np.arange(R), :, np.arange(R)] = used_RNK
        weight[np.arange(R), :, np.arange(R)] = weight_RNK
        used, weight = used.reshape(R * N, R * K), weight.reshape(R * N, R * K)
        value = (used * weight) @ feature[: R * K] + feature[R * K :].sum(0)
        value = value + rng.standard_normal(value.shape) / np.sqrt(noise)
        own = np.kron(np.eye(R), np.ones((N, P))) > 0
        value[~own | (rng.random(value.shape) < self.holes)] = np.nan
        table = as_table(value, np.tile(TRIALS, R), self.shared)
        problem = problem_of(
            table, np.tile(TRIALS, R), shard_rows=len(value) // self.n_shards,
            levy=BetaProcess(m * R * K, c), thinning=thinning, prepared=None,
            likelihood=FeatureLikelihood(self.shared, self.real, self.background),
            n_atoms=R * K, learn_levy=False,
        )  # fmt: skip
        weight = weight if self.real else np.zeros((R * N, 0))
        own = FeatureGlobals(feature, noise, SCALE)
        state = State((), own, np.log(mass_RK.ravel()), x, problem.levy, None)
        return problem, with_usages(problem, state, used.astype(np.int8), weight)


def problem_of(table, trials, *, shard_rows=2**18, engine=None, **factors):
    """Return the problem of a table, in shards of about so many rows."""
    return Problem(
        shards=shards_of(table, trials, shard_rows), trials=trials, facts=facts_of(table),
        engine=engine or Serial(), **factors,
    )  # fmt: skip


def with_usages(problem, state, used, weight):
    """Return the state with given usages and weights, added up anew."""
    ends = [shard.first for shard in problem.shards[1:]]
    pairs = zip(np.split(used, ends), np.split(weight, ends), strict=True)
    local = tuple(FeatureLocal(*pair, np.zeros((len(pair[0]), 0))) for pair in pairs)
    background = problem.likelihood.background
    both = zip(problem.shards, local, strict=True)
    parts = [evidence_of(shard, one, background) for shard, one in both]
    return replace(state, local=local, evidence=problem.likelihood.add(parts))


def used_of(state):
    """Return the usages of all rows."""
    return np.concatenate([local.used for local in state.local])


def weight_of(state):
    """Return the weights of all rows."""
    return np.concatenate([local.weight for local in state.local])


def cells_of(problem):
    """Return the cells of all rows, and which are seen."""
    tables = [shard.table for shard in problem.shards]
    values = np.concatenate([table.value_NP for table in tables])
    return values, np.concatenate([table.seen_NP for table in tables])


def held_scale(rng, problem, state):
    """Redraw the noise alone: the features' variance is shared by the replicates."""
    return redraw_variances(rng, problem, state).with_own(scale=state.own.scale)


def values_of(world, problem, state):
    """Return the tests' functionals: most depend on labels, and tie latents to globals."""
    R, K, P, N = world.n_replicates, world.n_features, world.n_columns, ROW.size
    at = np.arange(R)
    used = used_of(state).reshape(R, N, R, K)[at, :, at]
    weight = np.ones(used.shape)
    if world.real:
        weight = weight_of(state).reshape(R, N, R, K)[at, :, at]
    usage = used * weight
    feature = state.own.feature[: R * K].reshape(R, K, R, P)[at, :, at]
    level = state.own.feature[R * K :].sum(0).reshape(R, P)
    noise = state.own.noise.reshape(R, P)
    cell, seen = (part.reshape(R, N, R, P)[at, :, at] for part in cells_of(problem))
    left = (cell - usage @ feature - level[:, None]) * seen
    log_mass = state.log_mass.reshape(R, K)
    p = expit(problem.thinning.inside(state.x)).reshape(TIMES.size, R, K).transpose(1, 0, 2)[:, ROW]
    total = used.sum(1)
    return {
        "row 0 uses feature 0": used[:, 0, 0],
        "usages": total.sum(1),
        "usages squared": (total**2).sum(1),
        "weights": (usage**2).sum((1, 2)),
        "feature": feature[:, 0, 0],
        "features squared": (feature**2).sum((1, 2)),
        "uses times size": (total * (feature**2).sum(2)).sum(1),
        "background": level[:, 0],
        "log noise": np.log(noise[:, 0]),
        "error": np.log((left**2).sum((1, 2)) + 1e-9),
        "log likelihood": (np.log(noise)[:, None] * seen - noise[:, None] * left**2).sum((1, 2)),
        "log mass": log_mass[:, 0],
        "usages times log mass": (total * log_mass).sum(1),
        "mass squared": np.exp(2 * log_mass).sum(1),
        "p": p[:, 0, 0],
        "p squared": (p**2).sum((1, 2)),
        "p times use": (p * used).sum((1, 2)),
        "p times silence": (p * (1 - used) * np.exp(log_mass)[:, None]).sum((1, 2)),
    }


def functionals(world):
    """Return the functionals of all replicates of `many`."""
    return of_all(world, values_of)
