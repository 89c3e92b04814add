"""Model: what every estimator has, given its likelihood.

A model reads its data, chooses its factors and says what its draws look like. Everything else is
here: fitting with or without a folder, going on, saving and loading, activation tables,
diagnostics, exports, a plain report.
"""

from __future__ import annotations

import math
import os
import sys
import time
import warnings
from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from thincrm.data.covariates import CovariateLike, Covariates, covariates
from thincrm.data.notes import note_many_values, note_one_value
from thincrm.data.rounding import rounded
from thincrm.errors import InvalidInput, Sentence, check_count, check_positive, either
from thincrm.inference.convergence import shown_rhat
from thincrm.inference.dask_cluster import Client
from thincrm.inference.diagnostics import FEWEST_INDEPENDENT, Diagnostics
from thincrm.inference.driver import Limit, Watch, run_chains
from thincrm.inference.engine import Threads
from thincrm.inference.run_log import RunLog
from thincrm.inference.schedule import Length, Schedule
from thincrm.models.arviz_groups import gather, plain_groups
from thincrm.models.atom_tables import AtomTables, flat, scalar, write_tables
from thincrm.models.reported import Reported
from thincrm.models.seeds import RandomState, seed_of
from thincrm.models.stored import StoredModel
from thincrm.numerics.arrays import Float
from thincrm.numerics.waiting import telling
from thincrm.ports import Engine, LevyMeasure, Likelihood, Problem
from thincrm.thinning.member import ThinningFunction

__all__ = ["Factors", "Model", "Parts"]

Third = TypeVar("Third", bound=Likelihood[Any, Any, Any, Any])
_FIRST_SWEEPS = 300  # of a run that goes on by itself, before its verdict is asked for


class Factors(NamedTuple, Generic[Third]):
    """The checked factors of a model, and its truncation."""

    levy: LevyMeasure
    thinning: ThinningFunction
    likelihood: Third
    n_atoms: int
    n_background: int = 0


class Parts(NamedTuple):
    """The data of a model in shards, and the facts its likelihood needs of all of them."""

    shards: tuple[Any, ...]
    facts: object = None


class Model(StoredModel, Diagnostics, Reported, BaseEstimator):  # type: ignore[misc]
    """An estimator: a likelihood, and how its data are read.

    A model of one's own writes `__init__` (with levy, thinning, n_sweeps, n_draws, n_chains, learn,
    random_state, n_threads, quiet and max_{atoms} among its parameters), `_read`, `_factors`,
    `_parts`, `_pack_data` and `_unpack_data`; its draws have chain, sweep, x, log_mass, scalars,
    `sizes` (K,) and `profiles` (K, P), by which atoms are matched across draws.
    """

    atoms: ClassVar[str] = "atoms"  # what it finds, in the plural
    unit: ClassVar[str] = "rows"  # what its observations are called

    n_sweeps: int | Literal["auto"]
    n_draws: int
    n_chains: int | Literal["auto"]
    random_state: RandomState
    n_threads: int | None
    learn: bool
    max_rows: int | None = 300

    covariates_: Covariates
    draws_: list[Any]
    trace_: pd.DataFrame
    seed_: int

    # -- what a model writes -----------------------------------------------------------------------

    @abstractmethod
    def _read(self, X: Any) -> int:
        """Check the data, remember them, and return how many observations there are."""

    @abstractmethod
    def _factors(self) -> Factors[Any]:
        """Return the checked factors, or a sentence on why they do not fit together."""

    @abstractmethod
    def _parts(self, known: Covariates) -> Parts:
        """Return the data in shards; `known` has the covariate rows of observations."""

    # -- fitting -----------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: object = None,
        *,
        t: CovariateLike | None = None,
        out: str | os.PathLike[str] | None = None,
        client: Client | None = None,
        minutes: float | None = None,
    ) -> Self:
        """Fit to observations X with covariates t (numbers or dates).

        out: a new folder for the run; whatever ends the run, `thincrm.resume(out)` goes on with it,
        bit for bit. None: nothing is written. client: a dask.distributed.Client, to run on its
        cluster, with the same bits; None: on this machine. minutes: the run ends after so long at
        most, though not before every chain has kept a draw; None: whenever it is done.
        """
        n_rows = self._read(X)
        self.covariates_ = self._covariates(t, n_rows)
        self.seed_ = seed_of(self.random_state)
        self._start(out, client, minutes)
        return self

    def _start(
        self,
        out: str | os.PathLike[str] | None,
        client: Client | None = None,
        minutes: float | None = None,
    ) -> None:
        """Run the chains of a new fit: data and covariates are known."""
        self._length = None
        self._schedule()
        if minutes is not None:
            check_positive("minutes", minutes)
        engine = self._engine(client)
        self.thinning_ = self._factors().thinning
        with telling("preparing the covariates", quiet=bool(self.quiet)):
            self.prepared_ = self.thinning_.prepare(self._known())
        with self._run_log(out) as log:
            self._sample(log, engine, minutes)

    def _schedule(self) -> Schedule:
        first = _FIRST_SWEEPS if self.n_sweeps == "auto" else check_count("n_sweeps", self.n_sweeps)
        length = self._length
        if length is None and self.n_sweeps == "auto":
            length = Length(first, first, auto=True)
        return Schedule(
            first,
            check_count("n_draws", self.n_draws),
            self._chains(),
            self.seed_,
            self.atoms,
            getattr(self, f"max_{self.atoms}") == "grow",
            bool(self.quiet),
            length,
        )

    def _chains(self) -> int:
        """Return how many chains there are; a model may choose, given its data."""
        return check_count("n_chains", self.n_chains)

    def _covariates(self, t: CovariateLike | None, n_rows: int) -> Covariates:
        given, varies = t is not None, getattr(self.thinning, "varies", True)
        if t is None:
            if varies:
                warnings.warn(
                    Sentence(
                        "No covariate",
                        either(" t", ""),
                        f" was given: all {self.unit} share one, so {self.atoms} cannot come and "
                        "go. ",
                        either(
                            "Pass t=, or thinning=Always() to say so",
                            "Say --thinning always if that is meant",
                        ),
                        ".",
                    ),
                    stacklevel=4,
                )
            t = np.zeros(n_rows)
        known = covariates(t)
        if known.row.size != n_rows:
            raise InvalidInput(
                f"X and t have inconsistent numbers of samples: [{n_rows}, {known.row.size}]."
            )
        if given and varies:
            note_one_value(known, self.unit, self.atoms)
        fewer = self._fewer_rows(known)
        note_many_values(fewer)
        return fewer

    def _fewer_rows(self, known: Covariates) -> Covariates:
        """Return covariates with at most `max_rows` rows, and say so."""
        most = None if self.max_rows is None else check_count("max_rows", self.max_rows)
        fewer = rounded(known, most)
        if fewer is not known and not self.quiet:
            sys.stderr.write(
                f"{len(known.rows):,} distinct covariates: curves are followed at "
                f"{len(fewer.rows):,} of them (max_rows); every one of the {self.unit} keeps its "
                "own.\n"
            )
        return fewer

    def _known(self) -> Covariates:
        """Return the covariates that the thinning function sees: one row if it ignores them."""
        known = self.covariates_
        return known if self.thinning_.varies else covariates(np.zeros(known.row.size))

    def _engine(self, client: Client | None) -> Engine:
        if client is None:
            return Threads(self.n_threads)
        from thincrm.inference.dask_engine import DaskEngine  # noqa: PLC0415 - an extra

        return DaskEngine(client, self.n_threads)

    def _problem(self, engine: Engine | None = None) -> Problem[Any, Any]:
        levy, thinning, likelihood, n_atoms, n_background = self._factors()
        known = self._known()
        parts = self._parts(known)
        return Problem(
            levy=levy,
            thinning=thinning,
            likelihood=likelihood,
            prepared=self.prepared_,
            shards=parts.shards,
            trials=known.trials,
            n_atoms=n_atoms,
            engine=self._engine(None) if engine is None else engine,
            n_background=n_background,
            learn_levy=bool(self.learn),
            facts=parts.facts,
        )

    def _watch(self, log: RunLog) -> Watch:
        """Return what tells, beside the progress, of each kept draw; None: nothing does."""
        return None

    def _sample(
        self, log: RunLog, engine: Engine, minutes: float | None = None, more: bool = False
    ) -> None:
        seconds = math.inf if minutes is None else 60.0 * minutes
        limit = Limit(time.monotonic() + seconds)
        if log.schedule.auto:
            limit = limit._replace(unsettled=lambda: self._unsettled(log))
        elif more:
            limit = limit._replace(unsettled=lambda: "until the time is up")
        with telling("laying out the data", quiet=bool(self.quiet)):
            problem = self._problem(engine)
        with problem.engine.running():
            run_chains(problem, log, self._watch(log), limit)
        self._length = log.schedule.length
        self.complete_ = not log.stopped
        self._adopt(log.draws, log.trace)

    def _unsettled(self, log: RunLog) -> str | None:
        """Return why the run must go on, and for how long as it seems; None: it need not."""
        self._adopt(log.draws, log.trace)
        verdict = self.verdict()
        if verdict.enough:
            return None
        if not verdict.worth > 0.0:
            return "too few draws to judge"
        if verdict.missing:
            return verdict.missing
        needed = float(f"{log.schedule.end * FEWEST_INDEPENDENT / verdict.worth:.2g}")
        many = f"some {needed:,.0f} sweeps of each chain needed"
        return f"R-hat {shown_rhat(verdict.rhat)} so far, {many}"

    @property
    def n_sweeps_(self) -> int:
        """Return how many sweeps each chain made; of chains that were stopped, the longest."""
        check_is_fitted(self)
        return int(self.trace_.index.get_level_values("sweep").max())

    def _adopt(self, draws: list[Any], trace: list[dict[str, float]]) -> None:
        """Become the fitted model of these draws."""
        self.draws_ = draws
        self.trace_ = pd.DataFrame(trace).set_index(["chain", "sweep"])
        setattr(self, f"n_{self.atoms}_", scalar(draws, f"n_{self.atoms}"))

    # -- results -----------------------------------------------------------------------------------

    def activation(self, t: CovariateLike | None = None, level: float = 0.9) -> pd.DataFrame:
        """Return each atom's probability of being open, with bands, at t (None: as fitted)."""
        check_is_fitted(self)
        rows = self.covariates_.rows if t is None else self.covariates_.encode(t)
        return AtomTables(self.draws_, self.atoms).activation(
            self.covariates_, rows, level, self._log_odds
        )

    def profiles(self, level: float = 0.9) -> pd.DataFrame:
        """Return what each atom looks like, with bands: atom, column, mean, lower, upper."""
        check_is_fitted(self)
        return AtomTables(self.draws_, self.atoms).profiles(level)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table the model gives, by name, index as columns."""
        check_is_fitted(self)
        found = {
            self.atoms: self.profiles(),
            "activation": self.activation(),
            "diagnostics": self.diagnostics(),
            "trace": self.trace_,
        }
        return {name: flat(table) for name, table in found.items()}

    def to_csv(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write every table to `folder` (made if need be), NAME.csv each; return the files."""
        with telling("making tables", quiet=bool(self.quiet)):
            return write_tables(self.tables(), folder)

    def to_arviz(self, *, n_times: int = 50) -> Any:
        """Return draws for ArviZ: an xarray DataTree (ArviZ 1 or newer) or InferenceData.

        posterior: label-free scalars, activation (chain, draw, t, atom) and profile (chain, draw,
        column, atom) of atoms matched across draws (NaN: a draw without it). n_times: the t
        dimension holds at most so many of the fit's covariates, evenly spread.
        """
        check_is_fitted(self)
        tables = AtomTables(self.draws_, self.atoms)
        return gather(plain_groups(tables, self.covariates_, self._log_odds, n_times))

    def _log_odds(self, draw: Any, rows: Float) -> Float:
        """Return the (N, K) log odds of a draw's thinned atoms at encoded covariate rows."""
        labels = self.covariates_.labels(rows)
        at = rows if isinstance(labels, pd.MultiIndex) else labels
        if not self.thinning_.varies:
            at = np.zeros(len(rows))
        return np.asarray(self.thinning_.log_odds(draw.x, self.prepared_, at))
