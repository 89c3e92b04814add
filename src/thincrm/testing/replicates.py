"""Replicates: how the tests ask a sampler for many independent copies of itself at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from thincrm.errors import InvalidInput, InvalidType
from thincrm.numerics.arrays import ArrayLike, Float

__all__ = ["Block", "Draw", "Functionals", "chunks", "looped", "table", "values"]

S = TypeVar("S")
Draw = Callable[[np.random.Generator, int], S]
Block = Callable[[np.random.Generator, S], S]
Functionals = Callable[[S], Mapping[str, ArrayLike]]
_MOST_AT_ONCE = 4096  # bounds memory; longer arrays are no quicker per replicate


def looped(
    draw: Callable[[np.random.Generator], S],
    blocks: Sequence[Block[S]],
    functionals: Functionals[S],
) -> tuple[Draw[list[S]], list[Block[list[S]]], Functionals[list[S]]]:
    """Let a sampler of one state at a time take part: `exact_rank_test(*looped(...))`.

    Parameters
    ----------
    draw : callable
        `draw(rng)` returns one state: parameters, latents and data from their joint law.
    blocks : sequence of callables
        `block(rng, state)` returns the state after the update.
    functionals : callable
        `functionals(state)` returns a dict of names to numbers.
    """

    def draw_many(rng: np.random.Generator, n: int) -> list[S]:
        return [draw(rng) for _ in range(n)]

    def each(block: Block[S]) -> Block[list[S]]:
        return lambda rng, states: [block(rng, state) for state in states]

    def functionals_many(states: list[S]) -> dict[str, ArrayLike]:
        rows = [functionals(state) for state in states]
        return {name: np.array([row[name] for row in rows], float) for name in rows[0]}

    return draw_many, [each(block) for block in blocks], functionals_many


def chunks(n: int) -> Iterator[int]:
    """Yield the sizes of the pieces in which n replicates are made."""
    for start in range(0, n, _MOST_AT_ONCE):
        yield min(_MOST_AT_ONCE, n - start)


def values(functionals: Functionals[S], state: S, n: int) -> dict[str, Float]:
    """Return the functionals of a state of n replicates, checked and copied."""
    found = functionals(state)
    if not isinstance(found, Mapping) or not found:
        raise InvalidType("functionals must return a dict of names to arrays, with one at least.")
    out = {}
    for name, value in found.items():
        array = np.array(value, float)
        if array.shape != (n,):
            raise InvalidInput(
                f"functional {name!r} has shape {array.shape} for {n} replicates: return one "
                "number per replicate (and use `looped` for a sampler of one state at a time)."
            )
        if np.isnan(array).any():
            raise InvalidInput(f"functional {name!r} is NaN: return a number for every state.")
        out[str(name)] = array
    return out


def table(rows: Sequence[Mapping[str, Float]]) -> dict[str, Float]:
    """Join the functionals of several pieces end to end (last axis)."""
    return {name: np.concatenate([row[name] for row in rows], axis=-1) for name in rows[0]}
