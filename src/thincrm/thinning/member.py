"""What every thinning function says of itself: its names, its words, and how it is stored.

A new thinning function is a frozen dataclass on `ThinningFunction` in a file of its own, and one
line: `thincrm.thinning.register(MyThinning)`. Files, reports and the command line then know it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeVar

import numpy as np

from thincrm.data.covariates import CovariateLike, Covariates
from thincrm.errors import InvalidInput
from thincrm.files.checks import floats, need, places
from thincrm.numerics.arrays import Float, Seed
from thincrm.ports import GateEvidence

__all__ = ["MEMBERS", "ThinningFunction", "member_named", "register"]

T = TypeVar("T", bound="type[ThinningFunction]")
MEMBERS: list[type[ThinningFunction]] = []


class ThinningFunction(ABC):
    """What stands beside the mathematics of a thinning function (`ports.Thinning`)."""

    __slots__ = ()
    command_name: ClassVar[str] = ""  # after --thinning; empty: not on the command line
    varies: ClassVar[bool] = True  # False: p is the same at all covariates, which are then ignored
    state: ClassVar[type[Any]]  # the named tuple of its auxiliary variables
    plain_words: ClassVar[str] = ""  # {one} and {many} stand for the atoms

    @abstractmethod
    def prepare(self, t: CovariateLike) -> Any:
        """Return what can be computed once from the covariates."""

    @abstractmethod
    def draw(self, rng: Seed, n_atoms: int, prepared: Any) -> Any:
        """Draw the auxiliary variables of `n_atoms` atoms from their prior."""

    @abstractmethod
    def log_odds(self, x: Any, prepared: Any, t: CovariateLike | None = None) -> Float:
        """Return the (T, K) log p/(1-p) at the prepared rows, or at any covariates t."""

    @abstractmethod
    def redraw(self, rng: Seed, x: Any, evidence: GateEvidence, prepared: Any) -> Any:
        """Move x so that its full conditional stays invariant."""

    def pack(self, prepared: Any) -> dict[str, Float] | None:
        """Return what files must keep of `prepared`; None: it can be prepared again, bit by bit."""
        return None

    def unpack(self, packed: Any, known: Covariates) -> Any:
        """Return what had been prepared for `known`, or refuse what a file holds."""
        return self.prepare(known)

    def check(self, x: Any, prepared: Any, n_atoms: int) -> None:
        """Refuse variables, read from a file, that are not of the kind, number and range of its."""
        like = self.draw(0, 1, prepared)
        need(type(x) is type(like), "the curves")
        for name, one, part in zip(like._fields, like, x, strict=True):
            shape = (n_atoms, *one.shape[1:])
            if one.dtype.kind == "i":
                places(part, shape, self.n_choices(name), f"the curves' {name}")
                need(part.dtype == one.dtype, f"the curves' {name}")
            else:
                floats(part, shape, f"the curves' {name}")

    def n_choices(self, name: str) -> float:
        """Return below what whole numbers of the variable `name` must be."""
        return np.inf

    def lengths(self, x: Any, prepared: Any) -> Float | None:
        """Return the (K,) lengths of the first covariate over which curves vary; None: no such."""
        return None


def register(member: T) -> T:
    """Make a thinning function known to files, reports and the command line."""
    if member not in MEMBERS:
        MEMBERS.append(member)
    return member


def member_named(name: str) -> type[ThinningFunction]:
    """Return the thinning function of a command-line name."""
    known = {member.command_name: member for member in MEMBERS if member.command_name}
    if name not in known:
        raise InvalidInput(f"--thinning must be one of {', '.join(known)}, got {name!r}.")
    return known[name]
