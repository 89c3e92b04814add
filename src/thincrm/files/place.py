"""Files that the user names, or that belong in a run: tables, pages, exports."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from thincrm.errors import InvalidInput
from thincrm.files.folder import Content, Folder, refuse_name

__all__ = ["folder_at", "make_folder", "refuse_place", "write_file"]

_RUN = ("settings.json", "data.json")


def write_file(path: str | os.PathLike[str], data: Content) -> Path:
    """Write a file whole or not at all, and return its path; a link of that name is replaced."""
    target = Path(path)
    refuse_place(target)
    folder = folder_at(target.parent)
    if not folder.is_there():
        raise InvalidInput(f"{target.parent} is no folder: make it, or name another file.")
    folder.write(target.name, data)
    return target


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Make a folder, and those above it, unless it is there."""
    folder = folder_at(Path(path))
    if Path(path).is_file():
        raise InvalidInput(f"The folder {path} cannot be made: it is a file.")
    for part in folder.lineage():
        part.make()
    return folder.path


def refuse_place(path: Path) -> None:
    """Refuse a name that is no file to write: a folder, a device, a linked folder of a run."""
    refuse_name(path)
    folder_at(path.parent).is_there()  # a link in a run is refused here
    try:
        found = path.stat()
    except OSError:
        return
    if stat.S_ISDIR(found.st_mode):
        raise InvalidInput(f"{path} is a folder: name a file.")
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{path} is not a plain file: name another.")


def folder_at(path: Path) -> Folder:
    """Return the folder at a path; what is below a run's folder is reached without links."""
    below: list[str] = []
    found = path
    for above in (path, *path.parents):
        if all(os.path.lexists(above / name) for name in _RUN):
            found = above
            below = list(path.relative_to(above).parts)
    return Folder(found).inner(*below)
