"""SciPy's .npz files: what their parts claim to hold is checked before any of it is read."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from thincrm.data.sizes import check_growth, check_shape

__all__ = ["load_matrix"]

_PARTS = frozenset("_is_array format shape data indices indptr row col offsets coords".split())
_FORMATS = ("csr", "csc", "coo", "bsr", "dia")


def load_matrix(path: Path) -> Any:
    """Return the matrix that `scipy.sparse.save_npz` wrote, or raise what is wrong with it."""
    with path.open("rb") as file:
        _check(file, path)
        file.seek(0)
        matrix: Any = sparse.load_npz(file)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)  # compiled loops trust the indices
    return matrix


def _check(file: IO[bytes], path: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        parts = {part.filename.removesuffix(".npy"): part for part in archive.infolist()}
        if len(parts) < len(archive.infolist()) or not set(parts) <= _PARTS:
            raise ValueError("it has other parts")
        total = sum(part.file_size for part in parts.values())
        check_growth(path.name, total, path.stat().st_size)
        for part in parts.values():
            _check_part(archive, part)
        small = {name: _small(archive, parts[name]) for name in ("format", "shape")}
    kind = small["format"].item()
    if (kind.decode("ascii") if isinstance(kind, bytes) else kind) not in _FORMATS:
        raise ValueError("it is of no known kind")
    shape = [int(size) for size in small["shape"].reshape(-1)]
    if len(shape) != 2 or small["shape"].dtype.kind not in "iu" or min(shape) < 0:
        raise ValueError("its shape is not documents by words")
    check_shape(path.name, shape[0], shape[1], total)


def _check_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """Refuse an array that says it is longer than its bytes."""
    with archive.open(part) as stream:
        version = np.lib.format.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise ValueError("an array in it is of another format")
        read = np.lib.format.read_array_header_1_0
        read = read if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
        if dtype.hasobject:
            raise ValueError("it holds objects, which could be code")
        if math.prod(shape) * dtype.itemsize != part.file_size - stream.tell():
            raise ValueError("an array in it says another length than it has")


def _small(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> np.ndarray:
    if part.file_size > 1000:
        raise ValueError("its shape or kind is too long")
    with archive.open(part) as stream:
        return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))
