"""Two kernels that have integrated out different things agree on one small corpus.

Here gates and usages are drawn for every document and topic, words are split by multinomials, and
each topic has one of a few activation curves. The library's sweep has none of these.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats
from test_topic_sweep import SINGLE
from topic_world import (
    ROW,
    TIMES,
    World,
    as_state,
    block,
    lengths_of,
    many,
    topic_of,
    topics_of,
    words_of,
)

from thincrm.data.counts import Tokens
from thincrm.models.topics.state import facts_of, shards_of

pytestmark = pytest.mark.joint
K, P, E, MASS, RATE, CONCENTRATION = 3, 4, 0.8, 0.9, 0.7, 0.6
CURVES_MT = np.array([[0.9, 0.5, 0.1], [0.2, 0.3, 0.95], [0.6, 0.6, 0.6]])
N_WARMUP, N_SWEEPS, N_CHAINS = 60, 150, 360
WORDS_DP = np.array(
    [[3, 0, 1, 0], [2, 2, 0, 1], [0, 0, 0, 0], [0, 1, 4, 2], [0, 0, 1, 0], [1, 0, 3, 3]]
)


class CurveState(NamedTuple):
    """Which curve each topic has."""

    curve: np.ndarray


class Curves:
    """A thinning function with three curves to choose from, drawn by enumeration."""

    def prepare(self, t):
        return None

    def draw(self, rng, n_atoms, prepared):
        return CurveState(rng.integers(0, len(CURVES_MT), n_atoms))

    def log_odds(self, x, prepared):
        p = CURVES_MT[x.curve].T
        return np.log(p / (1 - p))

    def redraw(self, rng, x, evidence, prepared):
        shape = (len(CURVES_MT), *x.curve.shape)
        fit = np.empty(shape)
        for m, p_T in enumerate(CURVES_MT):
            p_TK = np.tile(p_T[:, None], (1, x.curve.size))
            fit[m] = evidence.log_likelihood(np.log(p_TK), np.log(1 - p_TK))
        return CurveState(np.argmax(fit + rng.gumbel(size=shape), axis=0))


WORLD = World(Curves(), poisson=True, shape=E, mass=MASS, rate=RATE, concentration=CONCENTRATION)


def label_free(mass_CK, theta_CPK, count_CDPK, p_CTK):
    """Return functionals that do not depend on the topics' names, one a chain."""
    size_CDK = count_CDPK.sum(2)
    total_CK = size_CDK.sum(1)
    share = np.einsum("cdpk,cdqk->cdpq", count_CDPK, count_CDPK)
    return {
        "total mass": mass_CK.sum(1),
        "mass squared": (np.minimum(mass_CK, 50.0) ** 2).sum(1),
        "largest mass": np.log(mass_CK.max(1)),
        "topics in use": (total_CK > 0).sum(1),
        "tokens squared": (total_CK**2).sum(1),
        "pairs": (size_CDK > 0).sum((1, 2)),
        "words 0 and 2 of document 0 together": share[:, 0, 0, 2],
        "words 2 and 3 of document 5 together": share[:, 5, 2, 3],
        "open at the first time": p_CTK[:, 0].sum(1),
        "open at the last time": p_CTK[:, 2].sum(1),
        "mass open": (mass_CK[:, None] * p_CTK).sum((1, 2)),
        "theta squared": (theta_CPK**2).sum((1, 2)),
        "word 0 where it is used": np.einsum("ck,ck->c", theta_CPK[:, 0], total_CK),
    }


class Plain:
    """The uncollapsed sampler, all chains at once."""

    def __init__(self, rng, *, exposure_of_all=False):
        self.rng, self.exposure_of_all = rng, exposure_of_all
        C, D = N_CHAINS, ROW.size
        self.mass = rng.gamma(1.0, 1.0, (C, K))
        self.theta = rng.dirichlet(np.ones(P), (C, K)).transpose(0, 2, 1)
        self.gate, self.usage = np.ones((C, D, K), bool), rng.gamma(1.0, 1.0, (C, D, K))
        self.curve = rng.integers(0, 3, (C, K))

    def sweep(self):
        rng = self.rng
        rate = (self.gate * self.usage * self.mass[:, None])[:, :, None] * self.theta[:, None]
        share = rate / np.maximum(rate.sum(3, keepdims=True), 1e-300)
        share[..., -1] += 1.0 - share.sum(3)  # an empty cell may have no open topic
        self.count = rng.multinomial(WORDS_DP, np.clip(share, 0.0, 1.0))
        size = self.count.sum(2)
        p = CURVES_MT[self.curve][:, :, ROW].transpose(0, 2, 1)
        shut = (1 - p) / (1 - p + p * np.exp(-self.mass[:, None] * self.usage))
        self.gate = (size > 0) | (rng.random(p.shape) >= shut)
        self.usage = rng.gamma(E + size) / (1.0 + self.gate * self.mass[:, None])
        seen = self.usage if self.exposure_of_all else self.gate * self.usage
        self.mass = rng.gamma(MASS + size.sum(1)) / (RATE + seen.sum(1))
        self.theta = rng.gamma(CONCENTRATION + self.count.sum(1))
        self.theta = self.theta / self.theta.sum(1, keepdims=True)
        fit = np.stack(
            [
                np.where(self.gate, np.log(q[ROW])[:, None], np.log(1 - q[ROW])[:, None]).sum(1)
                for q in CURVES_MT
            ]
        )
        self.curve = np.argmax(fit + rng.gumbel(size=fit.shape), axis=0)
        p_CTK = CURVES_MT[self.curve].transpose(0, 2, 1)
        return label_free(self.mass, self.theta, self.count, p_CTK)


def plain_means(seed, **options):
    chains = Plain(np.random.default_rng(seed), **options)
    return average(chains.sweep() for _ in range(N_WARMUP + N_SWEEPS))


def average(rows):
    kept = [row for i, row in enumerate(rows) if i >= N_WARMUP]
    return {name: np.mean([row[name] for row in kept], axis=0) for name in kept[0]}


def our_start(rng):
    """Return batches of chains, side by side, all with the corpus above."""
    _, batches = many(WORLD)(rng, N_CHAINS)
    R = WORLD.n_replicates
    word = np.tile(np.concatenate([np.repeat(np.arange(P), row) for row in WORDS_DP]), R)
    start = np.concatenate([[0], np.cumsum(np.tile(WORDS_DP.sum(1), R))])
    owner = np.repeat(np.arange(R), WORDS_DP.sum())
    out = []
    for problem, state in batches:
        documents = Tokens(start, word.astype(np.int32), P)
        row = problem.shards[0].row
        same = replace(problem, shards=shards_of(documents, row), facts=facts_of(documents))
        label = (owner * K + rng.integers(0, K, owner.size)).astype(np.int16)
        theta = state.own.theta[:, : R * K]
        fresh = np.ones(word.size, bool)
        globals_ = theta, state.own.shape, state.log_mass, state.x
        out.append((same, as_state(same, label, fresh, *globals_)))
    return len(out) * R, out


def our_values(state):
    rows = []
    R, D = WORLD.n_replicates, ROW.size
    for problem, one in state[1]:
        owner = np.repeat(np.arange(R * D), lengths_of(problem))
        count = np.zeros((R * D, P, K), int)
        np.add.at(count, (owner, words_of(problem), topic_of(one) - K * (owner // D)), 1)
        p = CURVES_MT[one.x.curve].T.reshape(TIMES.size, R, K).transpose(1, 0, 2)
        theta = topics_of(one)[0].reshape(P, R, K).transpose(1, 0, 2)
        mass = np.exp(one.log_mass).reshape(R, K)
        rows.append(label_free(mass, theta, count.reshape(R, D, P, K), p))
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def our_means(seed):
    rng = np.random.default_rng(seed)
    state = our_start(rng)

    def rows():
        nonlocal state
        for _ in range(N_WARMUP + N_SWEEPS):
            for update in SINGLE:
                state = block(update)(rng, state)
            yield our_values(state)

    return average(rows())


def smallest_p(a, b):
    """Return the smallest p-value of equal means, corrected for their number."""
    p = {name: stats.ttest_ind(a[name], b[name], equal_var=False).pvalue for name in a}
    return min(p.values()) * len(p), p


def test_collapsed_and_plain_samplers_agree_and_a_wrong_one_does_not():
    ours = our_means(1)
    worst, p_values = smallest_p(ours, plain_means(2))
    assert worst > 1e-5, p_values
    printed, _ = smallest_p(ours, plain_means(3, exposure_of_all=True))
    assert printed < 1e-5  # the masses' rate as the paper prints it, a sum over all documents
