"""Where an experiment's results go: the terminal and a folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, TypeVar

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table

import thincrm
from thincrm.data.writing import write_csv
from thincrm.errors import CannotWrite, InvalidInput
from thincrm.experiments import topic_pictures
from thincrm.files import make_folder
from thincrm.printable import printable

__all__ = ["Desk", "number", "open_table"]

R = TypeVar("R")


class Seeded(Protocol):
    """The settings of an experiment, as far as all have them."""

    @property
    def seed(self) -> int:
        """Return the seed."""


class Desk:
    """Where one experiment's results go: the terminal and a folder."""

    def __init__(self, settings: Seeded, out: Path, name: str) -> None:
        self.settings, self.out, self.name = settings, out, name
        self._start = time.monotonic()
        self._console, self._errors = Console(), Console(stderr=True)
        try:
            make_folder(out)
        except CannotWrite as error:
            raise InvalidInput(str(error)) from error
        if not os.access(out, os.W_OK):
            raise InvalidInput(f"The folder {out} cannot be written to: choose another.")

    def say(self, what: RenderableType) -> None:
        """Print a table, or a sentence as it is."""
        said = printable(what) if isinstance(what, str) else what
        self._console.print(said, markup=False, highlight=False, soft_wrap=isinstance(what, str))

    def state(self, how: str) -> None:
        """Print how the experiment was run, and how long it took."""
        self.say(
            f"{how}; seed {self.settings.seed}; thincrm {thincrm.__version__}; "
            f"{time.monotonic() - self._start:.0f} s in all."
        )

    def report(
        self, unit: str, n_units: int, what: str, value: str, form: str
    ) -> Callable[[pd.DataFrame], None]:
        """Return what is to be done after each row: say it, and keep the rows so far.

        Time left is told once a whole unit (a split, a fold, a seed) has shown what one takes.
        """

        def after(rows: pd.DataFrame) -> None:
            last = rows.iloc[-1]
            name = last[what] if isinstance(last[what], str) else f"{what} {last[what]:.0f}"
            left = self._left(rows, unit, n_units)
            self._errors.print(
                f"{unit} {rows[unit].nunique()} of {n_units}: {name}, "
                f"{value} {last[value]:{form}}, {last['seconds']:.0f} s{left}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
            write_csv(rows, self._path(f"{unit}s.csv"))

        return after

    def _left(self, rows: pd.DataFrame, unit: str, n_units: int) -> str:
        spent = rows.groupby(unit, sort=False)["seconds"].sum()
        left = n_units * spent.iloc[:-1].mean() - spent.sum()
        return f"; about {left:.0f} s left" if left > 0 else ""

    def _path(self, ending: str) -> Path:
        return self.out / f"{self.name}_{ending}"

    def before(self, name: str) -> pd.DataFrame | None:
        """Return a table that an earlier run has left in the folder, if it can be read."""
        try:
            return pd.read_csv(self._path(f"{name}.csv"))
        except (OSError, ValueError):
            return None

    def write(self, tables: dict[str, pd.DataFrame]) -> None:
        """Write each table as a CSV file."""
        for name, table in tables.items():
            path = self._path(f"{name}.csv")
            write_csv(table, path)
            self.say(f"{path} written")

    def draw(self, draw: Callable[[ModuleType, R], Any], results: R) -> None:
        """Save the picture, or say why there is none."""
        path = self.out / f"{self.name}.png"
        if topic_pictures.save(draw, results, path):
            self.say(f"{path} written")
        else:
            self.say(
                "matplotlib is not installed, so there is no picture: pip install 'thincrm[plot]'."
            )


def open_table(title: str, first: str) -> Table:
    """Return a table without rows, its first column named."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    table.add_column(first, no_wrap=True)
    return table


def number(value: float, form: str, spread: float = float("nan")) -> str:
    """Return a number as it is shown, with its spread if it has one; nothing for NaN."""
    if pd.isna(value):
        return ""
    return f"{value:{form}}" if pd.isna(spread) else f"{value:{form}} ± {spread:{form}}"
