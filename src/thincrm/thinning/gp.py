"""SigmoidGP: an activation curve is a Gaussian random field through a probit or logistic link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from thincrm.data.covariates import CovariateLike
from thincrm.errors import InvalidInput, check_count, check_finite, check_positive
from thincrm.numerics.arrays import ArrayLike, Float, Int, Seed, as_generator
from thincrm.numerics.streams import fresh_key
from thincrm.ports import GateEvidence
from thincrm.thinning.basis import Basis, check_widths, scaled_rows, squared_distance, start
from thincrm.thinning.count_moves import move_counts
from thincrm.thinning.guide import CurveGuide, fit_guide
from thincrm.thinning.kernel_based import KernelThinning
from thincrm.thinning.linear_predictor import apply_moves, predictor
from thincrm.thinning.links import LOGISTIC, PROBIT, probit_log_odds
from thincrm.thinning.moves import Move, move_weights, move_width, refresh
from thincrm.thinning.orthant import mean_link, pair_link

__all__ = ["CurveLaw", "GPState", "SigmoidGP"]

_LINKS = {"probit": PROBIT, "logistic": LOGISTIC}
_SMALLEST_SHARE = 1e-7


class GPState(NamedTuple):
    """The auxiliary variables x_k of each atom."""

    weights: Float  # K x J: the level, then the field in whitened coordinates
    width: Int  # K: index into the dictionary of widths


class CurveLaw(NamedTuple):
    """A law of one atom's x that its gates alone determine."""

    inner: CurveGuide

    def draw(self, rng: Seed) -> GPState:
        """Draw the x of one atom."""
        weight_J, width = self.inner.draw(fresh_key(rng))
        return GPState(weight_J[None], np.array([width]))

    def log_excess(self, x: GPState) -> float:
        """Return log [prior / law] of one atom's x."""
        return self.inner.log_excess(x.weights[0], int(x.width[0]))


@dataclass(frozen=True, slots=True)
class SigmoidGP(KernelThinning):
    """Thinning by a Gaussian process (paper, section 4.2).

        b_k ~ N(bias_mean, bias_spread^2),   m_k ~ Uniform
        f_k ~ GP(b_k, amplitude^2 exp(-psi_{m_k} |t - t'|^2)),   p_tk = link(f_k(t))

    The field is carried by its values at the centres C (the distinct covariate values, or
    `max_centres` spread over them) and is, elsewhere, its conditional mean given those:
    f(t) = b + k(t, C) K_CC^-1 (f_C - b). At the centres it is the process itself.

    Parameters
    ----------
    widths : sequence of float
        The dictionary psi of inverse squared lengths, in units of `scale`: 25 is a length of 0.2.
    bias_mean, bias_spread, amplitude : float
        Of the level around which an atom's field varies, and of that variation. With a bias_mean
        below 0, atoms are open in few places.
    link : {"probit", "logistic"}
        From the field to a probability.
    scale, centres, max_centres
        As in ProbitRVM.
    """

    widths: Sequence[float] = (3.0, 12.0, 50.0, 200.0)
    bias_mean: float = -1.5
    bias_spread: float = 0.5
    amplitude: float = 1.5
    link: Literal["probit", "logistic"] = "probit"
    scale: float | Sequence[float] | None = None
    centres: ArrayLike | None = None
    max_centres: int = 100

    command_name: ClassVar[str] = "gp"
    whitened: ClassVar[bool] = True
    state: ClassVar[type[Any]] = GPState
    plain_words: ClassVar[str] = (
        "A smooth random curve (Gaussian process) per {one} gives its probability of being open at "
        "any time."
    )

    def __post_init__(self) -> None:
        check_widths(self.widths)
        check_finite("bias_mean", self.bias_mean)
        check_positive("bias_spread", self.bias_spread)
        check_positive("amplitude", self.amplitude)
        check_count("max_centres", self.max_centres)
        if self.link not in _LINKS:
            raise InvalidInput(f"link must be 'probit' or 'logistic', got {self.link!r}.")

    def prepare(self, t: CovariateLike) -> Basis:
        """Return the whitened basis at the distinct rows of `t`, for every width."""
        known, scale, centres = start(t, self.scale, self.centres, self.max_centres)
        inner_MLL = self._covariance(centres, centres)
        size_ML, direction_MLL = (part[..., ::-1] for part in np.linalg.eigh(inner_MLL))
        kept_ML = size_ML > _SMALLEST_SHARE * size_ML[:, :1]
        n_kept = int(kept_ML.sum(axis=1).max())
        size_MR, kept_MR = size_ML[:, :n_kept], kept_ML[:, :n_kept]
        direction_MLR = np.ascontiguousarray(direction_MLL[..., :n_kept])
        inverse_MR = np.where(kept_MR, 1.0 / np.sqrt(np.where(kept_MR, size_MR, 1.0)), 0.0)
        basis_MTJ = self._basis(known.rows / scale, centres, direction_MLR, inverse_MR)
        return Basis(known, scale, centres, basis_MTJ, direction_MLR, inverse_MR)

    def _covariance(self, a_TC: Float, b_LC: Float) -> Float:
        psi_M = np.asarray(self.widths, float)[:, None, None]
        return np.asarray(self.amplitude**2 * np.exp(-psi_M * squared_distance(a_TC, b_LC)))

    def _basis_at(self, rows_TC: Float, prepared: Basis) -> Float:
        """Return the basis at any scaled rows."""
        direction_MLR, inverse_MR = prepared.direction_MLR, prepared.inverse_MR
        assert direction_MLR is not None
        assert inverse_MR is not None
        return self._basis(rows_TC, prepared.centres, direction_MLR, inverse_MR)

    def _basis(
        self, rows_TC: Float, centres: Float, direction_MLR: Float, inverse_MR: Float
    ) -> Float:
        """Return F with F F' = K at the centres: k(t, C) U d^(-1/2), K_CC = U diag(d) U'.

        A first column of ones carries the level. Directions with less than 1e-7 of the largest
        one's variance are left out, as the squared exponential has many such: the columns end
        where the shortest length has no more of them.
        """
        cross_MTL = self._covariance(rows_TC, centres)
        field_MTR = (cross_MTL @ direction_MLR) * inverse_MR[:, None, :]
        return np.concatenate([np.ones((*field_MTR.shape[:2], 1)), field_MTR], axis=2)

    def _prior(self, size: int) -> tuple[Float, Float]:
        """Return the (J,) prior means and precisions of the weights."""
        mean_J, precision_J = np.zeros(size), np.ones(size)
        mean_J[0], precision_J[0] = self.bias_mean, self.bias_spread**-2
        return mean_J, precision_J

    def draw(self, rng: Seed, n_atoms: int, prepared: Basis) -> GPState:
        """Draw the fields of `n_atoms` atoms."""
        rng = as_generator(rng)
        mean_J, precision_J = self._prior(prepared.basis_MTJ.shape[2])
        noise_KJ = rng.standard_normal((n_atoms, mean_J.size))
        weights = mean_J + noise_KJ / np.sqrt(precision_J)
        return GPState(weights, rng.integers(0, len(self.widths), n_atoms))

    def predictor(self, x: GPState, prepared: Basis, t: CovariateLike | None = None) -> Float:
        """Return the (T, K) values of the fields."""
        if t is None:
            return predictor(prepared.basis_MTJ, x.weights, x.width)
        basis_MTJ = self._basis_at(scaled_rows(prepared, t), prepared)
        return predictor(basis_MTJ, x.weights, x.width)

    def log_odds(self, x: GPState, prepared: Basis, t: CovariateLike | None = None) -> Float:
        """Return the (T, K) log p/(1-p) at the prepared rows, or at any covariates `t`."""
        eta_TK = self.predictor(x, prepared, t)
        if self.link == "logistic":
            return eta_TK
        return probit_log_odds(eta_TK)

    def log_prob(self, x: GPState, prepared: Basis) -> Float:
        """Return the (K,) log densities of (weights, width)."""
        mean_J, precision_J = self._prior(x.weights.shape[1])
        gap_KJ = x.weights - mean_J
        normal_KJ = 0.5 * (np.log(precision_J / (2 * np.pi)) - precision_J * gap_KJ**2)
        return np.asarray(normal_KJ.sum(1) - np.log(len(self.widths)))

    def mean_activation(self, prepared: Basis, t: CovariateLike | None = None) -> Float:
        """Return the (T,) prior means of p."""
        roots = self._roots(prepared, scaled_rows(prepared, t))
        return mean_link(roots, self.bias_mean, _LINKS[self.link])

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
        return pair_link(roots, self.bias_mean, len(rows_SC), coupling, _LINKS[self.link])

    def _roots(self, prepared: Basis, rows_RC: Float) -> Iterator[Float]:
        """Yield A, one a width: the fields at the rows are N(bias_mean, A A')."""
        _, precision_J = self._prior(prepared.basis_MTJ.shape[2])
        yield self._basis_at(rows_RC, prepared) / np.sqrt(precision_J)

    def redraw(self, rng: Seed, x: GPState, evidence: GateEvidence, prepared: Basis) -> GPState:
        """Move x given the gates; cost per atom O(M T J + J^3), whatever the observations."""
        return self.move(
            rng, x, evidence, prepared, (refresh, move_width, move_weights, move_counts)
        )

    def guide(self, evidence: GateEvidence, prepared: Basis) -> CurveLaw:
        """Return a law near that of one atom's x given its gates."""
        mean_J, precision_J = self._prior(prepared.basis_MTJ.shape[2])
        gates = evidence.positive[:, 0], evidence.silent[:, 0], np.exp(evidence.log_q[:, 0])
        basis, link = prepared.basis_MTJ, _LINKS[self.link]
        return CurveLaw(fit_guide(basis, mean_J, precision_J, link, *gates))

    def move(
        self, rng: Seed, x: GPState, evidence: GateEvidence, prepared: Basis, moves: Sequence[Move]
    ) -> GPState:
        """Apply some of the moves of `thincrm.thinning.moves`, in order."""
        mean_J, precision_J = self._prior(x.weights.shape[1])
        state = (x.weights, np.tile(precision_J, (len(x.width), 1)), x.width)
        link = _LINKS[self.link]
        weights, _, width = apply_moves(
            rng, moves, link, prepared.basis_MTJ, mean_J, (0.0, 0.0), evidence, state
        )
        return GPState(weights, width)
