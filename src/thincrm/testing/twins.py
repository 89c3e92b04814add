"""Broken twins: a test is worth what it rejects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from thincrm.errors import InvalidInput
from thincrm.testing.sequential import Verdict

__all__ = ["TwinTable", "run_twins"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class TwinTable:
    """The verdict on every broken twin; true when all were rejected.

    Attributes
    ----------
    verdicts : dict of str to Verdict
        One per twin.
    """

    verdicts: dict[str, Verdict]

    @property
    def survivors(self) -> tuple[str, ...]:
        """Names of the wrong samplers the test let pass."""
        return tuple(name for name, verdict in self.verdicts.items() if verdict.passed)

    def __bool__(self) -> bool:
        return not self.survivors

    def __repr__(self) -> str:
        width = max(map(len, self.verdicts))
        return "\n".join(f"{name:{width}}  {found!r}" for name, found in self.verdicts.items())


def run_twins(test: Callable[[T], Verdict], twins: Mapping[str, T]) -> TwinTable:
    """Run the same test on each of several deliberately wrong samplers.

    Parameters
    ----------
    test : callable
        Maps a twin (say, its list of blocks) to the verdict on it.
    twins : mapping
        Wrong samplers by name. In pytest, one case each:
        ``@pytest.mark.parametrize("name", TWINS)`` and ``assert_rejected(test(TWINS[name]))``.
    """
    if not twins:
        raise InvalidInput("twins is empty: a test without broken twins has proved no power.")
    return TwinTable({name: test(twin) for name, twin in twins.items()})
