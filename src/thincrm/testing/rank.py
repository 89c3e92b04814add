"""The exact rank test: Gandy and Scott (2020, arXiv:2001.06465), Algorithm 2, for Gibbs sweeps."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from scipy import special

from thincrm.errors import InvalidInput, check_count
from thincrm.numerics.arrays import Float, Int, Seed
from thincrm.testing.replicates import Block, Draw, Functionals, chunks, table, values
from thincrm.testing.sequential import Verdict, sequential_test

__all__ = ["exact_rank_test"]

S = TypeVar("S")
_LEAST_PER_RANK = 20  # the chi-square law of counts below that is not good in the far tail


def exact_rank_test(
    draw: Draw[S],
    blocks: Sequence[Block[S]],
    functionals: Functionals[S],
    *,
    n_steps: int = 6,
    backward: Sequence[Block[S]] | None = None,
    level: float = 1e-5,
    n_first: int = 20_000,
    max_stages: int = 7,
    rng: Seed = None,
) -> Verdict:
    """Test that a sampler leaves the joint law of its state invariant.

    A state drawn from the joint law is put at a uniformly random place M of a path of L + 1
    states. The path runs forward from it by sweeps of `blocks`, and back by the time reversal of
    a sweep. If every block leaves the law invariant, all places of the path are alike, so the
    rank of f(state M) within the path is exactly uniform on {0, ..., L}: no burn-in, no thinning,
    no effective sample size. Ties are broken at random.

    A sweep in fixed order is not reversible, but the product of reversible blocks has the product
    in reverse order for its time reversal, and Gibbs, Metropolis, slice and elliptical slice
    updates are reversible. A draw that integrates a variable out is *half* a block: put it and
    the redraw of that variable into one callable.

    Parameters
    ----------
    draw : callable
        `draw(rng, n)` returns a state that holds n independent replicates, each drawn from the
        joint law of parameters, latents and data. (`looped` makes one from `draw(rng)`.)
    blocks : sequence of callables
        `block(rng, state)` returns the state after one update of all its replicates; it may work
        in place. Replicates must not share anything random.
    functionals : callable
        `functionals(state)` returns a dict of names to (n,) arrays, a number per replicate.
    n_steps : int
        Path length L in sweeps.
    backward : sequence of callables, optional
        The time reversal of a sweep, for blocks that are not reversible (a scan inside a block);
        default: the blocks in reverse order.
    level, n_first, max_stages, rng
        See `sequential_test`; a p-value is of the chi-square test of L + 1 equal cells.

    Returns
    -------
    Verdict
        True when the sampler passed.
    """
    check_count("n_steps", n_steps)
    check_count("n_first", n_first)
    if n_first < _LEAST_PER_RANK * (n_steps + 1):
        raise InvalidInput(
            f"n_first must be at least {_LEAST_PER_RANK * (n_steps + 1)} for {n_steps} steps, "
            f"got {n_first}."
        )
    forward = list(blocks)
    back = forward[::-1] if backward is None else list(backward)
    if not forward or not back:
        raise InvalidInput("blocks is empty: pass at least one update.")
    moved: set[str] = set()
    names: list[str] = []

    def p_values(generator: np.random.Generator, n: int) -> dict[str, float]:
        paths = _paths(generator, n, draw, forward, back, functionals, n_steps)
        names[:] = paths
        moved.update(name for name, path in paths.items() if np.any(path != path[0]))
        if not moved:
            raise InvalidInput("no functional ever changed: the blocks move nothing it can see.")
        return {name: _p_uniform(_rank_counts(generator, path)) for name, path in paths.items()}

    verdict = sequential_test(
        p_values, level=level, n_first=n_first, max_stages=max_stages, rng=rng
    )
    unmoved = tuple(name for name in names if name not in moved)
    return dataclasses.replace(verdict, unmoved=unmoved)


def _paths(
    rng: np.random.Generator,
    n: int,
    draw: Draw[S],
    forward: Sequence[Block[S]],
    back: Sequence[Block[S]],
    functionals: Functionals[S],
    n_steps: int,
) -> dict[str, Float]:
    """Return every functional along n paths, (L + 1, n): the state drawn first, then the others.

    Each replicate has a place of its own, and those of one place run together: replicates that
    shared one random place would not be independent, since given the place a rank need not be
    uniform.
    """
    size_at_place = rng.multinomial(n, np.full(n_steps + 1, 1.0 / (n_steps + 1)))
    pieces = []
    for place, size in enumerate(size_at_place):
        for count in chunks(int(size)):
            start = draw(rng, count)
            steps = [values(functionals, start, count)]
            kept = copy.deepcopy(start)  # blocks may work in place, and two legs leave from here
            for leg, state, length in ((forward, start, n_steps - place), (back, kept, place)):
                steps += _leg(rng, state, leg, length, functionals, count)
            pieces.append({name: np.stack([step[name] for step in steps]) for name in steps[0]})
    return table(pieces)


def _leg(
    rng: np.random.Generator,
    state: S,
    blocks: Sequence[Block[S]],
    length: int,
    functionals: Functionals[S],
    count: int,
) -> Iterator[dict[str, Float]]:
    """Yield the functionals after each of `length` sweeps of the blocks."""
    for _ in range(length):
        for block in blocks:
            state = block(rng, state)
        yield values(functionals, state, count)


def _rank_counts(rng: np.random.Generator, path: Float) -> Int:
    """Count the ranks of each column's first entry within its column, ties broken at random."""
    below = (path[1:] < path[0]).sum(0)
    equal = (path[1:] == path[0]).sum(0)
    counts = np.bincount(below + rng.integers(0, equal + 1), minlength=path.shape[0])
    return counts.astype(np.int64)


def _p_uniform(count_at_rank: Int) -> float:
    """Return Pearson's chi-square p-value of equal cells."""
    expected = count_at_rank.sum() / count_at_rank.size
    statistic = np.sum((count_at_rank - expected) ** 2) / expected
    return float(special.chdtrc(count_at_rank.size - 1, statistic))
