"""What is odd about data and can be fitted all the same; what is empty cannot."""

from __future__ import annotations

import warnings

import numpy as np

from thincrm.data.covariates import Covariates
from thincrm.errors import InvalidInput, Sentence, either
from thincrm.numerics.arrays import Int

__all__ = [
    "note_long_document",
    "note_many_values",
    "note_one_value",
    "note_wide_table",
    "refuse_empty",
]

_LONG_DOCUMENT, _MANY_VALUES, _WIDE_TABLE = 1_000_000, 100_000, 2_000


def note_long_document(length_D: Int) -> None:
    """Say before the work begins that one document is so long that every sweep will take long."""
    longest = int(np.argmax(length_D))
    if length_D[longest] > _LONG_DOCUMENT:
        warnings.warn(
            f"Document {longest} has {length_D[longest]:,} words, so a sweep takes long: cut it "
            "into parts, such as chapters or pages, if that is not meant.",
            stacklevel=3,
        )


def note_wide_table(n_columns: int) -> None:
    """Say before the work begins that a table has very many columns."""
    if n_columns > _WIDE_TABLE:
        warnings.warn(
            f"The table has {n_columns:,} columns, so the start and every sweep take long: choose "
            "some, or leave out those that say the same, if that is not meant.",
            stacklevel=4,
        )


def note_many_values(known: Covariates) -> None:
    """Say before the work begins that there are very many distinct covariates."""
    if len(known.rows) > _MANY_VALUES:
        warnings.warn(
            Sentence(
                "The covariate",
                either(" t", ""),
                f" has {len(known.rows):,} distinct values, so a sweep takes long: round them (to "
                "days, months or years) if that is not meant.",
            ),
            stacklevel=4,
        )


def note_one_value(known: Covariates, things: str, what: str) -> None:
    """Say that `what` (topics) cannot come and go because all `things` share one covariate."""
    if len(known.rows) == 1 < known.row.size:
        warnings.warn(
            Sentence(
                f"All {things} have the same covariate",
                either(" t", ""),
                f", so {what} cannot come and go. ",
                either(
                    "Pass thinning=Always() to say so", "Say --thinning always if that is meant"
                ),
                ".",
            ),
            stacklevel=4,
        )


def refuse_empty(X: object, name: str, things: str) -> None:
    """Refuse a table without rows or columns."""
    shape = getattr(X, "shape", None)
    if shape is None and hasattr(X, "__len__"):
        shape = (len(X),)
    if shape and shape[0] == 0:
        raise InvalidInput(f"{name} has no rows: pass at least one of the {things}.")
    if shape and len(shape) == 2 and shape[1] == 0:
        raise InvalidInput(  # in the words that scikit-learn's own checks look for
            f"{name} has no columns: 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is "
            "required."
        )
