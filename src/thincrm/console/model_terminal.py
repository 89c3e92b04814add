"""What the command line asks of a fitted model, whatever the model.

A model's `command.py` returns its own `ModelTerminal`, which says how results are shown and what
else can be done with a run. What a model does not override is refused in a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeVar

import pandas as pd
from rich.table import Table

from thincrm.console.data_columns import DocumentColumns, TableColumns
from thincrm.console.terminal_tables import MOST_ATOMS, CurveTable
from thincrm.console.voice import Voice
from thincrm.data.covariates import Covariates
from thincrm.errors import InvalidInput

__all__ = ["FittedModel", "ModelTerminal", "RunCommand", "refusal"]


class FittedModel(Protocol):
    """What every fitted estimator has."""

    atoms: ClassVar[str]  # what it finds, in the plural: topics, features
    complete_: bool
    covariates_: Covariates

    def activation(self) -> pd.DataFrame:
        """Return where each atom is open: its number, t, mean, lower, upper."""

    def profiles(self) -> pd.DataFrame:
        """Return what each atom looks like: its number, column, mean, lower, upper."""

    def to_csv(self, folder: Path) -> list[Path]:
        """Write its tables."""

    def nothing_found(self) -> str:
        """Return what is said where no atom is in use."""

    def verdict(self) -> str:
        """Say whether the chains have converged."""

    def save(self, out: Path) -> None:
        """Write it into a new or empty folder."""


M = TypeVar("M", bound=FittedModel)


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A command on a run: its name, where it speaks, the run, and the file it writes."""

    name: str
    voice: Voice
    run: Path
    out: Path


class ModelTerminal(Generic[M]):
    """A model on the command line; the base knows nothing but what every model has."""

    def table(self, model: M) -> Table:
        """Return the atoms: mean probability of being open, curve, largest entries."""
        curves, profiles = model.activation(), model.profiles()
        one = str(curves.columns[0])
        grid = CurveTable(model.covariates_, one, "open", "largest entries")
        open_KT = curves["mean"].to_numpy().reshape(-1, len(model.covariates_.rows))
        for atom, open_T in enumerate(open_KT[:MOST_ATOMS]):
            part = profiles[profiles.iloc[:, 0] == atom]
            top = part.loc[part["mean"].abs().sort_values(ascending=False).index[:4]]
            said = " ".join(f"{r['column']} {r['mean']:.3g}" for _, r in top.iterrows())
            grid.add(atom, f"{100 * open_T @ grid.weight_T:.0f} %", open_T, said)
        return grid.table

    def n_found(self, model: M) -> pd.Series[int]:
        """Return draws of the number of atoms in use."""
        counted: pd.Series[int] = getattr(model, f"n_{model.atoms}_")
        return counted

    def heldout(self, model: M) -> dict[str, float]:
        """Return how well data that the fit held out are predicted; empty: it held out none."""
        return {}

    def texts(self, run: Path, model: M) -> pd.Series[str] | None:
        """Return the texts that the report quotes; None: there are none."""
        return None

    def infer(self, command: RunCommand, model: M, corpus: Path, how: DocumentColumns) -> None:
        """Write what new observations are made of."""
        raise refusal(command.name, model, command.run)

    def date(
        self, command: RunCommand, model: M, corpus: Path, how: DocumentColumns, level: float
    ) -> None:
        """Write the likeliest covariate of new observations."""
        raise refusal(command.name, model, command.run)

    def impute(
        self, command: RunCommand, model: M, table: Path, how: TableColumns, level: float
    ) -> None:
        """Write the missing cells of a table."""
        raise refusal(command.name, model, command.run)

    def evaluate(
        self, command: RunCommand, model: M, again: M, share: float, seed: int
    ) -> dict[str, float]:
        """Fit `again` without a share of the data; return how well they are predicted."""
        raise refusal(command.name, model, command.run)


def refusal(command: str, model: object, run: Path) -> InvalidInput:
    """Return the sentence that a model has no such command."""
    return InvalidInput(
        f"'thincrm {command}' does not work with a {type(model).__name__}, which is what {run} "
        "holds."
    )
