"""What a command says: sentences and tables, or nothing, or one JSON object."""

from __future__ import annotations

import json
import math
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from thincrm.cli.shell import in_shell
from thincrm.errors import InvalidInput
from thincrm.printable import printable

__all__ = ["Voice", "check_file_place", "check_run_place", "file_place"]


@dataclass(frozen=True, slots=True)
class Voice:
    """Where words go. Quiet: nowhere; JSON: only the result is printed, as one object."""

    quiet: bool = False
    json: bool = False

    @property
    def silent(self) -> bool:
        """Return whether there are to be no sentences."""
        return self.quiet or self.json

    def say(self, what: Any) -> None:
        """Print a sentence as it is, or something that rich draws."""
        if not self.silent:
            plain = isinstance(what, str)
            said = printable(in_shell(what)) if isinstance(what, str) else what
            Console().print(said, markup=False, highlight=False, soft_wrap=plain)

    def result(self, **found: Any) -> None:
        """Print what a program would want to know."""
        if self.json:
            known = {name: _or_null(value) for name, value in found.items()}
            print(json.dumps(known, default=str, allow_nan=False))


def _or_null(value: Any) -> Any:
    """Return None in place of a number that JSON does not have: what a single draw cannot tell."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_run_place(out: Path) -> None:
    """Refuse a folder that cannot become a run, before any work is done."""
    if out.exists() and not out.is_dir():
        raise InvalidInput(f"{out} is a file: name a folder for the run.")
    if out.is_dir() and any(out.iterdir()):
        if (out / "settings.json").exists():
            raise InvalidInput(
                f"{out} holds a run: 'thincrm resume {out}' goes on with it, 'thincrm report "
                f"{out}' shows it; name another folder for a new one."
            )
        raise InvalidInput(f"{out} is not empty and holds no run: name another folder.")
    _try_writing(out)


def file_place(out: Path | None, run: Path, name: str) -> Path:
    """Return the file to write: `out`, or in the run; refuse it before any work is done."""
    if out is None and not run.is_dir():
        raise InvalidInput(f"{run} holds no run: name the folder of a run.")
    if out is not None and not out.parent.is_dir():
        raise InvalidInput(f"{out.parent} is no folder: make it, or name another file.")
    path = run / name if out is None else out
    check_file_place(path)
    return path


def check_file_place(path: Path) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder: name a file.")
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
