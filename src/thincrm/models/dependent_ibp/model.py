"""DependentIBP: the model to compare with, features tied to a covariate by a Gaussian copula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from thincrm.errors import check_count
from thincrm.levy import BetaProcess
from thincrm.models.base import Factors
from thincrm.models.dependent_ibp.copula import GaussianCopula
from thincrm.models.dependent_ibp.copula_fields import CopulaState
from thincrm.models.features.likelihood import FeatureLikelihood
from thincrm.models.features.model import MOST_FEATURES, FeatureModel
from thincrm.models.seeds import RandomState

__all__ = ["DependentIBP"]


class DependentIBP(FeatureModel):
    """The dependent Indian buffet process of Williamson, Orbanz and Ghahramani (2010).

        y_n = level + sum_k z_nk A_k + noise
        z_nk = 1[h_nk < Phi^-1(b_k)],  h_k a Gaussian process over the covariate, plus noise

    Each z_nk is Bernoulli(b_k) whatever its covariate: the process ties rows with like covariates
    together. This is no thinned measure; it stands here to be compared with. It has the data
    handling, the likelihood and the results of `FeatureModel`; of `activation`, mean and usage
    are both the probability that a row at t uses the feature.

    A Gaussian process for every feature costs the cube of the number of distinct covariates once,
    and its square every sweep: at most 3,000.

    Parameters
    ----------
    widths : sequence of float
        Inverse squared lengths that a feature's process may have, in units of the covariate's
        range.
    shares : sequence of float
        Shares that the process may have of the variance of h; the rest is the row's own.
    background, max_features, n_sweeps, n_draws, n_chains, max_rows, random_state, n_threads, quiet
        As in FeatureModel.
    """

    levy = None
    stores: ClassVar[tuple[type, ...]] = (*FeatureModel.stores, CopulaState)
    thinning = None
    weights = "binary"
    n_factors = 0
    level = "constant"
    gates = "observation"
    learn = True

    def __init__(
        self,
        *,
        widths: Sequence[float] = (0.5, 3.0, 12.0, 50.0),
        shares: Sequence[float] = (0.2, 0.5, 0.8, 0.95),
        background: bool = True,
        max_features: int = 20,
        n_sweeps: int | Literal["auto"] = 600,
        n_draws: int = 100,
        n_chains: int = 1,
        max_rows: int | None = 300,
        random_state: RandomState = None,
        n_threads: int | None = None,
        quiet: bool = False,
    ) -> None:
        self.widths = widths
        self.shares = shares
        self.background = background
        self.max_features = max_features
        self.n_sweeps = n_sweeps
        self.n_draws = n_draws
        self.n_chains = n_chains
        self.max_rows = max_rows
        self.random_state = random_state
        self.n_threads = n_threads
        self.quiet = quiet

    def _factors(self) -> Factors[FeatureLikelihood]:
        n_features = check_count("max_features", self.max_features, most=MOST_FEATURES)
        start = BetaProcess(min(2.0, 0.5 * n_features), 1.0)  # of the chain
        likelihood = FeatureLikelihood(background=bool(self.background), sure=True)
        copula = GaussianCopula(self.widths, self.shares)
        return Factors(start, copula, likelihood, n_features)
