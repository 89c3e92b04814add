"""Complete sweeps against enumeration: three atoms, three rows, two covariates, all gatings."""

import itertools
from collections import namedtuple
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logit, roots_jacobi

from thincrm.inference.engine import Serial
from thincrm.inference.updates import redraw_activations, redraw_observations
from thincrm.levy import GammaProcess
from thincrm.models.mixtures.evidence import MixtureEvidence
from thincrm.models.mixtures.likelihood import MixtureLikelihood
from thincrm.models.mixtures.shards import MixtureLocal, as_shards
from thincrm.models.mixtures.state import MixtureOwn
from thincrm.models.mixtures.sweep import redraw_masses
from thincrm.ports import Problem, State

pytestmark = pytest.mark.joint
SEED, SHAPE = 20268, 0.7
ROW = np.array([0, 0, 1])
F = np.array([[1.0, 0.35, 0.10], [0.25, 1.0, 0.30], [0.20, 0.45, 1.0]])  # densities f_nk
P_TX = np.array([[0.90, 0.30, 0.12], [0.20, 0.45, 0.85]])  # p(t, x), three values of x
K, N, T, M = 3, 3, 2, 3
PATTERNS = np.array(list(itertools.product([0, 1], repeat=K)), float)
Place, Nothing, Index = (namedtuple(name, fields) for name, fields in (
    ("Place", "place owner"), ("Nothing", "nothing"), ("Index", "index"),
))  # fmt: skip


class Given:
    """Clusters whose densities are given."""

    def packed(self, params):
        return None

    def log_density(self, first, stop, rows, packed, out):
        out[:] = np.log(np.tile(F, out.shape[1] // K))[rows.index[first:stop]]

    def add_rows(self, first, stop, key, offset, rows, label, packed, n_clusters):
        return Nothing(np.zeros(n_clusters))


class Dictionary:
    """x is one of three values: its conditional is enumerated."""

    def log_odds(self, x, prepared=None):
        size = len(x.owner)
        out = np.full((size // K, T, size), -np.inf)
        out[x.owner, :, np.arange(size)] = logit(P_TX[:, x.place]).T
        return out.reshape(-1, size)

    def redraw(self, rng, x, evidence, prepared):
        at = np.arange(len(x.owner))

        def own(table):
            return table.reshape(-1, T, len(at))[x.owner, :, at].T

        trials = np.broadcast_to(
            evidence.trials if evidence.trials.ndim == 2 else evidence.trials[:, None],
            evidence.positive.shape,
        )
        found = type(evidence)(own(evidence.positive), own(trials), own(evidence.log_q))
        fit = [
            found.log_likelihood(np.log(P_TX[:, [m]]), np.log1p(-P_TX[:, [m]])) for m in range(M)
        ]
        noisy = np.array(fit) + rng.gumbel(size=(M, len(at)))
        return x._replace(place=noisy.argmax(0))


def reference(gates, n=80):
    """Return posterior means of (shares, c, x) by summation, and quadrature over shares."""

    def beta_rule(a, b):
        z, w = roots_jacobi(n, b - 1, a - 1)
        return (z + 1) / 2, w / w.sum()

    (w1, g1), (v, g2) = beta_rule(SHAPE, 2 * SHAPE), beta_rule(SHAPE, SHAPE)
    w1, v = np.meshgrid(w1, v, indexing="ij")
    share = np.stack([w1, (1 - w1) * v, (1 - w1) * (1 - v)], -1).reshape(-1, K)
    g = np.outer(g1, g2).ravel()
    total = np.maximum(PATTERNS @ share.T, 1e-300)
    pick = PATTERNS[:, None, :] * share / total[..., None]  # 8 x G x K
    out = np.zeros(K + N * K + K * M)
    mass = 0.0
    for x in itertools.product(range(M), repeat=K):
        p = P_TX[:, list(x)]
        prob = np.prod(np.where(PATTERNS[None] > 0, p[:, None], 1 - p[:, None]), axis=2)
        prob[:, 0] = 0.0  # something is open
        if gates == "shared":
            like = np.einsum("sgk,nk->nsg", pick, F)
            per_t = [prob[t][:, None] * np.prod(like[ROW == t], 0) for t in range(T)]
            joint = g * np.prod([q.sum(0) for q in per_t], 0)
            c = np.empty((N, K))
            for i, t in enumerate(ROW):
                inside = per_t[t] / np.where(like[i] > 0, like[i], 1.0)
                c[i] = np.einsum("g,sg,sgk->k", joint / per_t[t].sum(0), inside, pick * F[i])
        else:
            w = p[:, None, :] * share
            w = w / w.sum(2, keepdims=True)
            if gates == "observation":
                w = np.einsum("ts,sgk->tgk", prob, pick)
            w = w[ROW] * F[:, None, :]
            like = w.sum(2)
            joint = g * np.prod(like, 0)
            c = np.einsum("g,ngk->nk", joint, w / like[..., None])
        hit = np.zeros((K, M))
        hit[np.arange(K), list(x)] = joint.sum()
        out += np.concatenate([joint @ share, c.ravel(), hit.ravel()])
        mass += joint.sum()
    return out / mass


def chains(gates, updates, n_chains=1_500, n_burn=25, n_kept=15):
    """Return (chains, numbers) means of each chain, a hundred chains in one problem."""
    rng, R, kept = np.random.default_rng(SEED), 100, []
    row_N = (ROW + T * np.arange(R)[:, None]).ravel()
    trials = np.tile(np.bincount(ROW), R)
    rows = Index(np.tile(np.arange(N), R))
    problem = Problem(
        levy=GammaProcess(SHAPE * R * K), thinning=Dictionary(), prepared=None, trials=trials,
        likelihood=MixtureLikelihood(Given(), gates), shards=as_shards(rows, row_N, trials),
        n_atoms=R * K, engine=Serial(), learn_levy=False,
    )  # fmt: skip
    for _ in range(n_chains // R):
        x = Place(rng.integers(0, M, R * K), np.repeat(np.arange(R), K))
        label = (rng.integers(0, K, (R, N)) + K * np.arange(R)[:, None]).ravel().astype(np.int32)
        clock_N = np.ones(R * N if gates == "observation" else 0)
        nothing = Nothing(np.zeros(R * K))
        found = MixtureEvidence(
            np.zeros((R * T, R * K), int), np.zeros((0, R * K), int), np.ones(R * T),
            np.zeros(R * K), nothing,
        )  # fmt: skip
        state = State(
            (MixtureLocal(label, clock_N),), MixtureOwn(nothing, None),
            problem.levy.draw_log_mass(rng, R * K), x, problem.levy, found,
        )  # fmt: skip
        sums = 0.0
        for sweep in range(n_burn + n_kept):
            for update in updates:
                state = update(rng, problem, state)
            if sweep >= n_burn:
                mass = np.exp(state.log_mass).reshape(R, K)
                used = (state.local[0].label.reshape(R, N) % K)[..., None] == np.arange(K)
                place = state.x.place.reshape(R, K)[..., None] == np.arange(M)
                shares = mass / mass.sum(1, keepdims=True)
                sums = sums + np.hstack([shares, used.reshape(R, -1), place.reshape(R, -1)])
        kept.append(sums / n_kept)
    return np.concatenate(kept)


def rescale_each(rng, problem, state):
    """Move the scale of every chain's masses, and its clocks, as `rescale` does of one."""
    mass = np.exp(state.log_mass).reshape(-1, K)
    b = rng.gamma(K * SHAPE, 1.0, len(mass)) / mass.sum(1)
    (local,), found = state.local, state.evidence
    local = local._replace(clock=local.clock / np.repeat(b, local.clock.size // b.size))
    found = found._replace(clock=found.clock / np.repeat(b, found.clock.size // b.size))
    log_mass = state.log_mass + np.repeat(np.log(b), K)
    return replace(state, local=(local,), evidence=found, log_mass=log_mass)


def worst(found, want):
    return np.abs((found.mean(0) - want) / (found.std(0) / np.sqrt(len(found)))).max()


LIMIT = 5.1  # 21 numbers at 1e-5
SWEEP = (redraw_observations, redraw_activations, redraw_masses, rescale_each)
OTHER = {"shared": "weighted", "weighted": "observation", "observation": "shared"}


@pytest.mark.parametrize("gates", OTHER)
def test_sweeps_agree_with_enumeration(gates):
    found = chains(gates, SWEEP)
    assert worst(found, reference(gates)) < LIMIT
    assert worst(found, reference(OTHER[gates])) > LIMIT, "another way to gate is another law"
