"""Files of arrays that are larger than memory should be: read a piece at a time, kept on disk."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from thincrm.errors import DamagedFile
from thincrm.files.folder import Folder
from thincrm.numerics.on_disk import DiskArray

__all__ = ["KINDS", "LARGE", "header_of", "read_large"]

LARGE = 2**26  # bytes of a file that is read this way
_AWAY = 2**24  # bytes of an array of it that is kept on disk
_AT_ONCE = 2**24  # bytes that are read at a time: whole numbers of any kind
KINDS = {  # as numpy and as files call them
    "bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8",
    "float32": "F32", "float64": "F64",
}  # fmt: skip


def header_of(tensors: Mapping[str, list[Any]]) -> bytes:
    """Return how a file of arrays, [dtype, *shape] each, begins.

    safetensors would make it too, but only with all arrays in memory once more.
    """
    found, end = {}, 0
    for key, (kind, *shape) in tensors.items():
        first, end = end, end + _n_bytes(kind, shape)
        found[key] = {"dtype": KINDS[kind], "shape": shape, "data_offsets": [first, end]}
    text = json.dumps(found, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _n_bytes(kind: str, shape: list[int]) -> int:
    return math.prod(shape) * np.dtype(kind).itemsize


def read_large(
    folder: Folder, name: str, size: int, sha256: str, tensors: Mapping[str, list[Any]]
) -> dict[str, np.ndarray]:
    """Return the arrays of a file that is as `header_of` begins it, large ones mapped from disk."""
    path, header = folder.path / name, header_of(tensors)
    if len(header) + sum(_n_bytes(kind, shape) for kind, *shape in tensors.values()) != size:
        raise DamagedFile(f"{path} does not have the arrays that are declared.")
    with folder.reading(name, size, exactly=size) as (stream, _):
        if stream.read(len(header)) != header:
            raise DamagedFile(f"{path} does not have the arrays that are declared.")
        pieces = _Pieces(stream, header)
        found = {key: pieces.array(kind, shape) for key, (kind, *shape) in tensors.items()}
    if pieces.digest.hexdigest() != sha256:
        raise DamagedFile(f"{path} was changed or damaged: its checksum does not fit.")
    return found


class _Pieces:
    """The rest of a file, array after array."""

    def __init__(self, stream: BinaryIO, header: bytes) -> None:
        self._stream, self.digest = stream, hashlib.sha256(header)

    def array(self, kind: str, shape: list[int]) -> np.ndarray:
        """Return the next array."""
        n_bytes = _n_bytes(kind, shape)
        if n_bytes <= _AWAY:
            return self._next(kind, n_bytes).reshape(shape)
        away = DiskArray(kind)
        for first in range(0, n_bytes, _AT_ONCE):
            away.append(self._next(kind, min(_AT_ONCE, n_bytes - first)))
        return away.mapped().reshape(shape)

    def _next(self, kind: str, n_bytes: int) -> np.ndarray:
        found = np.zeros(n_bytes, np.uint8)
        n_read = self._stream.readinto(found.data)  # type: ignore[attr-defined]
        if n_read != n_bytes:
            raise DamagedFile("A file of arrays changed while it was read.")
        self.digest.update(found.data)
        return found.view(kind)
