"""A file system that stops, or is full, from a chosen operation on."""

import errno
import os
from contextlib import contextmanager

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
