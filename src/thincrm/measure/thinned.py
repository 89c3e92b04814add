"""ThinnedCRM: a Lévy measure times a thinning function, as a family of random measures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from thincrm.data.covariates import CovariateLike
from thincrm.data.covariates import covariates as read_covariates
from thincrm.errors import InvalidInput, InvalidType, UndefinedMoment
from thincrm.measure.gates import (
    draw_log_masses,
    joint_gates,
    mean_gate,
    prepare,
    realise,
    series_length,
    squared_gate,
)
from thincrm.measure.normalized import NormalizedCRM
from thincrm.measure.points import bare, points
from thincrm.measure.random_measure import Base, Interval, Levy, base_probability, check_base
from thincrm.measure.realisation import Realisation
from thincrm.numerics.arrays import Seed, as_generator
from thincrm.ports import Thinning

__all__ = ["ThinnedCRM"]

_FACTORS = (
    ("levy", "log_series", "such as GammaProcess()"),
    ("thinning", "log_odds", "such as Bump()"),
)
_COUPLINGS = ("independent", "shared", "comonotone")


@dataclass(frozen=True, slots=True, eq=False)
class ThinnedCRM:
    """A thinned completely random measure (paper, section 3).

        {(x_k, theta_k, pi_k)} ~ Poisson process with mean measure H(dx) B0(dtheta) nu0(dpi)
        r_k^t ~ Bernoulli(p_{x_k}(t)),      B_t = sum_k r_k^t pi_k delta(theta_k)

    What joins the gates of an atom is an explicit choice, since p alone fixes every B_t but not
    how two of them go together. With m2 the second moment of nu0, b = B0(A), and E over x ~ H,
    Cov(B_s(A), B_t(A)) = m2 b E[r^s r^t] where E[r^s r^t] is

    =============  ==========================  ======================================
    coupling       at s != t                   at s = t
    =============  ==========================  ======================================
    independent    E[p(s) p(t)]                E[p(t)^2]: two observations at t
    shared         E[p(s) p(t)]                E[p(t)]: all observations at t share it
    comonotone     E[min(p(s), p(t))]          E[p(t)]
    =============  ==========================  ======================================

    "independent" draws a new gate for every observation, so two observations at the same t see
    different measures: their correlation is E[p^2]/E[p] < 1. "shared" draws one gate for each
    distinct t: the correlation is 1 at s = t but E[p^2]/E[p] as s tends to t, a nugget.
    "comonotone" opens all gates of an atom by one uniform, r = 1[u < p(t)]: the correlation is
    continuous. In all three Var B_t(A) = m2 b E[p(t)].

    Parameters
    ----------
    levy : LevyMeasure
        How heavy atoms are: nu0.
    thinning : Thinning
        Where an atom is open: p_x and H.
    base : frozen scipy.stats distribution, callable (rng, n) -> array, or None
        Where atoms lie: B0; None is the uniform distribution on (0, 1).
    coupling : {"independent", "shared", "comonotone"}
    weighted : bool
        Not thinned but weighted, B_t = sum_k p_{x_k}(t) pi_k delta(theta_k), as in the kernel
        beta process: Var = m2 b E[p^2], Cov = m2 b E[p(s) p(t)]. There are no gates to couple.
    covariates : array-like or None
        The covariates on which the thinning function is prepared: what H depends on when it is
        not given in full (the window of a `Bump`, the centres of a `ProbitRVM`, the unit of
        lengths). None: those of each call, for moments those of s and t together, so that
        correlation(0, 1) and correlation(0, 2) each have a prior of their own.
    """

    levy: Levy
    thinning: Thinning[Any, Any]
    base: Base = None
    coupling: Literal["independent", "shared", "comonotone"] = "independent"
    weighted: bool = False
    covariates: CovariateLike | None = None

    def __post_init__(self) -> None:
        for name, method, example in _FACTORS:
            factor = getattr(self, name)
            if isinstance(factor, type) or not hasattr(factor, method):
                raise InvalidType(
                    f"{name} must be one of thincrm.{name}, {example}, got {factor!r}."
                )
        check_base(self.base)
        if self.coupling not in _COUPLINGS:
            raise InvalidInput(
                f"coupling must be one of {', '.join(_COUPLINGS)}, got {self.coupling!r}."
            )
        if self.weighted and self.coupling != "independent":
            raise InvalidInput(
                f"weighted=True has no gates for coupling={self.coupling!r} to join: leave one out."
            )
        if self.covariates is not None:
            object.__setattr__(self, "covariates", read_covariates(self.covariates))

    def draw(
        self,
        t: CovariateLike,
        rng: Seed = None,
        n_atoms: int | None = None,
        error: float | None = None,
    ) -> Realisation:
        """Draw (B_t) at the covariates `t`, of which equal ones are several observations.

        Parameters
        ----------
        t : array-like
            Covariates.
        rng : int, Generator or None
        n_atoms : int, optional
            Use the finite approximation of so many atoms that the models use.
        error : float, optional (default 0.001 when n_atoms is not given)
            Use a series, heaviest atoms first, cut where the mean mass left out of B_t, summed
            over the t, is at most -log(1 - error). One Bernoulli or Poisson draw from each B_t
            then misses an atom with at most this probability (the bound of Campbell, Huggins, How
            and Broderick 2019 with N replaced by the sum of mean activations).
        """
        rng = as_generator(rng)
        at = points(t)
        prepared = prepare(self, at)
        n_eff = float(mean_gate(self, prepared, at).sum())
        log_masses = draw_log_masses(
            self.levy, rng, n_atoms, error, lambda miss: series_length(self.levy, miss, n_eff)
        )
        return realise(self, rng, at, prepared, log_masses)

    def mean(self, t: CovariateLike, A: Interval | None = None) -> Any:
        """Return E B_t(A) = m1 B0(A) E[p(t)]: (T,), or a float for a covariate given bare.

        `A` is an interval (low, high) of the base; None is the whole space.
        """
        at = points(t)
        return self._moment(1, A) * bare(mean_gate(self, prepare(self, at), at), at)

    def variance(self, t: CovariateLike, A: Interval | None = None) -> Any:
        """Return Var B_t(A) = m2 B0(A) E[p(t)], or m2 B0(A) E[p(t)^2] when weighted."""
        at = points(t)
        return self._moment(2, A) * bare(squared_gate(self, prepare(self, at), at), at)

    def covariance(self, s: CovariateLike, t: CovariateLike, A: Interval | None = None) -> Any:
        """Return Cov(B_s(A), B_t(A)): (S, T), an axis less for each covariate given bare."""
        here, there = points(s), points(t)
        joint = joint_gates(self, prepare(self, here, there), here, there)
        return self._moment(2, A) * bare(joint, here, there)

    def correlation(self, s: CovariateLike, t: CovariateLike) -> Any:
        """Return Corr(B_s(A), B_t(A)), the same for every A and every nu0 with a variance."""
        self._moment(2, None)
        here, there = points(s), points(t)
        prepared = prepare(self, here, there)
        square_S, square_T = (squared_gate(self, prepared, at) for at in (here, there))
        if np.any(square_S <= 0) or np.any(square_T <= 0):
            raise UndefinedMoment(
                "the correlation does not exist where no atom can be open: keep s and t where the "
                "mean activation is above 0."
            )
        scale = np.sqrt(np.outer(square_S, square_T))
        return bare(joint_gates(self, prepared, here, there) / scale, here, there)

    def paper_correlation(self, s: CovariateLike, t: CovariateLike) -> Any:
        """Return E[p(s) p(t)] / sqrt(E[p(s)^2] E[p(t)^2]), the cosine printed in section 3.1.

        It is the correlation of weighted measures. For thinned ones it is too large, since the
        variance of a gate involves E[r^2] = p, not p^2; the two agree where p is 0 or 1.
        """
        return replace(self, coupling="independent", weighted=True).correlation(s, t)

    def normalized(self) -> NormalizedCRM:
        """Return the family of random probability measures D_t = B_t / B_t(whole space)."""
        return NormalizedCRM(self)

    def _moment(self, order: int, A: Interval | None) -> float:
        return float(self.levy.moment(order)) * base_probability(self.base, A)
