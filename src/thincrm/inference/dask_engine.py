"""The engine of several machines: shards, and what belongs to them, live on Dask's workers.

Shards are shared out in groups, one to a worker, neighbours together. A map is a pure task per
group, (shards, locals, message) -> (new locals, results). Locals stay on the workers as futures;
results come here, in shard order, or, where they add up exactly, as the sum of each group; a map
that leaves locals as they are brings results alone. Of a
worker that is lost Dask makes the same tasks again elsewhere, from what the scheduler holds: the
shards, the locals at the last base and the messages since. A base is made whenever locals are
fetched, for a checkpoint or because `REPLAYED` maps have been made since the last one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

from thincrm.inference.dask_cluster import Client, Future, Task, check_client, in_sentences
from thincrm.inference.dask_packing import packed, unpacked
from thincrm.inference.dask_tasks import held, look, result_of, step, versions_here
from thincrm.inference.engine import Looking, Threads

__all__ = ["REPLAYED", "DaskEngine"]

S = TypeVar("S")
L = TypeVar("L")
M = TypeVar("M")
N = TypeVar("N")
R = TypeVar("R")

REPLAYED = 16  # maps of a shard that are made again, at most, when its worker is lost
_RETRIES = 2
_LONG, _MOST = 0.1, 6  # seconds of a map; maps


@dataclass(slots=True, eq=False)
class _Group:
    """The locals of a worker's shards, there."""

    future: Future
    n_maps: int  # since the last base
    base: tuple[Any, ...] | None = None  # the values, once they were fetched: tasks start there


@dataclass(frozen=True, slots=True)
class _Away:
    """A local on a worker."""

    group: _Group
    place: int  # in its group


class _Known(NamedTuple):
    """Where shards are, and who the workers were when they were shared out."""

    shards: Sequence[object]
    homes: list[_Home]
    workers: list[str]


@dataclass(frozen=True, slots=True)
class _Home:
    """Shards that are together on a worker: first to stop, not included."""

    first: int
    stop: int
    shards: Future


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
        self._known: _Known | None = None
        self._spent = list[list[Future]]()  # of past maps

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
                self._known, self._spent = None, []

    def map(
        self,
        work: Callable[[S, L, M], tuple[N, R]],
        shards: Sequence[S],
        local: Sequence[L],
        message: M,
        add: Callable[[Sequence[R]], R] | None = None,
    ) -> tuple[tuple[N, ...], list[R]]:
        """Return work(shard, local, message) of every shard: the new locals, and the results.

        add: of results that add up exactly, so that each worker sends one.
        """
        if len(shards) == 1:
            return self._here.map(work, shards, self.fetch(local), message, add)
        new: Any  # locals are what the engine takes for them
        with self._timed():
            new, results = self._submit(shards, local, packed((work, message, add)))
            return new, self._gathered(results)

    def _gathered(self, results: list[Future]) -> list[Any]:
        """Return the results of all groups, in shard order."""
        return [one for part in self._client.gather(results) for one in unpacked(part)]

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Make a map, and let go of what was there before it."""
        with in_sentences(), _large_tasks():
            began = time.monotonic()
            yield
            self._let_go(time.monotonic() - began)

    def _let_go(self, seconds: float) -> None:
        """Let go of the futures of past maps, if the last of these took long or they are many.

        To let go is a message, and a client has 10 ms between two: a small map that follows a
        small map would wait for them.
        """
        if seconds > _LONG or len(self._spent) > _MOST:
            self._spent.clear()

    def each(
        self,
        work: Callable[[S, L, M], R],
        shards: Sequence[S],
        local: Sequence[L],
        message: M,
        add: Callable[[Sequence[R]], R] | None = None,
    ) -> Iterator[R]:
        """Yield work(shard, local, message) of every shard; the locals stay as they are.

        add: of results that add up exactly, so that each worker sends one.
        """
        if len(shards) == 1:
            yield from self._here.each(work, shards, self.fetch(local), message, add)
            return
        with self._timed():
            sent = packed((Looking(work), message, add))
            tasks = self._tasks(look, self._ready(shards, local), local, sent)
            (results,) = self._futures(tasks, [list(tasks)])
            self._spent.append(results)
            found = self._gathered(results)
        yield from found

    def _ready(self, shards: Sequence[object], local: Sequence[object]) -> list[_Home]:
        """Return where the shards are, with their locals, or with these here."""
        if any(_age(own) >= REPLAYED for own in local):
            self.fetch(local)
        homes = self._homes(shards, may_move=not any(_age(own) for own in local))
        if not all(_are_together(local[home.first : home.stop]) for home in homes):
            self.fetch(local)
        return homes

    def _tasks(
        self, what: Callable[..., object], homes: list[_Home], local: Sequence[object], sent: object
    ) -> dict[str, Task]:
        """Return the tasks of a map, one for each group; they are pure."""
        self._n_maps += 1
        name, known, tasks = f"{self._name}-{self._n_maps}", versions_here(), dict[str, Task]()
        for i, home in enumerate(homes):
            own = _taken(local[home.first : home.stop])
            tasks[f"{name}-step-{i}"] = what, known, sent, home.shards, own
        return tasks

    def _submit(
        self, shards: Sequence[object], local: Sequence[object], sent: object
    ) -> tuple[tuple[_Away, ...], list[Future]]:
        """Return the new locals and the futures of all results."""
        homes = self._ready(shards, local)
        tasks = self._tasks(step, homes, local, sent)
        steps = list(tasks)
        for key in steps:
            tasks[f"{key}-result"] = result_of, key
        away, results = self._futures(tasks, [steps, [f"{key}-result" for key in steps]])
        self._spent.append([*away, *results])
        new = list[_Away]()
        for home, future in zip(homes, away, strict=True):
            n_maps = 1 + max(_age(own) for own in local[home.first : home.stop])
            group = _Group(future, n_maps)
            new += [_Away(group, place) for place in range(home.stop - home.first)]
        return tuple(new), results

    def _futures(self, tasks: dict[str, Task], wanted: list[list[str]]) -> list[list[Future]]:
        """Return futures of tasks, which go to the scheduler all at once: a message, not many.

        A task goes where the futures are that it takes: to the worker of its shards. None is tied
        to a worker by name, since one that is would wait for ever once all workers have been lost.
        """
        return self._client.get(tasks, wanted, sync=False, retries=_RETRIES)

    def fetch(self, local: Sequence[L]) -> tuple[L, ...]:
        """Return the locals themselves; the tasks that follow start from them."""
        groups = list(dict.fromkeys(own.group for own in local if isinstance(own, _Away)))
        missing = [group for group in groups if group.base is None]
        with in_sentences():
            found = self._client.gather([group.future for group in missing])
        for group, values in zip(missing, found, strict=True):
            group.base = values.local
        return tuple(_value(own) for own in local)

    def _homes(self, shards: Sequence[object], *, may_move: bool) -> list[_Home]:
        """Return where the shards are; they are sent once, and anew if other workers are there.

        They move only where all locals are here: nothing but shards is on any worker then.
        """
        known = self._known if self._known and self._known.shards is shards else None
        if known is not None and not may_move:
            return known.homes
        workers = sorted(self._client.nthreads())
        if known is not None and (not workers or workers == known.workers):
            return known.homes
        n_groups = max(1, min(len(workers), len(shards)))
        ends = [len(shards) * i // n_groups for i in range(n_groups + 1)]
        homes = []
        for i, (first, stop) in enumerate(pairwise(ends)):
            name = f"{self._name}-{self._n_maps}-shards-{i}"
            sent: dict[str, Task] = {name: (held, packed(tuple(shards[first:stop])))}
            homes.append(_Home(first, stop, self._futures(sent, [[name]])[0][0]))
        self._known = _Known(shards, homes, workers)
        return homes


def _age(own: object) -> int:
    """Return how many maps a local is away from its base."""
    return own.group.n_maps if isinstance(own, _Away) and own.group.base is None else 0


def _are_together(own: Sequence[object]) -> bool:
    """Tell whether locals are here, or are all of one group and in its order."""
    if not any(_age(one) for one in own):
        return True
    groups = {one.group if isinstance(one, _Away) else None for one in own}
    return len(groups) == 1 and [getattr(one, "place", None) for one in own] == [*range(len(own))]


def _value(own: Any) -> Any:
    """Return a local that is here."""
    if not isinstance(own, _Away):
        return own
    assert own.group.base is not None
    return own.group.base[own.place]


def _taken(own: Sequence[object]) -> object:
    """Return what a task takes for its locals: their future, or packed values that are here."""
    first = own[0]
    if isinstance(first, _Away) and first.group.base is None:
        return first.group.future
    return packed(tuple(_value(one) for one in own))


@contextmanager
def _large_tasks() -> Iterator[None]:
    """Let tasks be as large as their shards: that is meant, whatever Dask warns of."""
    import dask  # noqa: PLC0415 - an extra

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        yield
