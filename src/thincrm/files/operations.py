"""The one door to the file system: what is asked of it, one operation at a time.

Names are looked up in an open folder, never along a path, so a folder that is swapped for a link
between two operations leads nowhere. (Where the system cannot do that, as on Windows, a folder is
its path, and links are looked for before.) Tests put another `Operations` in the place of
`current`, one that fails or stops after so many.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

__all__ = ["Handle", "Operations", "now"]

Handle = int | str  # of a folder: a number, or a path where there are no such numbers
_HAS_HANDLES = hasattr(os, "O_DIRECTORY") and os.open in os.supports_dir_fd
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer does not hold us up
_EXACT = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Operations:
    """What the system does to files; `n_written` of them came to be what was asked for."""

    def __init__(self) -> None:
        self.n_written = 0

    def open_folder(self, name: str, within: Handle | None = None) -> Handle:
        """Open a folder that the user named (links and all), or one in a folder (no link)."""
        if not _HAS_HANDLES:
            path = name if within is None else os.path.join(within, name)  # type: ignore[arg-type]
            if not os.path.isdir(path) or (within is not None and os.path.islink(path)):
                raise NotADirectoryError(path)
            return path
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        if within is None:
            return os.open(name, flags)
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=_number(within))

    def open_to_read(self, name: str, within: Handle) -> int:
        """Open a file, not a link, to be read."""
        path, number = _at(name, within)
        return os.open(path, _READ | _EXACT, dir_fd=number)

    def create(self, name: str, within: Handle, mode: int = 0o666) -> int:
        """Make a file that was not there."""
        path, number = _at(name, within)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _EXACT, mode, dir_fd=number)

    def open_to_lock(self, name: str, within: Handle) -> int:
        """Open a file, not a link, for reading and writing; make it if it is not there."""
        path, number = _at(name, within)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | _EXACT
        return os.open(path, flags, 0o644, dir_fd=number)

    def lock(self, file: int) -> bool:
        """Tell whether the file is now ours alone, until it is closed or the process ends."""
        if sys.platform == "win32":
            return True
        import fcntl  # noqa: PLC0415 - not everywhere

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True  # a file system without locks
        return True

    def write(self, file: int, data: memoryview) -> int:
        """Write some of the data, and return how much."""
        return os.write(file, data)

    def truncate(self, file: int) -> None:
        """Leave nothing in a file, and go to its start."""
        os.ftruncate(file, 0)
        os.lseek(file, 0, os.SEEK_SET)

    def sync(self, handle: Handle) -> None:
        """Force a file, or the names in a folder, to disk."""
        if isinstance(handle, int):
            os.fsync(handle)

    def close(self, handle: Handle) -> None:
        """Let go of a file or a folder."""
        if isinstance(handle, int):
            os.close(handle)

    def rename(self, old: str, new: str, within: Handle) -> None:
        """Rename a file in its folder; what had the new name is gone."""
        (source, number), (target, _) = _at(old, within), _at(new, within)
        os.replace(source, target, src_dir_fd=number, dst_dir_fd=number)
        self.n_written += 1

    def unlink(self, name: str, within: Handle) -> None:
        """Remove a file, or a link itself."""
        path, number = _at(name, within)
        os.unlink(path, dir_fd=number)

    def make_folder(self, name: str, within: Handle) -> None:
        """Make a folder in a folder."""
        path, number = _at(name, within)
        os.mkdir(path, dir_fd=number)

    def make_path(self, path: Path) -> None:
        """Make a folder that the user named, and those above it, unless it is there."""
        path.mkdir(parents=True, exist_ok=True)

    def names(self, within: Handle) -> list[str]:
        """Return what is in a folder."""
        return os.listdir(within)

    def status(self, name: str, within: Handle) -> os.stat_result | None:
        """Return what a name in a folder stands for (a link for itself), or None."""
        path, number = _at(name, within)
        try:
            return os.stat(path, dir_fd=number, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def is_link(self, name: str, within: Handle) -> bool:
        """Tell whether a name in a folder is a link."""
        found = self.status(name, within)
        return found is not None and stat.S_ISLNK(found.st_mode)


def _at(name: str, within: Handle) -> tuple[str, int | None]:
    return (name, within) if isinstance(within, int) else (os.path.join(within, name), None)


def _number(within: Handle) -> int | None:
    return within if isinstance(within, int) else None


current = Operations()


def now() -> Operations:
    """Return what stands for the file system."""
    return current
