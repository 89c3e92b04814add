"""One atom given the clocks: what its gates say of its mass and its x, gates summed out.

    shared        Π_t  p e^{-V_t π} where used,  (1 - p) + p e^{-V_t π} where silent
    weighted      Π_t  p^{n_t} e^{-V_t p π}
    observation   Π_n  p e^{-u_n π} where used,  (1 - p) + p e^{-u_n π} where silent

A mass is proposed from f_K(π) π^n e^{-Eπ} / Z(n, E), with E(x) an estimate of the atom's exposure;
what is left of its target is then exp(g + E π) Z(n, E), g the log of the product above.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from thincrm.models.mixtures.evidence import Gating
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.compiled import compiled

__all__ = ["Clocks", "exposure_of", "log_gates"]

_SMALL = 1e-200


class Clocks(NamedTuple):
    """The clocks of all rows, their pace in them."""

    gating: Gating
    clock_T: Float  # V_t; of gates of rows, the mean of u over the rows at t
    trials_T: Int
    clock_N: Float  # u, in the order of shards; empty unless rows have gates
    row_N: Int  # their covariate rows


def _parts(clocks: Clocks, count_T: Int, used: float) -> tuple[Float, Float, float]:
    """Return (clock of silent gates (T,), how many are silent (T,), clock of the used ones)."""
    if clocks.gating == "observation":
        return clocks.clock_T, (clocks.trials_T - count_T).astype(float), used
    silent_T = (count_T == 0).astype(float)
    return clocks.clock_T, silent_T, float(clocks.clock_T[count_T > 0].sum())


def exposure_of(
    clocks: Clocks, log_odds_TM: Float, count_T: Int, used: float
) -> tuple[Float, Float]:
    """Return E (M,) of an atom under M values of x, and roughly log of the gates' e^{Eπ} (M,).

    E = Σ_used V + Σ_silent V s(π̂), at a rough mass π̂ = n / Σ_used V (0 of an empty atom); the
    second is g + E π̂. `used` is Σ u over the atom's rows (gates of rows only).
    """
    p_TM = expit(log_odds_TM)
    if clocks.gating == "weighted":
        seen = count_T > 0
        fit_M = (count_T[seen, None] * log_expit(log_odds_TM[seen])).sum(0)
        return clocks.clock_T @ p_TM, fit_M
    clock_T, silent_T, used = _parts(clocks, count_T, used)
    mass = float(count_T.sum()) / used if used > 0.0 else 0.0
    drop_T1 = (clock_T * mass)[:, None]
    s_TM = expit(log_odds_TM - drop_T1)
    exposure_M = used + (silent_T * clock_T) @ s_TM
    return exposure_M, _fit(clocks, log_odds_TM, count_T, silent_T, drop_T1) + (
        exposure_M - used
    ) * mass


def _fit(
    clocks: Clocks, log_odds_TM: Float, count_T: Int, silent_T: Float, drop_T1: Float
) -> Float:
    """Return Σ log p over used gates + Σ log((1 - p) + p e^{-drop}) over silent ones."""
    opened_T = count_T if clocks.gating == "observation" else (count_T > 0).astype(np.int64)
    seen, quiet = opened_T > 0, silent_T > 0
    fit_M = (opened_T[seen, None] * log_expit(log_odds_TM[seen])).sum(0)
    odds_QM = log_odds_TM[quiet]
    silent_QM = np.logaddexp(log_expit(-odds_QM), log_expit(odds_QM) - drop_T1[quiet])
    return np.asarray(fit_M + (silent_T[quiet, None] * silent_QM).sum(0))


def log_gates(clocks: Clocks, log_odds_T: Float, count_T: Int, used_N: Int, mass: float) -> float:
    """Return g, the log of the product above; `used_N` are the atom's rows (gates of rows only)."""
    log_odds_T1 = log_odds_T[:, None]
    if clocks.gating == "weighted":
        seen = count_T > 0
        fit = float((count_T[seen] * log_expit(log_odds_T[seen])).sum())
        return fit - mass * float(clocks.clock_T @ expit(log_odds_T))
    if clocks.gating == "shared":
        clock_T, silent_T, used = _parts(clocks, count_T, 0.0)
        drop_T1 = (clock_T * mass)[:, None]
        return float(_fit(clocks, log_odds_T1, count_T, silent_T, drop_T1)[0]) - used * mass
    p_T = expit(log_odds_T)
    silent = _silent(clocks.clock_N, clocks.row_N, p_T, mass)
    mine = clocks.clock_N[used_N]
    silent -= _silent(mine, clocks.row_N[used_N], p_T, mass)
    seen = count_T > 0
    return (
        silent
        + float((count_T[seen] * log_expit(log_odds_T[seen])).sum())
        - mass * float(mine.sum())
    )


@compiled
def _silent(clock_N: np.ndarray, row_N: np.ndarray, p_T: np.ndarray, mass: float) -> float:
    """Return Σ_n log((1 - p) + p e^{-u_n π}), a log for as many factors as a number holds."""
    total, product = 0.0, 1.0
    for n in range(clock_N.size):
        p = p_T[row_N[n]]
        product *= (1.0 - p) + p * math.exp(-clock_N[n] * mass)
        if product < _SMALL:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)
