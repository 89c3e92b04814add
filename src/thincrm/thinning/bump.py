"""Bump: an atom is open around one location, less and less with distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import ndtri

from thincrm.data.covariates import CovariateLike, Covariates, covariates
from thincrm.errors import InvalidInput, InvalidType, check_positive
from thincrm.numerics.arrays import Float, Seed, as_generator
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.threads import map_blocks
from thincrm.ports import GateEvidence
from thincrm.thinning.basis import unit
from thincrm.thinning.bump_moves import KERNEL_CODES, BumpPrior, Gates, move_bumps
from thincrm.thinning.kernels import KERNELS, Kernel, length_rule
from thincrm.thinning.member import ThinningFunction

__all__ = ["Bump", "BumpState", "Window"]

_MARGIN = 3.0  # lengths by which the window reaches past the covariates
_BLOCK = 3  # atoms that a thread moves at a time: some take far longer than others
_LOG_QMC = 14  # log2 of the points of the one integral that has no product form


class BumpState(NamedTuple):
    """The auxiliary variables x_k of each atom."""

    location: Float  # K x C: m, in the covariate's units
    log_length: Float  # K


@dataclass(frozen=True, slots=True)
class Window:
    """What a bump computes once: the covariates, their units, and where locations may lie."""

    covariates: Covariates
    scale: Float  # C
    low: Float  # C
    high: Float  # C


@dataclass(frozen=True, slots=True)
class Bump(ThinningFunction):
    """Single-location thinning (paper, section 4.1).

        m_k ~ Uniform(window),   log l_k ~ N(log median, spread^2)
        p_x(t) = height * prod_c kernel((t_c - m_kc) / (l_k scale_c))

    with kernel(d) one of exp(-d^2/2) ("gaussian"), 1[|d| <= 1] ("box", which given x is open or
    shut for sure: a random window), exp(-|d|) ("exponential"), and exp(-d) 1[d >= 0]
    ("one-sided": born at m and fading; one covariate column only).

    Parameters
    ----------
    kernel : {"gaussian", "box", "exponential", "one-sided"}
    length : float or (float, float)
        A number fixes every length; a pair (median, spread) is the log-normal prior above. In
        units of `scale`.
    height : float
        The greatest probability, in (0, 1]. At 1 an atom is surely open at its location.
    window : pair or None
        Where locations may lie: (lowest, highest) covariate, each a row when there are several
        columns. By default the range of the covariates given to `prepare` and three (median)
        lengths more on both sides (the one-sided kernel: below only). An atom's mean activation
        is inversely proportional to the window's size, so give one to compare across data.
    scale : float, sequence of float or None
        One unit of each covariate column; by default its range, so that lengths are shares of
        it. Give 1 to have lengths in the covariate's own units (days for dates).
    """

    kernel: Literal["gaussian", "box", "exponential", "one-sided"] = "gaussian"
    length: float | tuple[float, float] = (0.2, 0.5)
    height: float = 1.0
    window: Any = None
    scale: float | Sequence[float] | None = None
    command_name: ClassVar[str] = "bump"
    state: ClassVar[type[Any]] = BumpState
    plain_words: ClassVar[str] = (
        "One bump per {one} gives its probability of being open: each has a single season."
    )

    def __post_init__(self) -> None:
        if self.kernel not in KERNELS:
            raise InvalidInput(f"kernel must be one of {', '.join(KERNELS)}, got {self.kernel!r}.")
        pair = self.length if isinstance(self.length, tuple | list) else (self.length, 1.0)
        if len(pair) != 2:
            raise InvalidInput(
                f"length must be a number or a pair (median, spread), got {self.length!r}."
            )
        check_positive("length", pair[0])
        check_positive("length's spread", pair[1])
        if check_positive("height", self.height) > 1:
            raise InvalidInput(f"height is a probability: at most 1, got {self.height!r}.")

    @property
    def _kernel(self) -> Kernel:
        return KERNELS[self.kernel]

    @property
    def _median(self) -> float:
        return float(self.length[0] if isinstance(self.length, tuple | list) else self.length)

    @property
    def _spread(self) -> float:
        return float(self.length[1]) if isinstance(self.length, tuple | list) else 0.0

    def prepare(self, t: CovariateLike) -> Window:
        """Return the distinct rows of `t`, their units, and the window of locations."""
        known = covariates(t)
        if self._kernel.one_sided and known.rows.shape[1] > 1:
            raise InvalidInput(
                f"kernel 'one-sided' needs a covariate with an order, but t has "
                f"{known.rows.shape[1]} columns: use another kernel or one column."
            )
        scale = unit(known, self.scale)
        if self.window is not None:
            return Window(known, scale, *_given_window(known, self.window))
        reach = _MARGIN * self._median * scale
        above = 0.0 if self._kernel.one_sided and np.ptp(known.rows) > 0 else reach
        return Window(known, scale, known.rows.min(0) - reach, known.rows.max(0) + above)

    def draw(self, rng: Seed, n_atoms: int, prepared: Window) -> BumpState:
        """Draw the locations and log lengths of `n_atoms` atoms."""
        rng = as_generator(rng)
        location = rng.uniform(prepared.low, prepared.high, (n_atoms, prepared.low.size))
        log_length = np.log(self._median) + self._spread * rng.standard_normal(n_atoms)
        return BumpState(location, log_length)

    def log_odds(self, x: BumpState, prepared: Window, t: CovariateLike | None = None) -> Float:
        """Return the (T, K) log p/(1-p) at the prepared rows, or at any covariates `t`."""
        log_open = self._log_open(x, prepared, _rows(prepared, t))
        return np.asarray(log_open - _log_shut(log_open))

    def log_prob(self, x: BumpState, prepared: Window) -> Float:
        """Return the (K,) log densities of (location, log length), or of a location alone."""
        inside = np.all((x.location >= prepared.low) & (x.location <= prepared.high), axis=1)
        density = np.where(inside, -np.log(prepared.high - prepared.low).sum(), -np.inf)
        if self._spread == 0:
            return density
        z = (x.log_length - np.log(self._median)) / self._spread
        return np.asarray(density - 0.5 * z * z - np.log(self._spread * np.sqrt(2 * np.pi)))

    def mean_activation(self, prepared: Window, t: CovariateLike | None = None) -> Float:
        """Return the (T,) prior means of p, exact up to quadrature over the length (1e-9)."""
        rows = _rows(prepared, t)
        length_TQ, weight_TQ = length_rule(
            self._median, self._spread, _breaks(prepared, rows, rows)
        )
        mean_TQ = np.full(length_TQ.shape, self.height)
        for low, high, unit_c, t_T in _columns(prepared, rows):
            area = self._kernel.area(low, high, t_T[:, None], length_TQ * unit_c)
            mean_TQ = mean_TQ * area / (high - low)
        return np.asarray((mean_TQ * weight_TQ).sum(1))

    def pair_activation(
        self,
        prepared: Window,
        s: CovariateLike,
        t: CovariateLike,
        coupling: Literal["independent", "comonotone"],
    ) -> Float:
        """Return the (S, T) prior means of p_s p_t, or of the smaller of the two.

        Exact up to quadrature over the length (1e-9), except the smaller of two Gaussian or
        exponential bumps of several columns: quasi-Monte Carlo, good to about 1e-4.
        """
        rows_S, rows_T = _rows(prepared, s), _rows(prepared, t)
        both = coupling == "independent"
        if not both and rows_S.shape[1] > 1 and self.kernel != "box":
            return self._sampled_smaller(prepared, rows_S, rows_T)
        pairs = [self._pair_row(prepared, row, rows_T, both) for row in rows_S]
        return np.stack(pairs) * self.height ** (2 if both else 1)

    def lengths(self, x: BumpState, prepared: Window) -> Float:
        """Return the (K,) lengths of the atoms' bumps."""
        return np.asarray(np.exp(x.log_length) * prepared.scale[0])

    def prior_of(self, prepared: Window) -> BumpPrior:
        """Return the prior of x as compiled loops want it."""
        return BumpPrior(
            KERNEL_CODES[self.kernel], float(np.log(self.height)), prepared.covariates.rows,
            prepared.scale, prepared.low, prepared.high, float(np.log(self._median)), self._spread,
        )  # fmt: skip

    def redraw(
        self, rng: Seed, x: BumpState, evidence: GateEvidence, prepared: Window
    ) -> BumpState:
        """Move x given the gates, silent ones integrated out (see `bump_moves`)."""
        x_KD = np.ascontiguousarray(np.column_stack([x.location, x.log_length]), float)
        prior = self.prior_of(prepared)
        gates = Gates(
            np.ascontiguousarray(evidence.positive.T), np.ascontiguousarray(evidence.silent.T),
            np.ascontiguousarray(np.exp(evidence.log_q.T)),
        )  # fmt: skip
        key = fresh_key(rng)

        def work(first: int, stop: int) -> None:
            move_bumps(first, stop, key, prior, gates, x_KD)

        map_blocks(work, len(x_KD), _BLOCK)
        return BumpState(x_KD[:, :-1], x_KD[:, -1])

    def _log_open(self, x: BumpState, prepared: Window, rows_TC: Float) -> Float:
        length_KC = np.exp(x.log_length)[:, None] * prepared.scale
        d_TKC = (rows_TC[:, None, :] - x.location) / length_KC
        return np.asarray(self._kernel.log_value(d_TKC).sum(2) + np.log(self.height))

    def _pair_row(self, prepared: Window, row: Float, rows_TC: Float, both: bool) -> Float:
        rows_S = np.broadcast_to(row, rows_TC.shape)
        length_TQ, weight_TQ = length_rule(
            self._median, self._spread, _breaks(prepared, rows_S, rows_TC)
        )
        mean_TQ = np.ones(length_TQ.shape)
        integral = self._kernel.product if both else self._kernel.smaller
        for (low, high, unit_c, s_T), (*_, t_T) in zip(
            _columns(prepared, rows_S), _columns(prepared, rows_TC), strict=True
        ):
            u, v = np.minimum(s_T, t_T)[:, None], np.maximum(s_T, t_T)[:, None]
            mean_TQ = mean_TQ * integral(low, high, u, v, length_TQ * unit_c) / (high - low)
        return np.asarray((mean_TQ * weight_TQ).sum(1))

    def _sampled_smaller(self, prepared: Window, rows_SC: Float, rows_TC: Float) -> Float:
        columns = prepared.low.size
        from scipy.stats import qmc  # noqa: PLC0415 - slow to load, and no sweep needs it

        sobol = qmc.Sobol(columns + 1, scramble=False).random_base2(_LOG_QMC)
        point = sobol + 0.5 / len(sobol)
        x = BumpState(
            prepared.low + point[:, :columns] * (prepared.high - prepared.low),
            np.log(self._median) + self._spread * ndtri(point[:, columns]),
        )
        p_S, p_T = (np.exp(self._log_open(x, prepared, rows)) for rows in (rows_SC, rows_TC))
        return np.stack([np.minimum(row, p_T).mean(1) for row in p_S])


def _rows(prepared: Window, t: CovariateLike | None) -> Float:
    return prepared.covariates.rows if t is None else prepared.covariates.encode(t)


def _log_shut(log_open: Float) -> Float:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(log_open)))


def _columns(prepared: Window, rows: Float) -> list[tuple[float, float, float, Float]]:
    """Return (low, high, unit, covariates) of each column."""
    return list(zip(prepared.low, prepared.high, prepared.scale, rows.T, strict=True))


def _breaks(prepared: Window, rows_P: Float, others_P: Float) -> Float:
    """Return (P, B) lengths at which the mass of a bump within the window bends."""
    apart = np.abs(rows_P - others_P)
    ends = [
        np.abs(rows - end) for rows in (rows_P, others_P) for end in (prepared.low, prepared.high)
    ]
    return np.hstack([gap / prepared.scale for gap in (apart / 2, *ends)])


def _given_window(known: Covariates, window: Any) -> tuple[Float, Float]:
    try:
        low, high = window
    except (TypeError, ValueError):
        raise InvalidType(
            f"window must be a pair (lowest, highest) of covariates, got {window!r}."
        ) from None
    ends = known.encode([low, high])
    if not np.all(ends[0] < ends[1]):
        raise InvalidInput(f"window must have its lowest below its highest, got {window!r}.")
    return ends[0], ends[1]
