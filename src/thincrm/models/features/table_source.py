"""Tables of numbers from files: one to fit, and new ones for a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from thincrm.console.data_columns import TableColumns
from thincrm.console.run_source import table_like
from thincrm.data.reading import Table, read_table
from thincrm.data.reading.lines import UTF8
from thincrm.errors import InvalidInput
from thincrm.models.features.model import FeatureModel

__all__ = ["read_new_rows", "read_rows"]


def read_rows(
    path: Path, how: TableColumns, groups: Mapping[str, list[str]] | None = None
) -> Table:
    """Read a table: its numeric columns, and the covariates of its rows.

    groups: the levels of categories that are known, by their columns.
    """
    return read_table(
        path,
        how.covariates,
        how.columns or None,
        date=how.date,
        label=how.label,
        date_format=how.date_format,
        encoding=how.encoding or UTF8,
        skip_bad=how.skip_bad,
        groups={name: (groups or {}).get(name) for name in how.groups},
    )


def read_new_rows(run: Path, model: FeatureModel, path: Path, how: TableColumns) -> Table:
    """Read a table like that of the run, unless options say otherwise."""
    how, known = table_like(run, how, model.columns_), model.covariates_.names
    groups = {name: [text for text in known if text.startswith(f"{name}=")] for name in how.groups}
    levels = {
        name: [text.removeprefix(f"{name}=") for text in found] for name, found in groups.items()
    }
    table = read_rows(path, how, levels)
    if isinstance(table.t, pd.DataFrame) and tuple(table.t.columns) != known:
        here, there = (", ".join(map(str, names)) for names in (table.t.columns, known))
        raise InvalidInput(f"{path} has the covariates {here}, but the run has {there}.")
    return table
