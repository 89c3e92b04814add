"""What an experiment on the State of the Union addresses is run with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from thincrm.data.sotu import Corpus, load_sotu, read_sotu
from thincrm.errors import check_count

__all__ = ["Settings"]

_QUICK = {"splits": 1, "sweeps": 30, "max_topics": 50}
_QUICK_DOCUMENTS = 700
_LAST_YEAR = 2002  # of the paper's corpus


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of an experiment.

    Parameters
    ----------
    data : path or None
        A prepared corpus (`read_sotu`); None: the addresses of the package `sotu` up to 2002.
    splits : int
        Hold-out sets that results are averaged over.
    sweeps : int
        Sweeps of every sampler; the first third is warm-up.
    max_topics : int
        Truncation of every nonparametric model.
    seed : int
        Of the splits and the samplers.
    quick : bool
        About 700 documents, spread over all years: to see what comes out, not what is true.
    """

    data: Path | None = None
    splits: int = 5
    sweeps: int = 1000
    max_topics: int = 300
    seed: int = 0
    quick: bool = False

    def __post_init__(self) -> None:
        check_count("splits", self.splits)
        check_count("sweeps", self.sweeps, 2)
        check_count("max_topics", self.max_topics, 2)
        check_count("seed", self.seed, 0)

    @classmethod
    def of(cls, *, quick: bool = False, **chosen: Any) -> Self:
        """Return settings with what was chosen (not None), small ones elsewhere if `quick`."""
        given = {name: value for name, value in chosen.items() if value is not None}
        return cls(quick=quick, **(_QUICK if quick else {}) | given)

    def corpus(self) -> Corpus:
        """Return the documents."""
        found = load_sotu(_LAST_YEAR) if self.data is None else read_sotu(self.data)
        if not self.quick:
            return found
        n_documents = found.counts.shape[0]
        return found.take(slice(None, None, max(1, n_documents // _QUICK_DOCUMENTS)))
