"""A file system that stops, or is full, from a chosen operation on."""

import errno
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

from thincrm.files import operations

NEEDS_SPACE = ("create", "write", "sync", "rename", "make_folder", "make_path", "open_to_lock")
READS = ("open_folder", "open_to_read", "names", "status", "is_link", "lock", "truncate", "unlink")


class Killed(BaseException):
    """The process ended here."""


class Faulty(operations.Operations):
    """Count operations; from number `first` on (up to `last`) they fail.

    A process that was killed does nothing any more, its clean-up included; the system closes its
    files, which frees its locks. A write that it is killed in, or that meets the end of the disk,
    has written half.
    """

    def __init__(self, first=None, last=None, how="kill"):
        super().__init__()
        self.first, self.last, self.how, self.n_done = first, last, how, 0
        counted = NEEDS_SPACE + (READS if how == "kill" else ())
        for name in counted:
            setattr(self, name, self._counting(name, getattr(super(), name)))

    def _counting(self, name, do):
        def counted(*args):
            self.n_done += 1
            if self.first is None or self.n_done < self.first:
                return do(*args)
            if self.last is not None and self.n_done > self.last:
                return do(*args)
            if name == "write" and self.n_done == self.first:
                do(args[0], args[1][: len(args[1]) // 2])
            if self.how == "kill":
                raise Killed
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        return counted


@contextmanager
def faulty(*args, **more):
    """Put a faulty file system in the place of the real one."""
    before, operations.current = operations.current, Faulty(*args, **more)
    try:
        yield operations.current
    finally:
        operations.current = before


class Watched(operations.Operations):
    """Keep a copy of a folder as it is when each operation begins, and of half a write.

    That is what a process killed there leaves behind. States that were seen before are not kept
    again: most operations read, and change nothing.
    """

    def __init__(self, folder, kept):
        super().__init__()
        self.folder, self.kept, self.n_done, self._seen = Path(folder), Path(kept), 0, set()
        for name in NEEDS_SPACE + READS:
            setattr(self, name, self._watching(name, getattr(super(), name)))

    def _watching(self, name, do):
        def watched(*args):
            self.n_done += 1
            self._keep()
            if name != "write" or len(args[1]) < 2:
                return do(*args)
            half = len(args[1]) // 2
            do(args[0], args[1][:half])
            self._keep()
            return half + do(args[0], args[1][half:])

        return watched

    def _keep(self):
        state = tuple(
            (str(path.relative_to(self.folder)), path.is_file() and _content(path))
            for path in sorted(self.folder.rglob("*"))
        )
        if state not in self._seen:
            self._seen.add(state)
            shutil.copytree(self.folder, self.kept / str(len(self._seen)))


def _content(path):
    return path.read_bytes() if path.name != "lock" else b"who"


@contextmanager
def watched(folder, kept):
    """Keep what a kill at each operation on the folder would leave, each state once."""
    folder.mkdir()
    before, operations.current = operations.current, Watched(folder, kept)
    try:
        yield operations.current
    finally:
        operations.current = before
