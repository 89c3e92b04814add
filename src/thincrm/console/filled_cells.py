"""What `thincrm impute` writes of any model: missing cells, with line, mean and interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from thincrm.console.model_terminal import RunCommand
from thincrm.console.terminal_tables import MOST_SHOWN, plain_table, say_written, value_text
from thincrm.data.reading import Table
from thincrm.data.writing import free_name, write_csv
from thincrm.numerics.arrays import Bool

__all__ = ["label_column", "write_cells"]

_CELL = ("column", "mean", "lower", "upper")


def label_column(found: Table, *own: str) -> tuple[str, pd.Index]:
    """Return what rows are called, as a column beside `own`: a name of its own, and the names."""
    index = found.values.index
    return free_name(index.name, own), index


def write_cells(
    command: RunCommand, found: Table, missing: Bool, filled: tuple[Any, ...], level: float
) -> None:
    """Write cells of a table; filled: their means, and the ends of their intervals."""
    row, column = np.nonzero(missing)
    lines = found.lines  # names may repeat
    label, index = label_column(found, str(lines.name), *_CELL)
    named = {} if index.name == lines.name and index.equals(lines) else {label: index[row]}
    values = (np.asarray(part)[missing] for part in filled)
    cells = pd.DataFrame(
        {str(lines.name): lines[row], **named}
        | dict(zip(_CELL, (found.values.columns[column], *values), strict=True))
    )
    write_csv(cells, command.out, float_format="%.6g")
    shown = plain_table(str(lines.name), *named, "column", "mean", "from", "to")
    for cell in cells.head(MOST_SHOWN).itertuples(index=False):
        shown.add_row(*map(value_text, cell))
    width = f"intervals of {100 * level:g} %"
    say_written(command.voice, shown, command.out, len(cells), width, found.skipped, "cells")
