"""The contract page: the messages that cross between rooms, and the protocols.

    model = Lévy measure  ×  thinning function  ×  likelihood

Given the globals, observations are independent, so what the data say about an atom is a sum over
observations: evidence(A and B) = evidence(A) + evidence(B). A sweep is therefore map (each shard
of observations redraws its own variables), add (the evidence) and redraw (the globals).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from thincrm.data.covariates import CovariateLike
from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import ArrayLike, Float, Int, Seed

__all__ = [
    "Activation",
    "Engine",
    "GateEvidence",
    "Grows",
    "LevyMeasure",
    "Likelihood",
    "MassEvidence",
    "Problem",
    "State",
    "Thinning",
    "Update",
]

X = TypeVar("X")
W = TypeVar("W")
Shard = TypeVar("Shard")  # a fixed part of the data
Local = TypeVar("Local")  # the variables of a shard's observations
Own = TypeVar("Own")  # the likelihood's own globals
Evidence = TypeVar("Evidence")  # what observations say of the globals: additive
Third = TypeVar("Third", bound="Likelihood[Any, Any, Any, Any]")
Result = TypeVar("Result")
Message = TypeVar("Message")
New = TypeVar("New")


class MassEvidence(NamedTuple):
    """What the data say about each atom's mass m.

    log-likelihood = hits log m + misses log(1 - m) - exposure m - overflow log(1 + m)

    ======================================  =======  ==========  =========  ================
    likelihood                              hits     misses      exposure   overflow
    ======================================  =======  ==========  =========  ================
    Bernoulli features                      Σ z      Σ r(1-z)    0          0
    Poisson factor, usages kept             n_k      0           Σ r β      0
    Poisson factor, usages integrated out   n_k      0           0          n_k + e Σ r
    negative binomial                       n_k      h_k Σ r     0          0
    normalised mixture                      n_k      0           Σ u r      0
    ======================================  =======  ==========  =========  ================
    """

    hits: Float
    misses: Float
    exposure: Float
    overflow: Float

    @classmethod
    def of(
        cls,
        n_atoms: int,
        hits: ArrayLike = 0.0,
        misses: ArrayLike = 0.0,
        exposure: ArrayLike = 0.0,
        overflow: ArrayLike = 0.0,
    ) -> Self:
        """Build evidence for `n_atoms`; what is left out is zero (no evidence)."""
        parts = []
        for name, value in zip(cls._fields, (hits, misses, exposure, overflow), strict=True):
            part = np.asarray(value, float)
            if part.ndim > 1 or (part.ndim == 1 and part.size != n_atoms):
                raise InvalidInput(
                    f"{name} has shape {part.shape}, but there are {n_atoms} atoms: "
                    "pass one number per atom."
                )
            if not np.all(np.isfinite(part)) or np.any(part < 0):
                raise InvalidInput(f"{name} must be finite and at least 0 for every atom.")
            parts.append(np.broadcast_to(part, n_atoms).copy())
        return cls(*parts)

    def plus(self, other: MassEvidence) -> MassEvidence:
        """Return the evidence of both sets of observations."""
        return MassEvidence(*(a + b for a, b in zip(self, other, strict=True)))

    def log_likelihood(self, log_mass: Float) -> Float:
        """Return the (K,) log-likelihood of the masses exp(log_mass)."""
        mass = np.exp(log_mass)
        total = self.hits * log_mass - self.exposure * mass - self.overflow * np.log1p(mass)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.misses > 0, total + self.misses * np.log1p(-mass), total)


class GateEvidence(NamedTuple):
    """What the data say about an atom's gates, per distinct covariate row.

    An item whose count is positive is surely open (probability p_tk); a silent item has
    probability (1 - p_tk) + p_tk q_tk, q_tk = P(nothing seen | open). Gates that are observed
    themselves are the case q = 0 (`from_counts`).
    """

    positive: Int  # T x K: items surely open
    trials: Int  # T, or T x K where atoms differ: items in all
    log_q: Float  # T x K: log P(nothing seen | open)

    @classmethod
    def from_counts(cls, open_gates: ArrayLike, trials: ArrayLike) -> Self:
        """Build evidence from `open_gates` (T, K) out of `trials` observed gates."""
        positive = np.asarray(open_gates)
        return cls.of(positive, trials, np.full(positive.shape, -np.inf))

    @classmethod
    def of(cls, positive: ArrayLike, trials: ArrayLike, log_q: ArrayLike) -> Self:
        """Build checked evidence; `trials` may be (T,) or (T, K), `log_q` (K,) or (T, K)."""
        counts = np.asarray(positive)
        total = np.asarray(trials)
        if counts.ndim != 2 or total.shape not in (counts.shape, counts.shape[:1]):
            raise InvalidInput(
                "positive must be (T, K) and trials (T,) or (T, K), "
                f"got {counts.shape} and {total.shape}."
            )
        if np.any(counts < 0) or np.any(counts > _per_atom(total)):
            raise InvalidInput("positive counts must lie between 0 and trials in every row.")
        silent = np.broadcast_to(np.asarray(log_q, float), counts.shape)
        if np.any(np.isnan(silent)) or np.any(silent > 0):
            raise InvalidInput("log_q is the log of a probability: it must be at most 0.")
        return cls(counts.astype(np.int64), total.astype(np.int64), np.array(silent))

    @property
    def silent(self) -> Int:
        """Return the (T, K) items of which nothing was seen."""
        return _per_atom(self.trials) - self.positive

    def of_atoms(self, k: Int) -> GateEvidence:
        """Return the evidence on some of the atoms."""
        trials = self.trials if self.trials.ndim == 1 else self.trials[:, k]
        return GateEvidence(self.positive[:, k], trials, self.log_q[:, k])

    def plus(self, other: GateEvidence) -> GateEvidence:
        """Return the evidence of both sets of observations (same rows, atoms and log_q)."""
        if not np.array_equal(self.log_q, other.log_q):
            raise InvalidInput("Gate evidence can be added only where log_q is the same.")
        return GateEvidence(self.positive + other.positive, self.trials + other.trials, self.log_q)

    def log_likelihood(self, log_open: Float, log_shut: Float) -> Float:
        """Return the (K,) log-likelihood of activations log p_tk and log(1 - p_tk)."""
        silent = np.logaddexp(log_shut, log_open + self.log_q)
        n_silent = self.silent
        with np.errstate(invalid="ignore"):
            terms = np.where(self.positive > 0, self.positive * log_open, 0.0)
            terms = terms + np.where(n_silent > 0, n_silent * silent, 0.0)
        return np.asarray(terms.sum(0))


def _per_atom(trials: Int) -> Int:
    """Return trials as (T, 1) or (T, K)."""
    return trials if trials.ndim == 2 else trials[:, None]


@runtime_checkable
class LevyMeasure(Protocol):
    """How heavy atoms are: a prior for masses, and the same prior after evidence."""

    @property
    def mass(self) -> float:
        """Return the total mass, in the sense of each measure."""

    def draw_log_mass(self, rng: Seed, n_atoms: int) -> Float:
        """Draw the (K,) log masses of the finite approximation."""

    def log_prob(self, log_mass: Float) -> Float:
        """Return the (K,) log densities, with respect to log mass, of that approximation."""

    def redraw(self, rng: Seed, log_mass: Float, evidence: MassEvidence) -> Float:
        """Move the (K,) log masses so that their full conditional stays invariant."""


class Activation(Protocol[X, W]):
    """Where an atom is open, p_x(t), given variables x of its own: what a sweep asks for.

    `prepare` does once what depends only on the covariates; the rest takes what it returns.
    x is a named tuple of arrays whose first axis is the atom.
    """

    @property
    def varies(self) -> bool:
        """Return whether p depends on t; if it does not, covariates are ignored."""

    def prepare(self, t: CovariateLike) -> W:
        """Return what can be computed once from the covariates (rows, scale, basis)."""

    def draw(self, rng: Seed, n_atoms: int, prepared: W) -> X:
        """Draw the auxiliary variables of `n_atoms` atoms from their prior."""

    def log_odds(self, x: X, prepared: W, t: CovariateLike | None = None) -> Float:
        """Return the (T, K) log p/(1-p) at the prepared rows, or at any covariates t."""

    def redraw(self, rng: Seed, x: X, evidence: GateEvidence, prepared: W) -> X:
        """Move x so that its full conditional stays invariant."""


@runtime_checkable
class Thinning(Activation[X, W], Protocol[X, W]):
    """A thinning function: p_x(t) with x ~ H, whose laws are known."""

    def log_prob(self, x: X, prepared: W) -> Float:
        """Return the (K,) prior log densities of the auxiliary variables."""

    def mean_activation(self, prepared: W, t: CovariateLike | None = None) -> Float:
        """Return the (T,) prior mean of p_x(t)."""

    def pair_activation(
        self,
        prepared: W,
        s: CovariateLike,
        t: CovariateLike,
        coupling: Literal["independent", "comonotone"],
    ) -> Float:
        """Return the (S, T) prior means of p_x(s) p_x(t), or of min(p_x(s), p_x(t)).

        The product is E[r^s r^t] when gates are independent given x (and, at s = t, the mean of
        p squared); the smaller of the two is E[r^s r^t] when one uniform opens all of an atom's
        gates.
        """


@dataclass(frozen=True, slots=True)
class State(Generic[Local, Own, Evidence]):
    """Where a chain stands: what belongs to observations, and the globals.

    `local` has an entry per shard and is as large as the data: above the engine nobody looks
    inside. Everything else is global.
    """

    local: tuple[Local, ...]
    own: Own  # the likelihood's globals: topics, features, cluster parameters
    log_mass: Float  # K
    x: Any  # the thinning function's named tuple of arrays, whose first axis is the atom
    levy: LevyMeasure  # the Lévy measure, with the parameters it has now
    evidence: Evidence  # of all shards

    def with_own(self, **changes: object) -> Self:
        """Return the state with some of the likelihood's globals changed."""
        return replace(self, own=replace(self.own, **changes))  # type: ignore[type-var]


Update = Callable[[np.random.Generator, Any, Any], Any]  # (rng, problem, state) -> state


@dataclass(frozen=True, slots=True)
class Problem(Generic[Shard, Third]):
    """What does not change while a chain runs: the three factors, and the data in shards."""

    levy: LevyMeasure
    thinning: Activation[Any, Any]
    likelihood: Third
    prepared: Any  # what thinning.prepare returned
    shards: tuple[Shard, ...]
    trials: Int  # T: observations at each covariate row
    n_atoms: int  # the truncation, background atoms included
    engine: Engine
    n_background: int = 0  # atoms 0, 1, ... that are always open and have no x
    learn_levy: bool = True
    facts: Any = None  # what the likelihood must know of all data, such as their number
    latest: list[Any] = field(default_factory=list, compare=False)  # x, thinning, log odds


class Engine(Protocol):
    """Where maps over observations run: here, on threads, on other machines.

    What it returns does not depend on where: shards are fixed by the data, results come back in
    shard order, and work is a pure function of what it is given.
    """

    def map(
        self,
        work: Callable[[Shard, Local, Message], tuple[New, Result]],
        shards: Sequence[Shard],
        local: Sequence[Local],
        message: Message,
        add: Callable[[Sequence[Result]], Result] | None = None,
    ) -> tuple[tuple[New, ...], list[Result]]:
        """Return work(shard, local, message) of every shard: the new locals, and the results.

        add: of results whose sum has the same bits in any order (whole numbers); results may then
        come as sums of neighbours.
        """

    def each(
        self,
        work: Callable[[Shard, Local, Message], Result],
        shards: Sequence[Shard],
        local: Sequence[Local],
        message: Message,
        add: Callable[[Sequence[Result]], Result] | None = None,
    ) -> Iterator[Result]:
        """Yield work(shard, local, message) of every shard, one at a time; locals stay."""

    @property
    def n_threads_here(self) -> int:
        """Return how many threads of this machine it may use."""

    def part(self, n_parts: int) -> Engine:
        """Return the engine of one of so many chains that run side by side."""

    def running(self) -> AbstractContextManager[object]:
        """Hold whatever maps run on while chains run."""

    def fetch(self, local: Sequence[Local]) -> tuple[Local, ...]:
        """Return locals as values in this process: an engine may keep them elsewhere."""


@runtime_checkable
class Likelihood(Protocol[Shard, Local, Own, Evidence]):
    """What open atoms do to data: the third factor of a model.

    It may have more: `expand` (below), `adds_exactly` (True: evidence is whole numbers,
    whose sum has the same bits in any order), `draw_bytes` (a draw's size, in all and in memory).
    """

    @property
    def support(self) -> float:
        """Return where masses end: they lie in (0, support)."""

    @property
    def updates(self) -> tuple[Update, ...]:
        """Return the sweep: updates that leave the posterior invariant, in order."""

    def start(self, rng: np.random.Generator, problem: Problem[Shard, Any]) -> State[Any, Any, Any]:
        """Return a state to start a chain from."""

    def message(self, problem: Problem[Shard, Any], state: State[Local, Own, Evidence]) -> Any:
        """Return what observations need to know of the globals, computed once a sweep."""

    def redraw_local(
        self, key: np.uint64, shard: Shard, local: Local, message: Any
    ) -> tuple[Local, Evidence]:
        """Redraw the variables of a shard's observations, and return what they say. Pure."""

    def add(self, parts: Sequence[Evidence]) -> Evidence:
        """Return the evidence of all shards, added in shard order."""

    def gate_evidence(
        self,
        rng: np.random.Generator,
        problem: Problem[Shard, Any],
        state: State[Local, Own, Evidence],
    ) -> GateEvidence:
        """Return what the data say of the thinned atoms' gates."""

    def mass_evidence(
        self,
        rng: np.random.Generator,
        problem: Problem[Shard, Any],
        state: State[Local, Own, Evidence],
    ) -> MassEvidence:
        """Draw which of the silent gates are open; return what is then said of the masses."""

    def redraw_own(
        self,
        rng: np.random.Generator,
        problem: Problem[Shard, Any],
        state: State[Local, Own, Evidence],
    ) -> Own:
        """Redraw the likelihood's own globals."""

    def summary(
        self, problem: Problem[Shard, Any], state: State[Local, Own, Evidence]
    ) -> dict[str, float]:
        """Return label-free numbers of a state, for the trace and for diagnostics."""

    def keep(
        self,
        problem: Problem[Shard, Any],
        state: State[Local, Own, Evidence],
        chain: int,
        sweep: int,
    ) -> Any:
        """Return the draw to keep of a state: what tables and predictions need."""


@runtime_checkable
class Grows(Protocol):
    """A likelihood whose truncation may become larger in the warm-up."""

    def expand(
        self, rng: np.random.Generator, problem: Any, state: Any, n_atoms: int
    ) -> tuple[Problem[Any, Any], State[Any, Any, Any]]:
        """Return the problem and the state with room for `n_atoms`."""
