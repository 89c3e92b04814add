"""What every estimator does with files: fit(out=...), save, load, resume."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thincrm.errors import DamagedFile, InvalidInput, ThincrmError
from thincrm.estimators.codec import CODEC
from thincrm.estimators.journal import Journal, Length, is_count, read_checkpoint, rows_of
from thincrm.files.run import RunFolder
from thincrm.gibbs.chains import Standing

__all__ = ["StoredModel"]

_MOST_MISSING = 1000  # draws: a manifest may claim any number of them


class StoredModel:
    """An estimator that can be kept in a folder.

    A model says what it is made of (`_pack`), how to build it from that (`_unpack`), what must
    hold of its draws and states (`_check_draw`, `_check_standing`), how to go on (`_sample`) and
    how to take up draws (`_adopt`).
    """

    draws_: list[Any]
    complete_: bool
    quiet: bool

    @abstractmethod
    def _pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return settings (small) and data: all but draws and trace."""

    @classmethod
    @abstractmethod
    def _unpack(cls, settings: dict[str, Any], data: dict[str, Any]) -> Self:
        """Return the model, checked, as it was before its first sweep."""

    @abstractmethod
    def _check_draw(self, draw: Any) -> None:
        """Refuse a draw that is not one of this model."""

    @abstractmethod
    def _check_standing(self, standing: Standing) -> None:
        """Refuse a standing from which this model cannot go on."""

    @abstractmethod
    def _length(self) -> Length:
        """Return how long a run of this model is."""

    @abstractmethod
    def _sample(self, journal: Journal) -> None:
        """Run what is left of the chains, and adopt the draws."""

    @abstractmethod
    def _adopt(self, draws: list[Any], trace: list[dict[str, float]]) -> None:
        """Become the fitted model of these draws."""

    @abstractmethod
    def _trace(self) -> list[dict[str, float]]:
        """Return the trace that was adopted."""

    def save(self, out: str | PathLike[str]) -> None:
        """Write the fitted model into a new or empty folder; `thincrm.load` reads it."""
        check_is_fitted(self)
        with self._journal(out) as journal:
            journal.copy(self.draws_, self._trace(), complete=self.complete_)

    @contextmanager
    def _journal(self, out: str | PathLike[str] | None) -> Iterator[Journal]:
        """Hold the journal of a new run; without a folder it stays in memory."""
        if out is None:
            yield Journal()
            return
        with RunFolder.begin(out, CODEC, *self._pack()) as folder:
            yield Journal(folder)

    @classmethod
    def _read(cls, path: Path, settings: Any, data: Any) -> Self:
        """Return the unpacked model; whatever goes wrong is the file's fault."""
        with blaming(path):
            return cls._unpack(settings, data)

    def _load(self, folder: RunFolder) -> None:
        """Take up what the folder has: all of it, or what there is so far."""
        found = self._results(folder)
        if found is None:
            found = self._so_far(folder)
        n_draws, rows, self.complete_ = found
        draws, n_missing = [], 0
        for draw in self._draws(folder, n_draws):
            if not isinstance(draw, DamagedFile):
                draws.append(draw)
                continue
            warnings.warn(f"{draw} This draw is left out.", stacklevel=3)
            n_missing += 1
            if n_missing > _MOST_MISSING:
                break
        self._take(folder, draws, rows)

    def _draws(self, folder: RunFolder, n_draws: int) -> Iterator[Any]:
        """Yield each draw, or what is wrong with it."""
        for number in range(n_draws):
            try:
                draw = folder.read_draw(number)
                with blaming(folder.path):
                    self._check_draw(draw)
            except DamagedFile as error:
                yield error
            else:
                yield draw

    def _take(self, folder: RunFolder, draws: list[Any], rows: list[dict[str, float]]) -> None:
        if not draws:
            raise InvalidInput(
                f"{folder.path} has no draws yet: thincrm.resume({str(folder.path)!r}) goes on "
                "with the run."
            )
        if not rows:
            raise DamagedFile(f"{folder.path} has draws but no trace of the sweeps they are from.")
        with blaming(folder.path):
            self._adopt(draws, rows)

    def _results(self, folder: RunFolder) -> tuple[int, list[dict[str, float]], bool] | None:
        try:
            found = folder.read_results()
            if found is None:
                return None
            keys = {"n_draws", "trace", "complete"}
            if not (isinstance(found, dict) and set(found) == keys and is_count(found["n_draws"])):
                raise DamagedFile(f"{folder.path / 'results.json'} holds no results.")
            return found["n_draws"], rows_of(found["trace"]), found["complete"] is True
        except DamagedFile as error:
            warnings.warn(f"{error} Looking for a checkpoint instead.", stacklevel=4)
            return None

    def _so_far(self, folder: RunFolder) -> tuple[int, list[dict[str, float]], bool]:
        length = self._length()
        for _, found in folder.checkpoints():
            try:
                standing, n_draws, rows = read_checkpoint(found)
            except DamagedFile as error:
                warnings.warn(f"{error} Looking at the one before.", stacklevel=4)
                continue
            done = len(rows) >= length.n_sweeps * length.n_chains
            if n_draws and not done:
                warnings.warn(
                    f"The run in {folder.path} has not finished: {n_draws} draws, up to sweep "
                    f"{standing.sweep} of {length.n_sweeps} of chain {standing.chain + 1} of "
                    f"{length.n_chains}. thincrm.resume({str(folder.path)!r}) goes on with it.",
                    stacklevel=4,
                )
            return n_draws, rows, done
        return 0, [], False

    def _resume(self, folder: RunFolder) -> None:
        """Go on where the folder's run stopped; of a finished one, make again what was lost."""
        with folder.locked():
            found = self._results(folder)
            draws = None if found is None else self._all_draws(folder, *found)
            if found is None or draws is None:
                self._sample(Journal.reopen(folder, self._check_standing, self._check_draw))
                return
        self.complete_ = True
        self._take(folder, draws, found[1])

    def _all_draws(
        self, folder: RunFolder, n_draws: int, _: list[dict[str, float]], complete: bool
    ) -> list[Any] | None:
        """Return the draws of a finished run; None, if one of them is damaged."""
        if not complete:
            raise InvalidInput(
                f"{folder.path} holds a model saved before its run had finished: resume the run."
            )
        draws = []
        for draw in self._draws(folder, n_draws):
            if isinstance(draw, DamagedFile):
                warnings.warn(f"{draw} The run is made again from before it.", stacklevel=5)
                return None
            draws.append(draw)
        return draws


@contextmanager
def blaming(path: Path) -> Iterator[None]:
    """Turn whatever a hostile file brings about into one sentence on that file."""
    try:
        with np.errstate(all="ignore"):
            yield
    except DamagedFile:
        raise
    except ThincrmError as error:
        raise DamagedFile(f"{path} holds a model that cannot be: {error!s:.200}") from error
    except (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as e:
        raise DamagedFile(f"{path} holds values that thincrm did not write.") from e
