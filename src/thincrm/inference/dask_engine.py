"""The engine of several machines: shards, and what belongs to them, live on Dask's workers.

A map is a pure task per shard, (shard, local, message) -> (new local, result). Locals stay on the
workers as futures; results come here, in shard order. Of a worker that is lost Dask makes the same
tasks again elsewhere, from what the scheduler holds: the shards, the locals at the last base and
the messages since. A base is made whenever locals are fetched, for a checkpoint or because
`REPLAYED` maps have been made since the last one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

from thincrm.inference.dask_cluster import Client, Future, check_client, in_sentences
from thincrm.inference.dask_tasks import new_of, result_of, same, step, unpacked, versions_here
from thincrm.inference.engine import Threads

__all__ = ["REPLAYED", "DaskEngine"]

S = TypeVar("S")
L = TypeVar("L")
M = TypeVar("M")
N = TypeVar("N")
R = TypeVar("R")

REPLAYED = 16  # maps of a shard that are made again, at most, when its worker is lost
_RETRIES = 2
Graph = dict[str, tuple[object, ...]]


@dataclass(slots=True, eq=False)
class _Away:
    """A local on a worker."""

    future: Future
    n_maps: int  # since the last base
    base: tuple[Any, ...] = ()  # the value, once it was fetched: the tasks that follow start there


def _packed(value: object) -> bytes:
    import cloudpickle  # noqa: PLC0415 - comes with Dask; takes functions of the caller's own

    return bytes(cloudpickle.dumps(value))


class DaskEngine:
    """Maps shards on the workers of a Dask cluster; a single shard stays in this process.

    The bits are those of `Threads`, whatever workers there are, come and go.

    Parameters
    ----------
    client : dask.distributed.Client
        Connected to a scheduler.
    n_threads : int or None
        Threads of this process, for what is done here; workers use all that they have.
    """

    def __init__(self, client: Client, n_threads: int | None = None) -> None:
        check_client(client)
        self._client, self._here = client, Threads(n_threads)
        self._name, self._n_maps = f"thincrm-{uuid4().hex[:12]}", 0
        self._shards: dict[int, tuple[object, Future]] = {}  # by identity: they are large
        self._workers: set[str] = set()

    @property
    def n_threads_here(self) -> int:
        """Return 1: chains run one after another, each on the whole cluster."""
        return 1

    def part(self, n_parts: int) -> DaskEngine:
        """Return the engine itself."""
        return self

    @contextmanager
    def running(self) -> Iterator[None]:
        """Hold the threads of this process; leave no shard on the workers."""
        with in_sentences():
            if not self._client.nthreads():
                warnings.warn("The cluster has no workers yet: the run waits.", stacklevel=2)
        with self._here.running():
            try:
                yield
            finally:
                self._shards.clear()

    def map(
        self,
        work: Callable[[S, L, M], tuple[N, R]],
        shards: Sequence[S],
        local: Sequence[L],
        message: M,
    ) -> tuple[tuple[N, ...], list[R]]:
        """Return work(shard, local, message) of every shard: the new locals, and the results."""
        if len(shards) == 1:
            return self._here.map(work, shards, self.fetch(local), message)
        new: Any  # locals are what the engine takes for them
        with in_sentences(), _large_tasks():
            new, results = self._submit(shards, local, _packed((work, message)))
            return new, self._client.gather(results)

    def _submit(
        self, shards: Sequence[object], local: Sequence[object], sent: bytes
    ) -> tuple[tuple[_Away, ...], list[Future]]:
        """Return the futures of all new locals and results: one graph, of pure tasks."""
        if any(_age(own) >= REPLAYED for own in local):
            self.fetch(local)
        if not any(_age(own) for own in local):
            self._welcome()
        self._n_maps += 1
        name, known = f"{self._name}-{self._n_maps}", versions_here()
        graph: Graph = {f"{name}-message": (same, sent)}
        for i, (shard, own) in enumerate(zip(self._at_workers(shards), local, strict=True)):
            both = f"{name}-step-{i}"
            graph[both] = step, known, f"{name}-message", shard, _taken(own)
            graph[f"{name}-local-{i}"] = new_of, both
            graph[f"{name}-result-{i}"] = result_of, both
        new, results = (
            [f"{name}-{kind}-{i}" for i in range(len(shards))] for kind in ("local", "result")
        )
        found = self._client.get(graph, new + results, sync=False, retries=_RETRIES)
        ages = (1 + _age(own) for own in local)
        pairs = zip(found[: len(shards)], ages, strict=True)
        return tuple(_Away(*pair) for pair in pairs), found[len(shards) :]

    def fetch(self, local: Sequence[L]) -> tuple[L, ...]:
        """Return the locals themselves; the tasks that follow start from them."""
        away = [own for own in local if isinstance(own, _Away) and not own.base]
        with in_sentences():
            found = self._client.gather([own.future for own in away])
        for own, value in zip(away, found, strict=True):
            own.base = (value,)
        return tuple(own.base[0] if isinstance(own, _Away) else own for own in local)

    def _welcome(self) -> None:
        """Share shards out anew if workers have joined: nothing but shards is on any of them."""
        workers = set(self._client.nthreads())
        if workers - self._workers:
            self._shards.clear()
        self._workers = workers

    def _at_workers(self, shards: Sequence[object]) -> list[Future]:
        """Return the futures of the shards, which are sent once."""
        missing = [shard for shard in shards if id(shard) not in self._shards]
        if missing:
            names = [f"{self._name}-{self._n_maps}-shard-{i}" for i in range(len(missing))]
            graph: Graph = {n: (unpacked, _packed(s)) for n, s in zip(names, missing, strict=True)}
            sent = self._client.get(graph, names, sync=False, retries=_RETRIES)
            for shard, future in zip(missing, sent, strict=True):
                self._shards[id(shard)] = shard, future
        return [self._shards[id(shard)][1] for shard in shards]


def _age(own: object) -> int:
    """Return how many maps a local is away from its base."""
    return own.n_maps if isinstance(own, _Away) and not own.base else 0


def _taken(own: object) -> object:
    """Return what a task takes for a local: its future, or the packed value where it is here."""
    if isinstance(own, _Away) and not own.base:
        return own.future
    return _packed(own.base[0] if isinstance(own, _Away) else own)


@contextmanager
def _large_tasks() -> Iterator[None]:
    """Let tasks be as large as their shards: that is meant, whatever Dask warns of."""
    import dask  # noqa: PLC0415 - an extra

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        yield
