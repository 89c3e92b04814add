"""A folder and the plain files in it: written whole or not at all, read only at a known size.

The folder that the user names may be a link of the user's own; below it none is followed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from thincrm.errors import CannotWrite, DamagedFile, InvalidInput
from thincrm.files.operations import Handle, now

__all__ = ["Bytes", "Content", "Folder", "refuse_name"]

Bytes = bytes | memoryview
Content = bytes | Callable[[], Iterable[Bytes]]  # of a file: all of it, or what yields its parts
_LEFTOVER = re.compile(r"\.tmp-[0-9a-f]{16}")
_GROUP = 64  # files that are forced to disk together
_FEW, _AT_ONCE = 16, 8  # files not worth threads; threads


class _Unnamed(NamedTuple):
    """A file that is filled and has not got its name yet."""

    name: str
    fresh: str
    file: int


class Folder:
    """A folder, and what may be done in it.

    Parameters
    ----------
    path : path
        Where the user says it is.
    """

    def __init__(self, path: str | os.PathLike[str], _parent: Folder | None = None) -> None:
        self.path = Path(path)
        if _parent is None:
            refuse_name(self.path)
        self._parent, self._handle = _parent, None  # type: Folder | None, Handle | None
        self._group: list[_Unnamed] | None = None

    def inner(self, *names: str) -> Folder:
        """Return a folder in this one, or in one of this one's."""
        folder = self
        for name in names:
            folder = Folder(folder.path / name, folder)
        return folder

    def lineage(self) -> list[Folder]:
        """Return the folder that the user named, and those below it down to this one."""
        return [self] if self._parent is None else [*self._parent.lineage(), self]

    @contextmanager
    def opened(self) -> Iterator[Handle]:
        """Hold the folder open, even if it is moved; a link below the first one is refused."""
        if self._handle is not None:
            yield self._handle
            return
        if self._parent is None:
            handle = now().open_folder(str(self.path))
        else:
            with self._parent.opened() as above:
                handle = _open_inner(self.path, above)
        self._handle = handle
        try:
            yield handle
        finally:
            self._handle = None
            now().close(handle)

    def is_there(self) -> bool:
        """Tell whether there is such a folder, and no link in its place."""
        try:
            with self.opened():
                return True
        except OSError:
            return False

    def make(self) -> None:
        """Make the folder unless it is there; those above it only if the user named them all."""
        try:
            if self._parent is None:
                now().make_path(self.path)
                return
            with self._parent.opened() as above, contextlib.suppress(FileExistsError):
                now().make_folder(self.path.name, above)
        except OSError as error:
            why = error.strerror or error
            raise CannotWrite(f"The folder {self.path} cannot be made ({why}).") from error

    def refuse_links(self, *names: str) -> None:
        """Refuse a folder in which one of these names is a link."""
        with self.opened() as handle:
            for name in names:
                if now().is_link(name, handle):
                    raise DamagedFile(_is_a_link(self.path / name))

    def names(self) -> list[str]:
        """Return what is in the folder, in order; nothing, if there is none."""
        try:
            with self.opened() as handle:
                return sorted(now().names(handle))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise DamagedFile(f"{self.path} cannot be read ({error.strerror or error}).") from error

    def has(self, name: str) -> bool:
        """Tell whether there is a plain file of that name."""
        try:
            with self.opened() as handle:
                found = now().status(name, handle)
        except (OSError, DamagedFile):
            return False
        return found is not None and stat.S_ISREG(found.st_mode)

    def write(self, name: str, data: Content) -> None:
        """Write `data` so that, whatever happens, the file holds either all of it or what it held.

        A new file is filled, forced to disk, then renamed over the old one (over a link itself,
        never over what it leads to); the rename is forced to disk as well.
        """
        with self._blaming(name), self.opened() as handle:
            if self._group is None:
                try:
                    _name_all([_fill(name, data, handle)], handle)
                except FileNotFoundError:  # another process took it for a leftover: once more
                    _name_all([_fill(name, data, handle)], handle)
                return
            self._group.append(_fill(name, data, handle))
            if len(self._group) == _GROUP:
                self._end_group(handle)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Force files that are written inside to disk some at a time, then name them, in order.

        A disk takes many at once nearly as quickly as one. They have their names at the end.
        """
        with self.opened() as handle:
            self._group = []
            try:
                yield
                with self._blaming():
                    self._end_group(handle)
            finally:
                rest, self._group = self._group, None
                _close(rest)
                _unlink(rest, handle)

    def _end_group(self, handle: Handle) -> None:
        group, self._group = self._group, []
        if group:
            _name_all(group, handle)

    @contextmanager
    def _blaming(self, name: str = "") -> Iterator[None]:
        """Say which file could not be written, and why."""
        path = self.path / name
        try:
            yield
        except DamagedFile as error:
            raise CannotWrite(f"{path} could not be written: {error}") from error
        except OSError as error:
            raise CannotWrite(
                f"{path} could not be written ({error.strerror or error}): what was there before "
                "is intact. Free some space, or write elsewhere."
            ) from error

    def read(self, name: str, most: int, exactly: int | None = None) -> bytes:
        """Return the bytes of a plain file of at most `most` bytes, or of `exactly` so many.

        Links, pipes and devices are refused: they lead elsewhere, or never end.
        """
        with self.reading(name, most, exactly) as (stream, size):
            data = stream.read(size)
        if len(data) != size:
            raise DamagedFile(f"{self.path / name} changed while it was read.")
        return data

    @contextmanager
    def reading(
        self, name: str, most: int, exactly: int | None = None
    ) -> Iterator[tuple[BinaryIO, int]]:
        """Hold such a file open, and say how large it is, to be read a piece at a time."""
        path = self.path / name
        try:
            with self.opened() as handle:
                file = now().open_to_read(name, handle)
                try:
                    size = _checked_size(path, file, most, exactly)
                    with os.fdopen(file, "rb", closefd=False) as stream:
                        yield stream, size
                finally:
                    now().close(file)
        except FileNotFoundError as error:
            raise DamagedFile(f"{path} is missing.") from error
        except (OSError, MemoryError) as error:
            raise DamagedFile(f"{path} cannot be read ({error or 'not enough memory'}).") from error

    def remove(self, name: str) -> None:
        """Remove a file if it is there and may be removed."""
        with contextlib.suppress(OSError, DamagedFile), self.opened() as handle:
            now().unlink(name, handle)

    def sweep(self) -> None:
        """Remove what writers that were killed left behind."""
        for name in self.names():
            if is_leftover(name) and self.has(name):
                self.remove(name)


def is_leftover(name: str) -> bool:
    """Tell whether a name is one that half-written files have."""
    return _LEFTOVER.fullmatch(name) is not None


def refuse_name(path: Path) -> None:
    """Refuse what the system does not take for a name: too long, or with a zero in it."""
    try:
        path.lstat()
    except ValueError as error:
        raise InvalidInput(f"{path} is no name of a file or folder ({error}).") from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidInput(f"{path} is no name of a file or folder: it is too long.") from error


def _is_a_link(path: Path) -> str:
    return f"{path} is a link: a run keeps its files in its own folder."


def _open_inner(path: Path, above: Handle) -> Handle:
    try:
        return now().open_folder(path.name, above)
    except OSError as error:
        if now().is_link(path.name, above):
            raise DamagedFile(_is_a_link(path)) from error
        raise


def _fill(name: str, data: Content, handle: Handle) -> _Unnamed:
    """Write a file that has not got its name yet."""
    before = now().status(name, handle)
    plain = before is None or stat.S_ISREG(before.st_mode)
    if before is not None and not (plain or stat.S_ISLNK(before.st_mode)):
        raise OSError(None, "it is not a plain file")
    mode = before.st_mode & 0o666 if before is not None and plain else 0o666
    fresh = f".tmp-{secrets.token_hex(8)}"
    found = _Unnamed(name, fresh, now().create(fresh, handle, mode))
    try:
        for part in (data,) if isinstance(data, bytes) else data():
            rest = memoryview(part)
            while rest:
                rest = rest[now().write(found.file, rest) :]
    except BaseException:
        _close([found])
        _unlink([found], handle)
        raise
    return found


def _name_all(group: list[_Unnamed], handle: Handle) -> None:
    """Force files to disk, then give them their names, in order."""
    left = list(group)
    try:
        try:
            _sync_all([found.file for found in group])
        finally:
            _close(group)
        for found in group:
            now().rename(found.fresh, found.name, handle)
            left.remove(found)
    except BaseException:
        _unlink(left, handle)
        raise
    with contextlib.suppress(OSError):  # if a power cut undoes it, the old files are whole too
        now().sync(handle)


def _sync_all(files: list[int]) -> None:
    """Force files to disk, many at once: by threads, if the program is not about to end."""
    sync, begun = now().sync, list[Future[None]]()
    if len(files) >= _FEW:
        with ThreadPoolExecutor(_AT_ONCE) as pool, contextlib.suppress(RuntimeError):
            begun.extend(pool.submit(sync, file) for file in files)
    for future in begun:
        future.result()
    for file in files[len(begun) :]:
        sync(file)


def _close(group: list[_Unnamed]) -> None:
    for found in group:
        now().close(found.file)


def _unlink(group: list[_Unnamed], handle: Handle) -> None:
    for found in group:
        with contextlib.suppress(OSError):
            now().unlink(found.fresh, handle)


def _checked_size(path: Path, file: int, most: int, exactly: int | None) -> int:
    about = os.fstat(file)
    if not stat.S_ISREG(about.st_mode):
        raise DamagedFile(f"{path} is not a plain file.")
    if exactly is not None and about.st_size != exactly:
        raise DamagedFile(
            f"{path} has {about.st_size} bytes instead of {exactly}: it is cut off or belongs to "
            "another run."
        )
    if about.st_size > most:
        raise DamagedFile(f"{path} has {about.st_size} bytes, more than {most} ever are.")
    return about.st_size
