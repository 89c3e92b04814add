"""Named processes of the literature, each a few lines: a product of factors we have anyway."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import poisson

from thincrm.data.covariates import CovariateLike, covariates
from thincrm.errors import InvalidInput, InvalidType, check_between, check_count, check_positive
from thincrm.levy import BetaProcess, GammaProcess
from thincrm.measure import NormalizedCRM, ThinnedCRM
from thincrm.measure.random_measure import Base, draw_locations
from thincrm.numerics.arrays import Float, Seed, as_generator
from thincrm.ports import Thinning
from thincrm.thinning.bump import Bump, Window

__all__ = [
    "kernel_beta_process",
    "kernel_weighted_gamma_process",
    "markov_gamma_process",
    "ornstein_uhlenbeck_dirichlet_process",
    "size_biased_deletion_chain",
    "spatial_normalized_gamma_process",
    "thinned_beta_process",
    "thinned_gamma_process",
]

_LONG_AGO = 40.0  # relaxation times before the first covariate: e^-40 of an atom is left
Length = float | tuple[float, float]


def thinned_beta_process(
    mass: float = 1.0,
    concentration: float = 1.0,
    locations: Literal["multiple", "single"] = "multiple",
    **measure: Any,
) -> ThinnedCRM:
    """Return a beta process whose atoms are open in many places, or around one.

    "multiple" thins by a probit relevance vector machine (Foti, Futoma, Rockmore and Williamson
    2013, section 4.2), "single" by a Gaussian bump (section 4.1). E B_t = mass E[p(t)], Var B_t =
    mass E[p(t)] / (concentration + 1). Further arguments (base, coupling, covariates) are those of
    `ThinnedCRM`; other thinning functions are given to it directly.
    """
    return ThinnedCRM(BetaProcess(mass, concentration), _thinning(locations), **measure)


def thinned_gamma_process(
    mass: float = 1.0,
    rate: float = 1.0,
    locations: Literal["multiple", "single"] = "multiple",
    **measure: Any,
) -> ThinnedCRM:
    """Return a gamma process whose atoms are open in many places, or around one.

    As `thinned_beta_process`; B_t ~ Gamma(mass E[p(t)], rate), and its normalised version is a
    Dirichlet process of concentration mass E[p(t)].
    """
    return ThinnedCRM(GammaProcess(mass, rate), _thinning(locations), **measure)


def kernel_beta_process(
    mass: float = 1.0,
    concentration: float = 1.0,
    kernel: Literal["gaussian", "box", "exponential"] = "gaussian",
    length: Length = (0.2, 0.5),
    **measure: Any,
) -> ThinnedCRM:
    """Return the kernel beta process (Ren, Wang, Dunson and Carin 2011).

    B_t = sum_k pi_k K(t, m_k; l_k) delta(theta_k): weighted by the kernel, not thinned, so E B_t =
    mass E[K] and Cov(B_s, B_t) = mass E[K(s) K(t)] / (concentration + 1). Thinning with one gate
    per observation gives the same features; a gate shared at a covariate does not.
    """
    return ThinnedCRM(
        BetaProcess(mass, concentration), Bump(kernel, length), weighted=True, **measure
    )


def kernel_weighted_gamma_process(
    mass: float = 1.0,
    kernel: Literal["gaussian", "box", "exponential"] = "gaussian",
    length: Length = (0.2, 0.5),
    **measure: Any,
) -> NormalizedCRM:
    """Return the normalised kernel-weighted gamma process (Foti and Williamson 2012).

    D_t is proportional to sum_k pi_k K(t, m_k; l_k) delta(theta_k): weighted by the kernel, not
    thinned. Nearby D_t are alike; a D_t is no Dirichlet process unless K is 0 or 1 (a box).
    Mixtures of it: `MixtureModel(thinning=Bump(kernel, length), n_background=0)`.
    """
    crm = ThinnedCRM(GammaProcess(mass), Bump(kernel, length), weighted=True, **measure)
    return crm.normalized()


def spatial_normalized_gamma_process(
    mass: float = 1.0,
    length: Length = 0.2,
    window: tuple[CovariateLike, CovariateLike] | None = None,
    scale: float | Sequence[float] | None = None,
    base: Base = None,
) -> NormalizedCRM:
    """Return the spatial normalised gamma process (Rao and Teh 2009).

    Every atom of a gamma process has a location and a window of half-width `length` about it, and
    D_t normalises those whose window covers t: D_t ~ DP(mass P(window covers t)), and the same
    window acts at all t. (The paper's section 5.2 averages over the length before it thins,
    which keeps each D_t but not how two of them go together.)
    """
    thinning = Bump("box", length, window=window, scale=scale)
    return ThinnedCRM(GammaProcess(mass), thinning, base).normalized()


def ornstein_uhlenbeck_dirichlet_process(
    mass: float, rate: float, span: tuple[float, float], base: Base = None
) -> NormalizedCRM:
    """Return the Ornstein-Uhlenbeck Dirichlet process (Griffin 2011) on the times in `span`.

    B_t = sum_k J_k exp(-rate (t - tau_k)) 1[tau_k <= t] with jumps J ~ Exp(1) that arrive at rate
    rate * mass: B_t is a gamma process of total mass `mass` at every t, Corr(B_s, B_t) =
    exp(-rate |t - s|), and D_t ~ DP(mass). The jumps are compound Poisson (the background driving
    process of gamma margins); with the gamma Lévy measure that the paper's section 5.3 names
    the margins would not be gamma.
    """
    check_positive("mass", mass)
    births = _Births.over(span, rate, older=max(1.0, 1.0 / mass))
    low, high = births.window
    return ThinnedCRM(
        _ExponentialJumps(mass * rate * (high - low)), births, base, weighted=True
    ).normalized()


def markov_gamma_process(
    mass: float, survival: float, n_steps: int, base: Base = None
) -> ThinnedCRM:
    """Return the Markov chain of gamma processes of Lin, Grimson and Fisher (2010).

    From step to step each atom survives with probability `survival` = q and a gamma process of
    total mass (1 - q) mass is born: stationary, Corr(B_i, B_j) = q^|i-j|, and the normalised
    version is a chain of Dirichlet processes DP(mass). Here atoms have a birth time and an
    exponential lifetime of rate -log q, so that covariates are 0, ..., n_steps - 1, or any times
    between.
    """
    check_positive("mass", mass)
    rate = -np.log(check_between("survival", survival, 0.0, 1.0))
    births = _Births.over((0.0, check_count("n_steps", n_steps) - 1.0), float(rate))
    low, high = births.window
    levy = GammaProcess(mass * float(rate) * (high - low))
    return ThinnedCRM(levy, births, base, coupling="comonotone")


def size_biased_deletion_chain(
    concentration: float,
    n_steps: int,
    n_per_step: int,
    rng: Seed = None,
    *,
    deletion: float = 1.0,
    survival: float = 1.0,
    base: Base = None,
) -> pd.DataFrame:
    """Draw from the generalised Pólya urn with size-biased deletion (Caron, Davy, Doucet 2007).

    An urn holds past observations. Each step first deletes, then draws `n_per_step` new ones from
    the urn: a copy of an old one (each equally likely) or, with weight `concentration`, a new
    cluster. With probability `deletion` a step deletes one whole cluster, picked with probability
    proportional to its size; then each observation left stays with probability `survival`. Both
    leave an Ewens partition one (Kingman 1978), so the observations of every step are a sample
    from a Dirichlet process of this concentration.

    Returns
    -------
    DataFrame
        One row per observation: step, cluster, location.
    """
    alpha = check_positive("concentration", concentration)
    check_count("n_steps", n_steps)
    check_count("n_per_step", n_per_step)
    for name, chance in (("deletion", deletion), ("survival", survival)):
        if not isinstance(chance, int | float) or not 0 <= chance <= 1:
            raise InvalidInput(f"{name} is a probability: between 0 and 1, got {chance!r}.")
    rng = as_generator(rng)
    urn: list[int] = []
    seen: list[int] = []
    n_clusters = 0
    for _ in range(n_steps):
        if urn and rng.random() < deletion:
            gone = urn[rng.integers(len(urn))]
            urn = [cluster for cluster in urn if cluster != gone]
        urn = [cluster for cluster in urn if rng.random() < survival]
        for _ in range(n_per_step):
            place = int(rng.random() * (len(urn) + alpha))
            urn.append(urn[place] if place < len(urn) else n_clusters)
            n_clusters = max(n_clusters, urn[-1] + 1)
        seen += urn[-n_per_step:]
    locations = draw_locations(base, rng, n_clusters)
    return pd.DataFrame(
        {
            "step": np.repeat(np.arange(n_steps), n_per_step),
            "cluster": seen,
            "location": list(locations[seen]),
        }
    )


def _thinning(locations: str) -> Thinning[Any, Any]:
    if locations == "single":
        return Bump()
    if locations == "multiple":
        from thincrm.thinning import ProbitRVM  # noqa: PLC0415 - it compiles loops

        return ProbitRVM()
    raise InvalidInput(f"locations must be 'multiple' or 'single', got {locations!r}.")


@dataclass(frozen=True, slots=True)
class _Births(Bump):
    """A one-sided bump on a span of time, whose births reach back until nothing is left."""

    span: tuple[float, float] = (0.0, 1.0)

    @classmethod
    def over(cls, span: tuple[float, float], rate: float, older: float = 1.0) -> _Births:
        try:
            low, high = (float(end) for end in span)
        except (TypeError, ValueError):
            raise InvalidType(f"span must be a pair of numbers, got {span!r}.") from None
        if not (np.isfinite(low) and np.isfinite(high) and low <= high):
            raise InvalidInput(
                f"span must be finite with its first at most its last, got {span!r}."
            )
        check_positive("rate", rate)
        window = (low - _LONG_AGO * older / rate, high)
        return cls("one-sided", 1.0 / rate, 1.0, window, 1.0, (low, high))

    def prepare(self, t: CovariateLike) -> Window:
        known = covariates(t)
        low, high = self.span
        if np.any(known.rows < low) or np.any(known.rows > high):
            raise InvalidInput(f"t must lie between {low:g} and {high:g}, where the process lives.")
        return Bump.prepare(self, known)


@dataclass(frozen=True, slots=True)
class _ExponentialJumps:
    """A compound Poisson measure: Poisson(mass) atoms with masses Exp(1)."""

    mass: float

    def moment(self, n: int) -> float:
        return self.mass * float(np.prod(np.arange(1, n + 1)))

    def laplace_exponent(self, u: Float) -> Float:
        return np.asarray(self.mass * u / (1 + u))

    def n_atoms_for(self, error: float, n_eff: float) -> int:
        return int(poisson.isf(max(min(error, 1e-6), 1e-14), self.mass)) + 1

    def log_series(self, rng: Seed, n_atoms: int) -> Float:
        rng = as_generator(rng)
        log_masses = np.full(n_atoms, -np.inf)
        count = min(int(rng.poisson(self.mass)), n_atoms)
        log_masses[:count] = np.log(rng.standard_exponential(count))
        return log_masses

    draw_log_mass = log_series
