"""What a run will take: time, memory and disk, told after its first sweeps."""

from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse

from thincrm.inference.schedule import Schedule
from thincrm.numerics.waiting import span
from thincrm.ports import Problem, State

__all__ = ["size_of", "what_it_takes"]

_CHECKPOINTS = 2  # that a folder holds
_GIGA = 1e9


def size_of(value: object) -> int:
    """Return the bytes of all arrays in a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if sparse.issparse(value):
        parts = [getattr(value, name, None) for name in ("data", "indices", "indptr")]
        return sum(size_of(part) for part in parts)
    if is_dataclass(value) and not isinstance(value, type):
        return sum(size_of(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, dict):
        return sum(map(size_of, value.values()))
    return sum(map(size_of, value)) if isinstance(value, tuple | list) else 0


def what_it_takes(
    problem: Problem[Any, Any],
    state: State[Any, Any, Any],
    schedule: Schedule,
    seconds: float,
    *,
    folder: bool,
) -> str:
    """Return a line on the time that is left, and the memory and disk that the whole will take."""
    kept = list(schedule.kept)
    sizes = np.array(_draw_bytes(problem, state, kept)).reshape(-1, 2)
    draws, held = schedule.n_chains * sizes.sum(axis=0)
    peak, said = _peak(), [f"{span(seconds)} more"]
    if peak:
        said.append(f"{(peak + held) / _GIGA:.1f} GB of memory")
    if folder:
        said.append(f"{(draws + _CHECKPOINTS * size_of(state)) / _GIGA:.1f} GB of disk")
    *first, last = said
    return f"This run takes about {', '.join(first)} and {last}." if first else f"About {last}."


def _draw_bytes(
    problem: Problem[Any, Any], state: State[Any, Any, Any], kept: list[int]
) -> list[tuple[int, int]]:
    """Return the bytes of every draw that a chain keeps, as large as one of this state.

    In all, and of these in memory.
    """
    likelihood = problem.likelihood
    if hasattr(likelihood, "draw_bytes"):
        return [likelihood.draw_bytes(problem, state, sweep) for sweep in kept]
    size = size_of(likelihood.keep(problem, state, 0, kept[-1]))
    return [(size, size)] * len(kept)


def _peak() -> int:
    """Return the most bytes that this process has had; 0 where the system does not tell."""
    if sys.platform == "win32":
        return 0
    import resource  # noqa: PLC0415 - not everywhere

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
