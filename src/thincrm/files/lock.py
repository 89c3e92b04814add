"""One writer per run: a lock that dies with its process."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from thincrm.errors import CannotWrite, RunInUse

__all__ = ["Lock"]


class Lock:
    """Hold the file `path` locked; another process that wants it is told who has it.

    The system drops the lock when its holder ends, however it ends, so none is ever left behind.
    (Where the system has no such locks, as on Windows, the file only says who came last.)
    """

    def __init__(self, path: Path) -> None:
        self._path, self._handle = path, -1

    def __enter__(self) -> Self:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        try:
            self._handle = os.open(self._path, flags | getattr(os, "O_NONBLOCK", 0), 0o644)
        except OSError as error:
            raise CannotWrite(f"{self._path} could not be made ({error.strerror}).") from error
        if not _grab(self._handle):
            holder = os.read(self._handle, 200).decode(errors="replace").strip() or "another one"
            self._close()
            raise RunInUse(
                f"{self._path.parent} is being written by {holder}: wait until it ends, or "
                "choose another folder."
            )
        since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        name = f"process {os.getpid()} on {socket.gethostname()} (since {since})\n".encode()
        with contextlib.suppress(OSError):  # a full disk: locked all the same
            os.ftruncate(self._handle, 0)
            os.write(self._handle, name)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        os.close(self._handle)
        self._handle = -1


def _grab(handle: int) -> bool:
    if sys.platform == "win32":
        return True
    import fcntl  # noqa: PLC0415 - not everywhere

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks
    return True
