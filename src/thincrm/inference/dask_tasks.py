"""What Dask's workers do: pure functions of what they are sent."""

from __future__ import annotations

import pickle
import sys
import threading
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from thincrm.errors import InvalidInput, ThincrmError
from thincrm.inference.engine import map_here
from thincrm.numerics.freed_memory import keep_freed_memory
from thincrm.numerics.threads import using_threads

__all__ = ["new_of", "result_of", "step", "unpacked", "versions_here"]

_BITS = ("numpy", "scipy", "numba", "thincrm")  # whose versions decide the bits
_alone = threading.Lock()  # a step takes all threads of its worker


@cache
def versions_here() -> str:
    """Return the versions that all machines must have in common."""
    python = ".".join(map(str, sys.version_info[:2]))
    return ", ".join([f"Python {python}", *(f"{name} {version(name)}" for name in _BITS)])


def unpacked(sent: np.ndarray) -> object:
    """Hold some shards."""
    return pickle.loads(sent.data)


def step(versions: str, sent: np.ndarray, shards: tuple[object, ...], local: object) -> object:
    """Return (new locals, results) of shards; `sent` is what to do, its message, how to add."""
    from distributed import get_worker  # noqa: PLC0415 - an extra

    worker = get_worker()
    _check_versions(worker.address, versions)
    keep_freed_memory()
    with _alone, using_threads(worker.state.nthreads):
        work, message, add = pickle.loads(sent.data)
        own: Any = pickle.loads(local.data) if isinstance(local, np.ndarray) else local
        try:
            return map_here(work, shards, own, message, add)
        except OSError as error:  # would read as a lost connection where the results are awaited
            raise ThincrmError(
                f"The worker {worker.address} failed with: {error}. Nothing is lost: put that "
                "machine right, or take it away, and go on with the run."
            ) from error


def _check_versions(address: str, versions: str) -> None:
    if versions_here() != versions:
        raise InvalidInput(
            f"The worker {address} has {versions_here()}, but the run has {versions}: install the "
            "same on every machine."
        )


def new_of(both: tuple[object, object]) -> object:
    """Return a step's new locals."""
    return both[0]


def result_of(both: tuple[object, object]) -> object:
    """Return a step's results."""
    return both[1]
