"""What a command says: sentences and tables, or nothing, or one JSON object."""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from thincrm.errors import InvalidInput
from thincrm.files import refuse_place

__all__ = ["Voice", "check_file_place", "check_run_place", "file_place", "in_shell"]

_SHELL = (
    (r"thincrm\.load\('([^']*)'\) reads it", r"'thincrm report \1' shows it"),
    (r"thincrm\.resume\('([^']*)'\)", r"'thincrm resume \1'"),
    (r"pass the folder that fit\(out=\.\.\.\) or save\(\.\.\.\) wrote", "name the folder of a run"),
    (r"Pass t=, or thinning=Always\(\) to say so", "Say --thinning always if that is meant"),
    (r"^level must", "--level must"),
    (
        r"They are in memory: model\.save\(\.\.\.\) writes them elsewhere",
        "Once there is space, 'thincrm resume' goes on",
    ),
    (r"or pass max_topics='grow'", "or say --max-topics grow"),
    (r"\bn_(sweeps|draws|chains|threads)\b", r"--\1"),
    (r"\b(max_topics|max_features|min_count|min_df|max_df|tfidf_share|stop_words)\b", r"--\1"),
    (r"--(\w+)_(\w+)\b", r"--\1-\2"),
    (r"\brandom_state\b", "--seed"),
    (r"\bheldout=", "--heldout "),
    (r"skip_bad=True or --skip-bad", "--skip-bad"),
)


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
            said = in_shell(what) if isinstance(what, str) else what
            Console().print(said, markup=False, highlight=False, soft_wrap=plain)

    def result(self, **found: Any) -> None:
        """Print what a program would want to know."""
        if self.json:
            known = {name: _or_null(value) for name, value in found.items()}
            print(json.dumps(known, default=str, allow_nan=False))


def _or_null(value: Any) -> Any:
    """Return None in place of a number that JSON does not have: what a single draw cannot tell."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def in_shell(sentence: str) -> str:
    """Return a sentence that speaks of Python arguments in the words of the command line."""
    for python, shell in _SHELL:
        sentence = re.sub(python, shell, sentence)
    return sentence


def check_run_place(out: Path) -> None:
    """Refuse a folder that cannot become a run, before any work is done."""
    from thincrm.files.run import refuse_taken  # noqa: PLC0415 - help does not wait for it

    refuse_taken(out)
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
