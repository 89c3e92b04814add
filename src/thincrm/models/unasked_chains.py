"""How many chains data are given unasked."""

from __future__ import annotations

from typing import NamedTuple

from thincrm.errors import Sentence, argument

__all__ = ["UnaskedChains"]

_CHAINS = 4  # as many as tell what comes back


class UnaskedChains(NamedTuple):
    """Four chains, or fewer where one takes long: that depends on nothing but the data's size."""

    what: str  # the data: a corpus, a table
    most_of_four: int  # tokens or cells
    most_of_two: int

    def number(self, size: int) -> int:
        """Return how many chains data of that size are given."""
        return _CHAINS if size <= self.most_of_four else 2 if size <= self.most_of_two else 1

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
