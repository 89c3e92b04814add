"""TopicLikelihood: what open topics do to documents (`ports.Likelihood`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thincrm.models.topics.documents import TokenMessage, add_evidence, redraw_tokens_of
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.factors import (
    GammaNegativeBinomialFactor,
    NegativeBinomialFactor,
    PoissonFactor,
)
from thincrm.models.topics.keeping import draw_bytes, keep, numbers_of
from thincrm.models.topics.start import expand, start_state
from thincrm.models.topics.state import (
    TopicGlobals,
    TopicLocal,
    TopicProblem,
    TopicShard,
    TopicState,
)
from thincrm.models.topics.sweep import (
    SWEEP,
    gates_of,
    opened_of,
    redraw_bursts,
    redraw_shape,
    redraw_topics,
    token_message,
)
from thincrm.models.topics.usage import TopicEvidence
from thincrm.ports import GateEvidence, MassEvidence, Update

__all__ = ["CountFactor", "TopicLikelihood"]

CountFactor = PoissonFactor | NegativeBinomialFactor | GammaNegativeBinomialFactor


@dataclass(frozen=True, slots=True)
class TopicLikelihood:
    """Words of open topics: a count factor, and the law of topics and bursts.

    n_dk | open ~ the factor's negative binomial; its tokens are i.i.d. from
    theta_k ~ Dirichlet(concentration), or an urn of them (`kernel`). None: learned.
    """

    factor: CountFactor
    concentration: float | None = None
    burstiness: float | None = 0.0
    updates: ClassVar[tuple[Update, ...]] = SWEEP
    adds_exactly: ClassVar[bool] = True  # evidence is whole numbers

    @property
    def support(self) -> float:
        """Return where masses end."""
        return float(self.factor.support)

    def start(self, rng: np.random.Generator, problem: TopicProblem) -> TopicState:
        """Return a state to start a chain from."""
        return start_state(rng, problem)

    def message(self, problem: TopicProblem, state: TopicState) -> TokenMessage:
        """Return what tokens need to know of the globals."""
        return token_message(problem, state)

    def redraw_local(
        self, key: np.uint64, shard: TopicShard, local: TopicLocal, message: TokenMessage
    ) -> tuple[TopicLocal, TopicEvidence]:
        """Redraw every token's topic."""
        return redraw_tokens_of(key, shard, local, message)

    def add(self, parts: Sequence[TopicEvidence]) -> TopicEvidence:
        """Return the evidence of all shards."""
        return add_evidence(parts)

    def gate_evidence(
        self, rng: np.random.Generator, problem: TopicProblem, state: TopicState
    ) -> GateEvidence:
        """Return what documents say of the gates of all thinned topics."""
        return gates_of(rng, problem, state, np.arange(problem.n_background, problem.n_atoms))

    def mass_evidence(
        self, rng: np.random.Generator, problem: TopicProblem, state: TopicState
    ) -> MassEvidence:
        """Draw which silent documents are open; return what is then said of the masses."""
        seen = state.own.shape, state.log_mass, state.evidence, opened_of(rng, problem, state)
        if problem.learn_levy:
            return self.factor.conjugate_evidence(rng, *seen)
        return self.factor.mass_evidence(rng, *seen)

    def redraw_own(
        self, rng: np.random.Generator, problem: TopicProblem, state: TopicState
    ) -> TopicGlobals:
        """Redraw shapes, burstiness, concentration and topics."""
        for update in (redraw_shape, redraw_bursts, redraw_topics):
            state = update(rng, problem, state)
        return state.own

    def summary(self, problem: TopicProblem, state: TopicState) -> dict[str, float]:
        """Return label-free numbers of a state."""
        return {"n_topics": int((state.evidence.total > 0).sum()), **numbers_of(state)}

    def keep(self, problem: TopicProblem, state: TopicState, chain: int, sweep: int) -> TopicDraw:
        """Return the draw to keep of a state."""
        return keep(problem, state, chain, sweep)

    def draw_bytes(self, problem: TopicProblem, state: TopicState, sweep: int) -> int:
        """Return how large the draw of a sweep would be."""
        return draw_bytes(problem, state, sweep)

    def expand(
        self, rng: np.random.Generator, problem: TopicProblem, state: TopicState, n_atoms: int
    ) -> tuple[TopicProblem, TopicState]:
        """Return the problem and state with a larger truncation."""
        return expand(rng, problem, state, n_atoms)
