"""The dependent Indian buffet process (Williamson, Orbanz and Ghahramani 2010), as a sweep sees it.

    v_k ~ Beta(alpha, 1),   b_k = v_1 ... v_k,   alpha ~ Gamma
    f_k ~ GP(0, rho_k exp(-psi_k |t - t'|^2)),   h_nk ~ N(f_k(t_n), 1 - rho_k)
    z_nk = 1[h_nk < Phi^-1(b_k)],   (psi_k, rho_k) uniform on a grid

h_nk has variance 1, so z_nk is Bernoulli(b_k) at every covariate, as in the Indian buffet process:
a Gaussian copula ties the indicators of a feature together and leaves each of them alone. That is
no thinned measure, and its sticks make one chain of all features. But the feature model's sweep
can run it, with masses that are 1 (`sure`) and gates that are open with probability

    P(z_nk = 1 | f) = Phi((Phi^-1(b_k) - f_k(t_n)) / (1 - rho_k)^1/2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_expit, log_ndtr, ndtri_exp

from thincrm.data.covariates import CovariateLike, Covariates, covariates
from thincrm.errors import InvalidInput
from thincrm.files.checks import floats, need, places, positive
from thincrm.models.dependent_ibp.copula_fields import (
    Copula,
    CopulaState,
    fields,
    log_odds,
    prepare_copula,
    shapes,
    threshold,
    turn_back,
)
from thincrm.numerics.arrays import Float, Int, Seed, as_generator
from thincrm.numerics.compiled import compiled
from thincrm.numerics.slice import slice_move
from thincrm.ports import GateEvidence
from thincrm.thinning.basis import check_widths
from thincrm.thinning.links import PROBIT, gate_term
from thincrm.thinning.member import ThinningFunction

__all__ = [
    "MOVES",
    "GaussianCopula",
    "draw_hidden",
    "move_fields",
    "move_grid",
    "move_mass",
    "move_sticks",
]

MASS_PRIOR = (1.0, 1.0)  # Gamma(shape, rate) of alpha
_PACKED = ("scale", "size_MT", "direction_MTT")


@dataclass(frozen=True, slots=True)
class GaussianCopula(ThinningFunction):
    """Indicators tied together over covariates; the sweep takes it for a thinning function.

    Parameters
    ----------
    widths : sequence of float
        The grid of psi, inverse squared lengths in units of the covariate's range.
    shares : sequence of float
        The grid of rho: the part of a hidden normal's variance that its field has.
    """

    widths: Sequence[float]
    shares: Sequence[float]
    state: ClassVar[type[Any]] = CopulaState
    plain_words: ClassVar[str] = (
        "A Gaussian process per {one} ties rows with like covariates together."
    )

    def __post_init__(self) -> None:
        check_widths(self.widths)
        share_R = np.asarray(self.shares, float)
        if share_R.ndim != 1 or share_R.size == 0 or not np.all((share_R > 0) & (share_R < 1)):
            raise InvalidInput(
                f"shares must be one or more numbers strictly between 0 and 1, got {self.shares!r}."
            )

    def prepare(self, t: CovariateLike) -> Copula:
        """Return what the fields need of the covariates."""
        width_M, share_R = np.asarray(self.widths, float), np.asarray(self.shares, float)
        return prepare_copula(covariates(t), width_M, share_R)

    def pack(self, prepared: Copula) -> dict[str, Float]:
        """Return the eigenvectors and eigenvalues: another machine may find other signs."""
        return {name: getattr(prepared, name) for name in _PACKED}

    def unpack(self, packed: Any, known: Covariates) -> Copula:
        """Return what had been prepared, with the very bits it had."""
        what = "the processes of the features"
        need(isinstance(packed, dict) and set(packed) == set(_PACKED), what)
        (n_rows, n_columns), n_widths = known.rows.shape, len(self.widths)
        floats(packed["scale"], (n_columns,), what, most=np.inf)
        need(np.all(packed["scale"] > 0), what)
        floats(packed["size_MT"], (n_widths, n_rows), what)
        floats(packed["direction_MTT"], (n_widths, n_rows, n_rows), what)
        width_M, share_R = np.asarray(self.widths, float), np.asarray(self.shares, float)
        return Copula(covariates=known, width_M=width_M, share_R=share_R, **packed)

    def check(self, x: CopulaState, prepared: Copula, n_atoms: int) -> None:
        """Refuse variables, read from a file, that are not of the kind, number and range of its."""
        what = "the processes of the features"
        need(isinstance(x, CopulaState), what)
        floats(x.weight, (n_atoms, len(prepared.covariates.rows)), what)
        floats(x.stick, (n_atoms,), what)
        places(x.width, (n_atoms,), prepared.width_M.size, what)
        places(x.share, (n_atoms,), prepared.share_R.size, what)
        positive(x.mass, what)

    def draw(self, rng: Seed, n_atoms: int, prepared: Copula) -> CopulaState:
        """Draw the variables of `n_atoms` features."""
        rng = as_generator(rng)
        mass = rng.gamma(MASS_PRIOR[0]) / MASS_PRIOR[1]
        log_v = np.log(rng.random(n_atoms)) / mass
        return CopulaState(
            rng.standard_normal((n_atoms, len(prepared.covariates.rows))),
            rng.integers(0, prepared.width_M.size, n_atoms),
            rng.integers(0, prepared.share_R.size, n_atoms),
            log_v - np.log(-np.expm1(log_v)),
            mass,
        )

    def log_odds(self, x: CopulaState, prepared: Copula, t: CovariateLike | None = None) -> Float:
        """Return the (T, K) log odds of z = 1 at the prepared rows, or at any covariates `t`."""
        if t is None:
            return log_odds(x, prepared)
        return log_odds(x, prepared, prepared.covariates.encode(t) / prepared.scale)

    def redraw(
        self, rng: Seed, x: CopulaState, evidence: GateEvidence, prepared: Copula
    ) -> CopulaState:
        """Move x given how many z are 1 at each row."""
        rng = as_generator(rng)
        for move in MOVES:
            x = move(rng, x, evidence, prepared)
        return x


def draw_hidden(
    rng: np.random.Generator, x: CopulaState, evidence: GateEvidence, prepared: Copula
) -> tuple[Float, Float]:
    """Draw the hidden normals; return their (T, K) means, and (K,) squared errors around these.

    Each is below its threshold where z = 1, else above it: by inversion in logarithms, so that no
    tail is too far.
    """
    row_N = np.repeat(np.arange(evidence.trials.size), evidence.trials)
    start_T = np.cumsum(evidence.trials) - evidence.trials
    below_NK = (np.arange(row_N.size) - start_T[row_N])[:, None] < evidence.positive[row_N]
    side_NK = np.where(below_NK, 1.0, -1.0)
    field_NK = fields(x, prepared)[row_N]
    spread_K = np.sqrt(1.0 - prepared.share_R[x.share])
    gap_NK = side_NK * (threshold(x.stick) - field_NK) / spread_K
    height_NK = np.log1p(-rng.random(gap_NK.shape)) + log_ndtr(gap_NK)
    hidden_NK = field_NK + side_NK * spread_K * ndtri_exp(height_NK)
    mean_TK = np.add.reduceat(hidden_NK, start_T, axis=0) / evidence.trials[:, None]
    return mean_TK, ((hidden_NK - mean_TK[row_N]) ** 2).sum(axis=0)


def move_fields(
    rng: np.random.Generator,
    x: CopulaState,
    evidence: GateEvidence,
    prepared: Copula,
    hidden: Callable[..., tuple[Float, Float]] = draw_hidden,
) -> CopulaState:
    """Draw the hidden normals; given them (psi, rho), fields integrated out; then the fields.

    With u = N^1/2 (mean of h at each row) turned by U', u_j ~ N(0, rho d_j + 1 - rho), all
    independent; what varies within rows has variance 1 - rho.
    """
    mean_TK, within_K = hidden(rng, x, evidence, prepared)
    share_R, rest_R = prepared.share_R, 1.0 - prepared.share_R
    scaled_TK = np.sqrt(evidence.trials)[:, None] * mean_TK
    u_MTK = np.empty((prepared.width_M.size, *scaled_TK.shape))
    for direction_TT, u_TK in zip(prepared.direction_MTT, u_MTK, strict=True):
        turn_back(direction_TT, scaled_TK, u_TK)
    variance_MRT = share_R[:, None] * prepared.size_MT[:, None, :] + rest_R[:, None]
    n_within = evidence.trials.sum() - evidence.trials.size
    fit_MRK = (1.0 / variance_MRT) @ u_MTK**2 + np.log(variance_MRT).sum(axis=2)[:, :, None]
    fit_MRK += n_within * np.log(rest_R)[:, None] + within_K / rest_R[:, None]
    width_K, share_K = _choose(rng, -0.5 * fit_MRK)
    gain_KT = np.sqrt(share_R[share_K, None] * prepared.size_MT[width_K])
    variance_KT = gain_KT**2 + rest_R[share_K, None]
    u_KT = u_MTK[width_K, :, np.arange(width_K.size)]
    noise_KT = rng.standard_normal(u_KT.shape) * np.sqrt(rest_R[share_K, None] / variance_KT)
    return x._replace(weight=gain_KT * u_KT / variance_KT + noise_KT, width=width_K, share=share_K)


def _choose(rng: np.random.Generator, fit_MRK: Float) -> tuple[Int, Int]:
    """Draw a width and a share for each feature, with probabilities proportional to exp(fit)."""
    n_shares, n_features = fit_MRK.shape[1:]
    fit_GK = fit_MRK.reshape(-1, n_features)
    chance_GK = np.exp(fit_GK - fit_GK.max(axis=0))
    height_K = rng.random(n_features) * chance_GK.sum(axis=0)
    place_K = (np.cumsum(chance_GK, axis=0)[:-1] < height_K).sum(axis=0)
    width_K, share_K = np.divmod(place_K, n_shares)
    return width_K, share_K


def move_grid(
    rng: np.random.Generator,
    x: CopulaState,
    evidence: GateEvidence,
    prepared: Copula,
    shapes_of: Callable[..., Float] = shapes,
) -> CopulaState:
    """Draw (psi, rho) given the indicators and the whitened fields, hidden normals out.

    Given hidden normals rho hardly moves: they lie within (1 - rho)^1/2 of their field.
    """
    edge_K = threshold(x.stick)
    fit_MRK = np.empty((prepared.width_M.size, prepared.share_R.size, x.width.size))
    for m in range(prepared.width_M.size):
        shape_TK = shapes_of(x.weight, np.full_like(x.width, m), prepared)
        for r, share in enumerate(prepared.share_R):
            spread_K = np.full(x.width.size, np.sqrt(1.0 - share))
            log_chance(edge_K, np.sqrt(share) * shape_TK, spread_K, *evidence[:2], fit_MRK[m, r])
    width_K, share_K = _choose(rng, fit_MRK)
    return x._replace(width=width_K, share=share_K)


@compiled
def log_chance(
    edge_K: np.ndarray, field_TK: np.ndarray, spread_K: np.ndarray, positive_TK: np.ndarray,
    trials_T: np.ndarray, out_K: np.ndarray,
) -> None:  # fmt: skip
    """Fill `out_K` with each feature's log probability of its indicators, given its field."""
    out_K[:] = 0.0
    for t in range(trials_T.size):
        for k in range(edge_K.size):
            gap = (edge_K[k] - field_TK[t, k]) / spread_K[k]
            positive = positive_TK[t, k]
            out_K[k] += gate_term(gap, PROBIT, positive, trials_T[t] - positive, 0.0)


def move_sticks(
    rng: np.random.Generator, x: CopulaState, evidence: GateEvidence, prepared: Copula
) -> CopulaState:
    """Move every v_k by a slice, in random order: its own reversal.

    A stick moves the thresholds of its feature and of all after it.
    """
    stick, field_TK = np.array(x.stick), fields(x, prepared)
    spread_K = np.sqrt(1.0 - prepared.share_R[x.share])
    fit_K = np.empty(stick.size)

    def log_density(logit: Float) -> Float:
        now = stick.copy()
        now[k] = logit[0]
        log_chance(
            threshold(now)[k:], field_TK[:, k:], spread_K[k:], evidence.positive[:, k:],
            evidence.trials, fit_K[k:],
        )  # fmt: skip
        return np.array([fit_K[k:].sum() + x.mass * log_expit(now[k]) + log_expit(-now[k])])

    for k in rng.permutation(stick.size):
        stick[k] = slice_move(rng, stick[k : k + 1], log_density, width=2.0)[0]
    return x._replace(stick=stick)


def move_mass(
    rng: np.random.Generator,
    x: CopulaState,
    evidence: GateEvidence,
    prepared: Copula,
    prior: tuple[float, float] = MASS_PRIOR,
) -> CopulaState:
    """Draw alpha ~ Gamma(a + K, b - sum_k log v_k)."""
    shape, rate = prior
    return x._replace(mass=rng.gamma(shape + x.stick.size) / (rate - log_expit(x.stick).sum()))


Move = Callable[[np.random.Generator, CopulaState, GateEvidence, Copula], CopulaState]
MOVES: tuple[Move, ...] = (move_fields, move_grid, move_sticks, move_mass)
