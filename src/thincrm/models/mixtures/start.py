"""Where a chain starts: rows gathered around spread-out seeds, in fewer clusters than there may be.

A few starts are tried on a sample of rows: seeds far apart (k-means++), a few rounds of assignment
and conjugate redraws, and the one with the largest marginal likelihood is taken.
"""

from __future__ import annotations

import numpy as np

from thincrm.models.mixtures.clusters import Clusters, Hyper, Params, Rows, take_rows
from thincrm.models.mixtures.evidence import MixtureEvidence
from thincrm.models.mixtures.shards import MixtureLocal
from thincrm.models.mixtures.state import MixtureOwn, MixtureProblem, MixtureState
from thincrm.numerics.arrays import Float
from thincrm.numerics.streams import fresh_key
from thincrm.ports import State

__all__ = ["start_state"]

_SAMPLE, _CANDIDATES, _ROUNDS, _MOST_SEEDS = 4096, 4, 5, 12


def start_state(rng: np.random.Generator, problem: MixtureProblem) -> MixtureState:
    """Return labels by a quick clustering, parameters given them, and the rest from the prior."""
    likelihood, n_atoms = problem.likelihood, problem.n_atoms
    law = likelihood.clusters
    sample = _sample(rng, problem)
    hyper = law.start_hyper(sample)
    params = _best_of(rng, law, sample, hyper, n_atoms)
    x = problem.thinning.draw(rng, n_atoms - problem.n_background, problem.prepared)
    packed = law.packed(params)
    local, stats, counts = [], [], []
    for shard in problem.shards:
        n_rows = shard.order.size
        label = _assign(law, shard.rows, packed, n_atoms)
        own = likelihood.gates == "observation"
        local.append(MixtureLocal(label, np.full(n_rows if own else 0, 1.0)))
        key = fresh_key(rng)
        stats.append(law.add_rows(0, n_rows, key, 0, shard.rows, label, packed, n_atoms))
        counts.append(np.zeros((shard.groups.start_G.size - 1, n_atoms), np.int64))
        np.add.at(counts[-1], (shard.groups.group_N, label), 1)
    hits = np.concatenate(counts).sum(0)
    log_mass = np.log((hits + problem.levy.mass / n_atoms) / (hits.sum() + problem.levy.mass))
    clock = np.zeros(0) if likelihood.gates == "observation" else problem.trials.astype(float)
    none, nothing = np.zeros((0, n_atoms), np.int64), np.zeros(n_atoms)
    parts = [
        MixtureEvidence(count, none, np.zeros(0), nothing, stat)
        for count, stat in zip(counts, stats, strict=True)
    ]
    evidence = likelihood.add(parts)._replace(clock=clock)
    own_globals = MixtureOwn(law.redraw(rng, evidence.stats, hyper), hyper)
    return State(tuple(local), own_globals, log_mass, x, problem.levy, evidence)


def _sample(rng: np.random.Generator, problem: MixtureProblem) -> Rows:
    """Return some rows, spread over the shards."""
    total = sum(shard.order.size for shard in problem.shards)
    parts = []
    for shard in problem.shards:
        size = shard.order.size
        share = min(size, -(-_SAMPLE * size // total))
        parts.append(take_rows(shard.rows, np.sort(rng.choice(size, share, replace=False))))
    return type(parts[0])(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _best_of(
    rng: np.random.Generator, law: Clusters, rows: Rows, hyper: Hyper, n_atoms: int
) -> Params:
    """Return the parameters of the best of a few starts."""
    best, found = -np.inf, None
    n_seeds = max(1, min(_MOST_SEEDS, (n_atoms + 1) // 2))
    for size in np.linspace(n_seeds, max(1, n_seeds // 3), _CANDIDATES).astype(int):
        params, fit = _gather(rng, law, rows, hyper, n_atoms, int(size))
        if fit > best or found is None:
            best, found = fit, params
    return found


def _gather(
    rng: np.random.Generator, law: Clusters, rows: Rows, hyper: Hyper, n_atoms: int, n_seeds: int
) -> tuple[Params, float]:
    """Return (parameters, log marginal likelihood and prior of the partition) of one start."""
    n_rows = len(rows[0])
    params, fit = law.draw(rng, n_atoms, hyper), -np.inf
    label = _seeded(rng, law, rows, hyper, n_seeds)
    for _ in range(_ROUNDS):
        packed = law.packed(params)
        stats = law.add_rows(0, n_rows, fresh_key(rng), 0, rows, label, packed, n_atoms)
        params = law.redraw(rng, stats, hyper)
        size_K = np.bincount(label, minlength=n_atoms)
        fit = float(law.log_marginal(stats, hyper).sum())
        fit += float(size_K @ np.log(np.maximum(size_K, 1) / n_rows))
        log_NK = np.empty((n_rows, n_atoms))
        law.log_density(0, n_rows, rows, law.packed(params), log_NK)
        log_NK[:, size_K == 0] = -np.inf
        label = log_NK.argmax(1).astype(np.int32)
    return params, fit


def _seeded(
    rng: np.random.Generator, law: Clusters, rows: Rows, hyper: Hyper, n_seeds: int
) -> np.ndarray:
    """Return labels: every row goes to the seed whose cluster of one explains it best.

    A next seed is a row badly explained by those there are; the worse, the likelier.
    """
    n_rows = len(rows[0])
    best_N, label = np.full(n_rows, -np.inf), np.zeros(n_rows, np.int32)
    seed = int(rng.integers(n_rows))
    for k in range(n_seeds):
        log_N = _around(rng, law, rows, hyper, seed)
        closer = log_N > best_N
        label[closer] = k
        best_N = np.maximum(best_N, log_N)
        short_N = best_N.max() - best_N
        seed = int(rng.choice(n_rows, p=_chances(short_N)))
    return label


def _chances(weight_N: Float) -> Float:
    total = float(weight_N.sum())
    return weight_N / total if total > 0.0 else np.full(weight_N.size, 1.0 / weight_N.size)


def _around(rng: np.random.Generator, law: Clusters, rows: Rows, hyper: Hyper, seed: int) -> Float:
    """Return the (N,) log densities of all rows in a cluster drawn around one row."""
    one, label = take_rows(rows, np.array([seed])), np.zeros(1, np.int32)
    packed = law.packed(law.draw(rng, 1, hyper))
    stats = law.add_rows(0, 1, fresh_key(rng), 0, one, label, packed, 1)
    out = np.empty((len(rows[0]), 1))
    law.log_density(0, len(out), rows, law.packed(law.redraw(rng, stats, hyper)), out)
    return np.asarray(out[:, 0])


def _assign(law: Clusters, rows: Rows, packed: object, n_atoms: int) -> np.ndarray:
    """Return the cluster of the highest density of every row, block by block."""
    n_rows = len(rows[0])
    label = np.empty(n_rows, np.int32)
    for first in range(0, n_rows, 4096):
        stop = min(first + 4096, n_rows)
        out = np.empty((stop - first, n_atoms))
        law.log_density(first, stop, rows, packed, out)
        label[first:stop] = out.argmax(1)
    return label
