"""FunctionThinning: any function of yours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from thincrm.data.covariates import CovariateLike, Covariates, covariates
from thincrm.errors import InvalidInput, InvalidType
from thincrm.numerics.arrays import Float, Int, Seed, as_generator
from thincrm.ports import GateEvidence
from thincrm.thinning.free import move_freely
from thincrm.thinning.member import ThinningFunction

__all__ = ["FunctionState", "FunctionThinning"]

_MOMENT_CHUNKS, _MOMENT_DRAWS = 20, 10_000
_ROUNDING = 1e-12


class FunctionState(NamedTuple):
    """The auxiliary variables x_k of each atom."""

    value: Float  # K x ...


@dataclass(frozen=True, slots=True)
class FunctionThinning(ThinningFunction):
    """Thinning by any function: x_k ~ draw_x, p_x(t) = function(x, t).

    Parameters
    ----------
    function : callable
        `function(x, t)` takes x (K, ...) as `draw_x` made it and covariates t, (T,) when they
        have one column and (T, C) when several (dates as days since 1970), and returns the (T, K)
        probabilities.
    draw_x : callable
        `draw_x(rng, n)` draws the auxiliary variables of n atoms, an array (n, ...).
    log_prior : callable or None
        `log_prior(x)` returns the (n,) log densities of what `draw_x` draws, with respect to all
        of its numbers. With it each number of x moves by slice sampling as well; without it
        atoms are only proposed anew from the prior, which is exact but slow with much data.

    Notes
    -----
    Prior means are averages over 200,000 draws with a fixed seed: their standard error is at most
    0.0011, and the same for every call.
    """

    function: Callable[[Any, Float], Any]
    draw_x: Callable[[np.random.Generator, int], Any]
    log_prior: Callable[[Any], Any] | None = None
    state: ClassVar[type[Any]] = FunctionState
    plain_words: ClassVar[str] = "A function given by the user says when {many} are open."

    def __post_init__(self) -> None:
        for name in ("function", "draw_x"):
            if not callable(getattr(self, name)):
                raise InvalidType(f"{name} must be callable, got {getattr(self, name)!r}.")
        if self.log_prior is not None and not callable(self.log_prior):
            raise InvalidType(f"log_prior must be callable or None, got {self.log_prior!r}.")

    def prepare(self, t: CovariateLike) -> Covariates:
        """Return the distinct rows of `t`."""
        return covariates(t)

    def draw(self, rng: Seed, n_atoms: int, prepared: Covariates) -> FunctionState:
        """Draw the auxiliary variables of `n_atoms` atoms."""
        value = np.asarray(self.draw_x(as_generator(rng), n_atoms), float)
        if value.ndim == 0 or len(value) != n_atoms:
            raise InvalidInput(
                f"draw_x(rng, {n_atoms}) returned shape {value.shape}: return {n_atoms} rows, "
                "one per atom."
            )
        if not np.all(np.isfinite(value)):
            raise InvalidInput("draw_x returned numbers that are not finite.")
        return FunctionState(value)

    def log_odds(
        self, x: FunctionState, prepared: Covariates, t: CovariateLike | None = None
    ) -> Float:
        """Return the (T, K) log p/(1-p) at the prepared rows, or at any covariates `t`."""
        log_open, log_shut = _logs(self._probability(x.value, prepared, _rows(prepared, t)))
        return log_open - log_shut

    def log_prob(self, x: FunctionState, prepared: Covariates) -> Float:
        """Return the (K,) log densities that `log_prior` gives."""
        if self.log_prior is None:
            raise InvalidInput("log_prob needs the density of x: pass log_prior.")
        density = np.array(self.log_prior(x.value), float)
        if density.shape != x.value.shape[:1] or np.any(np.isnan(density)):
            raise InvalidInput(
                f"log_prior returned shape {density.shape} for {len(x.value)} atoms: return one "
                "number (or -inf) per atom."
            )
        return density

    def mean_activation(self, prepared: Covariates, t: CovariateLike | None = None) -> Float:
        """Return the (T,) prior means of p, by Monte Carlo with a fixed seed."""
        rows = _rows(prepared, t)
        means = [p_TK.mean(1) for (p_TK,) in self._samples(prepared, rows)]
        return np.asarray(np.mean(means, axis=0))

    def pair_activation(
        self,
        prepared: Covariates,
        s: CovariateLike,
        t: CovariateLike,
        coupling: Literal["independent", "comonotone"],
    ) -> Float:
        """Return the (S, T) prior means of p_s p_t, or of the smaller, by Monte Carlo."""
        rows_S, rows_T = _rows(prepared, s), _rows(prepared, t)
        means = []
        for p_SK, p_TK in self._samples(prepared, rows_S, rows_T):
            if coupling == "independent":
                means.append(p_SK @ p_TK.T / _MOMENT_DRAWS)
            else:
                means.append(np.stack([np.minimum(p_K, p_TK).mean(1) for p_K in p_SK]))
        return np.asarray(np.mean(means, axis=0))

    def redraw(
        self, rng: Seed, x: FunctionState, evidence: GateEvidence, prepared: Covariates
    ) -> FunctionState:
        """Move x given the gates, silent ones integrated out (see `free.move_freely`)."""
        rng = as_generator(rng)
        shape = x.value.shape[1:]

        def log_likelihood(x_KD: Float, k: Int) -> Float:
            p_TK = self._probability(x_KD.reshape(-1, *shape), prepared, prepared.rows)
            return evidence.of_atoms(k).log_likelihood(*_logs(p_TK))

        x_KD = x.value.reshape(len(x.value), -1)
        moved = move_freely(
            rng,
            x_KD,
            lambda: self.draw(rng, len(x_KD), prepared).value.reshape(x_KD.shape),
            log_likelihood,
            lambda x_KD: self.log_prob(FunctionState(x_KD.reshape(-1, *shape)), prepared),
            self._widths(prepared),
        )
        return FunctionState(moved.reshape(x.value.shape))

    def _widths(self, prepared: Covariates) -> list[float]:
        """Return a guess of a slice's width per number of x: its spread in a few prior draws."""
        few = self.draw(0, 200, prepared).value.reshape(200, -1)
        low, high = np.quantile(few, (0.25, 0.75), axis=0)
        return [0.0 if self.log_prior is None else float(width) for width in high - low]

    def _probability(self, value: Float, prepared: Covariates, rows_TC: Float) -> Float:
        """Return the checked (T, K) probabilities."""
        t = rows_TC[:, 0] if rows_TC.shape[1] == 1 else rows_TC
        p_TK = np.asarray(self.function(value, t), float)
        wanted = (len(rows_TC), len(value))
        if p_TK.shape != wanted:
            raise InvalidInput(
                f"function returned shape {p_TK.shape} for {wanted[0]} covariates and {wanted[1]} "
                f"atoms: return {wanted}."
            )
        bad = ~((p_TK >= -_ROUNDING) & (p_TK <= 1 + _ROUNDING))
        if bad.any():
            row, atom = (int(place[0]) for place in np.nonzero(bad))
            raise InvalidInput(
                f"function returned {p_TK[row, atom]:g} at t = {prepared.labels(rows_TC)[row]}: "
                "a probability must lie between 0 and 1."
            )
        return np.asarray(np.clip(p_TK, 0.0, 1.0))

    def _samples(self, prepared: Covariates, *several_rows: Float) -> Any:
        """Yield the probabilities of fresh atoms at each set of rows, chunk by chunk."""
        rng = np.random.default_rng(0)
        for _ in range(_MOMENT_CHUNKS):
            value = self.draw(rng, _MOMENT_DRAWS, prepared).value
            yield [self._probability(value, prepared, rows) for rows in several_rows]


def _rows(prepared: Covariates, t: CovariateLike | None) -> Float:
    return prepared.rows if t is None else prepared.encode(t)


def _logs(p: Float) -> tuple[Float, Float]:
    with np.errstate(divide="ignore"):
        return np.log(p), np.log1p(-p)
