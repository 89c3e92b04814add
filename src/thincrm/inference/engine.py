"""Engines of one process: shards one after another, their loops on one thread or on several."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from thincrm.numerics.threads import using_threads
from thincrm.numerics.waiting import passed

__all__ = ["Looking", "Serial", "Threads", "map_here"]

S = TypeVar("S")
L = TypeVar("L")
M = TypeVar("M")
N = TypeVar("N")
R = TypeVar("R")


_TOGETHER = 2  # results that are held before they are added up


def map_here(
    work: Callable[[S, L, M], tuple[N, R]],
    shards: Sequence[S],
    local: Sequence[L],
    message: M,
    add: Callable[[Sequence[R]], R] | None = None,
) -> tuple[tuple[N, ...], list[R]]:
    """Return work(shard, local, message) of every shard: the new locals, and the results.

    add: of results that add up exactly: there is one then, and never many at a time.
    """
    new, results = list[N](), list[R]()
    for shard, own in zip(shards, local, strict=True):
        passed(len(new) / len(shards))
        fresh, result = work(shard, own, message)
        new.append(fresh)
        results.append(result)
        if hasattr(shard, "let_go"):
            shard.let_go()
        if add is not None and len(results) == _TOGETHER:
            results = [add(results)]
    if add is not None and len(results) > 1:
        results = [add(results)]
    return tuple(new), results


@dataclass(frozen=True, slots=True)
class Looking:
    """Work of a map that leaves locals as they are."""

    work: Callable[..., Any]

    def __call__(self, shard: object, own: object, message: object) -> tuple[None, Any]:
        """Return no local, and the result."""
        return None, self.work(shard, own, message)


@dataclass(frozen=True, slots=True)
class Threads:
    """Maps shards in this process, one after another, each on `n_threads` threads.

    Within a shard, compiled loops go over blocks of observations (`numerics.threads`); the bits do
    not depend on the number of threads. None: one thread per core.
    """

    n_threads: int | None = None

    @property
    def n_threads_here(self) -> int:
        """Return how many threads there are."""
        return (os.cpu_count() or 1) if self.n_threads is None else self.n_threads

    def part(self, n_parts: int) -> Threads:
        """Return the engine of one of so many processes that share the machine."""
        return Threads(max(1, self.n_threads_here // n_parts))

    def running(self) -> AbstractContextManager[int]:
        """Hold the threads while chains run."""
        return using_threads(self.n_threads)

    def map(
        self,
        work: Callable[[S, L, M], tuple[N, R]],
        shards: Sequence[S],
        local: Sequence[L],
        message: M,
        add: Callable[[Sequence[R]], R] | None = None,
    ) -> tuple[tuple[N, ...], list[R]]:
        """Return work(shard, local, message) of every shard: the new locals, and the results.

        add: of results that add up exactly, so that there is one.
        """
        return map_here(work, shards, local, message, add)

    def each(
        self,
        work: Callable[[S, L, M], R],
        shards: Sequence[S],
        local: Sequence[L],
        message: M,
        add: Callable[[Sequence[R]], R] | None = None,
    ) -> Iterator[R]:
        """Yield work(shard, local, message) of one shard after another; the locals stay.

        add: of results that add up exactly, so that there is one.
        """
        if add is not None:
            yield from map_here(Looking(work), shards, local, message, add)[1]
            return
        for shard, own in zip(shards, local, strict=True):
            yield work(shard, own, message)
            if hasattr(shard, "let_go"):
                shard.let_go()

    def fetch(self, local: Sequence[L]) -> tuple[L, ...]:
        """Return the locals: they are here."""
        return tuple(local)


@dataclass(frozen=True, slots=True)
class Serial(Threads):
    """Maps shards in this process on one thread."""

    n_threads: int | None = 1
