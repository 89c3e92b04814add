"""A mixture's problem and state.

Between updates a state holds clusters c, clocks (V_t of a covariate row, u_n of a row that has
gates of its own), masses, x, parameters and hyper-parameters. Gates are never kept: they are drawn
where an update needs them, given the clocks, and forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from thincrm.models.mixtures.clusters import Hyper, Params
from thincrm.models.mixtures.evidence import MixtureEvidence
from thincrm.models.mixtures.shards import MixtureLocal, MixtureShard
from thincrm.numerics.arrays import Float
from thincrm.ports import Problem, State

if TYPE_CHECKING:
    from thincrm.models.mixtures.likelihood import MixtureLikelihood

__all__ = ["Message", "MixtureOwn", "MixtureProblem", "MixtureState"]

MixtureProblem: TypeAlias = "Problem[MixtureShard, MixtureLikelihood]"


class MixtureOwn(NamedTuple):
    """The likelihood's own globals."""

    params: Params  # of all K clusters
    hyper: Hyper


class Message(NamedTuple):
    """What rows need to know of the globals."""

    packed: Any  # the clusters' parameters
    log_mass: Float  # K
    log_odds: Float  # T x K
    clock: Float  # T: V, the pace in it
    pace: float


MixtureState = State[MixtureLocal, MixtureOwn, MixtureEvidence]
