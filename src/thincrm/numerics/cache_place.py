"""Where compiled loops are kept if neither the package nor a home can be written to."""

from __future__ import annotations

import os
import stat
import tempfile
from functools import cache
from pathlib import Path

__all__ = ["temporary_cache"]


@cache
def temporary_cache() -> Path | None:
    """Return a folder for compiled loops that only this user can write to; None: there is none.

    The name is the same for every process of a user, so that loops are compiled once. What lies
    there is run, so a folder that another user made, or may write to, is not taken.
    """
    try:
        user = os.getuid() if hasattr(os, "getuid") else 0
        folder = Path(tempfile.gettempdir()) / f"thincrm-loops-{user}"
        folder.mkdir(0o700, exist_ok=True)
        if _is_own(folder, user) and os.access(folder, os.W_OK | os.X_OK):
            return folder
        return Path(tempfile.mkdtemp(prefix="thincrm-loops-"))
    except OSError:
        return None


def _is_own(folder: Path, user: int) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o077
