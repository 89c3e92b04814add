"""Always: no thinning at all, the identity of the product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from thincrm.data.covariates import CovariateLike, Covariates, covariates
from thincrm.numerics.arrays import Float, Seed
from thincrm.ports import GateEvidence
from thincrm.thinning.member import ThinningFunction

__all__ = ["Always", "AlwaysState"]


class AlwaysState(NamedTuple):
    """Nothing, for each of K atoms."""

    nothing: Float  # K x 0


@dataclass(frozen=True, slots=True)
class Always(ThinningFunction):
    """p_x(t) = 1: every atom is open everywhere, which gives the exchangeable models."""

    command_name: ClassVar[str] = "always"
    varies: ClassVar[bool] = False
    state: ClassVar[type[Any]] = AlwaysState
    plain_words: ClassVar[str] = (
        "All {many} are open at all times: nothing comes or goes in this model."
    )

    def prepare(self, t: CovariateLike) -> Covariates:
        """Return the distinct rows of `t`."""
        return covariates(t)

    def draw(self, rng: Seed, n_atoms: int, prepared: Covariates) -> AlwaysState:
        """Return the (empty) auxiliary variables of `n_atoms` atoms."""
        return AlwaysState(np.empty((n_atoms, 0)))

    def log_odds(
        self, x: AlwaysState, prepared: Covariates, t: CovariateLike | None = None
    ) -> Float:
        """Return (T, K) infinities: p = 1."""
        return np.full((_n_rows(prepared, t), len(x.nothing)), np.inf)

    def log_prob(self, x: AlwaysState, prepared: Covariates) -> Float:
        """Return (K,) zeros: there is nothing to have a density."""
        return np.zeros(len(x.nothing))

    def mean_activation(self, prepared: Covariates, t: CovariateLike | None = None) -> Float:
        """Return (T,) ones."""
        return np.ones(_n_rows(prepared, t))

    def pair_activation(
        self,
        prepared: Covariates,
        s: CovariateLike,
        t: CovariateLike,
        coupling: Literal["independent", "comonotone"],
    ) -> Float:
        """Return (S, T) ones."""
        return np.ones((_n_rows(prepared, s), _n_rows(prepared, t)))

    def redraw(
        self, rng: Seed, x: AlwaysState, evidence: GateEvidence, prepared: Covariates
    ) -> AlwaysState:
        """Return x: there is nothing to move."""
        return x


def _n_rows(prepared: Covariates, t: CovariateLike | None) -> int:
    return len(prepared.rows if t is None else prepared.encode(t))
