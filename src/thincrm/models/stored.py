"""What every estimator does with files: fit(out=...), save, load, resume."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from thincrm.data.covariates import Covariates
from thincrm.errors import (
    DamagedFile,
    InvalidInput,
    Sentence,
    ThincrmError,
    check_count,
    check_positive,
    resume_call,
)
from thincrm.files.checks import is_count, need
from thincrm.files.run import RunFolder
from thincrm.inference.dask_cluster import Client
from thincrm.inference.run_log import (
    ChainState,
    RunLog,
    how_far,
    length_of,
    read_checkpoint,
    rows_of,
    up_to,
)
from thincrm.inference.schedule import Length, Schedule
from thincrm.models.codec import codec
from thincrm.models.file_checks import check_covariates, check_like, check_params
from thincrm.numerics.waiting import telling
from thincrm.ports import Engine, Problem
from thincrm.printable import printable

__all__ = ["StoredModel"]

_MOST_MISSING = 1000  # draws: a manifest may claim any number of them
Row = dict[str, float]
Kept = Sequence[Any]  # of each chain, the sweeps whose draws there are


class StoredModel:
    """An estimator that can be kept in a folder.

    A model says what its data are (`_pack_data`), how to take them up again (`_unpack_data`) and
    what must hold of its draws and states (`_check_draw`, `_check_state`; by default, what holds of
    those it makes itself).
    """

    stores: ClassVar[tuple[type, ...]] = ()  # classes of its own that its files may hold
    likelihoods: ClassVar[tuple[type, ...]] = ()  # that the parameter of that name may be

    draws_: list[Any]
    trace_: pd.DataFrame
    covariates_: Covariates
    thinning_: Any
    prepared_: Any
    complete_: bool
    quiet: bool
    seed_: int
    _length: Length | None = None  # of the run, where that is not how it began

    @abstractmethod
    def _pack_data(self) -> dict[str, Any]:
        """Return the data: arrays and plain values by name."""

    @abstractmethod
    def _unpack_data(self, data: dict[str, Any]) -> int:
        """Check and remember what `_pack_data` returned; return the number of observations."""

    @abstractmethod
    def _schedule(self) -> Schedule:
        """Return how long a run of this model is."""

    @abstractmethod
    def _problem(self, engine: Engine | None = None) -> Problem[Any, Any]:
        """Return the sampler's problem."""

    @abstractmethod
    def _factors(self) -> Any:
        """Return the checked factors."""

    @abstractmethod
    def _known(self) -> Covariates:
        """Return the covariates that the thinning function sees."""

    @abstractmethod
    def _engine(self, client: Client | None) -> Engine:
        """Return what chains run on: the client's cluster, or this machine."""

    @abstractmethod
    def _sample(self, log: RunLog, engine: Engine, minutes: float | None, more: bool) -> None:
        """Run what is left of the chains, and adopt the draws.

        minutes: how long at most; more: go on beyond the end until they are over.
        """

    @abstractmethod
    def _adopt(self, draws: list[Any], trace: list[Row]) -> None:
        """Become the fitted model of these draws."""

    def _check_draw(self, draw: object) -> None:
        """Refuse a draw that is not like those this model makes."""
        check_like(self._example()[1], draw, "a draw")

    def _check_state(self, place: ChainState) -> None:
        """Refuse a state that is not like those this model makes."""
        check_like(self._example()[0], place.state, "the state")

    def _example(self) -> tuple[Any, Any]:
        """Return a state and a draw of this model, made once, to compare others with."""
        if not hasattr(self, "_made"):
            problem = self._problem()
            state = problem.likelihood.start(np.random.default_rng(0), problem)
            self._made = state, problem.likelihood.keep(problem, state, 0, 0)
        return self._made

    # -- packing -----------------------------------------------------------------------------------

    def _pack_params(self) -> dict[str, Any]:
        """Return the parameters, as files hold them."""
        params: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        params["random_state"] = self.seed_
        return params

    @classmethod
    def _unpack_params(cls, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters to make the model with."""
        return params

    def _pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return settings (small) and data: all but draws and trace."""
        params = self._pack_params()
        settings = {"model": type(self).__name__, "params": params, "seed": self.seed_}
        packed = self.thinning_.pack(self.prepared_)
        return settings, {
            "covariates": self.covariates_,
            "prepared": packed,
            **self._pack_data(),
        }

    @classmethod
    def _unpack(cls, settings: dict[str, Any], data: dict[str, Any]) -> Self:
        """Return the model, checked, as it was before its first sweep."""
        need(set(settings) == {"model", "params", "seed"}, "the settings")
        need({"covariates", "prepared"} <= set(data), "the data")
        params = check_params(settings["params"], cls.likelihoods)
        model = cls(**cls._unpack_params(params))
        need(set(params) == set(model.get_params(deep=False)), "the settings")  # type: ignore[attr-defined]
        need(is_count(settings["seed"]), "the seed")
        model.seed_ = settings["seed"]
        own = {name: part for name, part in data.items() if name not in ("covariates", "prepared")}
        n_rows = model._unpack_data(own)
        model.covariates_ = check_covariates(data["covariates"], n_rows)
        model._schedule()
        model.thinning_ = model._factors().thinning
        model.prepared_ = model.thinning_.unpack(data["prepared"], model._known())
        return model

    # -- folders -----------------------------------------------------------------------------------

    def save(self, out: str | PathLike[str]) -> None:
        """Write the fitted model into a new or empty folder; `thincrm.load` reads it."""
        check_is_fitted(self)
        table = self.trace_.reset_index()
        trace = rows_of({str(name): part.to_numpy() for name, part in table.items()})
        with self._run_log(out) as log:
            log.copy(self.draws_, trace, complete=self.complete_)

    @contextmanager
    def _run_log(self, out: str | PathLike[str] | None) -> Iterator[RunLog]:
        """Hold the log of a new run; without a folder it stays in memory."""
        if out is None:
            yield RunLog(self._schedule())
            return
        with ExitStack() as held:
            with telling("writing the data into the run's folder", quiet=bool(self.quiet)):
                run = RunFolder.begin(out, codec(type(self)), *self._pack())
                folder = held.enter_context(run)
            yield RunLog(self._schedule(), folder)

    @classmethod
    def _from_files(cls, path: Path, settings: dict[str, Any], data: dict[str, Any]) -> Self:
        """Return the unpacked model; whatever goes wrong is the file's fault."""
        with blaming(path):
            return cls._unpack(settings, data)

    def _load(self, folder: RunFolder) -> None:
        """Take up what the folder has: all of it, or what there is so far."""
        self._read_length(folder)
        found = self._results(folder)
        if found is None:
            found = self._so_far(folder)
        kept_C, rows, self.complete_ = found
        draws, n_missing = [], 0
        for draw in self._draws(folder, kept_C):
            if not isinstance(draw, DamagedFile):
                draws.append(draw)
                continue
            warnings.warn(f"{draw} This draw is left out.", stacklevel=3)
            n_missing += 1
            if n_missing > _MOST_MISSING:
                break
        self._take(folder, draws, rows)

    def _read_length(self, folder: RunFolder) -> None:
        """Remember how long the run is by now."""
        found = folder.read_length()
        if found is not None:
            with blaming(folder.path):
                length = length_of(found)
                self._schedule().until(length.longest).until(length.end)
            self._length = length

    def _draws(self, folder: RunFolder, kept_C: Kept) -> Iterator[Any]:
        """Yield each draw, or what is wrong with it."""
        for chain, sweep in ((c, int(sweep)) for c, kept in enumerate(kept_C) for sweep in kept):
            try:
                draw = folder.read_draw(chain, sweep)
                with blaming(folder.path):
                    self._check_draw(draw)
            except DamagedFile as error:
                yield error
            else:
                yield draw

    def _take(self, folder: RunFolder, draws: list[Any], rows: list[Row]) -> None:
        if not draws:
            raise InvalidInput(
                f"{folder.path} has no draws yet: ",
                resume_call(folder.path),
                " goes on with the run.",
            )
        if not rows:
            raise DamagedFile(f"{folder.path} has draws but no trace of the sweeps they are from.")
        with blaming(folder.path):
            self._adopt(draws, rows)

    def _results(self, folder: RunFolder) -> tuple[Kept, list[Row], bool] | None:
        try:
            found = folder.read_results()
            if found is None:
                return None
            keys, schedule = {"kept", "length", "trace", "complete"}, self._schedule()
            if not (
                isinstance(found, dict)
                and set(found) == keys
                and isinstance(found["kept"], list)
                and len(found["kept"]) == schedule.n_chains
                and all(_are_sweeps(sweeps) for sweeps in found["kept"])
            ):
                raise DamagedFile(f"{folder.path / 'results.json'} holds no results.")
            if length_of(found["length"])[:2] != (schedule.longest, schedule.end):
                return None  # of before the run was made longer or shorter
            if not all(int(s) in schedule.kept for sweeps in found["kept"] for s in sweeps):
                raise DamagedFile(f"{folder.path / 'results.json'} holds no results.")
            rows = rows_of(found["trace"])
            if not all(row["chain"] in range(schedule.n_chains) for row in rows):
                raise DamagedFile(f"{folder.path / 'results.json'} has a trace of other chains.")
            return found["kept"], rows, found["complete"] is True
        except DamagedFile as error:
            warnings.warn(f"{error} Looking for a checkpoint instead.", stacklevel=4)
            return None

    def _so_far(self, folder: RunFolder) -> tuple[Kept, list[Row], bool]:
        schedule = self._schedule()
        for _, found in folder.checkpoints():
            try:
                places, rows = read_checkpoint(found, schedule)
            except DamagedFile as error:
                warnings.warn(f"{error} Looking at the one before.", stacklevel=4)
                continue
            done = all(place.sweep >= schedule.end for place in places)
            kept_C = [up_to(place.sweep, schedule) for place in places]
            n_draws = sum(map(len, kept_C))
            if n_draws and not done:
                warnings.warn(
                    Sentence(
                        f"The run in {printable(str(folder.path))} has not finished: "
                        f"{n_draws} draws, "
                        f"{how_far([place.sweep for place in places], schedule)}. ",
                        resume_call(folder.path),
                        " goes on with it.",
                    ),
                    stacklevel=4,
                )
            return kept_C, [row for row in rows if row["sweep"] <= schedule.end], done
        return [], [], False

    def _resume(
        self,
        folder: RunFolder,
        client: Client | None = None,
        n_sweeps: int | Literal["auto"] | None = None,
        minutes: float | None = None,
    ) -> None:
        """Go on where the folder's run stopped; of a finished one, make again what was lost."""
        if minutes is not None:
            check_positive("minutes", minutes)
        engine = self._engine(client)
        with folder.locked():
            opening = partial(telling, f"opening {folder.path}", quiet=bool(self.quiet))
            with opening():
                self._read_length(folder)
                found = self._results(folder)
                draws = None if found is None else self._all_draws(folder, found[0], found[2])
            now = self._schedule()
            planned = _planned(now, n_sweeps, more=draws is not None and minutes is not None)
            if found is None or draws is None or planned.length != now.length:
                with opening():
                    log = RunLog.reopen(planned, folder, self._check_state, self._check_draw)
                if planned.length != now.length:
                    log.plan(planned)
                more = draws is not None and n_sweeps is None
                self._sample(log, engine, minutes, more)
                return
        self.complete_ = True
        self._take(folder, draws, found[1])

    def _all_draws(self, folder: RunFolder, kept_C: Kept, complete: bool) -> list[Any] | None:
        """Return the draws of a finished run; None, if one of them is damaged."""
        if not complete:
            raise InvalidInput(
                f"{folder.path} holds a model saved before its run had finished: resume the run."
            )
        draws = []
        for draw in self._draws(folder, kept_C):
            if isinstance(draw, DamagedFile):
                warnings.warn(f"{draw} The run is made again from before it.", stacklevel=5)
                return None
            draws.append(draw)
        return draws


def _planned(now: Schedule, n_sweeps: int | str | None, *, more: bool) -> Schedule:
    """Return how long a run is to be from now on.

    more: it has ended, and goes on as long as there is time.
    """
    if n_sweeps == "auto":
        return now.until(now.longest, auto=True)
    if n_sweeps is not None:
        return now.until(check_count("n_sweeps", n_sweeps))
    if not more:
        return now
    if now.end < now.longest:
        return now.until(now.longest, auto=now.auto)
    return now.longer() or now


def _are_sweeps(found: object) -> bool:
    return isinstance(found, np.ndarray) and found.ndim == 1 and found.dtype == np.int64


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
