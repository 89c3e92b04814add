"""The source that a compiled loop was made of: a cached loop is used only while it is the same."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

__all__ = ["source_stamp"]

_ROOT = Path(__file__).parents[1]
_IMPORT = re.compile(r"^from thincrm([\w.]*) import (?:\(([^)]*)\)|([^\n]*))", re.MULTILINE)


def source_stamp(module: str) -> str:
    """Return a digest of a module's file, and of the package's files that it imports, and so on.

    numba looks only at the file a loop stands in, and loops inline loops and constants of other
    files. A change elsewhere leaves the loop as it is. It is not known what a module outside the
    package imports: all files count.
    """
    package, _, name = module.partition(".")
    start = _find_file(name) if package == _ROOT.name else None
    waiting = sorted(_ROOT.rglob("*.py")) if start is None else [start]
    seen = {path: _read(path) for path in waiting}
    while waiting:
        for path in _imported(waiting.pop()):
            if path not in seen:
                seen[path] = _read(path)
                waiting.append(path)
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(seen):
        digest.update(seen[path].encode() + b"\0")
    return digest.hexdigest()


@cache
def _read(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def _imported(path: Path) -> tuple[Path, ...]:
    """Return the files behind the imports at a file's left margin."""
    found = []
    for match in _IMPORT.finditer(_read(path)):
        names = re.findall(r"\w+", match[2] or match[3])
        found += [_find_file(f"{match[1]}{end}") for end in ("", *(f".{name}" for name in names))]
    return tuple(path for path in found if path is not None)


@cache
def _find_file(name: str) -> Path | None:
    """Return the file of a module, named from the package on."""
    place = _ROOT.joinpath(*name.strip(".").split("."))
    choices = (place.with_suffix(".py"), place / "__init__.py")
    return next((path for path in choices if path.is_file()), None)
