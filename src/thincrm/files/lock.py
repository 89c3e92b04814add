"""One writer per run: a lock that dies with its process."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from thincrm.errors import CannotWrite, DamagedFile, RunInUse
from thincrm.files.folder import Folder
from thincrm.files.operations import now

__all__ = ["LOCK", "is_lock", "locked", "refuse_locked"]

LOCK = "lock"
_MOST = 400  # bytes of a name
_TRIES, _PAUSE = 40, 0.05  # the holder may not have written its name yet


@contextmanager
def locked(folder: Folder) -> Iterator[None]:
    """Hold the folder's file `lock`; another process that wants it is told who has it.

    The system drops the lock when its holder ends, however it ends, so none is ever left behind.
    (Where the system has no such locks, as on Windows, the file only says who came last.)
    """
    file = _open(folder)
    try:
        _refuse_held(folder, _take(file))
        _sign(file, f"process {os.getpid()} on {socket.gethostname()} (since {_date()})\n")
        try:
            yield
        finally:
            _sign(file, "")
    finally:
        now().close(file)


def refuse_locked(folder: Folder) -> None:
    """Say who is writing into the folder, if anyone is; nothing in it is changed."""
    if not is_lock(folder):
        return
    try:
        file = _open(folder)
    except CannotWrite:
        return
    try:
        _refuse_held(folder, _take(file))
    finally:
        now().close(file)


def _refuse_held(folder: Folder, holder: str) -> None:
    if holder:
        raise RunInUse(
            f"{folder.path} is being written by {holder}: wait until it ends, or choose "
            "another folder."
        )


def is_lock(folder: Folder) -> bool:
    """Tell whether the folder has a lock of ours, held or not."""
    try:
        said = folder.read(LOCK, _MOST)
    except DamagedFile:
        return False
    return not said or said.startswith(b"process ")


def _open(folder: Folder) -> int:
    path = folder.path / LOCK
    try:
        with folder.opened() as handle:
            file = now().open_to_lock(LOCK, handle)
    except OSError as error:
        raise CannotWrite(f"{path} could not be made ({error.strerror or error}).") from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        now().close(file)
        raise CannotWrite(f"{path} could not be made (it is not a plain file).")
    return file


def _date() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _sign(file: int, name: str) -> None:
    """Write who holds the lock; not through a second name that the file has elsewhere."""
    with contextlib.suppress(OSError):  # a full disk: locked all the same
        if os.fstat(file).st_nlink == 1:
            now().truncate(file)
            now().write(file, memoryview(name.encode()))


def _take(file: int) -> str:
    """Take the lock, or return who holds it: not one that is gone and left its name there.

    Without a name the holder has only just come, or is about to go: then it is tried again.
    """
    for _ in range(_TRIES):
        if now().lock(file):
            return ""
        os.lseek(file, 0, os.SEEK_SET)
        name = os.read(file, _MOST).decode(errors="replace").strip()
        if name and not _is_gone(name):
            return name if name.isprintable() else repr(name)
        time.sleep(_PAUSE)
    return "another process"


def _is_gone(name: str) -> bool:
    found = re.match(r"process (\d{1,9}) on (\S+) ", name)
    if found is None or found[2] != socket.gethostname() or os.name != "posix":
        return False
    try:
        os.kill(int(found[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
