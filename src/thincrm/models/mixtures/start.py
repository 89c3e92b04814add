"""Where a chain starts: rows gathered around spread-out seeds, in fewer clusters than there may be.

A few starts are tried on a sample of rows: seeds far apart (k-means++), a few rounds of assignment
and conjugate redraws, clusters merged as long as the marginal likelihood of rows and labels rises;
the one where it is largest is taken. Chains split clusters that are two far sooner than they merge
two that are one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, log_expit

from thincrm.models.mixtures.clusters import Clusters, Hyper, Params, Rows, Stats, take_rows
from thincrm.models.mixtures.evidence import MixtureEvidence
from thincrm.models.mixtures.shards import MixtureLocal, MixtureShard, rows_at
from thincrm.models.mixtures.state import MixtureOwn, MixtureProblem, MixtureState
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import fresh_key
from thincrm.ports import State

__all__ = ["start_state"]

_SAMPLE, _CANDIDATES, _ROUNDS, _MOST_SEEDS = 4096, 4, 5, 12
_MOST_CURVES, _CURVE_CELLS, _SHUT = 128, 2_000_000, -50.0


def start_state(rng: np.random.Generator, problem: MixtureProblem) -> MixtureState:
    """Return labels by a quick clustering, parameters given them, and the rest from the prior."""
    likelihood, n_atoms = problem.likelihood, problem.n_atoms
    law = likelihood.clusters
    sample = _sample(rng, problem)
    hyper = law.start_hyper(sample)
    params, log_size = _best_of(rng, law, sample, hyper, n_atoms)
    clocks = likelihood.gates == "observation"
    keys = [fresh_key(rng) for _ in problem.shards]
    message = _First(law, law.packed(params), log_size, clocks)
    local, parts = problem.engine.map(_first_local, problem.shards, keys, message)
    evidence = likelihood.add(parts)
    x = _open_where_used(rng, problem, evidence.counts)
    hits = evidence.counts.sum(0)
    log_mass = np.log((hits + problem.levy.mass / n_atoms) / (hits.sum() + problem.levy.mass))
    clock = np.zeros(0) if clocks else problem.trials.astype(float)
    own_globals = MixtureOwn(law.redraw(rng, evidence.stats, hyper), hyper)
    return State(local, own_globals, log_mass, x, problem.levy, evidence._replace(clock=clock))


class _First(NamedTuple):
    """What a shard needs to know to assign its rows."""

    law: Clusters
    packed: object
    log_size: Float
    clocks: bool  # every row has one of its own


def _first_local(
    shard: MixtureShard, key: np.uint64, message: _First
) -> tuple[MixtureLocal, MixtureEvidence]:
    """Assign a shard's rows to their likeliest clusters."""
    law, packed, log_size, clocks = message
    n_rows, n_atoms, groups = shard.order.size, log_size.size, shard.groups
    label = _assign(law, shard.rows, packed, log_size)
    stats = law.add_rows(0, n_rows, key, 0, shard.rows, label, packed, n_atoms)
    count_GK = np.zeros((groups.start_G.size - 1, n_atoms), np.int64)
    np.add.at(count_GK, (groups.group_N, label), 1)
    none, nothing = np.zeros((0, n_atoms), np.int64), np.zeros(n_atoms)
    found = MixtureEvidence(count_GK, none, np.zeros(0), nothing, stats)
    return MixtureLocal(label, np.full(n_rows if clocks else 0, 1.0)), found


def _sample(rng: np.random.Generator, problem: MixtureProblem) -> Rows:
    """Return some rows, spread over the shards: those with the fewest holes.

    Holes are filled given a row's cluster, which makes clusters look tighter than they are.
    """
    total = sum(shard.order.size for shard in problem.shards)
    chosen = []
    for shard in problem.shards:
        size = shard.order.size
        share = min(size, -(-_SAMPLE * size // total))
        chosen.append(np.sort(rng.choice(size, share, replace=False)))
    rows = rows_at(problem.engine, problem.shards, chosen)
    seen = getattr(rows, "seen", np.ones((len(rows[0]), 1)))
    n_seen = np.asarray(seen).sum(1)
    return take_rows(rows, np.flatnonzero(n_seen >= np.median(n_seen)))


def _open_where_used(rng: np.random.Generator, problem: MixtureProblem, count_TK: Int) -> object:
    """Draw x from the prior: for an atom with rows several times, the one most open at its rows.

    Else rows would leave clusters whose curve happens to be shut where they are.
    """
    thinning, count_TA = problem.thinning, count_TK[:, problem.n_background :]
    size = int(np.clip(_CURVE_CELLS // len(count_TA), 4, _MOST_CURVES))
    several = thinning.draw(rng, size, problem.prepared)
    log_open_TM = log_expit(thinning.log_odds(several, problem.prepared))
    fit_AM = count_TA.T @ np.maximum(log_open_TM, _SHUT)
    x = thinning.draw(rng, count_TA.shape[1], problem.prepared)
    for a in np.flatnonzero(count_TA.any(0)):
        for field, values in zip(x, several, strict=True):
            field[a] = values[fit_AM[a].argmax()]
    return x


def _best_of(
    rng: np.random.Generator, law: Clusters, rows: Rows, hyper: Hyper, n_atoms: int
) -> tuple[Params, Float]:
    """Return the parameters and log sizes (-inf: unused) of the best of a few starts."""
    best, found = -np.inf, (law.draw(rng, n_atoms, hyper), np.zeros(n_atoms))
    n_seeds = max(1, min(_MOST_SEEDS, (n_atoms + 1) // 2))
    for size in np.linspace(n_seeds, max(1, n_seeds // 3), _CANDIDATES).astype(int):
        params, log_size, fit = _gather(rng, law, rows, hyper, n_atoms, int(size))
        if fit > best:
            best, found = fit, (params, log_size)
    return found


def _gather(
    rng: np.random.Generator, law: Clusters, rows: Rows, hyper: Hyper, n_atoms: int, n_seeds: int
) -> tuple[Params, Float, float]:
    """Return (parameters, log sizes, log marginal likelihood of rows and labels) of one start."""
    n_rows = len(rows[0])
    params, log_size, fit = law.draw(rng, n_atoms, hyper), np.zeros(n_atoms), -np.inf
    label = _seeded(rng, law, rows, hyper, n_seeds)
    for _ in range(_ROUNDS):
        packed = law.packed(params)
        stats = law.add_rows(0, n_rows, fresh_key(rng), 0, rows, label, packed, n_atoms)
        label, fit = _merged(law, hyper, stats, label)
        stats = law.add_rows(0, n_rows, fresh_key(rng), 0, rows, label, packed, n_atoms)
        params = law.redraw(rng, stats, hyper)
        with np.errstate(divide="ignore"):
            log_size = np.log(np.bincount(label, minlength=n_atoms))
        label = _assign(law, rows, law.packed(params), log_size)
    return params, log_size, fit


def _merged(
    law: Clusters, hyper: Hyper, stats: Stats, label_N: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return labels after merges that raise Σ_k log m(y_k) + log Γ(n_k), and what it comes to."""
    used = np.unique(label_N)
    size = np.bincount(label_N)[used].astype(float)
    stats, home = take_rows(stats, used), np.arange(used.size)
    fit = law.log_marginal(stats, hyper) + gammaln(size)
    while size.size > 1:
        i, j = np.triu_indices(size.size, 1)
        both = type(stats)(*(part[i] + part[j] for part in stats))
        gain = law.log_marginal(both, hyper) + gammaln(size[i] + size[j]) - fit[i] - fit[j]
        best = int(gain.argmax())
        if gain[best] <= 0.0:
            break
        one, other = int(i[best]), int(j[best])
        for part, sums in zip(stats, both, strict=True):
            part[one] = sums[best]
        fit[one], size[one] = fit[one] + fit[other] + gain[best], size[one] + size[other]
        home[home == other] = one
        home[home > other] -= 1
        left = np.arange(size.size) != other
        stats, fit, size = take_rows(stats, left), fit[left], size[left]
    place = np.searchsorted(used, label_N)
    return home[place].astype(np.int32), float(fit.sum())


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


def _assign(law: Clusters, rows: Rows, packed: object, log_size: Float) -> np.ndarray:
    """Return the likeliest cluster of every row, block by block."""
    n_rows = len(rows[0])
    label = np.empty(n_rows, np.int32)
    for first in range(0, n_rows, 4096):
        stop = min(first + 4096, n_rows)
        out = np.empty((stop - first, log_size.size))
        law.log_density(first, stop, rows, packed, out)
        label[first:stop] = (out + log_size).argmax(1)
    return label
