"""Labelled tables of kept draws: atoms are matched across draws before anything is averaged."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.special import expit

from thincrm.data.covariates import Covariates
from thincrm.data.writing import Blocks, free_name, write_blocks, write_csv
from thincrm.errors import check_between
from thincrm.files import make_folder
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.waiting import now

__all__ = ["AtomTables", "band", "flat", "scalar", "through_time", "write_tables"]


def scalar(draws: Sequence[Any], name: str) -> pd.Series:
    """Return one label-free quantity of every draw, indexed by chain and sweep."""
    index = pd.MultiIndex.from_tuples(
        [(draw.chain, draw.sweep) for draw in draws], names=["chain", "sweep"]
    )
    return pd.Series([draw.scalars[name] for draw in draws], index=index, name=name)


def band(values: np.ndarray, level: float) -> tuple[Float, Float]:
    """Return the (lower, upper) ends of the central credible interval over the first axis."""
    tail = (1.0 - check_between("level", level, 0.0, 1.0)) / 2.0
    if values.size == 0:  # nothing is in use
        return np.empty(values.shape[1:]), np.empty(values.shape[1:])
    lower, upper = np.nanquantile(values, [tail, 1.0 - tail], axis=0)
    return lower, upper


def through_time(
    each: Mapping[str, np.ndarray], known: Covariates, rows: Float, values: Mapping[str, Float]
) -> pd.DataFrame:
    """Return a table at covariate rows: what each part is of, where, and (T, G) values of parts.

    Where: t, or a column per covariate, whose name gets a _ where the table has it already.
    """
    times = known.labels(rows)
    flat_values = {name: value.T.ravel() for name, value in values.items()}
    n_parts = next(iter(flat_values.values())).size // max(1, len(rows))
    columns: dict[str, Any] = {name: np.repeat(part, len(rows)) for name, part in each.items()}
    for place, name in enumerate(times.names):
        label = free_name("t" if len(times.names) == 1 else name, {*columns, *values})
        columns[label] = np.tile(times.get_level_values(place), n_parts)
    return pd.DataFrame(columns | flat_values)


class AtomTables:
    """Tables of any model's draws; atoms are those of the last draw, the largest first.

    A draw has `sizes` (K,) and `profiles` (K, P): an atom that is in use has a size above 0.
    """

    def __init__(self, draws: Sequence[Any], atoms: str) -> None:
        self.draws, self.one = draws, atoms.removesuffix("s")
        self.reference = draws[-1]
        size = self.reference.sizes
        order = np.argsort(-size, kind="stable")
        self.order: Int = order[size[order] > 0]

    @cached_property
    def matches(self) -> list[Int]:
        """Return, for every draw, the place of each atom in it (-1: not there)."""
        return [self._match(draw)[self.order] for draw in self.draws]

    def _match(self, draw: Any) -> Int:
        """Pair atoms so that their profiles are nearest, each pair weighed by its sizes."""
        a_KP, b_LP = self.reference.profiles, draw.profiles
        apart_KL = ((a_KP[:, None] - b_LP[None]) ** 2).sum(axis=2)
        weight_KL = np.sqrt(np.outer(self.reference.sizes, draw.sizes))
        first, second = linear_sum_assignment(-weight_KL / (1.0 + apart_KL))
        found = np.full(len(a_KP), -1, np.int64)
        kept = weight_KL[first, second] > 0
        found[first[kept]] = second[kept]
        return found

    def aligned(self, values: Callable[[Any], Float]) -> Float:
        """Return (B, ..., K): a (..., K) array of every draw, atoms in order, NaN where absent."""
        out = []
        for draw, found in zip(self.draws, self.matches, strict=True):
            array = values(draw)
            out.append(np.where(found >= 0, array[..., np.maximum(found, 0)], np.nan))
        return np.stack(out)

    def profiles(self, level: float) -> pd.DataFrame:
        """Return the atoms' profiles with bands."""
        profile_BPK = self.aligned(lambda draw: draw.profiles.T)
        lower, upper = band(profile_BPK, level)
        n_columns = profile_BPK.shape[1]
        index = pd.MultiIndex.from_product(
            [range(self.order.size), range(n_columns)], names=[self.one, "column"]
        )
        columns = {"mean": np.nanmean(profile_BPK, axis=0), "lower": lower, "upper": upper}
        return pd.DataFrame({name: v.T.ravel() for name, v in columns.items()}, index=index)

    def activation(
        self,
        known: Covariates,
        rows: Float,
        level: float,
        log_odds: Callable[[Any, Float], Float],
    ) -> pd.DataFrame:
        """Return the atoms' probabilities of being open at covariate rows, with bands."""
        open_BTK = self.aligned(lambda draw: expit(log_odds(draw, rows)))
        lower, upper = band(open_BTK, level)
        values = {"mean": np.nanmean(open_BTK, axis=0), "lower": lower, "upper": upper}
        return through_time({self.one: np.arange(self.order.size)}, known, rows, values)


def write_tables(
    tables: Mapping[str, pd.DataFrame | Blocks], folder: str | os.PathLike[str]
) -> list[Path]:
    """Write tables to NAME.csv in a folder, and return the files.

    A text that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    there = make_folder(folder)
    written = []
    for name, table in tables.items():
        now(f"writing {name}.csv")
        if callable(table):
            write_blocks(table, there / f"{name}.csv")
        else:
            write_csv(table, there / f"{name}.csv")
        written.append(there / f"{name}.csv")
    return written


def flat(table: pd.DataFrame | pd.Series) -> pd.DataFrame:
    """Return a table with its index as columns."""
    frame = table.to_frame() if isinstance(table, pd.Series) else table
    named = frame.index.names != [None]
    return frame.reset_index() if named else frame
