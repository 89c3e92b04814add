"""What Dask's workers do: pure functions of what they are sent."""

from __future__ import annotations

import sys
import threading
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple

from thincrm.errors import InvalidInput, ThincrmError
from thincrm.inference.dask_packing import Parcel, packed, unpacked
from thincrm.inference.engine import map_here
from thincrm.numerics.freed_memory import keep_freed_memory
from thincrm.numerics.threads import using_threads

__all__ = ["Step", "held", "look", "result_of", "step", "versions_here"]

_BITS = ("numpy", "scipy", "numba", "thincrm")  # whose versions decide the bits
_alone = threading.Lock()  # a step takes all threads of its worker


@cache
def versions_here() -> str:
    """Return the versions that all machines must have in common."""
    python = ".".join(map(str, sys.version_info[:2]))
    return ", ".join([f"Python {python}", *(f"{name} {version(name)}" for name in _BITS)])


def held(sent: Parcel) -> object:
    """Hold some shards."""
    return unpacked(sent)


class Step(NamedTuple):
    """What a map gives on a worker: new locals, which stay there, and packed results."""

    local: tuple[object, ...]
    results: Parcel


def step(versions: str, sent: Parcel, shards: tuple[object, ...], local: object) -> Step:
    """Return new locals and results of shards; `sent` is what to do, its message, how to add."""
    from distributed import get_worker  # noqa: PLC0415 - an extra

    worker = get_worker()
    _check_versions(worker.address, versions)
    keep_freed_memory()
    with _alone, using_threads(worker.state.nthreads):
        work, message, add = unpacked(sent)
        own: Any = local.local if isinstance(local, Step) else unpacked(local)  # type: ignore[arg-type]
        try:
            new, results = map_here(work, shards, own, message, add)
            return Step(new, packed(results))
        except OSError as error:  # would read as a lost connection where the results are awaited
            raise ThincrmError(
                f"The worker {worker.address} failed with: {error}. Nothing is lost: put that "
                "machine right, or take it away, and go on with the run."
            ) from error


def look(versions: str, sent: Parcel, shards: tuple[object, ...], local: object) -> Parcel:
    """Return the packed results of a step that leaves locals as they are."""
    return step(versions, sent, shards, local).results


def _check_versions(address: str, versions: str) -> None:
    if versions_here() != versions:
        raise InvalidInput(
            f"The worker {address} has {versions_here()}, but the run has {versions}: install the "
            "same on every machine."
        )


def result_of(done: Step) -> Parcel:
    """Return a step's packed results."""
    return done.results
