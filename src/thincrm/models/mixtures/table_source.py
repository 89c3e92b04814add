"""Tables from files: one to cluster, and new ones for a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from thincrm.console.data_columns import TableColumns
from thincrm.console.run_source import kept_reading
from thincrm.data.reading import Table, read_table
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
    texts = [name for name, kind in kinds if kind == "category"]
    return read_rows(path, how, _name(before, "censored"), texts)


def _name(before: dict[str, object], key: str) -> str | None:
    found = before.get(key)
    return found if isinstance(found, str) else None
