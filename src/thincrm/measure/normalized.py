"""Normalised thinned measures: dependent random probability measures."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.optimize import brentq
from scipy.special import logsumexp

from thincrm.data.covariates import CovariateLike
from thincrm.errors import InvalidInput
from thincrm.levy import GammaProcess
from thincrm.measure.gates import (
    draw_log_masses,
    joint_gates,
    mean_gate,
    prepare,
    realise,
    series_length,
)
from thincrm.measure.points import bare, points
from thincrm.measure.random_measure import Interval, base_probability
from thincrm.measure.realisation import Realisation
from thincrm.numerics.arrays import Float, Seed, as_generator

if TYPE_CHECKING:
    from thincrm.measure.thinned import ThinnedCRM

__all__ = ["NormalizedCRM", "shared_weight"]

_MOST_ATOMS = 2_000_000
_LOG_RATES = (-690.0, 690.0)
_MOST_MISSING = 30.0
_N_NODES = 60


@dataclass(frozen=True, slots=True, eq=False)
class NormalizedCRM:
    """D_t = B_t / B_t(whole space), of a thinned completely random measure.

    Thinning leaves the law of an atom's mass as it is, so each D_t is a normalised measure of the
    kind one started from; from a gamma process of total mass gamma comes a Dirichlet process,
    D_t ~ DP(gamma E[p(t)], B0), whatever the thinning function and the coupling.
    """

    crm: ThinnedCRM
    # of covariates seen before: a search that repeated draws need not repeat
    _lengths: dict[tuple[float, bytes], int] = field(default_factory=dict, init=False, repr=False)

    def draw(
        self,
        t: CovariateLike,
        rng: Seed = None,
        n_atoms: int | None = None,
        error: float | None = None,
    ) -> Realisation:
        """Draw (D_t) at the covariates `t`: a `Realisation` whose weights sum to 1 at each t.

        Where every atom kept is shut D_t is not defined and its weights are all 0; without a cut
        that has probability 0.

        Parameters
        ----------
        t, rng, n_atoms
            As in `ThinnedCRM.draw`.
        error : float, optional (default 0.001 when n_atoms is not given)
            The share of D_t that the cut series leaves out has at most this mean, at every t.
        """
        rng = as_generator(rng)
        at = points(t)
        prepared = prepare(self.crm, at)

        def length(miss: float) -> int:
            asked = miss, at.rows.tobytes()
            if asked not in self._lengths:
                mean_T = mean_gate(self.crm, prepared, at)
                self._lengths[asked] = self._n_atoms_for(miss, mean_T)
            return self._lengths[asked]

        log_masses = draw_log_masses(self.crm.levy, rng, n_atoms, error, length)
        drawn = realise(self.crm, rng, at, prepared, log_masses)
        return _shares(drawn, log_masses, self.crm.weighted)

    def mean(self, A: Interval | None = None) -> float:
        """Return E D_t(A) = B0(A), the same at every t."""
        return base_probability(self.crm.base, A)

    def concentration(self, t: CovariateLike) -> Any:
        """Return gamma E[p(t)], the concentration of the Dirichlet process D_t."""
        mass = self._gamma_mass()
        at = points(t)
        return mass * bare(mean_gate(self.crm, prepare(self.crm, at), at), at)

    def variance(self, t: CovariateLike, A: Interval) -> Any:
        """Return Var D_t(A) = b (1 - b) / (1 + gamma E[p(t)]), b = B0(A), for a gamma process."""
        b = self.mean(A)
        return b * (1 - b) / (1 + self.concentration(t))

    def correlation(self, s: CovariateLike, t: CovariateLike) -> Any:
        """Return Corr(D_s(A), D_t(A)) for a gamma process, the same for every A.

        With a0 = gamma E[r^s r^t], a1 = gamma E[p(s)] - a0 and a2 = gamma E[p(t)] - a0, the atoms
        open at both, at s alone and at t alone have independent totals S0, S1, S2 ~ Gamma(a), and

            Corr = E[ S0/(S0+S1) S0/(S0+S2) ] sqrt((a0+a1+1) (a0+a2+1)) / (a0+1).
        """
        mass = self._gamma_mass()
        here, there = points(s), points(t)
        prepared = prepare(self.crm, here, there)
        both = mass * joint_gates(self.crm, prepared, here, there)
        only_s = np.maximum(mass * mean_gate(self.crm, prepared, here)[:, None] - both, 0.0)
        only_t = np.maximum(mass * mean_gate(self.crm, prepared, there) - both, 0.0)
        shared = np.vectorize(shared_weight)(both, only_s, only_t)
        scale = np.sqrt((both + only_s + 1) * (both + only_t + 1)) / (both + 1)
        return bare(shared * scale, here, there)

    def _gamma_mass(self) -> float:
        levy = self.crm.levy
        if not isinstance(levy, GammaProcess) or self.crm.weighted:
            kind = "weighted" if self.crm.weighted else "thinned"
            raise InvalidInput(
                f"the law of D_t is known for thinned gamma processes, not for a {kind} {levy!r}: "
                "use levy=GammaProcess() and weighted=False, or average over draws."
            )
        return float(levy.mass)

    def _n_atoms_for(self, error: float, mean_T: Float) -> int:
        """Return how many atoms leave out a mean share of at most `error` at every t.

        B_t(whole space) has a Laplace transform of at most exp(-p psi(u)), p = E[p(t)] and psi the
        exponent of nu0, so P(B_t < x) <= e exp(-p psi(1/x)). Choose x to make this error/2 for
        the smallest p. The share left out is at most 1 below x, and above it at most the mass
        left out over x, whose mean, p eps_K / x, is made error/2 for the largest p.
        """
        open_somewhere = mean_T[mean_T > 0]
        if open_somewhere.size == 0:
            return 1
        level = (1.0 + np.log(2.0 / error)) / open_somewhere.min()

        def excess(log_u: float) -> float:
            return float(self.crm.levy.laplace_exponent(np.exp(log_u)) - level)

        low, high = _LOG_RATES
        log_u = high if excess(high) < 0 else float(brentq(excess, low, high))
        missing = min(0.5 * error * np.exp(-log_u), _MOST_MISSING)
        n_atoms = series_length(
            self.crm.levy, float(-np.expm1(-missing)), float(open_somewhere.max())
        )
        if n_atoms > _MOST_ATOMS:
            raise InvalidInput(
                f"error = {error:g} needs {n_atoms} atoms, for this measure's small masses die out "
                "slowly: allow a larger error, or pass n_atoms."
            )
        return n_atoms


def _shares(drawn: Realisation, log_masses: Float, weighted: bool) -> Realisation:
    """Normalise the weights, in logs: where masses underflow they may still be all there is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gate_TK = drawn.probability if weighted else drawn.gates.astype(float)
        log_weight_TK = np.log(gate_TK) + log_masses
        share_TK = np.exp(log_weight_TK - logsumexp(log_weight_TK, axis=1, keepdims=True))
    return replace(drawn, weights=np.where(np.isnan(share_TK), 0.0, share_TK))


def shared_weight(a0: float, a1: float, a2: float) -> float:
    """Return E[S0/(S0+S1) S0/(S0+S2)] for independent S_i ~ Gamma(a_i, 1).

    It is a0 (a0+1) times the integral of (1+u+v)^(-a0-2) (1+u)^-a1 (1+v)^-a2 over u, v > 0. With
    y = 1/(1+u), z = 1/(1+v) and, in each of the triangles z < y and y < z, r for the larger and
    q for the ratio, what is left is smooth but for the weights of two Gauss-Jacobi rules:

        a0 (a0+1) sum_{b = a1, a2}  int int r^(a0+a1+a2-1) q^(a0+b) (1 + q (1-r))^(-a0-2) dr dq.
    """
    if a0 == 0:
        return 0.0
    r, weight_r = _power_rule(a0 + a1 + a2)
    total = 0.0
    for b in (a1, a2):
        q, weight_q = _power_rule(a0 + b + 1)
        total += float(weight_r @ (1 + np.outer(1 - r, q)) ** (-a0 - 2) @ weight_q)
    return float(a0 * (a0 + 1) * total)


def _power_rule(a: float) -> tuple[Float, Float]:
    """Return nodes and weights on (0, 1) for the weight x^(a-1) (Golub and Welsch 1969).

    From the recurrence of the Jacobi polynomials, so that no gamma function overflows.
    """
    n = np.arange(1, _N_NODES)
    odd = 2 * n + a
    centre = np.append((a - 1) / (a + 1), (a - 1) ** 2 / ((odd - 1) * (odd + 1)))
    side = 2 * n * (n + a - 1) / ((odd - 1) * np.sqrt(odd * (odd - 2)))
    node, vector = eigh_tridiagonal(centre, side)
    return (1 + node) / 2, vector[0] ** 2 / a
