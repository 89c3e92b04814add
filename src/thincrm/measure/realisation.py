"""One drawn family of measures (B_t), held atom by atom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from thincrm.data.covariates import CovariateLike, Covariates
from thincrm.errors import InvalidInput
from thincrm.measure.measure_plots import plot_realisation
from thincrm.measure.random_measure import Interval, check_interval
from thincrm.numerics.arrays import ArrayLike, Bool, Float

if TYPE_CHECKING:
    from thincrm.measure.measure_plots import Axes

__all__ = ["Realisation"]

# An interval of locations, a function that says which of them are in, or the atoms that are.
Members: TypeAlias = Interval | Callable[[Float], ArrayLike] | Bool | pd.Series


@dataclass(frozen=True, slots=True, eq=False)
class Realisation:
    """B_t = sum_k w_tk delta(theta_k) at the T covariates that were asked for.

    Attributes
    ----------
    covariates : Covariates
        The covariates: `covariates.row` gives the distinct row of each of the T.
    masses : (K,) float
        pi_k.
    locations : (K,) or (K, P)
        theta_k.
    x : named tuple
        The thinning function's auxiliary variables, atom by atom.
    probability : (T, K) float
        p_{x_k}(t), the chance of being open.
    gates : (T, K) bool
        r_k^t, whether atom k is open at t (always, for weighted measures).
    weights : (T, K) float
        w_tk: r pi, or p pi (weighted), or their share of the total (normalised).
    """

    covariates: Covariates
    masses: Float
    locations: Float
    x: Any
    probability: Float
    gates: Bool
    weights: Float

    @property
    def n_atoms(self) -> int:
        """The number of atoms kept."""
        return self.masses.size

    @property
    def index(self) -> pd.Index:
        """The T covariates as the user wrote them."""
        return self.covariates.labels(self.covariates.rows[self.covariates.row])

    def total(self) -> pd.Series:
        """Return the total mass of B_t at each t."""
        return self._labelled(self.weights.sum(1))

    def measure(self, A: Members, t: CovariateLike | None = None) -> Any:
        """Return B_t(A) at each t drawn, or at one of them.

        Parameters
        ----------
        A : (low, high), callable or (K,) bool
            An interval of locations, ends included; a function of the locations that says which
            are in; or the atoms that are in.
        t : covariate, optional
            One of the covariates drawn; the answer is then a number.
        """
        values = self._labelled(self.weights @ self._members(A))
        if t is None:
            return values
        place = np.flatnonzero(np.all(self._rows() == self.covariates.encode(t), axis=1))
        if place.size != 1:
            raise InvalidInput(
                f"t = {t!r} was drawn {place.size} times: pick from the values at all t instead."
            )
        return float(values.iloc[place[0]])

    def integrate(self, f: Callable[[Any], Any]) -> pd.Series:
        """Return the integral of f with respect to B_t at each t: sum_k w_tk f(theta_k)."""
        values = np.asarray(f(self.locations), float)
        if values.shape != (self.n_atoms,):
            raise InvalidInput(
                f"f returned shape {values.shape} for {self.n_atoms} locations: return one number "
                "per location."
            )
        return self._labelled(self.weights @ values)

    def to_frame(self) -> pd.DataFrame:
        """Return a long table: one row per covariate and atom."""
        n_rows, n_atoms = self.weights.shape
        frame = self.index.to_frame(index=False)
        frame = frame.iloc[np.repeat(np.arange(n_rows), n_atoms)].reset_index(drop=True)
        for place, column in enumerate(self.locations.reshape(n_atoms, -1).T):
            name = "location" if self.locations.ndim == 1 else f"location{place}"
            frame[name] = np.tile(column, n_rows)
        return frame.assign(
            atom=np.tile(np.arange(n_atoms), n_rows),
            mass=np.tile(self.masses, n_rows),
            probability=self.probability.ravel(),
            open=self.gates.ravel(),
            weight=self.weights.ravel(),
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every open atom at (t, theta), its area proportional to its weight."""
        return plot_realisation(self._rows(), self.index, self.locations, self.weights, ax)

    def _rows(self) -> Float:
        return self.covariates.rows[self.covariates.row]

    def _labelled(self, values: Float) -> pd.Series:
        return pd.Series(values, index=self.index)

    def _members(self, A: Members) -> Bool:
        if callable(A) or isinstance(A, np.ndarray | pd.Series):
            inside = np.asarray(A(self.locations) if callable(A) else A)
            if inside.shape != (self.n_atoms,) or inside.dtype != bool:
                raise InvalidInput(
                    f"A must say True or False for each of {self.n_atoms} atoms, got "
                    f"{inside.dtype} of shape {inside.shape}."
                )
            return inside
        if self.locations.ndim > 1:
            raise InvalidInput(
                "A is an interval but locations are vectors: pass a function of the locations."
            )
        low, high = check_interval(A)
        return (self.locations >= low) & (self.locations <= high)
