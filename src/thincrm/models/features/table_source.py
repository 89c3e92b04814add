"""Tables of numbers from files: one to fit, and new ones for a run."""

from __future__ import annotations

from pathlib import Path

from thincrm.console.data_columns import TableColumns
from thincrm.console.run_source import table_like
from thincrm.data.reading import Table, read_table
from thincrm.data.reading.lines import UTF8
from thincrm.errors import InvalidInput
from thincrm.models.features.model import FeatureModel

__all__ = ["read_new_rows", "read_rows"]


def read_rows(path: Path, how: TableColumns) -> Table:
    """Read a table: its numeric columns, and the covariates of its rows."""
    if how.date and how.covariates:
        raise InvalidInput("Features depend on --date or on --covariate: give one of them.")
    return read_table(
        path,
        how.covariates,
        how.columns or None,
        date=how.date,
        label=how.label,
        date_format=how.date_format,
        encoding=how.encoding or UTF8,
        skip_bad=how.skip_bad,
    )


def read_new_rows(run: Path, model: FeatureModel, path: Path, how: TableColumns) -> Table:
    """Read a table like that of the run, unless options say otherwise."""
    return read_rows(path, table_like(run, how, model.columns_))
