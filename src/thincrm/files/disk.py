"""Bytes on disk: written whole or not at all, read only from plain files of the declared size."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from thincrm.errors import CannotWrite, DamagedFile

__all__ = ["make_folder", "read_whole", "remove", "sweep_leftovers", "write_whole"]

_LEFTOVER = ".tmp-"


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` so that, whatever happens, `path` holds either all of it or what it held.

    A new file is filled, forced to disk, then renamed over the old one; the rename is forced to
    disk as well.
    """
    fresh = path.with_name(f"{_LEFTOVER}{os.getpid()}-{path.name}")
    try:
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        remove(fresh)
        raise CannotWrite(
            f"{path} could not be written ({error.strerror or error}): what was there before is "
            "intact. Free some space, or write elsewhere."
        ) from error
    except BaseException:
        remove(fresh)
        raise


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return  # a system that cannot open folders has no way to force them either
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(path: Path) -> None:
    """Make a folder (and those above it) unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"The folder {path} could not be made ({error.strerror}).") from error


def remove(path: Path) -> None:
    """Remove a file if it is there and may be removed."""
    with contextlib.suppress(OSError):
        path.unlink()


def sweep_leftovers(folder: Path) -> None:
    """Remove what writers that were killed left behind."""
    for path in folder.glob(f"{_LEFTOVER}*"):
        remove(path)


def read_whole(path: Path, most: int, exactly: int | None = None) -> bytes:
    """Return the bytes of a plain file of at most `most` bytes, or of `exactly` so many.

    Links, pipes and devices are refused: they lead elsewhere, or never end.
    """
    try:
        if path.parent.is_symlink():
            raise DamagedFile(f"{path.parent} is a link: a run keeps its files in its own folder.")
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode):
                raise DamagedFile(f"{path} is not a plain file.")
            if exactly is not None and about.st_size != exactly:
                raise DamagedFile(
                    f"{path} has {about.st_size} bytes instead of {exactly}: it is cut off or "
                    "belongs to another run."
                )
            if about.st_size > most:
                raise DamagedFile(f"{path} has {about.st_size} bytes, more than {most} ever are.")
            data = file.read(about.st_size)
    except FileNotFoundError as error:
        raise DamagedFile(f"{path} is missing.") from error
    except (OSError, MemoryError) as error:
        raise DamagedFile(f"{path} cannot be read ({error or 'not enough memory'}).") from error
    if len(data) != about.st_size:
        raise DamagedFile(f"{path} changed while it was read.")
    return data
