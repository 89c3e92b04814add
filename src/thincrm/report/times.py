"""The times at which a report draws curves: some of the fit's own, written as a user wrote them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from thincrm.data.covariates import Covariates
from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import Float

__all__ = ["Times", "chosen_times", "shown"]

_MOST_CELLS = 20_000  # atoms × times: about 0.8 MB of curves
_MOST, _FEWEST = 250, 60


@dataclass(frozen=True, slots=True)
class Times:
    """Times to draw at.

    Attributes
    ----------
    known : Covariates
        Of the fit.
    labels : Index
        The chosen times.
    data : dict
        What the page gets: kind, name, values (numbers, or days since 1970), labels, documents.
    """

    known: Covariates
    labels: pd.Index
    data: dict[str, object]

    def numbers(self, labels: Sequence[object]) -> Float:
        """Return labels as the numbers of the axis."""
        return np.round(self.known.encode(pd.Index(labels))[:, 0], 6)


def chosen_times(known: Covariates, n_atoms: int) -> Times:
    """Return at most some hundred of the distinct times, evenly spread over their range.

    Observations of a time that is left out are counted at the nearest one.
    """
    if known.rows.shape[1] > 1:
        raise InvalidInput(
            f"The report draws curves along one covariate and t has {known.rows.shape[1]} columns: "
            "use model.activation() for a table of all."
        )
    at = known.rows[:, 0]
    most = int(np.clip(_MOST_CELLS // max(n_atoms, 1), _FEWEST, _MOST))
    if len(at) > most:
        grid = np.linspace(at[0], at[-1], most)
        at = np.unique(at[_nearest(at, grid)])
    documents = np.bincount(_nearest(at, known.rows[:, 0]), known.trials, len(at))
    labels = known.labels(at[:, None])
    data = {
        "kind": "date" if known.kind.startswith("date") else "number",
        "name": "" if known.names[0] in ("t", "0") else known.names[0],
        "values": [round(float(x), 6) for x in at],
        "labels": [shown(label) for label in labels],
        "documents": documents.astype(int).tolist(),
    }
    return Times(known, labels, data)


def _nearest(sorted_at: Float, wanted: Float) -> np.ndarray:
    right = np.searchsorted(sorted_at, wanted).clip(1, max(len(sorted_at) - 1, 1))
    right = right.clip(max=len(sorted_at) - 1)
    left = np.maximum(right - 1, 0)
    closer = np.abs(wanted - sorted_at[left]) <= np.abs(sorted_at[right] - wanted)
    return np.where(closer, left, right)


def shown(label: object) -> str:
    """Return a time as one writes it: a date without its midnight, a number without tails."""
    if isinstance(label, pd.Timestamp):
        text = label.tz_localize(None).isoformat(sep=" ")
        return text.removesuffix(" 00:00:00")
    return f"{label:.6g}" if isinstance(label, float) else str(label)
