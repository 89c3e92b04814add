"""Texts of a Dask DataFrame, one partition in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, Self, TypeGuard

import pandas as pd

from thincrm.data.reading.rows import Row
from thincrm.data.reading.texts import TextStream
from thincrm.errors import InvalidInput

__all__ = ["PartedFrame", "frame_stream", "is_parted"]


class PartedFrame(Protocol):
    """What is asked of a Dask DataFrame."""

    npartitions: int

    @property
    def columns(self) -> pd.Index:
        """Return the names of the columns."""

    @property
    def partitions(self) -> Sequence[Self]:
        """Return the parts, each a frame of its own."""

    def __getitem__(self, columns: list[str]) -> Self:
        """Return some columns."""

    def compute(self, *, scheduler: object) -> pd.DataFrame:
        """Return the values; scheduler: a client, or None for what Dask is set to."""


def is_parted(value: object) -> TypeGuard[PartedFrame]:
    """Tell whether a value is a Dask DataFrame, without importing Dask."""
    return type(value).__module__.startswith("dask.") and hasattr(value, "partitions")


def frame_stream(frame: PartedFrame, text: str, date: str | None, client: object) -> TextStream:
    """Return the documents of a frame, one at a time; a client's cluster makes the partitions."""
    wanted = [text] if date is None else [text, date]
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        there = ", ".join(map(str, frame.columns))
        raise InvalidInput(f"X has no column {missing[0]!r}: its columns are {there}.")
    return TextStream.of_rows(_rows(frame[list(dict.fromkeys(wanted))], client), "X", text, date)


def _rows(frame: PartedFrame, client: object) -> Iterator[Row]:
    number = 0
    for i in range(frame.npartitions):
        part = frame.partitions[i].compute(scheduler=client)
        columns = [part[name].astype(object).where(part[name].notna(), None) for name in part]
        for cells in zip(*columns, strict=True):
            number += 1
            yield Row(number, dict(zip(part.columns, cells, strict=True)), unit="row")
