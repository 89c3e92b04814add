"""Counts as lines `document word count`: the MatrixMarket and UCI bag-of-words formats."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from thincrm.data.counts import as_counts
from thincrm.data.reading.lines import lines, shown
from thincrm.data.sizes import check_entries, check_shape
from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import Float

__all__ = ["read_market", "read_uci"]

_BLOCK = 200_000  # lines that are read at once
_MOST_LETTERS = 1000  # of a line with three numbers
_MOST = 2**31 - 1  # of documents, words and counts
_COLUMNS = ("document", "word", "count")


def read_market(path: Path) -> Any:
    """Read a sparse MatrixMarket file: %%MatrixMarket matrix coordinate integer|real general."""
    source, number = lines(path), 1
    banner = next(source)[:_MOST_LETTERS].lower().split()[1:]
    known = ("matrix", "coordinate"), ("integer", "real", "pattern"), "general"
    if len(banner) != 4 or (banner[0], banner[1]) != known[0] or banner[2] not in known[1]:
        raise InvalidInput(
            f"{path.name}, line 1: only 'matrix coordinate integer general' and its like can be "
            "read; write a sparse matrix of counts."
        )
    if banner[3] != known[2]:
        raise InvalidInput(
            f"{path.name}, line 1: a {banner[3]} matrix is not documents by words; write it in "
            "full ('general')."
        )
    size = ""
    for line in source:
        number += 1
        if line.strip() and not line.startswith("%"):
            size = line
            break
    names = ("document", "word") if banner[2] == "pattern" else _COLUMNS
    return _read(path, source, number, _sizes(path, number, size.split(None, 3)), names)


def read_uci(path: Path) -> Any:
    """Read a UCI bag of words: D, W and NNZ on a line each, then `document word count` from 1."""
    source = lines(path)
    sizes = [line.strip() for line in islice(source, 3)]
    return _read(path, source, 3, _sizes(path, 3, sizes), _COLUMNS)


def _sizes(path: Path, number: int, cells: list[str]) -> tuple[int, int, int]:
    good = len(cells) == 3 and all(c.isascii() and c.isdecimal() and len(c) < 16 for c in cells)
    if not good:
        raise InvalidInput(
            f"{path.name}, line {number}: there should be three whole numbers: documents, words, "
            "entries."
        )
    n_documents, n_words, n_entries = (int(cell) for cell in cells)
    place = f"{path.name}, line {number}"
    check_shape(place, n_documents, n_words, n_entries)
    check_entries(path, place, n_entries, len("1 1\n"))
    if max(n_documents, n_words) > _MOST:
        raise InvalidInput(f"{place}: there are more than {_MOST} documents or words.")
    return n_documents, n_words, n_entries


def _short(path: Path, source: Iterator[str], number: int) -> Iterator[str]:
    """Yield lines; one that is too long for its numbers is refused before there are many."""
    for place, line in enumerate(source, number + 1):
        if len(line) > _MOST_LETTERS:
            raise InvalidInput(f"{path.name}, line {place} is too long for three numbers.")
        yield line


def _read(
    path: Path,
    source: Iterator[str],
    number: int,
    sizes: tuple[int, int, int],
    names: tuple[str, ...],
) -> Any:
    blocks = []
    found = 0
    source = _short(path, source, number)
    while block := list(islice(source, _BLOCK)):
        entries = _entries(path, block, number, sizes, names)
        blocks.append(entries.astype(np.int32))
        number, found = number + len(block), found + len(entries)
    if found != sizes[2]:
        raise InvalidInput(
            f"{path.name} announces {sizes[2]} entries and has {found}: is it cut short?"
        )
    entries = np.concatenate(blocks) if blocks else np.zeros((0, len(names)), np.int32)
    row, column = (entries[:, i] - 1 for i in (0, 1))
    data = entries[:, 2] if len(names) == 3 else np.ones(found, np.int32)
    matrix = sparse.coo_array((data, (row, column)), shape=sizes[:2])
    return as_counts(sparse.csr_array(matrix), path.name)


def _entries(
    path: Path,
    block: list[str],
    number: int,
    sizes: tuple[int, int, int],
    names: tuple[str, ...],
) -> Float:
    """Return the numbers of some lines; a line that is wrong is looked for only if there is one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of empty lines only
            entries = np.loadtxt(block, comments=None, ndmin=2)
    except ValueError:
        entries = np.full((1, len(names)), np.nan)
    if entries.size == 0:
        return np.zeros((0, len(names)))
    if entries.shape[1] == len(names):
        top = np.array([*sizes[:2], _MOST][: len(names)])
        low = np.array([1, 1, 0][: len(names)])
        if np.all((entries >= low) & (entries <= top) & (entries == np.round(entries))):
            return entries
    for place, line in enumerate(block, number + 1):
        _name_fault(path, place, line.split(), sizes, names)
    raise InvalidInput(f"{path.name} holds something other than whole numbers.")


def _name_fault(
    path: Path, place: int, cells: list[str], sizes: tuple[int, int, int], names: tuple[str, ...]
) -> None:
    if cells and len(cells) != len(names):
        raise InvalidInput(
            f"{path.name}, line {place}: there are {len(cells)} numbers where {', '.join(names)} "
            "should be."
        )
    for cell, name, least, most in zip(cells, names, (1, 1, 0), (*sizes[:2], _MOST), strict=False):
        try:
            good = least <= float(cell) <= most and float(cell) == int(float(cell))
        except (ValueError, OverflowError):
            good = False
        if not good:
            raise InvalidInput(
                f"{path.name}, line {place}, column {name}: {shown(cell)} is not a whole number "
                f"from {least} to {most}."
            )
