"""Tables from files: one to cluster, and new ones for a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from thincrm.console.data_columns import TableColumns
from thincrm.console.run_source import kept_reading
from thincrm.data.reading import Table, read_table
from thincrm.errors import InvalidInput
from thincrm.models.mixtures.model import MixtureModel

__all__ = ["read_new_rows", "read_rows"]


def read_rows(path: Path, how: TableColumns, categories: bool | list[str] = True) -> Table:
    """Read a table: numbers, texts as categories, and the covariates of its rows."""
    if how.date and how.covariates:
        raise InvalidInput("Clusters depend on --date or on --covariate: give one of them.")
    return read_table(
        path,
        how.covariates,
        how.columns or None,
        date=how.date,
        label=how.label,
        date_format=how.date_format,
        skip_bad=how.skip_bad,
        categories=categories,
    )


def read_new_rows(run: Path, model: MixtureModel, path: Path, how: TableColumns) -> Table:
    """Read a table like that of the run, unless options say otherwise."""
    before = kept_reading(run)
    if not (how.date or how.covariates):
        names = before.get("covariates")
        covariates = tuple(map(str, names)) if isinstance(names, list) else ()
        how = replace(how, date=_name(before, "date"), covariates=covariates)
    names = tuple(str(name) for name in model.columns_)
    how = replace(
        how,
        columns=names,
        label=how.label or _name(before, "label"),
        date_format=how.date_format or _name(before, "date_format"),
    )
    kinds = zip(names, model.layout_.kinds, strict=True)
    return read_rows(path, how, [name for name, kind in kinds if kind == "category"])


def _name(before: dict[str, object], key: str) -> str | None:
    found = before.get(key)
    return found if isinstance(found, str) else None
