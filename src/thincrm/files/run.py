"""A run is a folder: settings, data, kept draws, the last two checkpoints, results.

    settings.json                     what was asked for, and the fingerprint of the data
    data.json, data.safetensors       all that is needed to go on
    draws/0-00204.json, .safetensors  kept draws, by chain and sweep
    checkpoints/00000001.json, ...    where the chain stood; the last two
    length.json                       how long the run is, where that is not how it began
    results.json, results.safetensors written when all is done
    lock                              who is writing
    source/                           texts for quotations, and how they were read (command line)
    tables/                           CSV files (command line)

settings.json is written last of what a run begins with: without it there is no run, and one may
begin there. A saved model is the same without checkpoints.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np

from thincrm.errors import DamagedFile, InvalidInput, either, resume_call
from thincrm.files.folder import Folder, is_leftover
from thincrm.files.lock import LOCK, is_lock, locked, refuse_locked
from thincrm.files.record import has_record, pieces, read_record, write_record
from thincrm.files.tree import Codec, Json

__all__ = ["SOURCE", "SOURCE_FILES", "NewRun", "RunFolder", "refuse_taken"]

_LIBRARY = version("thincrm")
_CHECKPOINTS_KEPT = 2
SOURCE = "source"  # what a run's data were made from, for people: never read here
SOURCE_FILES = ("reading.json", "texts.jsonl.gz")
_INNER = ("checkpoints", "draws", SOURCE, "tables")
_BEFORE_SETTINGS = {LOCK, "data.json", "data.safetensors", SOURCE}


@dataclass(frozen=True, slots=True)
class NewRun:
    """Where a run is to begin, and what it keeps of its source.

    Parameters
    ----------
    path : path
        A new or empty folder.
    source : mapping of str to bytes
        Files for people, by name; they are written once the folder is known to be ours.
    """

    path: Path
    source: Mapping[str, bytes] = field(default_factory=dict)

    def __fspath__(self) -> str:
        return str(self.path)

    @classmethod
    def at(cls, out: str | os.PathLike[str]) -> NewRun:
        """Return the place that `out` names."""
        return out if isinstance(out, NewRun) else cls(Path(out))


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
        self._folder = Folder(path)

    @classmethod
    @contextmanager
    def begin(
        cls, out: str | os.PathLike[str], codec: Codec, settings: object, data: object
    ) -> Iterator[Self]:
        """Write settings and data into a new or empty folder, and hold it locked."""
        place = NewRun.at(out)
        refuse_taken(place.path)
        content, arrays = codec.encode(data)
        plain, none = codec.encode({"settings": settings, "data": _fingerprint(content, arrays)})
        run = cls(place.path, codec, _fingerprint(plain, none))
        run._folder.make()
        with run.locked():
            refuse_taken(place.path, ours=True)
            run._write_source(place.source)
            write_record(run._folder, "data", "data", content, arrays, run._run, _LIBRARY)
            write_record(run._folder, "settings", "settings", plain, none, run._run, _LIBRARY)
            yield run

    def _write_source(self, files: Mapping[str, bytes]) -> None:
        """Write the source in the place of one whose run never began."""
        folder = self._folder.inner(SOURCE)
        for name in folder.names():
            folder.remove(name)
        if files:
            folder.make()
        for name, data in files.items():
            folder.write(name, data)

    @classmethod
    def open(cls, path: Path, codec: Codec) -> tuple[Self, Any, Any]:
        """Return the folder of a run, its settings and its data."""
        folder = Folder(path)
        if not has_record(folder, "settings"):
            if is_lock(folder) and not _strange(folder):
                raise InvalidInput(
                    f"{path} holds a run that was stopped before it began: begin it there again."
                )
            raise InvalidInput(
                f"{path} holds no run: ",
                either(
                    "pass the folder that fit(out=...) or save(...) wrote", "name a run's folder"
                ),
                ".",
            )
        folder.refuse_links("checkpoints", "draws")
        record = read_record(folder, "settings", "settings")
        run = cls(path, codec, record.run)
        settings = codec.decode(record.content, record.arrays)
        if not isinstance(settings, dict) or set(settings) != {"settings", "data"}:
            raise DamagedFile(f"{path / 'settings.json'} holds no settings.")
        return run, settings["settings"], run._read(folder, "data", "data")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder as its only writer, wherever it is moved; remove what a killed one left.

        Links in the place of the folders in it are refused before anything is touched.
        """
        with self._folder.opened():
            self._folder.refuse_links(*_INNER)
            with locked(self._folder):
                for folder in (self._folder, *map(self._folder.inner, _INNER)):
                    folder.sweep()
                yield

    def _read(self, folder: Folder, name: str, kind: str) -> Any:
        record = read_record(folder, name, kind, self._run)
        return self._codec.decode(record.content, record.arrays)

    def _write(self, folder: Folder, name: str, kind: str, value: object) -> None:
        write_record(folder, name, kind, *self._codec.encode(value), self._run, _LIBRARY)

    def write_draws(self, draws: Sequence[tuple[int, int, object]]) -> None:
        """Write (chain, sweep, draw), what chains keep after sweeps; at the end all are on disk."""
        folder = self._folder.inner("draws")
        if not draws:
            return
        folder.make()
        with folder.together():
            for chain, sweep, draw in draws:
                self._write(folder, _draw_name(chain, sweep), "draw", draw)

    def read_draw(self, chain: int, sweep: int) -> Any:
        """Return the draw that a chain kept after a sweep, which must say so itself."""
        folder, name = self._folder.inner("draws"), _draw_name(chain, sweep)
        draw = self._read(folder, name, "draw")
        said = getattr(draw, "chain", None), getattr(draw, "sweep", None)
        if {type(number) for number in said} != {int} or said != (chain, sweep):
            raise DamagedFile(f"{folder.path / name} is no draw of that chain and sweep.")
        return draw

    def drop_draws(self, kept: Container[int]) -> None:
        """Let go of the draws of all sweeps but those that are kept."""
        folder = self._folder.inner("draws")
        for name in folder.names():  # manifests come first
            sweep = Path(name).stem.partition("-")[2]
            if sweep.isascii() and sweep.isdecimal() and int(sweep) not in kept:
                folder.remove(name)

    def write_length(self, value: object) -> None:
        """Write how long the run is from now on."""
        self._write(self._folder, "length", "length", value)

    def read_length(self) -> Any:
        """Return how long the run is; None: as it began."""
        if not has_record(self._folder, "length"):
            return None
        return self._read(self._folder, "length", "length")

    def write_checkpoint(self, value: object) -> None:
        """Write the next checkpoint, then let go of all but the last two."""
        folder, numbers = self._folder.inner("checkpoints"), self._numbers()
        latest = (numbers or [0])[-1] + 1
        folder.make()
        self._write(folder, f"{latest:08d}", "checkpoint", value)
        kept = {f"{number:08d}" for number in [*numbers, latest][-_CHECKPOINTS_KEPT:]}
        for name in folder.names():  # manifests come first
            if Path(name).stem.isdigit() and Path(name).stem not in kept:
                folder.remove(name)

    def checkpoints(self) -> Iterator[tuple[Path, Any]]:
        """Yield (path, checkpoint or what is wrong with it), the newest first."""
        folder = self._folder.inner("checkpoints")
        for number in reversed(self._numbers()):
            name = f"{number:08d}"
            try:
                yield folder.path / name, self._read(folder, name, "checkpoint")
            except DamagedFile as error:
                yield folder.path / name, error

    def _numbers(self) -> list[int]:
        found = [Path(name) for name in self._folder.inner("checkpoints").names()]
        names = [path.stem for path in found if path.suffix == ".json"]
        return sorted(int(name) for name in names if name.isascii() and name.isdigit())

    def write_results(self, value: object) -> None:
        """Write the results: the run is finished."""
        self._write(self._folder, "results", "results", value)

    def read_results(self) -> Any:
        """Return the results, or None where the run has not finished."""
        if not has_record(self._folder, "results"):
            return None
        return self._read(self._folder, "results", "results")


def refuse_taken(path: Path, *, ours: bool = False) -> None:
    """Refuse a folder that holds anything but the beginning of a run that never started.

    Who is at work on a run that has not finished is said, unless its lock is `ours`.
    """
    folder = Folder(path)
    if path.exists() and not path.is_dir():
        raise InvalidInput(f"{path} is a file: pass the name of a folder.")
    strange = _strange(folder)  # first: a run that begins meanwhile has its settings by then
    if has_record(folder, "results"):
        raise InvalidInput(
            f"{path} holds a finished run: ",
            either(f"thincrm.load({str(path)!r}) reads it", f"'thincrm report {path}' shows it"),
            "; choose another folder for a new one.",
        )
    if has_record(folder, "settings"):
        if not ours:
            refuse_locked(folder)
        raise InvalidInput(
            f"{path} holds a run that has not finished: ",
            resume_call(path),
            " goes on with it; choose another folder for a new one.",
        )
    if strange:
        raise InvalidInput(
            f"{path} is not empty ({strange[0]}) and holds no run: choose another folder."
        )


def _strange(folder: Folder) -> list[str]:
    """Return what is in the folder but is not of a run that was stopped before it began."""
    found = folder.names()
    if not is_lock(folder):
        return found
    folder.refuse_links(*_INNER)
    source = folder.inner(SOURCE).names() if SOURCE in found else []
    return [
        *(name for name in found if not (name in _BEFORE_SETTINGS or is_leftover(name))),
        *(f"{SOURCE}/{x}" for x in source if not (x in SOURCE_FILES or is_leftover(x))),
    ]


def _draw_name(chain: int, sweep: int) -> str:
    return f"{chain}-{sweep:05d}"


def _fingerprint(content: Json, arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        for part in pieces(array):
            digest.update(part)
    return digest.hexdigest()
