"""Lines of a file, one at a time: plain or compressed, of bounded length and growth."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from thincrm.data.sizes import check_growth
from thincrm.errors import InvalidInput
from thincrm.numerics.waiting import now

__all__ = ["MOST_BYTES", "UTF8", "check_encoding", "check_file", "lines", "shown", "words_of"]

UTF8 = "utf-8"

MOST_BYTES = 16 * 2**20  # of a line: a text that is longer is a mistake, or an attack
_LOOK = 1000  # lines between two looks at how far the reading is; letters of what is shown
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"


def check_file(path: str | Path) -> Path:
    """Return the path of a file that can be read, or one sentence."""
    path = Path(path)
    try:
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder: name a file.")
        if not path.exists():
            raise InvalidInput(f"{path} does not exist.")
        if not path.is_file():  # a pipe would be waited for, and is read only once
            raise InvalidInput(f"{path} is a pipe or a device: save what it says to a file.")
        with path.open("rb"):
            return path
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{shown(str(path))} cannot be read: {reason}.") from error


def check_encoding(name: str) -> str:
    """Return the name of a way to write letters in which the signs of a table are as in ASCII."""
    signs = '\r\n\t,;|"{}[]:0123456789abc'
    try:
        if signs.encode("ascii").decode(name) == signs:
            return name
    except (LookupError, ValueError, TypeError):
        pass
    raise InvalidInput(
        f"{shown(name)} is no encoding that can be read: name one such as utf-8, latin-1, cp1252 "
        "or shift_jis, or save the file as UTF-8."
    )


def lines(path: str | Path, encoding: str = UTF8) -> Iterator[str]:
    """Yield the lines of a file, with their ends; a .gz file is unpacked on the way.

    Bytes that stand for no letter come as lone surrogates, so that the reader of a cell can name
    it.
    """
    path = check_file(path)
    encoding = check_encoding(encoding)
    with path.open("rb") as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        stream: Any = gzip.GzipFile(fileobj=raw) if packed else raw
        number = unpacked = place = 0
        size = max(1, path.stat().st_size)
        now(f"reading {path.name}", lambda: place / size)
        while line := _next(stream, path, number):
            number, unpacked = number + 1, unpacked + len(line)
            if len(line) > MOST_BYTES:
                raise InvalidInput(
                    f"{path.name}, line {number} is longer than {MOST_BYTES // 2**20} MiB: is it a "
                    "text file? Cut a document that is so long into parts."
                )
            if number % _LOOK == 0:
                place = raw.tell()
            if packed:
                check_growth(f"{path.name}, line {number}", unpacked, raw.tell())
            if number == 1:
                if line.startswith(_UTF16):
                    raise InvalidInput(f"{path.name} is in UTF-16: save it as UTF-8.")
                line = line.removeprefix(_UTF8_MARK)
            yield line.decode(encoding, "surrogateescape")


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
    try:
        text = repr(value[:_LOOK] if isinstance(value, str) else value)
        text = " ".join(text[:_LOOK].split())  # millions of words may be in one cell
    except RecursionError:
        text = f"a {type(value).__name__} of many layers"
    return text if len(text) <= 60 else f"{text[:57]}..."
