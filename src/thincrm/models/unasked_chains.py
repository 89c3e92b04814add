"""How many chains data are given unasked."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from thincrm.errors import Sentence, argument

__all__ = ["HasChains", "UnaskedChains"]

_CHAINS = 4  # as many as tell what comes back


class HasChains(Protocol):
    """A model that is told how many chains it has."""

    n_chains: int


class UnaskedChains(NamedTuple):
    """Four chains, or fewer where one takes long: that depends on nothing but the data's size."""

    what: str  # the data: a corpus, a table
    most_of_four: int  # tokens or cells
    most_of_two: int

    def number(self, size: int) -> int:
        """Return how many chains data of that size are given."""
        return _CHAINS if size <= self.most_of_four else 2 if size <= self.most_of_two else 1

    def give(self, model: HasChains, size: int, say: Callable[[Sentence], None]) -> None:
        """Give a model of data of that size its chains, and say why, if they are fewer."""
        model.n_chains = self.number(size)
        why = self.why_fewer(model.n_chains)
        if why is not None:
            say(why)

    def why_fewer(self, n_chains: int) -> Sentence | None:
        """Return why there are fewer than four chains, where there are."""
        if n_chains == _CHAINS:
            return None
        few = f"{n_chains} chain{'s' * (n_chains > 1)}"
        return Sentence(
            f"{few}: {self.what} of this size takes long (",
            argument("n_chains"),
            " says otherwise).",
        )
