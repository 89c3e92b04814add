"""A record: NAME.json says what there is, NAME.safetensors holds the arrays.

The JSON file, the manifest, is written last and names sizes, types, shapes and the SHA-256 of the
arrays and of itself, so a record is there as a whole or not at all. Reading goes from the
outside in: size of the file, then its checksum, then its content; nothing is allocated that the
manifest did not declare and the disk does not hold.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from thincrm.errors import CannotWrite, DamagedFile, InvalidInput
from thincrm.files.folder import Bytes, Folder
from thincrm.files.large_arrays import KINDS, LARGE, header_of, read_large
from thincrm.files.tree import Json
from thincrm.numerics.on_disk import let_go

__all__ = ["FORMAT_VERSION", "Record", "has_record", "read_record", "write_record"]

FORMAT_VERSION = 2
_MOST_TEXT = 2**20  # bytes of a manifest, and of the header of a file of arrays
_MOST_BYTES = 2**62
_AT_ONCE = 2**26  # bytes that are written
_KEYS = {"format", "format_version", "library", "kind", "run", "content", "arrays", "checksum"}
_ARRAY_KEYS = {"file", "size", "sha256", "tensors"}


class Record(NamedTuple):
    """What a record holds: plain values, arrays, and the run it belongs to."""

    content: Json
    arrays: dict[str, np.ndarray]
    run: str


def has_record(folder: Folder, name: str) -> bool:
    """Tell whether there is a record, whole or damaged, of that name."""
    return folder.has(f"{name}.json")


def write_record(
    folder: Folder,
    name: str,
    kind: str,
    content: Json,
    arrays: Mapping[str, np.ndarray],
    run: str,
    library: str,
) -> str:
    """Write a record and return the checksum of its manifest."""
    manifest = {
        "format": "thincrm",
        "format_version": FORMAT_VERSION,
        "library": library,
        "kind": kind,
        "run": run,
        "content": content,
        "arrays": None,
    }
    if arrays:
        found = sorted(arrays.items(), key=lambda item: -item[1].itemsize)  # so each is aligned
        plain = {key: _plain(key, value) for key, value in found}
        tensors = {key: [str(value.dtype), *value.shape] for key, value in plain.items()}
        header = header_of(tensors)
        if len(header) - 8 > _MOST_TEXT:
            raise InvalidInput(f"{kind} has too many arrays to be kept in a file ({len(plain)}).")
        digest = hashlib.sha256()
        for part in _parts(header, plain):
            digest.update(part)
        manifest["arrays"] = {
            "file": f"{name}.safetensors",
            "size": len(header) + sum(value.nbytes for value in plain.values()),
            "sha256": digest.hexdigest(),
            "tensors": tensors,
        }
        folder.write(f"{name}.safetensors", lambda: _parts(header, plain))
    checksum = _checksum(manifest)
    lines = None if kind == "draw" else 1  # draws are many, and nobody reads them
    text = json.dumps(manifest | {"checksum": checksum}, indent=lines, allow_nan=False)
    if len(text) > _MOST_TEXT:
        raise InvalidInput(f"{kind} has more plain values than a file may hold ({len(text)} bytes)")
    try:
        folder.write(f"{name}.json", text.encode())
    except CannotWrite:
        if not has_record(folder, name):
            folder.remove(f"{name}.safetensors")  # nobody would know what they are
        raise
    return checksum


def _plain(key: str, value: np.ndarray) -> np.ndarray:
    if str(value.dtype) not in KINDS or value.ndim == 0:
        raise InvalidInput(f"{key} cannot be kept in a file: it is an array of {value.dtype}.")
    return np.ascontiguousarray(value)


def _parts(header: bytes, arrays: Mapping[str, np.ndarray]) -> Iterator[Bytes]:
    """Yield what is in a file of arrays; of those that are on disk few bytes are ever in memory."""
    yield header
    for value in arrays.values():
        yield from pieces(value)


def pieces(array: np.ndarray) -> Iterator[Bytes]:
    """Yield the bytes of an array in C order, some at a time; let go of those on disk."""
    data = array.reshape(-1).view(np.uint8).data
    for first in range(0, len(data), _AT_ONCE):
        yield data[first : first + _AT_ONCE]
        let_go(array)


def _checksum(manifest: dict[str, object]) -> str:
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def read_record(folder: Folder, name: str, kind: str, run: str | None = None) -> Record:
    """Return a record of that kind (and of that run), or say what is wrong with it."""
    path = folder.path / f"{name}.json"
    manifest = _parse(path, folder.read(path.name, _MOST_TEXT))
    if not isinstance(manifest, dict) or manifest.get("format") != "thincrm":
        raise DamagedFile(f"{path} is not a file of thincrm.")
    _check_version(path, manifest)
    if set(manifest) != _KEYS:
        raise DamagedFile(f"{path} has lines missing or lines too many.")
    checksum = manifest.pop("checksum")
    if checksum != _checksum(manifest):
        raise DamagedFile(f"{path} was changed or damaged: its checksum does not fit.")
    if manifest["kind"] != kind or not isinstance(manifest["run"], str):
        raise DamagedFile(f"{path} should be of kind {kind!r} but is {manifest['kind']!r:.40}.")
    if run is not None and manifest["run"] != run:
        raise DamagedFile(f"{path} belongs to another run.")
    arrays = {} if manifest["arrays"] is None else _read_arrays(folder, name, manifest["arrays"])
    return Record(manifest["content"], arrays, manifest["run"])


def _check_version(path: Path, manifest: dict[str, Any]) -> None:
    version, library = manifest.get("format_version"), str(manifest.get("library"))[:20]
    if version == FORMAT_VERSION and not isinstance(version, bool):
        return
    if isinstance(version, int) and not isinstance(version, bool):
        if version > FORMAT_VERSION:
            raise DamagedFile(
                f"{path} was written by a newer thincrm ({library}, format {version!s:.9}; this "
                f"one reads format {FORMAT_VERSION}): upgrade thincrm to read it."
            )
        raise DamagedFile(
            f"{path} was written by an older thincrm ({library}, format {version!s:.9}) and this "
            f"one reads format {FORMAT_VERSION}: read it with thincrm {library}."
        )
    raise DamagedFile(f"{path} does not say which format it has.")


def _parse(path: Path, data: bytes) -> Any:
    """Return the values of a JSON text: no infinities, no key twice, no nest without end."""

    def refuse(what: str) -> NoReturn:
        raise ValueError(what)

    def number(text: str) -> float:
        value = float(text)
        return value if math.isfinite(value) else refuse(text)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        return found if len(found) == len(pairs) else refuse("a key twice")

    try:
        return json.loads(
            data.decode(), object_pairs_hook=unique, parse_constant=refuse, parse_float=number
        )
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path} was changed or damaged: it is not the text it was.") from error


def _read_arrays(folder: Folder, name: str, about: Any) -> dict[str, np.ndarray]:
    path = folder.path / f"{name}.safetensors"
    declared = _declared(path, about)
    if about["size"] > LARGE:
        return read_large(folder, path.name, about["size"], about["sha256"], declared)
    data = folder.read(path.name, _MOST_BYTES, exactly=about["size"])
    header = int.from_bytes(data[:8], "little")
    n_bytes = sum(math.prod(shape) * np.dtype(kind).itemsize for kind, *shape in declared.values())
    if header > _MOST_TEXT or 8 + header + n_bytes != len(data):
        raise DamagedFile(f"{path} does not have the arrays that {name}.json declares.")
    if hashlib.sha256(data).hexdigest() != about["sha256"]:
        raise DamagedFile(f"{path} was changed or damaged: its checksum does not fit.")
    try:
        arrays = safetensors.numpy.load(data)
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedFile(f"{path} is not a file of arrays ({error}).") from error
    if {key: [str(a.dtype), *a.shape] for key, a in arrays.items()} != declared:
        raise DamagedFile(f"{path} does not have the arrays that {name}.json declares.")
    return arrays


def _declared(path: Path, about: Any) -> dict[str, list[Any]]:
    """Return the checked declarations: [dtype, *shape] of every array."""
    if not (
        isinstance(about, dict)
        and set(about) == _ARRAY_KEYS
        and about["file"] == path.name
        and _is_size(about["size"])
        and about["size"] >= 8
        and isinstance(about["tensors"], dict)
        and all(_is_declaration(item) for item in about["tensors"].values())
    ):
        raise DamagedFile(f"{path.with_suffix('.json')} declares arrays that cannot be.")
    found: dict[str, list[Any]] = about["tensors"]
    return found


def _is_declaration(item: object) -> bool:
    return (
        isinstance(item, list)
        and 2 <= len(item) <= 5
        and isinstance(item[0], str)
        and item[0] in KINDS
        and all(_is_size(size) for size in item[1:])
    )


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_BYTES
