"""What the parts of a report ask of a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pandas as pd

from thincrm.data.covariates import Covariates
from thincrm.inference.diagnostics import KeptDraw, Verdict

__all__ = ["Fitted"]


class Fitted(Protocol):
    """A model with kept draws, a trace, a seed and covariates."""

    @property
    def draws_(self) -> Sequence[KeptDraw]:
        """Return the kept draws."""

    @property
    def trace_(self) -> pd.DataFrame:
        """Return label-free quantities after every sweep, indexed by chain and sweep."""

    @property
    def seed_(self) -> int:
        """Return the seed of the fit."""

    @property
    def covariates_(self) -> Covariates:
        """Return the covariates of the fit."""

    def diagnostics(self) -> pd.DataFrame:
        """Return R-hat and effective sample sizes of label-free quantities."""

    def verdict(self) -> Verdict:
        """Say in a sentence whether the chains agree and what the draws are worth."""
