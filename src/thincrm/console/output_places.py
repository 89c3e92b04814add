"""Where output goes, checked before any work is done."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from thincrm.errors import InvalidInput
from thincrm.files import refuse_place

__all__ = ["check_file_place", "check_run_place", "file_place"]


def check_run_place(out: Path) -> None:
    """Refuse a folder that cannot become a run."""
    from thincrm.files.run import refuse_taken  # noqa: PLC0415 - help does not wait for it

    refuse_taken(out)
    _try_writing(out)


def file_place(out: Path | None, run: Path, name: str) -> Path:
    """Return the file to write: `out`, or `name` in the run's folder."""
    if out is None and not run.is_dir():
        raise InvalidInput(f"{run} holds no run: name the folder of a run.")
    if out is not None and not out.parent.is_dir():
        raise InvalidInput(f"{out.parent} is no folder: make it, or name another file.")
    path = run / name if out is None else out
    check_file_place(path)
    return path


def check_file_place(path: Path) -> None:
    """Refuse a file that cannot be written."""
    refuse_place(path)
    if path.exists() and not os.access(path, os.W_OK):
        raise InvalidInput(f"{path} cannot be written to: name another file.")
    _try_writing(path.parent)


def _try_writing(folder: Path) -> None:
    there = next(path for path in (folder, *folder.parents, Path()) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written to: {error.strerror or error}.") from error
