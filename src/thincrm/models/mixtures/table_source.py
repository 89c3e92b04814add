"""Tables from files: one to cluster, and new ones for a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from thincrm.console.data_columns import TableColumns
from thincrm.console.run_source import kept_name, kept_reading, table_like
from thincrm.data.reading import Table, read_table
from thincrm.data.reading.lines import UTF8
from thincrm.errors import InvalidInput
from thincrm.models.mixtures.model import MixtureModel
from thincrm.models.mixtures.sides import sides_of

__all__ = ["read_new_rows", "read_rows"]


def read_rows(
    path: Path,
    how: TableColumns,
    censored: str | None = None,
    categories: bool | list[str] = True,
) -> tuple[Table, Any]:
    """Read a table (numbers, texts as categories, covariates) and which responses are censored.

    censored: the column that tells; None: no response is.
    """
    if how.date and how.covariates:
        raise InvalidInput("Clusters depend on --date or on --covariate: give one of them.")
    aside = () if censored is None else (censored,)
    found = read_table(
        path,
        how.covariates,
        (*how.columns, *aside) if how.columns else None,
        date=how.date,
        label=how.label,
        date_format=how.date_format,
        encoding=how.encoding or UTF8,
        skip_bad=how.skip_bad,
        categories=categories,
    )
    if censored is None:
        return found, None
    if censored not in found.values.columns:
        raise InvalidInput(f"{path.name} has no column {censored!r} to read censoring from.")
    values = found.values.drop(columns=censored)
    if values.shape[1] == 0:
        raise InvalidInput(f"{path.name} has no column beside {censored!r} to explain.")
    return replace(found, values=values), sides_of(values, found.values[censored])


def read_new_rows(
    run: Path, model: MixtureModel, path: Path, how: TableColumns
) -> tuple[Table, Any]:
    """Read a table like that of the run, and its censoring, unless options say otherwise."""
    kinds = zip(model.columns_, model.layout_.kinds, strict=True)
    texts = [str(name) for name, kind in kinds if kind == "category"]
    censored = kept_name(kept_reading(run), "censored")
    return read_rows(path, table_like(run, how, model.columns_), censored, texts)
