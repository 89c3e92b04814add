"""A Dask cluster: how to reach it, and its failures as sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from thincrm.errors import InvalidInput, InvalidType, Sentence, ThincrmError, either
from thincrm.numerics.waiting import telling

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["Client", "Future", "Task", "check_client", "connected", "in_sentences"]

_SECONDS = 10  # to find a scheduler
Task = tuple[object, ...]  # a function and what it takes: values, futures, names of other tasks


class Future(Protocol):
    """A value on a worker."""

    key: str


class Client(Protocol):
    """What is asked of a dask.distributed.Client."""

    def get(self, dsk: dict[str, Task], keys: list[list[str]], **how: Any) -> list[list[Future]]:
        """Return the futures of tasks, with sync=False."""

    def gather(self, futures: list[Future]) -> list[Any]:
        """Return the values of futures."""

    def nthreads(self) -> dict[str, int]:
        """Return the threads of every worker."""


def _distributed() -> ModuleType:
    try:
        import distributed  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise InvalidInput(
            "A cluster needs Dask, which is not installed: pip install 'thincrm[dask]'."
        ) from error
    found: ModuleType = distributed
    return found


def check_client(client: object) -> None:
    """Refuse what is no client of a Dask cluster."""
    kind = _distributed().Client
    if not isinstance(client, kind) or client.asynchronous:
        raise InvalidType(
            f"client must be a dask.distributed.Client that is not asynchronous, got {client!r}."
        )


@contextmanager
def connected(address: str | None) -> Iterator[Client | None]:
    """Hold a client of the scheduler at an address; None: there is none."""
    if address is None:
        yield None
        return
    kind = _distributed().Client
    _check_certificates(address)
    try:
        with telling(f"looking for the scheduler at {address}"):
            asyncio.run(_reach(address))
            client = kind(address, timeout=_SECONDS, set_as_default=False)
    except (TimeoutError, OSError, ValueError, TypeError) as error:
        raise InvalidInput(
            f"There is no Dask scheduler at {address!r}: start one with 'dask scheduler', and pass "
            "the address that it prints, such as tcp://host:8786."
        ) from error
    with client:
        yield client


async def _reach(address: str) -> None:
    """Knock at an address: a client that finds nobody there is half a minute about its end."""
    found = _distributed()
    known = found.Security().get_connection_args("client")
    knocked = await asyncio.wait_for(found.comm.connect(address, **known), _SECONDS)
    await knocked.close()


def _check_certificates(address: str) -> None:
    """Refuse an address that needs certificates where there are none: Dask would hang."""
    known = _distributed().Security().get_connection_args("client")
    if address.startswith("tls:") and known["ssl_context"] is None:
        raise InvalidInput(
            f"{address} needs certificates, and Dask knows of none here: name them in "
            "~/.config/dask/distributed.yaml, under distributed.comm.tls."
        )


@contextmanager
def in_sentences() -> Iterator[None]:
    """Turn the failures of a cluster into sentences."""
    found = _distributed()
    lost = (asyncio.CancelledError, found.client.CancelledError, OSError)
    go_on = Sentence(
        "A run with a folder goes on with ",
        either("thincrm.resume(folder, client=client)", "'thincrm resume RUN --scheduler ADDRESS'"),
        ".",
    )
    try:
        yield
    except ThincrmError:
        raise
    except found.scheduler.KilledWorker as error:
        raise ThincrmError(
            f"{error.allowed_failures + 1} workers died of the same shard: they may have too "
            "little memory. ",
            go_on,
        ) from error
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"A worker of the cluster has no module {error.name!r}: install the same thincrm[dask] "
            "on every machine."
        ) from error
    except lost as error:
        raise ThincrmError("The connection to the Dask scheduler was lost. ", go_on) from error
