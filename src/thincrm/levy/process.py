"""What every Lévy measure of the room can do, given a handful of its own formulas.

A member supplies its density and tail (in logs), moments, Laplace exponent, a finite i.i.d.
approximation (`draw_log_mass`, `log_prob`) and its series; the rest is written once, here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from thincrm.errors import InvalidInput, InvalidType, check_between, check_count, check_positive
from thincrm.levy.conditional import check_evidence, slice_masses
from thincrm.levy.line import solve_on_line
from thincrm.levy.series import Series, fewest_atoms, mean_mass_beyond
from thincrm.numerics.arrays import ArrayLike, Float, Seed, as_generator
from thincrm.ports import MassEvidence

__all__ = ["LevyProcess", "at_least_zero"]


class LevyProcess(ABC):
    """A Lévy measure ν0(dm) on masses m in (0, support), with infinitely many atoms.

    Attributes
    ----------
    support : float
        Upper end of the masses: 1 or infinity.
    plain_words : str
        What it says of atoms, for reports; {many} stands for what they are.
    """

    __slots__ = ()
    support: ClassVar[float]
    mass: float
    plain_words: ClassVar[str] = ""

    # -- what a member supplies -------------------------------------------------------------

    @abstractmethod
    def _log_density(self, log_mass: Float) -> Float:
        """Return log m ν0(m), the log density of atoms with respect to log mass."""

    @abstractmethod
    def _log_tail(self, log_mass: Float) -> Float:
        """Return log ∫_m^∞ ν0."""

    @abstractmethod
    def _tail_start(self, level: Float) -> Float:
        """Return a rough place on the line (see `line`) at which the tail equals `level`."""

    @abstractmethod
    def _series(self) -> dict[str, Series]:
        """Return the series representations of this measure besides inverse-Lévy."""

    @abstractmethod
    def _finite_missing_mass(self, n_atoms: int) -> float:
        """Return ∫ m ν0 minus the mean total mass of the finite approximation."""

    @abstractmethod
    def moment(self, n: float) -> float:
        """Return ∫ m^n ν0(m) dm."""

    @abstractmethod
    def laplace_exponent(self, u: ArrayLike) -> Float:
        """Return ∫ (1 - e^{-u m}) ν0(m) dm, so that E exp(-u total mass) = exp(-it)."""

    @abstractmethod
    def draw_log_mass(self, rng: Seed, n_atoms: int) -> Float:
        """Draw the (K,) log masses of the finite i.i.d. approximation."""

    @abstractmethod
    def log_prob(self, log_mass: Float) -> Float:
        """Return the (K,) log densities, with respect to log mass, of that approximation."""

    def _exact_redraw(self, rng: np.random.Generator, evidence: MassEvidence) -> Float | None:
        """Draw log masses from their full conditional where it is a known law, else None."""
        return None

    def _fewest_atoms(self) -> int:
        """Return the smallest K whose missing mass has a finite mean."""
        return 1

    # -- the measure -------------------------------------------------------------------------

    def levy_density(self, x: ArrayLike) -> Float:
        """Return ν0(x), and 0 outside the support."""
        x = _numbers("x", x)
        inside = (x > 0) & (x < self.support)
        log_x = np.log(np.where(inside, x, 0.5))
        with np.errstate(over="ignore"):
            return np.where(inside, np.exp(self._log_density(log_x) - log_x), 0.0)

    def tail(self, x: ArrayLike) -> Float:
        """Return ∫_x^∞ ν0, the expected number of atoms heavier than x."""
        x = _numbers("x", x)
        inside = (x > 0) & (x < self.support)
        log_x = np.log(np.where(inside, x, 0.5))
        with np.errstate(over="ignore"):
            value = np.exp(self._log_tail(log_x))
        return np.where(inside, value, np.where(x > 0, 0.0, np.inf))

    def tail_inverse(self, u: ArrayLike) -> Float:
        """Return the mass x with tail(x) = u."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_tail_inverse(u))

    def log_tail_inverse(self, u: ArrayLike) -> Float:
        """Return log x with tail(x) = u: for large u the mass itself would underflow."""
        u = at_least_zero("u", u)
        inside = (u > 0) & (u < np.inf)
        level = np.where(inside, u, 1.0)
        with np.errstate(over="ignore"):
            start = self._tail_start(level)
            root = solve_on_line(
                self._log_tail, self._log_density, np.log(level), start, self.support
            )
        return np.where(inside, root, np.where(u > 0, -np.inf, np.log(self.support)))

    # -- masses ------------------------------------------------------------------------------

    def draw(self, rng: Seed, n_atoms: int) -> Float:
        """Draw the (K,) masses of the finite approximation; small ones may round to 0."""
        with np.errstate(over="ignore"):
            mass = np.exp(self.draw_log_mass(rng, n_atoms))
        return np.minimum(mass, np.nextafter(self.support, 0.0))

    def redraw(self, rng: Seed, log_mass: Float, evidence: MassEvidence) -> Float:
        """Move the (K,) log masses, leaving prior x exp(evidence.log_likelihood) invariant.

        An exact draw where the full conditional is a known law (see the member), otherwise one
        slice step per atom; atoms without evidence are drawn afresh from the prior.
        """
        rng = as_generator(rng)
        now = check_evidence(log_mass, evidence, self, self.support)
        seen = np.any([part > 0 for part in evidence], axis=0)
        exact = self._exact_redraw(rng, evidence)
        if exact is not None:
            return exact
        out = self.draw_log_mass(rng, now.size)
        if seen.any():
            out[seen] = slice_masses(rng, now, evidence, seen, self.log_prob, self.support)
        return out

    # -- series and truncation -----------------------------------------------------------------

    def series(self, rng: Seed, n_atoms: int, method: str = "inverse-levy") -> Float:
        """Draw the first (K,) masses of a series representation.

        "inverse-levy" gives them in decreasing order. "rejection" tries `n_atoms` arrivals; those
        it rejects have mass 0.
        """
        with np.errstate(over="ignore"):
            return np.exp(self.log_series(rng, n_atoms, method))

    def log_series(self, rng: Seed, n_atoms: int, method: str = "inverse-levy") -> Float:
        """Draw the logs of `series`, which do not underflow; a mass of 0 is -inf."""
        rng = as_generator(rng)
        chosen = self._chosen_series(method)
        arrivals = np.cumsum(rng.standard_exponential(check_count("n_atoms", n_atoms)))
        return chosen.log_masses(rng, arrivals)

    def missing_mass(self, n_atoms: int, method: str = "inverse-levy") -> float:
        """Return ε_K, the expected mass of the atoms that `n_atoms` leave out.

        method="finite" compares the finite approximation's mean total mass with the measure's.
        """
        n_atoms = check_count("n_atoms", n_atoms)
        if method == "finite":
            return self._finite_missing_mass(n_atoms)
        return self._chosen_series(method).missing_mass(n_atoms)

    def truncation_error(self, n_atoms: int, n_eff: float, method: str = "inverse-levy") -> float:
        """Bound the total variation distance between data from the whole and the cut series.

        1 - exp(-N_eff ε_K) (Campbell et al. 2019), with N_eff = Σ_n p̄(t_n) the expected number
        of observations at which an atom is open: thinning replaces N by N_eff. It holds for
        Bernoulli and Poisson likelihoods, whose chance to use an atom of mass m is at most m.
        """
        self._refuse_finite(method)
        missing = self.missing_mass(n_atoms, method)
        return float(-np.expm1(-check_positive("n_eff", n_eff) * missing))

    def n_atoms_for(self, error: float, n_eff: float, method: str = "inverse-levy") -> int:
        """Return the smallest number of atoms whose `truncation_error` is at most `error`."""
        self._refuse_finite(method)
        check_between("error", error, 0.0, 1.0)
        allowed = -np.log1p(-error) / check_positive("n_eff", n_eff)
        return fewest_atoms(
            self._chosen_series(method).missing_mass, float(allowed), self._fewest_atoms()
        )

    def _chosen_series(self, method: str) -> Series:
        available = {"inverse-levy": self._inverse_levy(), **self._series()}
        if method not in available:
            raise InvalidInput(
                f"method {method!r} is not available for {self}: use one of "
                f"{', '.join(map(repr, available))}."
            )
        return available[method]

    def _inverse_levy(self) -> Series:
        return Series(
            lambda rng, arrivals: self.log_tail_inverse(arrivals),
            lambda n_atoms: mean_mass_beyond(
                n_atoms, self._log_density, self._log_tail, self.log_tail_inverse, self.support
            ),
        )

    @staticmethod
    def _refuse_finite(method: str) -> None:
        if method == "finite":
            raise InvalidInput(
                "method 'finite' has no truncation bound: the bound is for series, "
                "such as 'inverse-levy'."
            )


def _numbers(name: str, value: ArrayLike) -> Float:
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        raise InvalidType(f"{name} must be a number or an array of numbers.") from None
    if np.any(np.isnan(array)):
        raise InvalidInput(f"{name} must hold numbers, got nan.")
    return array


def at_least_zero(name: str, value: ArrayLike) -> Float:
    """Return `value` as a float array of numbers of at least 0, or say what is wrong with it."""
    array = _numbers(name, value)
    if np.any(array < 0):
        raise InvalidInput(f"{name} must be at least 0.")
    return array
