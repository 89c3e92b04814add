"""Small mixtures drawn from the model's definition, many replicates in one problem.

Replicate r has clusters and covariate rows of its own: its clusters are shut for sure at the rows
of the others, so one sweep moves all of them, independently.
"""

from collections import namedtuple
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import expit

from thincrm.inference.engine import Serial
from thincrm.levy import GammaProcess
from thincrm.models.mixtures.evidence import MixtureEvidence
from thincrm.models.mixtures.likelihood import MixtureLikelihood
from thincrm.models.mixtures.mixed import MixedClusters
from thincrm.models.mixtures.regression import RegressionClusters
from thincrm.models.mixtures.shards import MixtureLocal, as_shards
from thincrm.models.mixtures.sides import censor
from thincrm.models.mixtures.state import MixtureOwn
from thincrm.models.mixtures.sweep import LEAST_MASS, MASS_PRIOR
from thincrm.numerics.streams import fresh_key
from thincrm.ports import GateEvidence, Problem, State

TIMES = np.array([0.0, 0.4, 1.0])
TRIALS = np.array([2, 1, 3])  # rows at each time
ROW = np.repeat(np.arange(TIMES.size), TRIALS)


class SideBySide:
    """A thinning function for R replicates: blocks of rows and atoms, -inf between them.

    An atom's last variable is the replicate it belongs to. The first atom of a replicate may be
    always open: a background.
    """

    def __init__(self, thinning, n_replicates, n_atoms, background):
        self.inner, self.n_replicates = thinning, n_replicates
        self.owner_K = np.repeat(np.arange(n_replicates), n_atoms)
        self.sure_K = np.tile(np.arange(n_atoms) == 0, n_replicates) & background
        self.prepared = thinning.prepare(np.repeat(TIMES, TRIALS))

    def _own(self, table, x):
        """Return the (T, K) rows of a (R T, K) table that are of each atom's replicate."""
        own_KT = table.reshape(self.n_replicates, TIMES.size, -1)[x.owner, :, np.arange(len(x[0]))]
        return np.ascontiguousarray(own_KT.T)

    def draw(self, rng, n_atoms, prepared=None):
        self.kind = type(x := self.inner.draw(rng, n_atoms, self.prepared))
        owner = self.owner_K if n_atoms == self.owner_K.size else np.zeros(n_atoms, int)
        return namedtuple("Owned", (*x._fields, "owner"))(*x, owner)

    def inside(self, x):
        """Return the (T, K) log odds of atoms at the rows of their own replicate."""
        log_odds = self.inner.log_odds(self.kind(*x[:-1]), self.prepared)
        if len(x.owner) == self.sure_K.size:
            log_odds[:, self.sure_K] = np.inf
        return log_odds

    def log_odds(self, x, prepared=None):
        out = np.full((self.n_replicates, TIMES.size, x.owner.size), -np.inf)
        out[x.owner, :, np.arange(x.owner.size)] = self.inside(x).T
        return out.reshape(-1, x.owner.size)

    def redraw(self, rng, x, evidence, prepared):
        trials = evidence.trials
        own = GateEvidence(
            self._own(evidence.positive, x),
            trials[: TIMES.size] if trials.ndim == 1 else self._own(trials, x),
            self._own(evidence.log_q, x),
        )
        return type(x)(*self.inner.redraw(rng, self.kind(*x[:-1]), own, self.prepared), x.owner)


class Alone:
    """A thinning function as it is, for one replicate; a background atom stands before."""

    def __init__(self, thinning, background):
        self.inner, self.background = thinning, int(background)
        self.prepared = thinning.prepare(np.repeat(TIMES, TRIALS))

    def draw(self, rng, n_atoms):
        return self.inner.draw(rng, n_atoms - self.background, self.prepared)

    def inside(self, x):
        always = np.full((TIMES.size, self.background), np.inf)
        return np.hstack([always, self.inner.log_odds(x, self.prepared)])


@dataclass(frozen=True)
class World:
    """One product, and the sizes of its small problems."""

    thinning: object
    gates: str
    clusters: object
    background: bool = True
    n_clusters: int = 3
    n_columns: int = 2
    n_replicates: int = 20
    mass: float = 0.7  # gamma / K
    holes: float = 0.25
    levy: object = None
    learned: bool = False  # draw the mass and the hyper-parameters too (one replicate)

    def rows(self, n_rows):
        """Return rows of nothing, as many as asked for."""
        return self.clusters.rows(np.zeros((n_rows, self.n_columns)))

    def draw(self, rng):
        """Draw (problem, state): globals, gates, clocks, cells, from their definitions."""
        R, K, T, N = self.n_replicates, self.n_clusters, TIMES.size, ROW.size
        if self.learned:
            gamma = 0.0
            while gamma < LEAST_MASS:
                gamma = rng.gamma(MASS_PRIOR[0], 1.0 / MASS_PRIOR[1])
            self = replace(self, levy=GammaProcess(gamma))  # noqa: PLW0642
        thinning = SideBySide(self.thinning, R, K, self.background)
        if R == 1:
            thinning = Alone(self.thinning, self.background)
        x, mass_RK, gate = draw_open(rng, self, thinning)
        p_RTK = activations(thinning, x, R, K)
        if self.gates == "weighted":
            rate_RNK = (p_RTK * mass_RK[:, None])[:, ROW]
        else:
            rate_RNK = (gate if self.gates == "observation" else gate[:, ROW]) * mass_RK[:, None]
        total_RN = rate_RNK.sum(2)
        edge = np.cumsum(rate_RNK, 2)
        label_RN = (rng.random((R, N, 1)) * edge[..., -1:] > edge).sum(2)
        starts = np.concatenate([[0], np.cumsum(TRIALS)[:-1]])
        clock_RT = rng.gamma(TRIALS, 1.0 / total_RN[:, starts])
        clock_RN = rng.exponential(1.0, (R, N)) / total_RN
        law = self.clusters.law()
        hyper = law.start_hyper(self.rows(1))
        if self.learned:
            hyper = law.draw_hyper(rng, self.rows(1))
        params = law.draw(rng, R * K, hyper)
        label = (label_RN + K * np.arange(R)[:, None]).ravel()
        rows = draw_rows(rng, self, params, label)
        likelihood = MixtureLikelihood(law, self.gates)
        row_N = (ROW + T * np.arange(R)[:, None]).ravel()
        trials = np.tile(TRIALS, R)
        problem = Problem(
            levy=self.levy or GammaProcess(self.mass * R * K),
            thinning=thinning if R > 1 else self.thinning, likelihood=likelihood,
            prepared=thinning.prepared, n_background=int(self.background and R == 1),
            shards=as_shards(rows, row_N, trials, n_most=40), trials=trials, n_atoms=R * K,
            engine=Serial(), learn_levy=self.learned,
        )  # fmt: skip
        observation = self.gates == "observation"
        local = MixtureLocal(
            label.astype(np.int32), clock_RN.ravel() if observation else np.zeros(0)
        )
        counts, gates_TK, exposure = np.zeros((R * T, R * K), int), np.zeros((0, R * K), int), 0.0
        np.add.at(counts, (row_N, label), 1)
        if observation:
            gates_TK = place(R, K, np.add.reduceat(gate, starts, axis=1))
            exposure = (clock_RN[..., None] * gate).sum(1).ravel()
        if self.gates == "weighted":
            mean = clock_RT[..., None] * mass_RK[:, None] * (1 - p_RTK)
            rejected = rng.poisson(np.minimum(mean, 1e18))
            gates_TK = place(R, K, rejected)
        stats = law.add_rows(
            0, R * N, fresh_key(rng), 0, rows, local.label, law.packed(params), R * K
        )
        clock_T = np.zeros(0) if observation else clock_RT.ravel()
        found = MixtureEvidence(counts, gates_TK, clock_T, np.zeros(R * K) + exposure, stats)
        cuts = np.cumsum([0, *(shard.order.size for shard in problem.shards)])
        locals_ = tuple(
            MixtureLocal(*(array[a:b].copy() for array in local)) for a, b in pairwise(cuts)
        )
        return problem, State(
            local=locals_, own=MixtureOwn(params, hyper), log_mass=np.log(mass_RK.ravel()), x=x,
            levy=problem.levy, evidence=found,
        )  # fmt: skip


def place(R, K, table_RTK):
    """Return a (R T, R K) table whose blocks are the replicates'."""
    out = np.zeros((R, table_RTK.shape[1], R, K), int)
    out[np.arange(R), :, np.arange(R)] = table_RTK
    return out.reshape(R * table_RTK.shape[1], R * K)


def activations(thinning, x, R, K):
    return expit(thinning.inside(x)).reshape(TIMES.size, R, K).transpose(1, 0, 2)


def draw_open(rng, world, thinning):
    """Draw x, masses and gates until every row has an open one."""
    R, K = world.n_replicates, world.n_clusters
    x = thinning.draw(rng, R * K)
    mass = draw_masses(rng, world, R)
    fields = [np.array(field) for field in x]
    fields = [field.reshape(R, len(field) // R, *field.shape[1:]) for field in fields]
    gate = None
    left = np.ones(R, bool)
    while left.any():
        new = thinning.draw(rng, R * K)
        for field, fresh in zip(fields, new, strict=True):
            field[left] = np.reshape(fresh, field.shape)[left]
        mass[left] = draw_masses(rng, world, int(left.sum()))
        x = type(x)(*(field.reshape(R * field.shape[1], *field.shape[2:]) for field in fields))
        p = activations(thinning, x, R, K)
        if world.gates == "observation":
            p = p[:, ROW]
        fresh = rng.random(p.shape) < p
        gate = fresh if gate is None else np.where(left[:, None, None], fresh, gate)
        left = ~gate.any(2).all(1)
        if world.gates == "weighted":
            break
    return x, mass, gate


def draw_masses(rng, world, size):
    if world.levy is not None:
        return np.exp(np.stack([world.levy.draw_log_mass(rng, world.n_clusters)] * size)) + 1e-290
    return rng.gamma(world.mass, 1.0, (size, world.n_clusters)) + 1e-290


def draw_rows(rng, world, params, label):
    """Draw cells given clusters, a quarter of them holes."""
    if hasattr(world.clusters, "draw_rows"):
        return world.clusters.draw_rows(rng, params, label)
    law = world.clusters.law()
    value = law.sample(rng, params, label)
    return world.clusters.rows(np.where(rng.random(value.shape) < world.holes, np.nan, value))


class Lines:
    """Regression on time: a quarter of responses unseen, others censored, by rules of their own."""

    def law(self):
        return RegressionClusters().law()

    def rows(self, value):
        z = np.column_stack([np.ones(len(value)), np.resize(TIMES[ROW], len(value))])
        return RegressionClusters().rows(value[:, 0], z)

    def draw_rows(self, rng, params, label):
        rows = self.rows(np.zeros((label.size, 1)))
        y = self.law().sample(rng, params, label, rows.column)
        kind = rng.integers(0, 4, label.size)
        low = np.select(
            [kind == 0, kind == 1, kind == 2], [y, np.floor(y), np.minimum(y, 0.3)], np.nan
        )
        high = np.select(
            [kind == 0, kind == 1], [y, np.floor(y) + 1.0], np.where(y > 0.3, np.inf, y)
        )
        return RegressionClusters().rows(low, rows.column, high)


class Limits(Lines):
    """Responses recorded up to a limit, down to one, or exactly, as an estimator reads them."""

    def draw_rows(self, rng, params, label):
        rows = self.rows(np.zeros((label.size, 1)))
        y = self.law().sample(rng, params, label, rows.column)
        limit = rng.standard_normal(label.size)
        kind = rng.integers(0, 3, label.size)
        side = np.where((kind == 1) & (y > limit), 1, np.where((kind == 2) & (y < limit), -1, 0))
        said = np.where(side != 0, limit, y)
        return censor(RegressionClusters().rows(said, rows.column), side)


class Mixture:
    """Two columns of numbers, one of counts, two of categories, a quarter of them holes."""

    n_levels = (2, 3)

    def __init__(self, covariance="full"):
        self.spec = MixedClusters(covariance)

    def law(self):
        return self.spec.law(self.n_levels)

    def rows(self, value):
        return self.parts(np.zeros((len(value), 5)))

    def parts(self, value):
        return self.spec.rows(value[:, :2], value[:, 2:3], value[:, 3:], self.n_levels)

    def draw_rows(self, rng, params, label):
        value = self.law().sample(rng, params, label)
        return self.parts(np.where(rng.random(value.shape) < 0.25, np.nan, value))


def many(world):
    """Return draw(rng, n) for the tests: n replicates in problems of `n_replicates`."""

    def draw(rng, n):
        batches = -(-n // world.n_replicates)
        return n, [world.draw(rng) for _ in range(batches)]

    return draw


def block(update):
    """Lift an update of (problem, state) to the replicates of `many`."""

    def lifted(rng, state):
        n, batches = state
        return n, [(problem, update(rng, problem, one)) for problem, one in batches]

    return lifted


def functionals(world):
    """Lift `values_of` to the replicates of `many`."""

    def values(state):
        n, batches = state
        rows = [values_of(world, problem, one) for problem, one in batches]
        return {name: np.concatenate([row[name] for row in rows])[:n] for name in rows[0]}

    return values


def values_of(world, problem, state):
    """Return the tests' functionals: most depend on labels, and tie latents to globals."""
    R, K, N = world.n_replicates, world.n_clusters, ROW.size
    law = problem.likelihood.clusters
    label = np.concatenate([own.label for own in state.local])
    used = (label.reshape(R, N) % K)[..., None] == np.arange(K)
    log_mass = state.log_mass.reshape(R, K)
    log_mass = log_mass - np.log(np.exp(log_mass).sum(1, keepdims=True))
    count = used.sum(1)
    thinning = problem.thinning if R > 1 else Alone(world.thinning, world.background)
    p = activations(thinning, state.x, R, K)
    count_RTK = np.add.reduceat(used, np.concatenate([[0], np.cumsum(TRIALS)[:-1]]), axis=1)
    density = np.empty((R * N, R * K))
    rows = [shard.rows for shard in problem.shards]
    rows = type(rows[0])(*(np.concatenate(part) for part in zip(*rows, strict=True)))
    law.log_density(0, R * N, rows, law.packed(state.own.params), density)
    fit = density[np.arange(R * N), label].reshape(R, N)
    first = np.array(state.own.params[0], float).reshape(R, K, -1)
    second = np.array(state.own.params[1], float).reshape(R, K, -1)
    return {
        "row 0 in cluster 0": used[:, 0, 0],
        "rows squared": (count**2).sum(1),
        "clusters": (count > 0).sum(1),
        "rows 0 and 5 together": (used[:, 0] & used[:, 5]).any(1),
        "rows 0 and 1 together": (used[:, 0] & used[:, 1]).any(1),
        "first": first[:, 0, 0],
        "firsts squared": np.log((first**2).sum((1, 2))),
        "second": np.log(np.abs(second[:, 0, 0])),
        "rows times second": (count * np.log(np.abs(second[..., 0]))).sum(1),
        "fit": fit.sum(1),
        "share": log_mass[:, 0],
        "rows times share": (count * log_mass).sum(1),
        "shares squared": np.exp(2 * log_mass).sum(1),
        "p": p[:, 0, K - 1],
        "p squared": (p**2).sum((1, 2)),
        "p times rows": (p * count_RTK).sum((1, 2)),
        "gamma": np.full(R, np.log(state.levy.mass)),
        "total": np.full(R, np.logaddexp.reduce(state.log_mass)) if R == 1 else np.zeros(R),
        "tightness": np.full(R, np.log(np.ravel(state.own.hyper[0])[0])),
        "spread": np.full(R, np.log(np.ravel(state.own.hyper[1])[0])),
        "last of the prior": np.full(R, np.ravel(state.own.hyper[-1])[-1]),
        "p times silence": (p * (count_RTK == 0) * np.exp(log_mass)[:, None]).sum((1, 2)),
    }


def held_own(rng, problem, state):
    """Redraw the clusters alone: their prior is shared by the replicates."""
    law, hyper = problem.likelihood.clusters, state.own.hyper
    return replace(state, own=MixtureOwn(law.redraw(rng, state.evidence.stats, hyper), hyper))
