"""ProbitRVM: an activation curve is the probit of a bias and kernels at many centres."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import gammaincinv, gammaln

from thincrm.data.covariates import CovariateLike
from thincrm.errors import check_count, check_finite, check_positive
from thincrm.files.checks import need
from thincrm.numerics.arrays import ArrayLike, Float, Int, Seed, as_generator
from thincrm.ports import GateEvidence
from thincrm.thinning.augment import augment
from thincrm.thinning.basis import Basis, check_widths, scaled_rows, squared_distance, start
from thincrm.thinning.count_moves import move_counts
from thincrm.thinning.kernel_based import KernelThinning
from thincrm.thinning.linear_predictor import apply_moves, predictor
from thincrm.thinning.links import PROBIT, probit_log_odds
from thincrm.thinning.moves import Move, move_precisions, move_weights, move_width, refresh
from thincrm.thinning.orthant import mean_link, pair_link

__all__ = ["ProbitRVM", "RVMState"]

_FEW_INDICATORS = 400
_LOG2_POINTS = 12


class RVMState(NamedTuple):
    """The auxiliary variables x_k of each atom."""

    weights: Float  # K x J: omega
    precisions: Float  # K x J: lambda
    width: Int  # K: index into the dictionary of widths


@dataclass(frozen=True, slots=True)
class ProbitRVM(KernelThinning):
    """Thinning by a probit relevance vector machine (paper, section 4.2).

        lambda_kj ~ Gamma(shape, rate),   omega_kj ~ N(mu_j, 1 / lambda_kj),   m_k ~ Uniform
        p_tk = Phi( omega_k0 + sum_l omega_kl exp(-psi_{m_k} |t - c_l|^2) )

    Parameters
    ----------
    widths : sequence of float
        The dictionary psi of inverse squared lengths, in units of `scale`: 100 is a length of 0.1.
    bias_mean : float
        mu_0, the prior mean of the bias; the kernels' is 0. With 0 every atom is open half the
        time a priori, wherever (Phi is symmetric); below 0 atoms are open in few places.
    shape, rate : float
        Of the precisions. Each weight is then Student-t with 2 shape degrees of freedom.
    scale : float, sequence of float or None
        One unit of each covariate column; by default its range, so that lengths are shares of it.
    centres : array-like or None
        Kernel centres, in the covariate's own form; by default its distinct values.
    max_centres : int
        With more distinct values than this, centres are this many, spread over them: the cost of
        a redraw grows with the cube of their number.
    """

    widths: Sequence[float] = (25.0, 100.0, 400.0, 1600.0, 6400.0)
    bias_mean: float = -1.0
    shape: float = 1.0
    rate: float = 1.0
    scale: float | Sequence[float] | None = None
    centres: ArrayLike | None = None
    max_centres: int = 100

    command_name: ClassVar[str] = "rvm"
    state: ClassVar[type[Any]] = RVMState
    plain_words: ClassVar[str] = (
        "A sum of bumps (relevance vector machine) per {one} gives its probability of being open "
        "at any time."
    )

    def __post_init__(self) -> None:
        check_widths(self.widths)
        check_positive("shape", self.shape)
        check_positive("rate", self.rate)
        check_count("max_centres", self.max_centres)
        check_finite("bias_mean", self.bias_mean)

    def prepare(self, t: CovariateLike) -> Basis:
        """Return the basis at the distinct rows of `t`, for every width."""
        known, scale, centres = start(t, self.scale, self.centres, self.max_centres)
        return Basis(known, scale, centres, self._basis(known.rows / scale, centres))

    def _basis(self, rows_TC: Float, centres: Float) -> Float:
        distance_TL = squared_distance(rows_TC, centres)
        kernel_MTL = np.exp(-np.asarray(self.widths, float)[:, None, None] * distance_TL)
        return np.concatenate([np.ones((*kernel_MTL.shape[:2], 1)), kernel_MTL], axis=2)

    def _mean(self, size: int) -> Float:
        mean_J = np.zeros(size)
        mean_J[0] = self.bias_mean
        return mean_J

    def draw(self, rng: Seed, n_atoms: int, prepared: Basis) -> RVMState:
        """Draw the auxiliary variables of `n_atoms` atoms."""
        rng = as_generator(rng)
        size = prepared.basis_MTJ.shape[2]
        precisions = rng.gamma(self.shape, 1.0 / self.rate, (n_atoms, size))
        weights = self._mean(size) + rng.standard_normal((n_atoms, size)) / np.sqrt(precisions)
        return RVMState(weights, precisions, rng.integers(0, len(self.widths), n_atoms))

    def predictor(self, x: RVMState, prepared: Basis, t: CovariateLike | None = None) -> Float:
        """Return the (T, K) linear predictors F omega."""
        if t is None:
            return predictor(prepared.basis_MTJ, x.weights, x.width)
        basis_MTJ = self._basis(scaled_rows(prepared, t), prepared.centres)
        return predictor(basis_MTJ, x.weights, x.width)

    def log_odds(self, x: RVMState, prepared: Basis, t: CovariateLike | None = None) -> Float:
        """Return the (T, K) log p/(1-p) at the prepared rows, or at any covariates `t`."""
        eta_TK = self.predictor(x, prepared, t)
        return probit_log_odds(eta_TK)

    def log_prob(self, x: RVMState, prepared: Basis) -> Float:
        """Return the (K,) log densities of (weights, precisions, width)."""
        gap_KJ = x.weights - self._mean(x.weights.shape[1])
        log_precision_KJ = np.log(x.precisions)
        normal_KJ = 0.5 * (log_precision_KJ - np.log(2 * np.pi) - x.precisions * gap_KJ**2)
        gamma_KJ = (
            self.shape * np.log(self.rate)
            - gammaln(self.shape)
            + (self.shape - 1) * log_precision_KJ
            - self.rate * x.precisions
        )
        return np.asarray((normal_KJ + gamma_KJ).sum(1) - np.log(len(self.widths)))

    def mean_activation(self, prepared: Basis, t: CovariateLike | None = None) -> Float:
        """Return the (T,) prior means of p: a quasi-Monte Carlo mean over the precisions."""
        return mean_link(self._roots(prepared, scaled_rows(prepared, t)), self.bias_mean, PROBIT)

    def pair_activation(
        self,
        prepared: Basis,
        s: CovariateLike,
        t: CovariateLike,
        coupling: Literal["independent", "comonotone"],
    ) -> Float:
        """Return the (S, T) prior means of p_s p_t, or of the smaller of the two."""
        rows_SC, rows_TC = scaled_rows(prepared, s), scaled_rows(prepared, t)
        roots = self._roots(prepared, np.concatenate([rows_SC, rows_TC]))
        return pair_link(roots, self.bias_mean, len(rows_SC), coupling, PROBIT)

    def _roots(self, prepared: Basis, rows_RC: Float) -> Iterator[Float]:
        """Yield batches of A = F diag(lambda)^(-1/2): predictors are N(mu_0, A A') given lambda."""
        basis_MRJ = self._basis(rows_RC, prepared.centres)
        from scipy.stats import qmc  # noqa: PLC0415 - slow to load, and no sweep needs it

        points = qmc.Sobol(basis_MRJ.shape[2], rng=0).random_base2(_LOG2_POINTS)
        deviation_QJ = np.sqrt(self.rate / gammaincinv(self.shape, points))
        for batch_BJ in np.array_split(deviation_QJ, 32):
            for basis_RJ in basis_MRJ:
                yield basis_RJ * batch_BJ[:, None, :]

    def redraw(self, rng: Seed, x: RVMState, evidence: GateEvidence, prepared: Basis) -> RVMState:
        """Move x given the gates: width, ellipse, then latent normals if few, counts if many.

        Cost per atom: O(M T J + J^3), whatever the number of observations.
        """
        # latent normals need the atoms to have the same indicators
        few = evidence.trials.ndim == 1 and int(evidence.trials.sum()) <= _FEW_INDICATORS
        main = augment if few else move_counts
        moves = (refresh, move_width, move_weights, main, move_precisions)
        return self.move(rng, x, evidence, prepared, moves)

    def check(self, x: RVMState, prepared: Basis, n_atoms: int) -> None:
        """Refuse variables, read from a file, that are not of the kind, number and range of its."""
        super(ProbitRVM, self).check(x, prepared, n_atoms)
        need(np.all(x.precisions > 0), "the curves' precisions")

    def move(
        self,
        rng: Seed,
        x: RVMState,
        evidence: GateEvidence,
        prepared: Basis,
        moves: Sequence[Move],
    ) -> RVMState:
        """Apply some of the moves of `thincrm.thinning.moves`, in order."""
        mean_J = self._mean(x.weights.shape[1])
        gamma = (float(self.shape), float(self.rate))
        return RVMState(
            *apply_moves(rng, moves, PROBIT, prepared.basis_MTJ, mean_J, gamma, evidence, x)
        )
