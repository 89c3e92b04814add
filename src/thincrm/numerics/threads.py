"""Threads over fixed blocks: compiled loops release the lock, so plain Python threads run them.

Blocks do not depend on the number of threads and results come back in block order, so neither do
the bits. (numba's own parallel loops are not used: they compile four times as long, abort when
entered from two Python threads, and break under fork.)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from thincrm.errors import check_count
from thincrm.numerics.arrays import Float

__all__ = ["block_ends", "map_blocks", "one_blas_thread", "thread_count", "using_threads"]

R = TypeVar("R")
_pool: ContextVar[ThreadPoolExecutor | None] = ContextVar("pool", default=None)


@contextmanager
def using_threads(n_threads: int | None) -> Iterator[int]:
    """Run `map_blocks` calls inside on `n_threads` threads (None: one per core)."""
    n = (os.cpu_count() or 1) if n_threads is None else check_count("n_threads", n_threads)
    if n == 1:
        token = _pool.set(None)
        try:
            yield 1
        finally:
            _pool.reset(token)
        return
    with ThreadPoolExecutor(n - 1) as pool:
        token = _pool.set(pool)
        try:
            yield n
        finally:
            _pool.reset(token)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Do linear algebra inside on one thread: then it has the same bits on any number of cores.

    For many small products it is also quicker than threads that wait for each other.
    """
    with threadpool_limits(1, "blas"):
        yield


def thread_count() -> int:
    """Return how many threads `map_blocks` uses here."""
    pool = _pool.get()
    return 1 if pool is None else 1 + pool._max_workers


def block_ends(rounds: Sequence[int], n_late: int = 0) -> Float:
    """Return where blocks end, as shares of the work: every thread has one a round.

    Where `rounds` are ever smaller threads end together. The first round is without the `n_late`
    threads that do something else before: while they run Python nobody can ask for a next block.
    """
    if thread_count() == 1:
        return np.ones(1)
    size = np.repeat(rounds, thread_count())[n_late:]
    return np.asarray(np.cumsum(size) / size.sum())


def map_blocks(
    work: Callable[[int, int], R],
    n_items: int,
    size: int,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[R]:
    """Return [work(0, size), work(size, 2 size), ...] over all items, in that order.

    The caller's thread does `meanwhile`, then takes blocks as the others do: one thread less to
    wake, and to wait for.
    """
    starts = range(0, n_items, size)
    pool, others = _pool.get(), min(thread_count(), len(starts)) - 1
    if pool is None or others < 1:
        meanwhile()
        return [work(start, min(start + size, n_items)) for start in starts]
    found: dict[int, R] = {}
    failed: dict[int, BaseException] = {}
    untaken = iter(starts)

    def take() -> None:
        for start in untaken:
            try:
                found[start] = work(start, min(start + size, n_items))
            except BaseException as error:  # raised by the caller, once all have stopped
                failed[start] = error
                return

    waiting = []
    with suppress(RuntimeError):  # the interpreter is about to end: this thread does it all
        for _ in range(others):
            waiting.append(pool.submit(take))
    try:
        meanwhile()
        take()
    finally:
        wait(waiting)
    if failed:
        raise failed[min(failed)]
    return [found[start] for start in starts]
