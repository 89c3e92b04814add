"""Lines of a file, one at a time: plain or compressed, UTF-8, of bounded length and growth."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from thincrm.errors import InvalidInput

__all__ = ["MOST_BYTES", "check_file", "lines", "shown", "words_of"]

MOST_BYTES = 16 * 2**20  # of a line: a text that is longer is a mistake, or an attack
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"
_FREE_GROWTH, _MOST_GROWTH = 64 * 2**20, 200  # text seldom shrinks to less than a hundredth


def check_file(path: str | Path) -> Path:
    """Return the path of a file that can be read, or one sentence."""
    path = Path(path)
    try:
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder: name a file.")
        if not path.exists():
            raise InvalidInput(f"{path} does not exist.")
        with path.open("rb"):
            return path
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{shown(str(path))} cannot be read: {reason}.") from error


def lines(path: str | Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, with their ends; a .gz file is unpacked on the way.

    Bytes that are no UTF-8 come as lone surrogates, so that the reader of a cell can name it.
    """
    path = check_file(path)
    with path.open("rb") as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        stream: Any = gzip.GzipFile(fileobj=raw) if packed else raw
        number = unpacked = 0
        while line := _next(stream, path, number):
            number, unpacked = number + 1, unpacked + len(line)
            if len(line) > MOST_BYTES:
                raise InvalidInput(
                    f"{path.name}, line {number} is longer than {MOST_BYTES // 2**20} MiB: is it a "
                    "text file with a document a row?"
                )
            if unpacked > _FREE_GROWTH and packed and unpacked > _MOST_GROWTH * raw.tell():
                raise InvalidInput(
                    f"{path.name}, line {number}: the file unpacks to more than {_MOST_GROWTH} "
                    "times its size; unpack it yourself if it is not an attack."
                )
            if number == 1:
                if line.startswith(_UTF16):
                    raise InvalidInput(f"{path.name} is in UTF-16: save it as UTF-8.")
                line = line.removeprefix(_UTF8_MARK)
            yield line.decode("utf-8", "surrogateescape")


def _next(stream: Any, path: Path, number: int) -> bytes:
    try:
        return bytes(stream.readline(MOST_BYTES + 1))
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(
            f"{path.name} cannot be read after line {number}: it is cut short or damaged ({error})."
        ) from error


def words_of(path: str | Path) -> list[str]:
    """Return the words of a vocabulary file: one a line, none twice."""
    found: dict[str, int] = {}
    path = Path(path)
    for number, line in enumerate(lines(path), 1):
        word = line.rstrip("\r\n")
        place = f"{path.name}, line {number}"
        if not word.strip():
            raise InvalidInput(f"{place} is empty: a vocabulary has a word on every line.")
        if not word.isprintable():  # so are lone surrogates
            raise InvalidInput(f"{place}: {shown(word)} is not a word in UTF-8.")
        if word in found:
            raise InvalidInput(f"{place}: {shown(word)} is on line {found[word]} too.")
        found[word] = number
    if not found:
        raise InvalidInput(f"{path} has no words in it.")
    return list(found)


def shown(value: object) -> str:
    """Return a value as one short line of printable text."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
