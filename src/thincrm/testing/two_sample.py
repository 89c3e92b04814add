"""The two-sample test: Gandy and Scott (2020, arXiv:2001.06465), Algorithm 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from scipy import special, stats

from thincrm.errors import InvalidInput, check_count
from thincrm.numerics.arrays import Float, Seed
from thincrm.testing.replicates import Block, Draw, Functionals, chunks, table, values
from thincrm.testing.sequential import Verdict, sequential_test

__all__ = ["two_sample_test"]

S = TypeVar("S")


def two_sample_test(
    draw: Draw[S],
    blocks: Sequence[Block[S]],
    functionals: Functionals[S],
    *,
    n_steps: int = 5,
    level: float = 1e-5,
    n_first: int = 20_000,
    max_stages: int = 7,
    rng: Seed = None,
) -> Verdict:
    """Test that sweeps started in the joint law of state and data stay in it.

    One sample is drawn from the joint law; another, independent of it, is drawn and then swept
    `n_steps` times. Under a right sampler both have the same law. Nothing has to be reversible.
    Add a block that redraws the data given the rest, and the sweeps are those of Geweke (2004),
    started afresh each time, so that the p-values are valid.

    Two p-values per functional f: Wilcoxon's rank sum of f, and of |f - pooled median| (named
    "f spread"), because a wrong variance can hide from any test of location.

    Parameters
    ----------
    draw, blocks, functionals
        As in `exact_rank_test`.
    n_steps : int
        Sweeps between the two samples.
    level, n_first, max_stages, rng
        See `sequential_test`; n_first replicates in each of the two samples.
    """
    check_count("n_steps", n_steps)
    sweep = list(blocks)
    if not sweep:
        raise InvalidInput("blocks is empty: pass at least one update.")

    def p_values(generator: np.random.Generator, n: int) -> dict[str, float]:
        before = _sample(generator, n, draw, [], functionals)
        after = _sample(generator, n, draw, sweep * n_steps, functionals)
        found = {}
        for name in before:
            pooled = np.median(np.concatenate([before[name], after[name]]))
            found[name] = _p_rank_sum(before[name], after[name])
            found[f"{name} spread"] = _p_rank_sum(
                np.abs(before[name] - pooled), np.abs(after[name] - pooled)
            )
        return found

    return sequential_test(p_values, level=level, n_first=n_first, max_stages=max_stages, rng=rng)


def _sample(
    rng: np.random.Generator,
    n: int,
    draw: Draw[S],
    updates: Sequence[Block[S]],
    functionals: Functionals[S],
) -> dict[str, Float]:
    """Return the functionals of n fresh draws after the updates."""
    pieces = []
    for count in chunks(n):
        state = draw(rng, count)
        for update in updates:
            state = update(rng, state)
        pieces.append(values(functionals, state, count))
    return table(pieces)


def _p_rank_sum(x: Float, y: Float) -> float:
    """Return the two-sided p-value of Wilcoxon's rank sum, by its normal law with ties."""
    ranks = stats.rankdata(np.concatenate([x, y]))
    n = ranks.size
    excess = ranks[: x.size].sum() - x.size * (n + 1) / 2.0
    # the permutation variance of a sum of x.size out of these n midranks
    variance = x.size * y.size / (n * (n - 1.0)) * np.sum((ranks - (n + 1) / 2.0) ** 2)
    if variance == 0.0:
        return 1.0
    return float(2.0 * special.ndtr(-abs(excess) / np.sqrt(variance)))
