"""The numbers behind the plain page, which any model gets: curves, tables, settings, draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import pandas as pd

from thincrm.data.covariates import Covariates
from thincrm.inference.diagnostics import KeptDraw, label_free
from thincrm.report.diagnosis import diagnosis
from thincrm.report.fitted import Fitted
from thincrm.report.packed_curves import curves_of
from thincrm.report.plain_settings import plain_settings, spaced
from thincrm.report.plain_words import LEVY_PARAMETERS, learned
from thincrm.report.times import chosen_times, shown

__all__ = ["PlainModel", "plain_data"]

_MOST_ROWS = 200  # shown of a table; the files of `to_csv` have all
_MOST_TRACES = 6
_ELSEWHERE = ("diagnostics", "trace")  # tables that the model view shows


class PlainModel(Fitted, Protocol):
    """What the plain page asks of a model."""

    @property
    def unit(self) -> str:
        """Return what its observations are called, in the plural."""

    def nothing_found(self) -> str:
        """Return what is said where no atom is in use."""

    def activation(self, t: object = None, level: float = 0.9) -> pd.DataFrame:
        """Return the atoms' probabilities of being open, atom by atom, with bands."""

    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Return every table the model gives, by name."""

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the settings."""


def plain_data(model: PlainModel) -> dict[str, object]:
    """Return everything the plain page shows of a fitted model, ready for JSON."""
    known = model.covariates_
    first = model.activation(_labels(known)[:1])
    noun, n_atoms = str(first.columns[0]), len(first)
    alone = known.rows.shape[1] == 1
    times = chosen_times(known if alone else _nowhere(known), n_atoms)
    curves = []
    if alone and n_atoms:
        wide, narrow = model.activation(times.labels, 0.9), model.activation(times.labels, 0.5)
        curves = curves_of(wide, narrow, len(times.labels))
    params = model.get_params(deep=False)
    line, settings = plain_settings(params, model, noun)
    most = params.get(f"max_{noun}s")
    return {
        "noun": noun,
        "corpus": {"rows": f"{known.row.size:,} {model.unit}", "columns": ""},
        "unit": model.unit.removesuffix("s"),
        "time": times.data,
        "atoms": [
            {"name": _cell(name), "open": curve}
            for name, curve in zip(first.iloc[:, 0], curves, strict=False)
        ],
        "nothing": "" if n_atoms else model.nothing_found(),
        "covariates": [str(name) for name in known.names],
        "tables": [
            _table(name, table) for name, table in model.tables().items() if name not in _ELSEWHERE
        ],
        "diagnosis": diagnosis(
            model,
            noun,
            [str(name) for name in model.trace_][:_MOST_TRACES],
            most if isinstance(most, int) else None,
        ),
        "summary": line,
        "settings": settings,
        "learned": learned(model.draws_, _learned_names(model.draws_, known, noun)),
        "reading": _reading(noun, model.unit),
    }


def _labels(known: Covariates) -> pd.Index | np.ndarray:
    """Return the distinct covariates as `activation` takes them."""
    return known.labels() if known.rows.shape[1] == 1 else known.rows


def _nowhere(known: Covariates) -> Covariates:
    """Return one place for all observations: there is no one axis to draw along."""
    n_observations = known.row.size
    row, trials = np.zeros(n_observations, int), np.array([n_observations])
    return Covariates(np.zeros((1, 1)), row, trials, "number", ("t",))


def _learned_names(
    draws: Sequence[KeptDraw], known: Covariates, noun: str
) -> dict[str, tuple[str, str]]:
    """Return the draws' label-free scalars that vary, with names for people."""
    table = label_free(draws, known)
    varied = [name for name in table if name in draws[0].scalars and table[name].nunique() > 1]
    return {
        name: LEVY_PARAMETERS.get(name, (spaced(name), ""))
        for name in varied
        if name != f"n_{noun}s"
    }


def _table(name: str, table: pd.DataFrame) -> dict[str, object]:
    """Return the first rows of a table as short text."""
    return {
        "name": spaced(name),
        "columns": [str(column) for column in table.columns],
        "rows": [
            [_cell(value) for value in row]
            for row in table.head(_MOST_ROWS).itertuples(index=False, name=None)
        ],
        "n_rows": len(table),
    }


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else shown(float(value))
    return "" if value is None or value is pd.NaT or value is pd.NA else shown(value)


def _reading(noun: str, unit: str) -> list[str]:
    return [
        f"At any value of the covariate a {noun} is open with some probability; shut, it has no "
        "part in the data.",
        "Bands hold the true value with 50 % (dark) and 90 % (light) probability if the model is "
        f"right. They are wide where {unit} are few, and curves fade where fewer than five are "
        "near.",
        f"Colour tells where along the covariate a {noun} is most likely open.",
    ]
