"""The sequential rule: cheap when a sampler is right, powerful when it is wrong, level exact.

Gandy and Scott (2020, arXiv:2001.06465), Algorithm 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from thincrm.errors import InvalidInput, check_between, check_count
from thincrm.numerics.arrays import Seed

__all__ = ["PValues", "Verdict", "assert_passed", "assert_rejected", "sequential_test"]

PValues = Callable[[np.random.Generator, int], Mapping[str, float]]
_GROWTH = 4  # how many times more replicates every stage after the first has
_SHOWN = 6


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """What a sequential test decided, and on what grounds; true when it passed.

    Attributes
    ----------
    passed : bool
        False when the null hypothesis ("the sampler is right") is rejected at `level`.
    stage, max_stages : int
        The stage that decided, of so many.
    n_replicates : int
        Replicates spent, all stages together.
    p_values : dict of str to float
        The deciding stage's p-value of every functional.
    adjusted : float
        The smallest of them times their number (Bonferroni), at most 1.
    threshold : float
        The deciding stage rejects at or below this adjusted p-value.
    level : float
        Probability that a right sampler is rejected, all stages together.
    seed : int or None
        Seed that repeats the test; None when a generator was passed.
    unmoved : tuple of str
        Functionals that never changed along a path, and so could not have seen anything.
    """

    passed: bool
    stage: int
    max_stages: int
    n_replicates: int
    p_values: dict[str, float]
    adjusted: float
    threshold: float
    level: float
    seed: int | None
    unmoved: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        word, sign = ("passed", ">") if self.passed else ("REJECTED", "<=")
        seed = "of the generator passed in" if self.seed is None else self.seed
        lowest = sorted(self.p_values, key=lambda name: self.p_values[name])
        shown = ", ".join(f"{name} {self.p_values[name]:.3g}" for name in lowest[:_SHOWN])
        more = f" and {len(lowest) - _SHOWN} larger" if len(lowest) > _SHOWN else ""
        blind = f"; never moved: {', '.join(self.unmoved)}" if self.unmoved else ""
        return (
            f"{word} at stage {self.stage} of {self.max_stages} "
            f"({self.n_replicates} replicates, level {self.level:g}, seed {seed}): "
            f"adjusted p = {self.adjusted:.3g} {sign} {self.threshold:.3g}; "
            f"p-values: {shown}{more}{blind}"
        )


def sequential_test(
    p_values: PValues,
    *,
    level: float = 1e-5,
    n_first: int = 20_000,
    max_stages: int = 7,
    rng: Seed = None,
) -> Verdict:
    """Test in stages until the answer is clear.

    Stage j has fresh replicates and the Bonferroni-adjusted p-value q. With β_1 = level/k,
    γ = β_1^(1/k) and β_{j+1} = β_j/γ it rejects when q <= β_j, passes when q > β_j + γ, and else
    goes on. A right sampler reaches stage j with probability at most γ^(j-1), so it is rejected
    there with probability at most β_1, and with probability at most `level` in all.

    Parameters
    ----------
    p_values : callable
        `p_values(rng, n)` makes n fresh replicates and returns a valid p-value per name.
    level : float
        Probability of rejecting a right sampler. At 1e-5 a suite of 100 such tests turns red by
        chance once in 1000 runs, whatever the seeds.
    n_first : int
        Replicates of the first stage; later ones have four times as many.
    max_stages : int
        The most stages.
    rng : int, Generator or None
        Seed; None takes a fresh one. The verdict shows it.
    """
    check_between("level", level, 0.0, 1.0)
    n = check_count("n_first", n_first)
    check_count("max_stages", max_stages)
    generator, seed = _seeded(rng)
    threshold = level / max_stages
    gamma = threshold ** (1.0 / max_stages)
    spent = 0
    stage = 1
    while True:
        found = _checked(p_values(generator, n))
        spent += n
        adjusted = min(1.0, min(found.values()) * len(found))
        passed = adjusted > threshold
        if not passed or adjusted > threshold + gamma or stage == max_stages:
            return Verdict(
                passed, stage, max_stages, spent, found, adjusted, threshold, level, seed
            )
        threshold /= gamma
        n = _GROWTH * n_first
        stage += 1


def assert_passed(verdict: Verdict) -> None:
    """Raise AssertionError, with names, p-values, stage and seed, unless the test passed."""
    if not verdict.passed:
        raise AssertionError(f"the sampler is wrong: {verdict!r}")


def assert_rejected(verdict: Verdict) -> None:
    """Raise AssertionError if a test let a sampler pass that is known to be wrong."""
    if verdict.passed:
        raise AssertionError(f"the test did not see a wrong sampler: {verdict!r}")


def _seeded(rng: Seed) -> tuple[np.random.Generator, int | None]:
    if isinstance(rng, np.random.Generator):
        return rng, None
    seed = np.random.SeedSequence().generate_state(1, np.uint32)[0] if rng is None else rng
    return np.random.default_rng(int(seed)), int(seed)


def _checked(found: Mapping[str, float]) -> dict[str, float]:
    values = {str(name): float(p) for name, p in found.items()}
    if not values:
        raise InvalidInput("p_values returned nothing: give at least one functional.")
    for name, p in values.items():
        if not 0.0 <= p <= 1.0:
            raise InvalidInput(f"the p-value of {name!r} must lie between 0 and 1, got {p!r}.")
    return values
