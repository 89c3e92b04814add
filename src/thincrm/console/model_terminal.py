"""What the command line asks of a fitted model, whatever the model.

A model's `command.py` returns its own `ModelTerminal`, which says how results are shown and what
else can be done with a run. What a model does not override is refused in a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import pandas as pd
from rich.table import Table

from thincrm.console.data_columns import DocumentColumns, TableColumns
from thincrm.console.voice import Voice
from thincrm.errors import InvalidInput

__all__ = ["FittedModel", "ModelTerminal", "RunCommand", "refusal"]


class FittedModel(Protocol):
    """What every fitted estimator has."""

    complete_: bool

    def to_csv(self, folder: Path) -> list[Path]:
        """Write its tables."""

    def verdict(self) -> str:
        """Say whether the chains have converged."""


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

    noun: str = ""  # what is found, in the plural: topics, features

    def table(self, model: M) -> Table | None:
        """Return what was found, to be printed; None: nothing."""
        return None

    def n_found(self, model: M) -> pd.Series[int] | None:
        """Return draws of the number of what was found; None: it is not counted."""
        return None

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
