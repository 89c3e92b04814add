"""A fourth model, defined outside the package: rows of counts as sums of thinned Poisson parts.

    n_nkp ~ Poisson(r_nk m_k theta_kp),  y_np = sum_k n_nkp,  r_nk ~ Bernoulli(p_k(t_n))
    m_k ~ gamma process,  theta_k ~ Dirichlet(1, ..., 1)

Everything but this mathematics comes from the library.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import validate_data

from thincrm.files.checks import need
from thincrm.inference.updates import SWEEP, log_odds_of
from thincrm.levy import GammaProcess
from thincrm.models.base import Factors, Model, Parts
from thincrm.models.registry import register
from thincrm.ports import GateEvidence, MassEvidence, State
from thincrm.thinning import Bump


class Shard(NamedTuple):
    """Some rows of counts, and their covariate rows."""

    first: int
    count_NP: np.ndarray
    row_N: np.ndarray


@dataclass(frozen=True)
class Message:
    rate_KP: np.ndarray
    open_TK: np.ndarray  # P(open | silent)


class Evidence(NamedTuple):
    count_KP: np.ndarray
    positive_TK: np.ndarray


@dataclass(frozen=True)
class Own:
    """The parts' shares of the columns."""

    theta_KP: np.ndarray


@dataclass(frozen=True)
class PartDraw:
    """A kept draw."""

    chain: int
    sweep: int
    log_mass: np.ndarray
    x: tuple
    theta_KP: np.ndarray
    total_K: np.ndarray
    scalars: dict

    @property
    def sizes(self):
        return self.total_K

    @property
    def profiles(self):
        return self.theta_KP


def evidence_of(shard, size_NK, count_KP, n_rows):
    positive = np.zeros((n_rows, size_NK.shape[1]), np.int64)
    np.add.at(positive, shard.row_N, size_NK > 0)
    return Evidence(count_KP, positive)


@dataclass(frozen=True)
class PoissonParts:
    """The likelihood."""

    support = np.inf
    updates = SWEEP

    def start(self, rng, problem):
        n_parts, n_columns = problem.n_atoms, problem.facts
        own = Own(rng.dirichlet(np.ones(n_columns), n_parts))
        log_mass = problem.levy.draw_log_mass(rng, n_parts)
        log_mass = np.maximum(log_mass, np.log(1e-3))
        x = problem.thinning.draw(rng, n_parts, problem.prepared)
        sent = int(rng.integers(2**60)), n_parts, len(problem.trials)
        nothing = (None,) * len(problem.shards)
        local, parts = problem.engine.map(first_parts, problem.shards, nothing, sent)
        return State(local, own, log_mass, x, problem.levy, self.add(parts))

    def message(self, problem, state):
        mass = np.exp(state.log_mass)
        silent = expit(log_odds_of(problem, state.x) - mass)
        return Message(mass[:, None] * state.own.theta_KP, silent)

    def redraw_local(self, key, shard, local, message):
        rng = np.random.default_rng([int(key), shard.first])
        opened = (local > 0) | (rng.random(local.shape) < message.open_TK[shard.row_N])
        size_NK, count_KP = share_out(rng, shard, opened, message.rate_KP)
        return size_NK, evidence_of(shard, size_NK, count_KP, len(message.open_TK))

    def add(self, parts):
        return Evidence(*(sum(part) for part in zip(*parts, strict=True)))

    def gate_evidence(self, rng, problem, state):
        return GateEvidence.of(state.evidence.positive_TK, problem.trials, -np.exp(state.log_mass))

    def mass_evidence(self, rng, problem, state):
        gates = self.gate_evidence(rng, problem, state)
        chance = expit(log_odds_of(problem, state.x) + gates.log_q)
        opened = gates.positive + rng.binomial(gates.silent, chance)
        hits = state.evidence.count_KP.sum(1)
        return MassEvidence.of(problem.n_atoms, hits=hits, exposure=opened.sum(0))

    def redraw_own(self, rng, problem, state):
        drawn = rng.standard_gamma(1.0 + state.evidence.count_KP)
        return Own(drawn / drawn.sum(1, keepdims=True))

    def summary(self, problem, state):
        total = state.evidence.count_KP.sum(1)
        return {"n_parts": int((total > 0).sum()), "mass": float(state.levy.mass)}

    def keep(self, problem, state, chain, sweep):
        total = state.evidence.count_KP.sum(1)
        numbers = self.summary(problem, state)
        return PartDraw(chain, sweep, state.log_mass, state.x, state.own.theta_KP, total, numbers)


def first_parts(shard, local, sent):
    seed, n_parts, n_rows = sent
    rng = np.random.default_rng([seed, shard.first])
    everywhere = np.ones((len(shard.count_NP), n_parts), bool)
    rate_KP = rng.gamma(1.0, size=(n_parts, shard.count_NP.shape[1]))
    size_NK, count_KP = share_out(rng, shard, everywhere, rate_KP)
    return size_NK, evidence_of(shard, size_NK, count_KP, n_rows)


def share_out(rng, shard, open_NK, rate_KP):
    """Draw which parts the counts come from, of those that are open."""
    n_rows, n_parts = open_NK.shape
    size_NK, count_KP = np.zeros((n_rows, n_parts), np.int64), np.zeros(rate_KP.shape, np.int64)
    for n, p in zip(*np.nonzero(shard.count_NP), strict=True):
        weight = open_NK[n] * rate_KP[:, p]
        found = rng.multinomial(shard.count_NP[n, p], weight / weight.sum())
        size_NK[n] += found
        count_KP[:, p] += found
    return size_NK, count_KP


@register
class PoissonRows(Model):
    """Rows of counts as sums of parts that come and go."""

    atoms = "parts"
    stores = (Evidence, Own, PartDraw)

    def __init__(
        self,
        levy=None,
        thinning=None,
        *,
        max_parts=20,
        n_sweeps=60,
        n_draws=10,
        n_chains=1,
        learn=True,
        random_state=None,
        n_threads=None,
        quiet=True,
    ):
        self.levy = levy
        self.thinning = thinning
        self.max_parts = max_parts
        self.n_sweeps = n_sweeps
        self.n_draws = n_draws
        self.n_chains = n_chains
        self.learn = learn
        self.random_state = random_state
        self.n_threads = n_threads
        self.quiet = quiet

    def _read(self, X):
        self.counts_ = validate_data(self, X, dtype=np.int64)
        return len(self.counts_)

    def _factors(self):
        levy = GammaProcess(2.0, 0.1) if self.levy is None else self.levy
        thinning = Bump() if self.thinning is None else self.thinning
        return Factors(levy, thinning, PoissonParts(), self.max_parts)

    def _parts(self, known):
        cuts = np.array_split(np.arange(len(self.counts_)), 3)
        shards = tuple(Shard(int(i[0]), self.counts_[i], known.row[i]) for i in cuts)
        return Parts(shards, self.counts_.shape[1])

    def _pack_data(self):
        return {"counts": self.counts_}

    def _unpack_data(self, data):
        need(set(data) == {"counts"} and data["counts"].dtype == np.int64, "the counts")
        self.counts_ = data["counts"]
        self.n_features_in_ = self.counts_.shape[1]
        return len(self.counts_)
