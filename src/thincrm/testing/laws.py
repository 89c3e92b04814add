"""Laws that hold exactly: no randomness, no tolerance but rounding, milliseconds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import ArrayLike, Bool, Float
from thincrm.ports import GateEvidence, MassEvidence

__all__ = ["check_conditional", "check_gate_law", "check_mass_law"]

S = TypeVar("S")


def check_conditional(
    log_joint: Callable[[S], float],
    log_conditional: Callable[[S], float],
    states: Sequence[S],
    *,
    tolerance: float = 1e-9,
) -> None:
    """Check that a block's conditional is the joint law's (Grosse and Duvenaud 2014).

    log p(x' | rest) - log p(x | rest) = log p(x', rest) - log p(x, rest)

    Parameters
    ----------
    log_joint, log_conditional : callable
        Log densities of a state, each up to a constant that does not depend on the block. Write
        the joint from the model's definition, not from the sampler.
    states : sequence
        Two or more states that differ in the block's variable only.
    tolerance : float
        Allowed difference, relative where the change is above 1.

    Raises
    ------
    AssertionError
        Naming the first pair of states that breaks the law.
    """
    if len(states) < 2:
        raise InvalidInput("states must hold at least two states that differ in the block only.")
    for i, (a, b) in enumerate(itertools.pairwise(states)):
        says = log_conditional(b) - log_conditional(a)
        does = log_joint(b) - log_joint(a)
        _equal(f"from state {i} to {i + 1} the conditional", says, "the joint", does, tolerance)


def check_mass_law(
    log_prob: Callable[[Float], float],
    evidence: MassEvidence,
    log_mass_a: ArrayLike,
    log_mass_b: ArrayLike,
    *,
    tolerance: float = 1e-9,
) -> None:
    """Check that masses change a likelihood by exactly what its mass evidence says.

    The atoms go from a to b one after the other, so an error names its atom, and atoms that are
    not separate given the rest cannot pass.

    Parameters
    ----------
    log_prob : callable
        Maps (K,) log masses to the log-likelihood of everything else, all atoms together.
    evidence : MassEvidence
        What the likelihood says about the masses.
    log_mass_a, log_mass_b : (K,) float
        Two sets of log masses; the likelihood of the first must be above zero.
    tolerance : float
        Allowed difference, relative where the change is above 1.

    Raises
    ------
    AssertionError
        Naming the first atom that breaks the law.
    """
    now = np.array(log_mass_a, float)
    goal = np.asarray(log_mass_b, float)
    if now.shape != goal.shape or now.shape != evidence.hits.shape:
        raise InvalidInput(
            f"log_mass_a {now.shape}, log_mass_b {goal.shape} and the evidence "
            f"{evidence.hits.shape} must have the same shape (K,)."
        )
    says_K = evidence.log_likelihood(goal) - evidence.log_likelihood(now)
    before = log_prob(now.copy())
    for k in range(now.size):
        now[k] = goal[k]
        after = log_prob(now.copy())
        _equal(f"mass of atom {k}: the evidence", says_K[k], "log_prob", after - before, tolerance)
        before = after


def check_gate_law(
    log_prob: Callable[[Bool], float],
    evidence: GateEvidence,
    gates: ArrayLike,
    row: ArrayLike,
    *,
    tolerance: float = 1e-9,
) -> None:
    """Check that gates change a likelihood by exactly what its gate evidence says.

    Shutting the gate of an item that is surely open gives probability zero, and there are
    `positive[t, k]` such items at row t. Opening that of a silent item changes log_prob by
    `log_q[t, k]`. There are `trials[t]` items at row t.

    Parameters
    ----------
    log_prob : callable
        Maps (I, K) gates to the log-likelihood of the data given everything else, -inf where
        impossible.
    evidence : GateEvidence
        What the likelihood says about the gates.
    gates : (I, K) bool
        A possible state of the gates; each one is turned both ways in its turn.
    row : (I,) int
        The covariate row of every item (an item owns a gate per atom).
    tolerance : float
        Allowed difference, relative where the change is above 1.

    Raises
    ------
    AssertionError
        Naming the first gate, or row, that breaks the law.
    """
    gate_IK, row_I = np.array(gates, bool), np.asarray(row, np.int64)
    n_rows = evidence.trials.size
    if gate_IK.shape != (row_I.size, evidence.log_q.shape[1]):
        raise InvalidInput(
            f"gates has shape {gate_IK.shape}, but row has {row_I.size} items and the evidence "
            f"{evidence.log_q.shape[1]} atoms."
        )
    _same("trials", np.bincount(row_I, minlength=n_rows), evidence.trials)
    positive_TK = np.zeros(evidence.positive.shape, np.int64)
    for i, k in np.ndindex(gate_IK.shape):
        turned = gate_IK.copy()
        turned[i, k] = False
        shut = log_prob(turned.copy())
        turned[i, k] = True
        opened = log_prob(turned)
        if shut == opened == -math.inf:
            raise InvalidInput("gates is impossible under log_prob: start from a possible state.")
        if shut == -math.inf:
            positive_TK[row_I[i], k] += 1
            continue
        says = float(evidence.log_q[row_I[i], k])
        _equal(f"gate of item {i}, atom {k}: log_q", says, "log_prob", opened - shut, tolerance)
    _same("positive", positive_TK, evidence.positive)


def _equal(who: str, says: float, other: str, does: float, tolerance: float) -> None:
    says, does = float(says), float(does)
    if says == does or abs(says - does) <= tolerance * max(1.0, abs(says)) < math.inf:
        return
    raise AssertionError(f"{who} says {says!r} but {other} changes by {does!r}")


def _same(name: str, counted: np.ndarray, said: np.ndarray) -> None:
    if counted.shape == said.shape and np.array_equal(counted, said):
        return
    raise AssertionError(
        f"the evidence says {name} = {said.tolist()} but log_prob {counted.tolist()}"
    )
