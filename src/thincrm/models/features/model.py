"""FeatureModel: latent features that switch on with a covariate, from tables with holes."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from thincrm.data.covariates import CovariateLike, Covariates
from thincrm.data.notes import note_wide_table, refuse_empty
from thincrm.data.table_values import TableLike, as_numbers, column_names, refuse_infinite, scale_of
from thincrm.errors import InvalidInput, check_count
from thincrm.inference.dask_cluster import Client
from thincrm.levy import BetaProcess
from thincrm.levy.process import LevyProcess
from thincrm.models.base import Factors, Parts
from thincrm.models.features.draw import FeatureDraw
from thincrm.models.features.export import FeatureExport
from thincrm.models.features.kernel import Table, as_table
from thincrm.models.features.likelihood import FeatureLikelihood
from thincrm.models.features.state import (
    FeatureEvidence,
    FeatureGlobals,
    FeatureLocal,
    FeatureProblem,
    facts_of,
    shards_of,
)
from thincrm.models.features.storage import FeatureFiles
from thincrm.models.features.tables import FeatureTables
from thincrm.models.given_rows import refuse_other_order
from thincrm.models.reported import refuse_options
from thincrm.models.seeds import RandomState, seed_of
from thincrm.numerics.arrays import Float
from thincrm.ports import Engine
from thincrm.report.page import Page
from thincrm.thinning import SigmoidGP
from thincrm.thinning.member import ThinningFunction

__all__ = ["MOST_FEATURES", "FeatureModel"]

MOST_FEATURES = 10_000
_GATES, _WEIGHTS = ("observation", "row"), ("real", "binary")
_LEVELS = ("smooth", "constant")
_FEATURE_COUNTS = ("n_features", "n_large_features", "features_per_row", "scale")
_SPLIT = ("noise", "n_factors")  # a column's own variance is noise, or a factor of its own
# beside factors a row that uses a feature must gain some log(1e12) = 28 nats by it: single cells
# far out do not
_FEATURES, _SPARING = BetaProcess(2.0, 1.0), BetaProcess(1e-12, 1e12)


class FeatureModel(
    FeatureFiles,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    FeatureExport,
):
    """Rows of a table as sums of features whose use varies with a covariate.

        y_n = level(t_n) + sum_k z_nk s_nk A_k + sum_l f_nl D_l + noise,
        z_nk = gate open at t_n, and used

    The number of features is learned. Holes (NaN) are left out of every sum: they are neither
    filled in while fitting nor do they bias it, if it does not depend on what they hold that they
    are missing.

    Parameters
    ----------
    levy : Lévy measure on (0, 1) or None
        How often rows use features; its parameters are where learning starts. None: with real
        weights beside factors BetaProcess(1e-12, 1e12), as it is, so that features come only
        where a table insists; else BetaProcess(2).
    thinning : thinning function or None
        Where features are open: SigmoidGP(), ProbitRVM(), Bump(), ... or Always() for the
        exchangeable model (the linear-Gaussian Indian buffet process). None: SigmoidGP with wide
        curves.
    gates : {"observation", "row"}
        One gate per observation: each row decides anew (with Bump(), the kernel beta process).
        Or one gate per distinct row of the covariate, shared by all observations there: at a
        covariate a feature is then available to all or to none. Where every observation has its
        own covariate the two are the same. The default lets every observation say something of
        the curve; with shared gates a curve is as uncertain as coins tossed once a covariate.
    weights : {"real", "binary"}
        A feature is present with a weight s ~ N(0, 1) (beta process factor analysis); or it is
        present or not. "binary" alone gives the paper's model: no dense factors, one level.
    n_factors : int or None
        Room for dense factors beside the features: every row uses them with weights N(0, 1),
        wherever it is. A learned precision each shrinks those that the table does not ask for;
        there are at most half as many as columns: more could not be told from noise. 0: none.
        None: 20 with real weights, none with binary ones.
    level : {"smooth", "constant"} or None
        A column's level follows the covariates, in slopes and smooth curves that are shrunk to none
        where they are not needed; or it is one number. None: smooth with real weights, constant
        with binary ones.
    background : bool
        Learn a level for every column, its mean where no feature is used. False: the level is 0
        in the table's own units, whatever `level` says.
    max_features : int
        The truncation: more features than are needed. A warning says when they are all in use.
    n_sweeps : int or "auto"
        Sweeps of each chain; the first third is warm-up. "auto": as many as it takes until the
        verdict is a yes (see `fit`'s `minutes`).
    n_draws : int
        Draws kept of each chain, evenly spaced over the rest.
    n_chains : int
        Independent chains.
    learn : bool
        Learn the Lévy measure's parameters too.
    max_rows : int or None
        Curves are followed at so many distinct covariates at most, those of neighbours pooled; the
        rows keep their own. None: at all of them.
    random_state : int, RandomState or None
        The same int gives the same bits, on any number of threads.
    n_threads : int or None
        None: one per core.
    quiet : bool
        No progress bar.

    Attributes
    ----------
    features_ : DataFrame
        Entries of every feature, with 90 % bands, in the columns' units. A warning says so if no
        feature is in use, as is common beside factors.
    shares_ : DataFrame
        Every feature's share of all usages, and the share of draws it is in.
    n_features_ : Series
        Draws of the number of features that are used.
    draws_ : list of FeatureDraw
        Kept draws, in standard units (`scale_`).
    trace_ : DataFrame
        Label-free quantities after every sweep.
    complete_ : bool
        Whether all sweeps were made; False: the run was stopped before.
    """

    atoms: ClassVar[str] = "features"
    stores: ClassVar[tuple[type, ...]] = (
        FeatureDraw,
        FeatureEvidence,
        FeatureGlobals,
        FeatureLocal,
    )

    def __init__(
        self,
        levy: LevyProcess | None = None,
        thinning: ThinningFunction | None = None,
        *,
        gates: Literal["observation", "row"] = "observation",
        weights: Literal["real", "binary"] = "real",
        n_factors: int | None = None,
        level: Literal["smooth", "constant"] | None = None,
        background: bool = True,
        max_features: int = 20,
        n_sweeps: int | Literal["auto"] = 600,
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
        self.gates = gates
        self.weights = weights
        self.n_factors = n_factors
        self.level = level
        self.background = background
        self.max_features = max_features
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
        X: TableLike,
        y: object = None,
        *,
        t: CovariateLike | None = None,
        out: str | PathLike[str] | None = None,
        client: Client | None = None,
        minutes: float | None = None,
    ) -> Self:
        """Fit to a table X (rows by columns, NaN where a cell is missing) with covariates t.

        Parameters
        ----------
        X : (N, P) array or DataFrame
            The table. Rows without any value are kept; they say nothing.
        y : None
            Ignored.
        t : (N,) numbers or dates, (N, C) numbers, or None
            Covariate of each row; None: the same for all.
        out : path or None
            A new folder for the run, as of `TopicModel.fit`. None: nothing is written.
        client : dask.distributed.Client or None
            Run on the workers of its cluster, with the same bits; None: on this machine.
        minutes : float or None
            The run ends after so long at most, though not before every chain has kept a draw;
            None: whenever it is done.
        """
        self.values_ = value = self._values(X, reset=True)
        self.scale_ = scale_of(value, self.columns_, centred=bool(self.background))
        if t is not None:
            refuse_other_order(X, t)
        self.covariates_ = self._covariates(t, len(value))
        self.seed_ = seed_of(self.random_state)
        self._start(out, client, minutes)
        return self

    def _adopt(self, draws: list[FeatureDraw], trace: list[dict[str, float]]) -> None:
        super()._adopt(draws, trace)
        real = self.weights == "real"
        self._tables = FeatureTables(self.draws_, self.columns_, self.scale_, real)
        self._entries = self._tables.features(0.9)
        self.shares_ = self._tables.shares(0.9)
        self._n_features_out = self._tables.n_features

    def _values(self, X: TableLike, *, reset: bool) -> Float:
        """Return checked values; remember (reset) or check the columns."""
        refuse_empty(X, "Y", "rows")
        checked = validate_data(
            self, as_numbers(X), reset=reset, dtype=np.float64, ensure_all_finite=False
        )
        if reset:
            self.columns_ = column_names(X, checked.shape[1])
            note_wide_table(checked.shape[1])
        refuse_infinite(checked, self.columns_)
        return np.asarray(checked)

    def _factors(self) -> Factors[FeatureLikelihood]:
        """Return the checked factors, or a sentence on why they do not fit together."""
        for name, chosen, known in (
            ("gates", self.gates, _GATES),
            ("weights", self.weights, _WEIGHTS),
            ("level", self.level or _LEVELS[0], _LEVELS),
        ):
            if chosen not in known:
                raise InvalidInput(f"{name} must be one of {', '.join(known)}, got {chosen!r}.")
        levy = self.levy_
        if levy.support != 1.0:
            raise InvalidInput(
                f"Features need masses in (0, 1); {type(levy).__name__} gives masses in "
                f"(0, {levy.support:g}): use BetaProcess."
            )
        thinning = self.thinning
        if thinning is None:
            thinning = SigmoidGP((1.0, 4.0, 16.0), 0.0, 1.0, 2.0, max_centres=20)
        n_features = check_count("max_features", self.max_features, most=MOST_FEATURES)
        if n_features <= levy.mass:
            levy = replace(levy, mass=0.5 * n_features)  # type: ignore[type-var]
        shared = self.gates == "row" and thinning.varies
        n_dense, level = self.n_dense_, self.curves_.sizes
        likelihood = FeatureLikelihood(
            shared, self.weights == "real", bool(self.background), False, n_dense, level
        )
        return Factors(levy, thinning, likelihood, n_features)

    @property
    def levy_(self) -> LevyProcess:
        """Return the law of features' masses, where learning starts if it is learned."""
        if self.levy is not None:
            return self.levy
        return _SPARING if self._spares else _FEATURES

    @property
    def _spares(self) -> bool:
        """Whether features, unless told otherwise, come only where a table insists."""
        return self.n_dense_ > 0 and self.weights == "real"

    def _problem(self, engine: Engine | None = None) -> FeatureProblem:
        # learned, the mass grows with every outlier that a feature takes from the factors
        learned = bool(self.learn) and (self.levy is not None or not self._spares)
        return replace(super()._problem(engine), learn_levy=learned)

    def _known(self) -> Covariates:
        self.shared_ = self._factors().likelihood.shared
        return super()._known()

    def _parts(self, known: Covariates) -> Parts:
        table = self._table(self.values_, known, self.covariates_.observed(), self.shared_)
        return Parts(shards_of(table, known.trials), facts_of(table))

    def _table(self, value: Float, at: Covariates, times: Float, shared: bool) -> Table:
        """Return the rows in standard units, sorted by covariate, holes marked."""
        order = np.argsort(at.row, kind="stable")
        standard = self.scale_.standard(value[order])
        return as_table(standard, at.trials, shared, self.curves_.at(times[order]))

    def _aside(self) -> tuple[str, ...]:
        # beside factors the same rows are explained with or without a small feature, and a
        # column's own variance by noise as well as by a factor
        return (*_FEATURE_COUNTS, *_SPLIT) if self.n_dense_ > 0 else ()

    def report_page(self, **options: object) -> Page:
        """Return the page of `thincrm.write_report`; it has no options."""
        from thincrm.models.features.report import feature_page  # noqa: PLC0415 - a page's weight

        refuse_options(options, "feature")
        return feature_page(self)

    def fit_transform(
        self, X: TableLike, y: object = None, *, t: CovariateLike | None = None
    ) -> Float:
        """Fit, then return the rows' usages of the features."""
        return self.fit(X, y, t=t).transform(X, t=t)
