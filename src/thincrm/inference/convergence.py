"""Do chains agree, and what are their draws worth? Rank-normalised split R-hat and ESS.

Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and
localization: an improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16(2).
Arrays are (C, S): chains by draws. They must be of label-free quantities: topics have no names that
two chains, or two sweeps, would share.
"""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

from thincrm.errors import InvalidInput
from thincrm.numerics.arrays import ArrayLike, Float

__all__ = ["FEWEST_DRAWS", "bulk_ess", "ends_ess", "rank_rhat", "shown_rhat", "tail_ess"]

FEWEST_DRAWS = 8  # of a chain: halves of four, the least that has a lag to look at


def rank_rhat(draws_CS: ArrayLike) -> float:
    """Return the larger of the R-hats of the normalised ranks and of the folded draws' ranks.

    Every chain is split in halves, so one chain that still moves is found too. NaN where there is
    nothing to compare (a constant, or under 8 draws); infinite where chains stand still apart.
    """
    draws = _checked(draws_CS)
    if draws.shape[1] < 2:
        return np.nan
    halves = _halves(draws)
    folded = np.abs(halves - np.median(halves))
    return float(np.fmax(_rhat(_normal_scores(halves)), _rhat(_normal_scores(folded))))


def bulk_ess(draws_CS: ArrayLike) -> float:
    """Return how many independent draws the draws are worth for the middle of the distribution."""
    draws = _checked(draws_CS)
    if draws.shape[1] < 2:
        return np.nan
    return float(_ess(_normal_scores(_halves(draws))[..., None])[0])


def tail_ess(draws_CS: ArrayLike) -> float:
    """Return the smaller of the effective sample sizes of the 5 % and the 95 % quantiles."""
    draws = _checked(draws_CS)
    if draws.shape[1] < 2:
        return np.nan
    return float(ends_ess(draws[..., None], 0.05)[0])


def ends_ess(draws_CSQ: Float, tail: float) -> Float:
    """Return `tail_ess` of Q quantities at once, of the quantiles `tail` and 1 - `tail`."""
    ends_2Q = np.quantile(draws_CSQ, [tail, 1.0 - tail], axis=(0, 1))
    lower, upper = (_ess(_halves((draws_CSQ <= end_Q).astype(float))) for end_Q in ends_2Q)
    return np.minimum(lower, upper)


def _checked(draws_CS: ArrayLike) -> Float:
    draws = np.asarray(draws_CS, float)
    if draws.ndim != 2 or draws.size == 0:
        raise InvalidInput(f"draws must be chains × draws, got shape {draws.shape}.")
    if not np.isfinite(draws).all():
        raise InvalidInput("draws must be finite numbers: this quantity is not.")
    return draws


def _halves(draws_CS: Float) -> Float:
    half = draws_CS.shape[1] // 2
    return np.concatenate([draws_CS[:, :half], draws_CS[:, -half:]])


def _normal_scores(draws_CS: Float) -> Float:
    """Return normal quantiles of the ranks among all draws (Blom's offset, ties share theirs)."""
    rank = rankdata(draws_CS, method="average").reshape(draws_CS.shape)
    return np.asarray(ndtri((rank - 0.375) / (draws_CS.size + 0.25)))


def _rhat(z_CS: Float) -> float:
    n_draws = z_CS.shape[1]
    if n_draws < FEWEST_DRAWS // 2 or np.ptp(z_CS) == 0.0:
        return float("nan")
    within = z_CS.var(axis=1, ddof=1).mean()
    between = z_CS.mean(axis=1).var(ddof=1)  # between-chain variance over n
    if within == 0.0:
        return float("inf")
    return float(np.sqrt((n_draws - 1) / n_draws + between / within))


def _ess(z_CSQ: Float) -> Float:
    """Return C S / tau, with tau cut by Geyer's initial monotone sequence of pairs of lags."""
    n_chains, n_draws, n_quantities = z_CSQ.shape
    size = n_chains * n_draws
    if n_draws < FEWEST_DRAWS // 2:
        return np.full(n_quantities, np.nan)
    still_Q = np.ptp(z_CSQ, axis=(0, 1)) == 0.0
    covariance_SQ = _autocovariance(z_CSQ).mean(axis=0)
    within = covariance_SQ[0] * n_draws / (n_draws - 1)
    total = covariance_SQ[0] + z_CSQ.mean(axis=1).var(axis=0, ddof=1)
    rho_SQ = 1.0 - (within - covariance_SQ) / np.where(still_Q, 1.0, total)
    rho_SQ[0] = 1.0
    n_pairs = (n_draws - 3) // 2 + 1
    even, odd = rho_SQ[: 2 * n_pairs : 2], rho_SQ[1 : 2 * n_pairs : 2]
    shut = even + odd <= 0.0
    last_Q = np.where(shut.any(axis=0), shut.argmax(axis=0), n_pairs - 1)
    before = np.arange(n_pairs)[:, None] < last_Q
    whole = np.where(before, np.minimum.accumulate(even + odd), 0.0).sum(axis=0)
    tau = -1.0 + 2.0 * whole + np.maximum(even[last_Q, np.arange(n_quantities)], 0.0)
    return np.where(still_Q, float(size), size / np.maximum(tau, 1.0 / np.log10(size)))


def _autocovariance(z_CSQ: Float) -> Float:
    """Return the (C, S, Q) autocovariances at every lag, over S."""
    n_draws = z_CSQ.shape[1]
    size = next_fast_len(2 * n_draws, real=True)
    spectrum = np.abs(rfft(z_CSQ - z_CSQ.mean(axis=1, keepdims=True), size, axis=1)) ** 2
    return np.asarray(irfft(spectrum, size, axis=1)[:, :n_draws] / n_draws)


def shown_rhat(rhat: float) -> str:
    """Return R-hat in two decimals; of chains that each stand still somewhere else, "over 100"."""
    return "over 100" if rhat > 100.0 else f"{rhat:.2f}"
