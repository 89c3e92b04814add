"""A run is a folder: settings, data, kept draws, the last two checkpoints, results.

    settings.json                     what was asked for, and the fingerprint of the data
    data.json, data.safetensors       all that is needed to go on
    draws/00000.json, .safetensors    kept draws, numbered
    checkpoints/00000001.json, ...    where the chain stood; the last two
    results.json, results.safetensors written when all is done
    lock                              who is writing
    source/                           texts for quotations, and how they were read (command line)

A saved model is the same without checkpoints.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np

from thincrm.errors import DamagedFile, InvalidInput, either, resume_call
from thincrm.files.disk import make_folder, sweep_leftovers
from thincrm.files.lock import Lock
from thincrm.files.record import has_record, read_record, remove_record, write_record
from thincrm.files.tree import Codec

__all__ = ["SOURCE", "RunFolder"]

_LIBRARY = version("thincrm")
_CHECKPOINTS_KEPT = 2
_BEFORE_SETTINGS = {"lock", "data.json", "data.safetensors"}
SOURCE = "source"  # what a run's data were made from, for people: written before, never read here


class RunFolder:
    """Records of one run, written and read by one codec.

    Parameters
    ----------
    path : path
        The folder.
    codec : Codec
        Of everything in it.
    run : str
        Which run its records must belong to.
    """

    def __init__(self, path: Path, codec: Codec, run: str) -> None:
        self.path, self._codec, self._run = path, codec, run

    @classmethod
    @contextmanager
    def begin(cls, path: Path, codec: Codec, settings: Any, data: Any) -> Iterator[Self]:
        """Write settings and data into a new or empty folder, and hold it locked."""
        refuse_taken(path)
        content, arrays = codec.encode(data)
        plain, none = codec.encode({"settings": settings, "data": _fingerprint(content, arrays)})
        folder = cls(path, codec, _fingerprint(plain, none))
        make_folder(path)
        with folder.locked():
            refuse_taken(path)
            write_record(path, "data", "data", content, arrays, folder._run, _LIBRARY)
            write_record(path, "settings", "settings", plain, none, folder._run, _LIBRARY)
            yield folder

    @classmethod
    def open(cls, path: Path, codec: Codec) -> tuple[Self, Any, Any]:
        """Return the folder of a run, its settings and its data."""
        if not has_record(path, "settings"):
            raise InvalidInput(
                f"{path} holds no run: ",
                either(
                    "pass the folder that fit(out=...) or save(...) wrote", "name a run's folder"
                ),
                ".",
            )
        record = read_record(path, "settings", "settings")
        folder = cls(path, codec, record.run)
        settings = codec.decode(record.content, record.arrays)
        if not isinstance(settings, dict) or set(settings) != {"settings", "data"}:
            raise DamagedFile(f"{path / 'settings.json'} holds no settings.")
        return folder, settings["settings"], folder._read(path, "data", "data")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder as its only writer, and remove what a killed one left."""
        with Lock(self.path / "lock"):
            for folder in (self.path, self.path / "draws", self.path / "checkpoints"):
                sweep_leftovers(folder)
            yield

    def _read(self, folder: Path, name: str, kind: str) -> Any:
        record = read_record(folder, name, kind, self._run)
        return self._codec.decode(record.content, record.arrays)

    def _write(self, folder: Path, name: str, kind: str, value: Any) -> None:
        make_folder(folder)
        write_record(folder, name, kind, *self._codec.encode(value), self._run, _LIBRARY)

    def write_draw(self, number: int, draw: Any) -> None:
        """Write kept draw `number`."""
        self._write(self.path / "draws", f"{number:05d}", "draw", draw)

    def read_draw(self, number: int) -> Any:
        """Return kept draw `number`."""
        return self._read(self.path / "draws", f"{number:05d}", "draw")

    def write_checkpoint(self, value: Any) -> None:
        """Write the next checkpoint, then let go of all but the last two."""
        folder, numbers = self.path / "checkpoints", self._numbers()
        self._write(folder, f"{(numbers or [0])[-1] + 1:08d}", "checkpoint", value)
        for number in numbers[: len(numbers) + 1 - _CHECKPOINTS_KEPT]:
            remove_record(folder, f"{number:08d}")

    def checkpoints(self) -> Iterator[tuple[Path, Any]]:
        """Yield (path, checkpoint or what is wrong with it), the newest first."""
        folder = self.path / "checkpoints"
        for number in reversed(self._numbers()):
            name = f"{number:08d}"
            try:
                yield folder / name, self._read(folder, name, "checkpoint")
            except DamagedFile as error:
                yield folder / name, error

    def _numbers(self) -> list[int]:
        names = [path.stem for path in (self.path / "checkpoints").glob("*.json")]
        return sorted(int(name) for name in names if name.isascii() and name.isdigit())

    def write_results(self, value: Any) -> None:
        """Write the results: the run is finished."""
        self._write(self.path, "results", "results", value)

    def read_results(self) -> Any:
        """Return the results, or None where the run has not finished."""
        if not has_record(self.path, "results"):
            return None
        return self._read(self.path, "results", "results")


def refuse_taken(path: Path) -> None:
    """Refuse a folder that holds anything but the beginning of a run that never started."""
    if path.exists() and not path.is_dir():
        raise InvalidInput(f"{path} is a file: pass the name of a folder.")
    if has_record(path, "results"):
        raise InvalidInput(
            f"{path} holds a finished run: ",
            either(f"thincrm.load({str(path)!r}) reads it", f"'thincrm report {path}' shows it"),
            "; choose another folder for a new one.",
        )
    if has_record(path, "settings"):
        raise InvalidInput(
            f"{path} holds a run that has not finished: ",
            resume_call(path),
            " goes on with it; choose another folder for a new one.",
        )
    found = {entry.name for entry in path.iterdir()} if path.exists() else set()
    ours = (_BEFORE_SETTINGS if "lock" in found else set()) | {SOURCE}
    strange = sorted(name for name in found - ours if not name.startswith(".tmp-"))
    if strange:
        raise InvalidInput(
            f"{path} is not empty ({strange[0]}) and holds no run: choose another folder."
        )


def _fingerprint(content: Any, arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()
