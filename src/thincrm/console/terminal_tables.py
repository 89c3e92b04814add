"""Tables in the terminal: a row per topic or feature, with a small curve; results of a command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from thincrm.console.voice import Voice, say_skipped
from thincrm.data.covariates import Covariates
from thincrm.numerics.arrays import Float
from thincrm.printable import printable

__all__ = [
    "MOST_ATOMS",
    "MOST_SHOWN",
    "CurveTable",
    "curve",
    "plain_table",
    "say_written",
    "value_text",
]

MOST_ATOMS, MOST_SHOWN = 25, 10  # topics or features; rows of a result
_BLOCKS = " ▁▂▃▄▅▆▇█"
_WIDTH = 24
_WIDE = 100  # columns of a terminal; in a narrower one curves leave half of their room to words


class CurveTable:
    """A row per atom: number, share, peak and curve (if there is one covariate), and words.

    found: the title of a column on where an atom was found; None: there is none.
    """

    def __init__(
        self, known: Covariates, one: str, share: str, last: str, found: str | None = None
    ) -> None:
        self.known = known
        self.weight_T: Float = np.asarray(known.trials / known.trials.sum())
        self.has_curves = known.rows.shape[1] == 1 and len(known.rows) > 1
        self._width = _WIDTH if Console().width >= _WIDE else _WIDTH // 2
        self.table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        self.table.add_column(one, justify="right", no_wrap=True)
        self.table.add_column(share, justify="right", no_wrap=True, min_width=6)
        if self.has_curves:
            start, stop = _ends(known)
            self.table.add_column("peak", justify="right", no_wrap=True, min_width=5)
            self._width = max(self._width, len(start) + 1 + len(stop))
            gap = " " * (self._width - len(start) - len(stop))
            self.table.add_column(f"{start}{gap}{stop}", no_wrap=True, min_width=self._width)
        if found is not None:
            self.table.add_column(found, justify="right", no_wrap=True)
        self.table.add_column(last)  # the one that gives way in a narrow terminal

    def add(self, atom: int, share: str, open_T: Float, words: str, *found: str) -> None:
        """Add a row."""
        cells = [str(atom), share]
        if self.has_curves:
            cells += [f"{100 * open_T.max():.0f} %", curve(self.known, open_T, self._width)]
        self.table.add_row(
            *cells, *found, Text(printable(words), overflow="ellipsis", no_wrap=True)
        )

    def below(self, why: str) -> None:
        """Set the rows to come apart from those so far, and say why under the table."""
        self.table.add_section()
        self.table.caption = Text(why, justify="left")
        self.table.caption_justify = "left"


def _ends(known: Covariates) -> tuple[str, str]:
    labels = known.labels()
    if isinstance(labels, pd.DatetimeIndex):
        long = labels[-1] - labels[0] > pd.Timedelta(days=1500)
        form = "%Y" if long else "%Y-%m-%d"
        return labels[0].strftime(form), labels[-1].strftime(form)
    return f"{labels[0]:g}", f"{labels[-1]:g}"


def curve(known: Covariates, height_T: Float, width: int = _WIDTH) -> str:
    """Return a curve as blocks, its own peak the highest; time runs evenly."""
    at = known.rows[:, 0]
    height = np.interp(np.linspace(at[0], at[-1], width), at, height_T)
    level = np.round(height / max(height_T.max(), 1e-12) * (len(_BLOCKS) - 1)).astype(int)
    return "".join(_BLOCKS[i] for i in np.clip(level, 0, len(_BLOCKS) - 1))


def plain_table(*columns: str) -> Table:
    """Return a table without rows."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(Text(printable(column)))
    return table


def value_text(value: object) -> Text:
    """Return a number, date or name as a cell."""
    if isinstance(value, pd.Timestamp):
        said = value.strftime("%Y-%m-%d") if value == value.normalize() else str(value)
    else:
        said = f"{value:g}" if isinstance(value, float) else str(value)
    return Text(printable(said))


def say_written(
    voice: Voice, table: Table, path: Path, n_rows: int, how: str, skipped: int, unit: str = "rows"
) -> None:
    """Show the first rows of a result, and say where all are; unit: what each stands for."""
    voice.say(table)
    first = f"the first {MOST_SHOWN} are shown; " if n_rows > MOST_SHOWN else ""
    voice.say(f"{n_rows:,} {unit}, {how}; {first}{path} written.")
    say_skipped(voice, skipped)
    voice.result(file=path, rows=n_rows, skipped=skipped)
