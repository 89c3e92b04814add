"""Columns that number the rows, as spreadsheets, pandas and R write them: they are no data."""

from __future__ import annotations

import numpy as np
import pandas as pd

__all__ = ["row_numbers"]

_NAMES = {"", "id", "rownames", "row.names", "unnamed: 0"}  # of columns that many programs write
_FEWEST = 10  # rows: 1, 2, 3 may be anything


def row_numbers(numbers: pd.DataFrame, lines: pd.Index) -> list[str]:
    """Return the columns that number the rows.

    Such a column counts the rows or the file's lines (0, 1, 2 ... or 1, 2, 3 ...), or is called
    `id` or `rownames` and holds different whole numbers.
    """
    if len(numbers) < _FEWEST:
        return []
    return [
        name for name in numbers.columns if _numbers_rows(name, numbers[name].to_numpy(), lines)
    ]


def _numbers_rows(name: str, value_N: np.ndarray, lines: pd.Index) -> bool:
    if not np.all(value_N == np.round(value_N)):  # a hole is no number
        return False
    counts = value_N[0] in (0.0, 1.0) and np.all(np.diff(value_N) == 1.0)
    line_N = np.asarray(lines)
    follows = value_N[0] - line_N[0] in (-2.0, -1.0, 0.0) and np.ptp(value_N - line_N) == 0.0
    named = name.strip().lower() in _NAMES and len(np.unique(value_N)) == len(value_N)
    return bool(counts or follows or named)
