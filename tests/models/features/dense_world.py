"""Small tables with dense factors and a level that varies, drawn from the model's definition.

Every row uses every factor, so replicates cannot share a problem: one table each.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from feature_world import problem_of
from scipy.special import expit
from topic_world import ROW, TIMES, TRIALS, of_all

from thincrm.levy import BetaProcess
from thincrm.models.features.kernel import as_table
from thincrm.models.features.laws import (
    DENSE_PRIOR,
    FEATURE_PRIOR,
    LEVEL_PRIOR,
    NOISE_PRIOR,
    RATES,
)
from thincrm.models.features.likelihood import FeatureLikelihood
from thincrm.models.features.state import (
    BACKGROUND_PRECISION,
    FeatureGlobals,
    FeatureLocal,
    evidence_of,
)
from thincrm.ports import State

CURVES = np.column_stack([TIMES, np.cos(3 * TIMES), np.sin(2 * TIMES)])[ROW]  # one is linear
CONCENTRATION, SHARE, HOLES = 3.0, 0.4, 0.25
N_FEATURES, N_DENSE, N_COLUMNS = 2, 2, 3
LEVEL = (1, 2)  # slopes, and curves of one kernel


@cache
def prepared_of(thinning):
    """Return what a thinning function prepares for the worlds' times, once."""
    return thinning.prepare(TIMES)


@dataclass(frozen=True)
class DenseWorld:
    """One product."""

    thinning: object
    shared: bool
    real: bool
    n_shards: int = 1
    n_replicates: int = 1

    def draw(self, rng):
        """Draw (problem, state) from their definitions."""
        K, L, P, N = N_FEATURES, N_DENSE, N_COLUMNS, ROW.size
        prepared = prepared_of(self.thinning)
        x = self.thinning.draw(rng, K, prepared)
        open_TK = expit(self.thinning.log_odds(x, prepared, TIMES))
        mass_K = rng.beta(CONCENTRATION * SHARE, CONCENTRATION * (1 - SHARE), K)
        gate_NK = (rng.random((TIMES.size, K)) < open_TK)[ROW]
        if not self.shared:
            gate_NK = rng.random((N, K)) < open_TK[ROW]
        used = (gate_NK & (rng.random((N, K)) < mass_K)).astype(np.int8)
        weight = rng.standard_normal((N, K)) if self.real else np.zeros((N, 0))
        dense = rng.standard_normal((N, L))
        scale = rng.gamma(FEATURE_PRIOR[0], 1 / FEATURE_PRIOR[1])
        dense_size = rng.gamma(DENSE_PRIOR[0], 1 / DENSE_PRIOR[1], L)
        rate = rng.choice(RATES)
        noise = rng.gamma(NOISE_PRIOR[0], 1 / rate, P)
        level = rng.gamma(LEVEL_PRIOR[0], 1 / LEVEL_PRIOR[1], (len(LEVEL), P))
        feature = rng.standard_normal((K + L + 4, P))
        feature[:K] /= np.sqrt(scale * noise)
        feature[K : K + L] /= np.sqrt(dense_size[:, None] * noise)
        feature[K + L : -1] /= np.sqrt(np.repeat(level, LEVEL, axis=0) * noise)
        feature[-1] /= np.sqrt(BACKGROUND_PRECISION)
        basis = np.column_stack([CURVES, np.ones(N)])
        usage = used * (weight if self.real else 1.0)
        value = np.hstack([usage, dense, basis]) @ feature
        value = value + rng.standard_normal((N, P)) / np.sqrt(noise)
        value[rng.random((N, P)) < HOLES] = np.nan
        problem = problem_of(
            as_table(value, TRIALS, self.shared, CURVES), TRIALS, shard_rows=N // self.n_shards,
            levy=BetaProcess(SHARE * K, CONCENTRATION), thinning=self.thinning, prepared=prepared,
            likelihood=FeatureLikelihood(self.shared, self.real, True, False, L, LEVEL), n_atoms=K,
            learn_levy=False,
        )  # fmt: skip
        own = FeatureGlobals(feature, noise, scale, dense_size, level, rate)
        state = State((), own, np.log(mass_K), x, problem.levy, None)
        return problem, with_local(problem, state, FeatureLocal(used, weight, dense))


def with_local(problem, state, all_rows):
    """Return the state with given usages and weights, added up anew."""
    ends = [shard.first for shard in problem.shards[1:]]
    parts = zip(*(np.split(part, ends) for part in all_rows), strict=True)
    local = tuple(FeatureLocal(*part) for part in parts)
    both = zip(problem.shards, local, strict=True)
    evidence = problem.likelihood.add([evidence_of(shard, one, True) for shard, one in both])
    return replace(state, local=local, evidence=evidence)


def rows_of(state):
    """Return usages, weights and dense weights of all rows."""
    return FeatureLocal(*(np.concatenate(part) for part in zip(*state.local, strict=True)))


def values_of(world, problem, state):
    """Return the tests' functionals: they tie the rows' latents to the globals and the cells."""
    K, L, own = N_FEATURES, N_DENSE, state.own
    used, weight, dense = rows_of(state)
    tables = [shard.table for shard in problem.shards]
    cell, seen, basis = (
        np.concatenate([getattr(table, name) for table in tables])
        for name in ("value_NP", "seen_NP", "basis_NB")
    )
    usage = used * (weight if problem.likelihood.real else 1.0)
    left = (cell - np.hstack([usage, dense, basis]) @ own.feature) * seen
    factor = own.feature[K : K + L] * np.sqrt(own.noise)
    found = {
        "usages": used.sum(),
        "row 0 uses feature 0": used[0, 0],
        "log mass": state.log_mass[0],
        "features squared": np.log((own.noise * own.feature[:K] ** 2).sum()),
        "log scale": np.log(own.scale),
        "dense weight": dense[0, 0],
        "dense weights squared": (dense**2).sum(),
        "factor": factor[0, 0],
        "factors squared": np.log((factor**2).sum()),
        "weight times factor": dense[0, 0] * factor[0, 0],
        "fit of a factor": np.tanh((cell * seen * np.sqrt(own.noise))[0] @ factor[0] * dense[0, 0]),
        "slope": np.tanh(own.feature[K + L, 0]),
        "curve": np.tanh(own.feature[K + L + 1, 1]),
        "curves squared": np.log((own.feature[K + L + 1 : -1] ** 2).sum()),
        "constant": own.feature[-1, 0],
        "log noise": np.log(own.noise[0]),
        "log precision of slopes": np.log(own.level[0, 0]),
        "log precision of curves": np.log(own.level[1, 1]),
        "log precision of a factor": np.log(own.dense[0]),
        "log rate": np.log(own.rate),
        "noise times error": np.log((own.noise * left**2).sum() + 1e-9),
    }
    return {name: np.array([value], float) for name, value in found.items()}


def functionals(world):
    """Return the functionals of all replicates of `many`."""
    return of_all(world, values_of)
