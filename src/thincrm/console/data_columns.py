"""How data are read: which columns hold what."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["DocumentColumns", "TableColumns"]


@dataclass(frozen=True, slots=True)
class DocumentColumns:
    """How documents are read; None: as usual, or as in the run."""

    text: str | None = None
    date: str | None = None
    covariates: tuple[str, ...] = ()
    metadata: Path | None = None
    date_format: str | None = None
    skip_bad: bool = False
    words: Path | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class TableColumns:
    """How a table of numbers is read; None: as usual, or as in the run."""

    date: str | None = None
    covariates: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    label: str | None = None
    date_format: str | None = None
    skip_bad: bool = False
    encoding: str | None = None
    groups: tuple[str, ...] = ()  # covariates that are categories
