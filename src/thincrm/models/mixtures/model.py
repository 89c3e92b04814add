"""MixtureModel: clusters and densities that change with a covariate."""

from __future__ import annotations

import sys
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import ClusterMixin
from sklearn.utils.validation import validate_data

from thincrm.data.covariates import CovariateLike, Covariates
from thincrm.data.table_values import as_numbers, column_names, refuse_infinite
from thincrm.errors import InvalidInput, InvalidType, check_count
from thincrm.inference.dask_cluster import Client
from thincrm.levy import GammaProcess
from thincrm.levy.process import LevyProcess
from thincrm.models.base import Factors, Parts
from thincrm.models.given_rows import refuse_other_order
from thincrm.models.mixtures.cells import Cells
from thincrm.models.mixtures.censored import RegressionStats
from thincrm.models.mixtures.chosen_cells import cells_of
from thincrm.models.mixtures.columns import (
    MixedTable,
    coded,
    found_kinds,
    layout_of,
    levels_of,
    said_kinds,
)
from thincrm.models.mixtures.diagonal import DiagonalHyper, DiagonalParams, DiagonalStats
from thincrm.models.mixtures.draw import MixtureDraw
from thincrm.models.mixtures.evidence import MixtureEvidence
from thincrm.models.mixtures.export import MixtureExport
from thincrm.models.mixtures.full import FullHyper, FullParams, FullStats
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.likelihood import MixtureLikelihood
from thincrm.models.mixtures.mixed import MixedClusters, MixedHyper, MixedParams, MixedStats
from thincrm.models.mixtures.regression import (
    RegressionClusters,
    RegressionHyper,
    RegressionParams,
)
from thincrm.models.mixtures.shards import MixtureLocal, as_shards
from thincrm.models.mixtures.sides import SidesLike, censor, sides_of
from thincrm.models.mixtures.state import MixtureOwn
from thincrm.models.mixtures.storage import MixtureFiles
from thincrm.models.mixtures.tables import ClusterTables
from thincrm.models.mixtures.ties import spread_ties
from thincrm.models.reported import refuse_options
from thincrm.models.seeds import RandomState, seed_of
from thincrm.numerics.arrays import Float
from thincrm.report.page import Page
from thincrm.thinning import Bump
from thincrm.thinning.member import ThinningFunction

__all__ = ["MOST_CLUSTERS", "MixtureModel"]

MOST_CLUSTERS = 10_000
_LENGTHS = (0.1, 1.0)  # median and spread: from a hundredth of t's range to all of it
_FEW_COLUMNS = 8  # for which clusters have full covariances unless told


class MixtureModel(MixtureFiles, ClusterMixin, MixtureExport):  # type: ignore[misc]
    """Clusters that appear, change in weight and vanish with a covariate; densities given it.

        P(c_n = k) = r_tk π_k / Σ_j r_tj π_j,    r_tk ~ Bernoulli(p_k(t)),    y_n ~ f(· | θ_{c_n})

    A normalised thinned random measure mixed over clusters. Their number is learned. Holes (NaN)
    are left out exactly: neither filled in nor dropped with their rows.

    Parameters
    ----------
    levy : Lévy measure on (0, ∞) or None
        How heavy clusters are: GammaProcess (a Dirichlet process at every t),
        GeneralizedGammaProcess or StableProcess. None: GammaProcess(), its mass learned.
    thinning : thinning function or None
        Where clusters are open: Bump(), SigmoidGP(), ProbitRVM(), ... or Always() for an ordinary
        mixture. None: Bump() with lengths from a hundredth of t's range to all of it.
    likelihood : GaussianClusters, RegressionClusters, MixedClusters or None
        The law inside clusters. Of RegressionClusters() the response is the first column of the
        table; lines are in the other columns or, if there are none, in t. None: by the columns of
        a data frame, and said. With censored responses it is RegressionClusters(). Categories
        (text, True and False) and counts (small whole numbers from 0 on) are mixed; one column of
        numbers has lines in t, if there is a t; other numbers are normal, with full covariances
        where there are at most 8 columns and else independent ones.
    gates : {"weighted", "shared", "observation"}
        The gate's average as a weight (kernel-weighted mixtures: shares change smoothly); or one
        gate for all rows at a covariate value; or one gate for every row.
    max_clusters : int
        The truncation: more clusters than are needed. A warning says when they are all in use.
    n_background : int
        Clusters that are open everywhere, so that something always is.
    n_sweeps : int or "auto"
        Sweeps of each chain; the first third is warm-up. "auto": as many as it takes until the
        verdict is a yes, from 300 to 6,000 (see `fit`'s `minutes`).
    n_draws : int
        Draws kept of each chain, evenly spaced over the rest.
    n_chains : int
        Independent chains.
    learn : bool
        Learn the Lévy measure's mass too.
    max_rows : int or None
        Curves are followed at so many distinct covariates at most, those of neighbours pooled; the
        rows keep their own. None: at all of them.
    random_state : int, RandomState or None
        The same int gives the same bits, on any number of threads.
    n_threads : int or None
        None: one per core.
    quiet : bool
        No progress bar, and no word on the likelihood that was chosen.

    Attributes
    ----------
    labels_ : (N,) int
        The partition that minimises the expected variation of information, largest cluster first.
    n_clusters_ : Series
        Draws of the number of clusters that have rows.
    likelihood_ : GaussianClusters, RegressionClusters or MixedClusters
        The law inside clusters, given or chosen.
    draws_ : list of MixtureDraw
        Kept draws, in standard units (`layout_`).
    trace_ : DataFrame
        Label-free quantities after every sweep.
    complete_ : bool
        Whether all sweeps were made; False: the run was stopped before.
    """

    atoms: ClassVar[str] = "clusters"
    likelihoods: ClassVar[tuple[type, ...]] = (
        GaussianClusters,
        RegressionClusters,
        MixedClusters,
    )
    stores: ClassVar[tuple[type, ...]] = (
        MixtureDraw,
        MixtureEvidence,
        MixtureLocal,
        MixtureOwn,
        DiagonalHyper,
        DiagonalParams,
        DiagonalStats,
        FullHyper,
        FullParams,
        FullStats,
        MixedHyper,
        MixedParams,
        MixedStats,
        RegressionHyper,
        RegressionParams,
        RegressionStats,
    )

    def __init__(
        self,
        levy: LevyProcess | None = None,
        thinning: ThinningFunction | None = None,
        likelihood: Any = None,
        *,
        gates: Literal["weighted", "shared", "observation"] = "weighted",
        max_clusters: int = 30,
        n_background: int = 1,
        n_sweeps: int | Literal["auto"] = "auto",
        n_draws: int = 100,
        n_chains: int = 1,
        learn: bool = True,
        max_rows: int | None = 300,
        random_state: RandomState = None,
        n_threads: int | None = None,
        quiet: bool = False,
    ) -> None:
        self.levy = levy
        self.thinning = thinning
        self.likelihood = likelihood
        self.gates = gates
        self.max_clusters = max_clusters
        self.n_background = n_background
        self.n_sweeps = n_sweeps
        self.n_draws = n_draws
        self.n_chains = n_chains
        self.learn = learn
        self.max_rows = max_rows
        self.random_state = random_state
        self.n_threads = n_threads
        self.quiet = quiet

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(
        self,
        X: MixedTable,
        y: object = None,
        *,
        t: CovariateLike | None = None,
        censored: SidesLike | None = None,
        out: str | PathLike[str] | None = None,
        client: Client | None = None,
        minutes: float | None = None,
    ) -> Self:
        """Fit to a table X (rows by columns, NaN where a cell is missing) with covariates t.

        Parameters
        ----------
        X : (N, P) array, DataFrame or Series
            The table. Rows without any value are kept; they say nothing.
        y : None
            Ignored.
        t : (N,) numbers or dates, (N, C) numbers, or None
            Covariate of each row; None: the same for all.
        censored : (N,) of -1, 0 and 1, or None
            Of `RegressionClusters`: the true response is at most (-1), exactly (0) or at least (1)
            what X says; None: exactly.
        out : path or None
            A new folder for the run; whatever ends it, `thincrm.resume(out)` goes on with it, bit
            for bit. None: nothing is written.
        client : dask.distributed.Client or None
            A cluster to run on, with the same bits; None: this machine.
        minutes : float or None
            The run ends after so long at most, though not before every chain has kept a draw;
            None: whenever it is done.
        """
        self.censored_ = sides_of(X, censored)
        n_rows = self._read(X)
        if t is not None:
            refuse_other_order(X, t)
        self.covariates_ = self._covariates(t, n_rows)
        self.seed_ = seed_of(self.random_state)
        self._factors()
        if self.likelihood is None and not self.quiet:
            said = f"columns: {said_kinds(self.layout_)}; likelihood={self.likelihood_!r}"
            sys.stderr.write(f"thincrm: {said}\n")
        self._start(out, client, minutes)
        return self

    def _read(self, X: MixedTable) -> int:
        self.values_ = value = self._values(X, reset=True)
        if not self.layout_.moving.any():
            rows = "1 sample" if len(value) == 1 else f"{len(value)} samples"
            raise InvalidInput(
                f"Y has {rows} and no column that varies: there is nothing to tell clusters by."
            )
        return len(value)

    def _values(self, X: MixedTable, *, reset: bool) -> Float:
        """Return checked cells as numbers; remember (reset) or check the columns."""
        table = X.to_frame() if isinstance(X, pd.Series) else X
        kinds, levels = self._kinds(table) if reset else (self.layout_.kinds, self.layout_.levels)
        if "category" in kinds and isinstance(table, pd.DataFrame) and len(kinds) == table.shape[1]:
            table = coded(table, kinds, levels)
        checked = validate_data(
            self, as_numbers(table), reset=reset, dtype=np.float64, ensure_all_finite=False
        )
        if reset:
            self.columns_ = column_names(table, checked.shape[1])
        refuse_infinite(checked, self.columns_)
        if reset:
            kinds = kinds or ["number"] * checked.shape[1]
            levels = levels or [()] * checked.shape[1]
            self.layout_ = layout_of(checked, self.columns_, kinds, levels)
        return np.asarray(checked)

    def _kinds(self, table: Any) -> tuple[list[str], list[tuple[str, ...]]]:
        """Return the columns' kinds, and the values of categories; arrays hold numbers."""
        kinds = found_kinds(table)
        if self.censored_ is not None or not isinstance(self.likelihood, MixedClusters | None):
            kinds = ["number"] * len(kinds)
        return kinds, levels_of(table, kinds) if kinds else []

    @property
    def likelihood_(self) -> GaussianClusters | RegressionClusters | MixedClusters:
        """Return the law inside clusters, given or chosen."""
        if self.likelihood is not None:
            found: GaussianClusters = self.likelihood
            return found
        if self.censored_ is not None:
            return RegressionClusters()
        few = self.layout_.places("number").size <= _FEW_COLUMNS
        covariance: Literal["full", "diagonal"] = "full" if few else "diagonal"
        if self.layout_.places("count").size or self.layout_.places("category").size:
            return MixedClusters(covariance)
        if len(self.layout_.kinds) == 1 and len(self.covariates_.rows) > 1:
            return RegressionClusters()
        return GaussianClusters(covariance)

    def _cells(self) -> Cells:
        return cells_of(self.likelihood_, self.layout_, self.covariates_)

    def _factors(self) -> Factors[MixtureLikelihood]:
        """Return the checked factors, or a sentence on why they do not fit together."""
        levy = GammaProcess(2.0) if self.levy is None else self.levy
        if getattr(levy, "support", None) != np.inf:
            raise InvalidInput(
                f"Clusters need masses in (0, inf), which {type(levy).__name__} does not give: use "
                "GammaProcess, GeneralizedGammaProcess or StableProcess."
            )
        thinning = Bump(length=_LENGTHS) if self.thinning is None else self.thinning
        chosen = self.likelihood_
        if not isinstance(chosen, self.likelihoods):
            names = " or ".join(kind.__name__ for kind in self.likelihoods)
            raise InvalidType(f"likelihood must be {names}, got {type(chosen).__name__}.")
        if self.censored_ is not None:
            self._need_response()
        n_clusters = check_count("max_clusters", self.max_clusters, most=MOST_CLUSTERS)
        n_background = check_count("n_background", self.n_background, 0, n_clusters - 1)
        likelihood = MixtureLikelihood(self._cells().law, self.gates)
        return Factors(levy, thinning, likelihood, n_clusters, n_background)

    def _parts(self, known: Covariates) -> Parts:
        cells, times = self._cells(), self.covariates_.observed()
        side_N = self.censored_
        exact_N = np.ones(len(self.values_), bool) if side_N is None else side_N == 0
        value = spread_ties(self.values_, cells.normal_places, exact_N, self.seed_)
        rows = censor(cells.rows(value, times), side_N)
        return Parts(as_shards(rows, known.row, known.trials))

    def _adopt(self, draws: list[MixtureDraw], trace: list[dict[str, float]]) -> None:
        super()._adopt(draws, trace)
        self._tables = ClusterTables(self.draws_)

    def report_page(self, **options: object) -> Page:
        """Return the page of `thincrm.write_report`."""
        from thincrm.models.mixtures.report import mixture_page  # noqa: PLC0415 - a page's weight

        refuse_options(options, "cluster")
        return mixture_page(self)
