"""What a table's columns hold: numbers, counts, categories; and the cells as numbers.

A category is its place among the column's values, in alphabetical order; holes are NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from thincrm.data.table_values import Scale, TableLike, scale_of
from thincrm.errors import InvalidInput, either
from thincrm.numerics.arrays import Bool, Float, Int

__all__ = [
    "KINDS",
    "Layout",
    "MixedTable",
    "coded",
    "found_kinds",
    "layout_of",
    "levels_of",
    "said_kinds",
]

MixedTable: TypeAlias = TableLike | pd.Series  # numbers, counts, categories: rows by columns

KINDS = ("number", "count", "category")
_MOST_LEVELS = 1000
_SMALL_COUNTS = 10.0  # on average
_FEW_VALUES, _OFTEN = 8, 20  # numbers that are names: how many, and rows of each
_OFTEN_OF_TWO = 4  # rows of each where there are two: yes and no


class Layout(NamedTuple):
    """The columns of a table."""

    kinds: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]  # of categories; empty for the others
    scale: Scale  # of numbers; counts and categories are as they are, spread 0: constant

    @property
    def moving(self) -> Bool:
        """Return the columns that are not constant: the others say nothing of clusters."""
        return np.asarray(self.scale.spread_P > 0)

    def places(self, kind: str) -> Int:
        """Return the moving columns of a kind."""
        here = [k == kind and bool(m) for k, m in zip(self.kinds, self.moving, strict=True)]
        return np.flatnonzero(here)

    def entries(self, names: pd.Index) -> list[str]:
        """Return what is said of a cluster: columns, and levels of categories."""
        found = []
        for name, levels in zip(names, self.levels, strict=True):
            found += [f"{name} = {level}" for level in levels] or [str(name)]
        return found


def found_kinds(table: MixedTable) -> list[str]:
    """Return the kind of every column of a data frame; an array holds numbers.

    Categories: text, True and False, pandas' categories, and numbers that are few and come again
    and again (a normal law would be a spike at each). Counts: whole numbers from 0 on, small
    ones: the spread of large ones is seldom the root of their mean, and Poisson clusters would have
    to make up for it in dozens.
    """
    if not isinstance(table, pd.DataFrame):
        return []
    return [_kind(table.iloc[:, place]) for place in range(table.shape[1])]


def _kind(column: pd.Series[Any]) -> str:
    kind = column.dtype
    if pd.api.types.is_bool_dtype(kind) or isinstance(kind, pd.CategoricalDtype):
        return "category"
    if not pd.api.types.is_numeric_dtype(kind):
        seen = column.dropna()
        numeric = pd.to_numeric(seen, errors="coerce").notna().all() and seen.size
        text = seen.map(lambda value: isinstance(value, str)).any()
        return "number" if numeric and not text else "category"
    value = column.to_numpy(float, na_value=np.nan)
    value = value[np.isfinite(value)]
    whole = value.size and (value == np.round(value)).all()
    if whole and value.min() == 0 and value.max() > 1 and value.mean() <= _SMALL_COUNTS:
        return "count"
    n_values = np.unique(value).size
    often = _OFTEN_OF_TWO if n_values == 2 else _OFTEN
    few = 2 <= n_values <= _FEW_VALUES and value.size >= often * n_values
    return "category" if few else "number"


def coded(table: pd.DataFrame, kinds: Sequence[str], levels: Sequence[Sequence[str]]) -> Any:
    """Return the data frame with categories as their places among the levels."""
    out = {}
    for place, (kind, known) in enumerate(zip(kinds, levels, strict=True)):
        column = table.iloc[:, place]
        if kind == "category":
            text = _texts(column)
            seen, levels_known = text.notna().to_numpy(), pd.Index(known)
            code = levels_known.get_indexer(pd.Index(text.fillna("")))
            if np.any(seen & (code < 0)):  # 3.0 read as a text may be a 3 of the fit
                as_numbers = _texts(pd.to_numeric(text, errors="coerce")).fillna("")
                code = np.where(code < 0, levels_known.get_indexer(pd.Index(as_numbers)), code)
            new = np.flatnonzero(seen & (code < 0))
            if new.size:
                raise InvalidInput(
                    f"Y's column {table.columns[place]!r} holds {text.iloc[new[0]]!r}, which the "
                    "fit has not seen: write it as missing."
                )
            column = pd.Series(np.where(seen, code, np.nan), index=table.index)
        out[place] = column
    frame = pd.DataFrame(out, index=table.index)
    frame.columns = table.columns
    return frame


def _texts(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return values as texts; 3.0, as which a 3 is read beside holes, is 3."""
    return column.astype(object).map(_text, na_action="ignore")


def _text(value: object) -> str:
    whole = isinstance(value, float | np.floating) and value.is_integer()
    return str(int(value)) if whole else str(value)  # type: ignore[call-overload]


def levels_of(table: pd.DataFrame, kinds: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the sorted values of every column of categories."""
    found: list[tuple[str, ...]] = []
    for place, kind in enumerate(kinds):
        if kind != "category":
            found.append(())
            continue
        levels = sorted(_texts(table.iloc[:, place]).dropna().unique())
        if len(levels) > _MOST_LEVELS:
            raise InvalidInput(
                f"Y's column {table.columns[place]!r} has {len(levels):,} categories, more than "
                f"{_MOST_LEVELS:,}: group them, ",
                either(
                    "drop it, or set it as the index.",
                    "leave it out (--column names the others), or name rows by it (--label).",
                ),
            )
        found.append(tuple(levels))
    return found


def layout_of(
    value_NP: Float, names: pd.Index, kinds: Sequence[str], levels: Sequence[Sequence[str]]
) -> Layout:
    """Return the layout of cells: scales of numbers, and which columns are constant."""
    scale = scale_of(value_NP, names, centred=True)
    discrete = np.array([kind != "number" for kind in kinds]) & (scale.spread_P > 0)
    level_P = np.where(discrete, 0.0, scale.level_P)
    spread_P = np.where(discrete, 1.0, scale.spread_P)
    return Layout(tuple(kinds), tuple(tuple(part) for part in levels), Scale(level_P, spread_P))


def said_kinds(layout: Layout) -> str:
    """Return in words what the moving columns hold: '3 numbers, 1 count'."""
    words = {"number": "numbers", "count": "counts", "category": "categories"}
    parts = [(kind, layout.places(kind).size) for kind in KINDS]
    return ", ".join(f"{size} of {words[kind]}" for kind, size in parts if size)
