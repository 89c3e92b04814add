"""How many chains a corpus is given unasked."""

from __future__ import annotations

from thincrm.errors import Sentence, argument

__all__ = ["affordable_chains", "fewer_chains"]

_CHAINS = 4  # as many as tell which topics come back
_MOST_TOKENS = ((3_000_000, _CHAINS), (12_000_000, 2))


def affordable_chains(n_tokens: int) -> int:
    """Return four, or fewer where one takes long: it depends on nothing but the corpus's size."""
    return next((n_chains for most, n_chains in _MOST_TOKENS if n_tokens <= most), 1)


def fewer_chains(n_chains: int) -> Sentence | None:
    """Return why there are fewer chains, where there are."""
    if n_chains == _CHAINS:
        return None
    few = f"{n_chains} chain{'s' * (n_chains > 1)}"
    return Sentence(
        f"{few}: a corpus of this size takes long (", argument("n_chains"), " says otherwise)."
    )
