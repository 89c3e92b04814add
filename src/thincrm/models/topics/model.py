"""TopicModel: topics that come and go, from counts or texts and a covariate."""

from __future__ import annotations

import warnings
from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
import pandas as pd
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from thincrm.data.counts import (
    CountedWords,
    CountMatrix,
    CountsLike,
    Documents,
    as_counts,
    is_text,
    lengths_of,
    tokens,
)
from thincrm.data.covariates import CovariateLike, Covariates
from thincrm.data.notes import note_long_document, refuse_empty
from thincrm.data.reading.frames import PartedFrame
from thincrm.data.reading.read_counts import same_words
from thincrm.errors import InvalidInput, argument, check_count
from thincrm.inference.dask_cluster import Client
from thincrm.inference.driver import Watch
from thincrm.inference.run_log import RunLog
from thincrm.levy import GammaProcess
from thincrm.levy.process import LevyProcess
from thincrm.models.base import Factors, Model, Parts
from thincrm.models.seeds import RandomState, seed_of
from thincrm.models.topics.documents_kept import document_sweeps, say_kept, with_documents
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.export import TopicExport
from thincrm.models.topics.factors import (
    GammaNegativeBinomialFactor,
    NegativeBinomialFactor,
    PoissonFactor,
)
from thincrm.models.topics.heldout import hold_out, watch_perplexity
from thincrm.models.topics.likelihood import CountFactor, TopicLikelihood
from thincrm.models.topics.state import TopicGlobals, TopicLocal, facts_of, shards_of
from thincrm.models.topics.storage import TopicFiles
from thincrm.models.topics.tables import TopicTables
from thincrm.models.topics.text_sources import TextSource, count_texts, plain_vectorizer
from thincrm.models.topics.usage import TopicEvidence, Usage
from thincrm.models.unasked_chains import UnaskedChains
from thincrm.numerics.arrays import Float
from thincrm.report.page import Page
from thincrm.thinning import Always, ProbitRVM, SigmoidGP
from thincrm.thinning.member import ThinningFunction

__all__ = ["UNASKED", "TopicModel"]

UNASKED = UnaskedChains("a corpus", 3_000_000, 12_000_000)  # tokens
_PAPER_WIDTHS = (100.0, 200.0, 1e3, 2e3, 1e4)
_CONCENTRATION = {"coarse": 0.3, "medium": 0.1, "fine": None}  # None: learned
_MOST_TOPICS = 100_000
_FIRST_GUESS = 100  # topics to start from when the truncation may grow


class TopicModel(
    TopicFiles,
    TopicExport,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    Model,
):
    """Topics whose activation varies with a covariate; their number is learned.

        model = Lévy measure × thinning function × likelihood

    Parameters
    ----------
    levy : Lévy measure or None
        How heavy topics are: GammaProcess() (masses are rates) or BetaProcess() (masses are
        probabilities). Its mass and rate are where learning starts. None: GammaProcess().
    thinning : thinning function or None
        Where topics are open: ProbitRVM(), SigmoidGP(), Bump(), ... or Always() for the
        exchangeable model. None: SigmoidGP().
    likelihood : likelihood or None
        None: PoissonFactor() for masses in (0, inf), NegativeBinomialFactor() for (0, 1).
        GammaNegativeBinomialFactor(), for masses in (0, inf): documents differ in length for
        reasons of their own.
    max_topics : int or "grow"
        The truncation: more topics than are needed. A warning says when they are all in use;
        "grow" adds topics during warm-up until they are not.
    n_sweeps : int or "auto"
        Sweeps of each chain; the first third is warm-up. "auto": as many as it takes until the
        verdict is a yes (see `fit`'s `minutes`).
    n_draws : int
        Draws kept of each chain, evenly spaced over the rest.
    n_chains : int or "auto"
        Independent chains, side by side on the cores there are. "auto": 4, which tell what topics
        come back (`reliability`, `verdict`); 2 or 1 of a corpus so large that a chain takes long.
    n_background : int
        Topics that are always open.
    detail : "coarse", "medium" or "fine"
        How finely topics are told apart: the concentration is 0.3, 0.1, or learned. Coarser topics
        are fewer and come back in another run; finer ones predict a little better.
    concentration : float or None
        Of the topics' symmetric Dirichlet prior; None: as `detail` says.
    burstiness : float or None
        How strongly a word, once used, repeats in its document: 1 / s, where a topic's words in a
        document are an urn of s balls. 0: not at all, as in the paper; None: learned.
    learn : bool
        Learn the Lévy measure's parameters too.
    keep_documents : int or None
        Draws of each chain that keep the topics of the fitted documents, at least 2; the others
        keep what documents have in common. None: all, or as many as take 1.5 GB.
    max_rows : int or None
        Curves are followed at so many distinct covariates at most, those of neighbours pooled; the
        documents keep their own. None: at all of them.
    random_state : int, RandomState or None
        The same int gives the same bits, on any number of threads.
    n_threads : int or None
        None: one per core.
    vectorizer : scikit-learn vectoriser or None
        Turns texts into counts; None: CountVectorizer(stop_words="english", min_df=2), with words
        like co-operation kept whole.
    quiet : bool
        No progress bar.

    Attributes
    ----------
    draws_ : list of TopicDraw
        Kept draws.
    n_topics_ : Series
        Draws of the number of topics that hold a token.
    trace_ : DataFrame
        Label-free quantities after every sweep.
    vocabulary_ : Index
        The words.
    heldout_ : (D, P) counts or None
        The words that were held out.
    complete_ : bool
        Whether all sweeps were made; False: the run was stopped before.
    """

    atoms: ClassVar[str] = "topics"
    unit: ClassVar[str] = "documents"
    likelihoods: ClassVar[tuple[type, ...]] = (
        GammaNegativeBinomialFactor,
        NegativeBinomialFactor,
        PoissonFactor,
    )
    stores: ClassVar[tuple[type, ...]] = (
        TopicDraw,
        TopicEvidence,
        TopicGlobals,
        TopicLocal,
        Usage,
    )

    def __init__(
        self,
        levy: LevyProcess | None = None,
        thinning: ThinningFunction | None = None,
        likelihood: CountFactor | None = None,
        *,
        max_topics: int | Literal["grow"] = 200,
        n_sweeps: int | Literal["auto"] = 600,
        n_draws: int = 100,
        n_chains: int | Literal["auto"] = "auto",
        n_background: int = 0,
        detail: Literal["coarse", "medium", "fine"] = "medium",
        concentration: float | None = None,
        burstiness: float | None = None,
        learn: bool = True,
        keep_documents: int | None = None,
        max_rows: int | None = 300,
        random_state: RandomState = None,
        n_threads: int | None = None,
        vectorizer: Any = None,
        quiet: bool = False,
    ) -> None:
        self.levy = levy
        self.thinning = thinning
        self.likelihood = likelihood
        self.max_topics = max_topics
        self.n_sweeps = n_sweeps
        self.n_draws = n_draws
        self.n_chains = n_chains
        self.n_background = n_background
        self.detail = detail
        self.concentration = concentration
        self.burstiness = burstiness
        self.learn = learn
        self.keep_documents = keep_documents
        self.max_rows = max_rows
        self.random_state = random_state
        self.n_threads = n_threads
        self.vectorizer = vectorizer
        self.quiet = quiet

    @classmethod
    def as_in_paper(cls, *, dynamic: bool = True, **settings: Any) -> Self:
        """Return the model with the paper's settings: tGaP-PFA, or its static version.

        Of the authors' released program: gamma process of mass 1, usages Gamma(10, 0.5) (their
        rate is here in the mass's), concentration 0.05, five widths, nothing learned of these, no
        bursts. `settings` are further arguments of TopicModel.
        """
        chosen = {
            "levy": GammaProcess(mass=1.0, rate=0.05),
            "thinning": ProbitRVM(widths=_PAPER_WIDTHS, bias_mean=0.0) if dynamic else Always(),
            "likelihood": PoissonFactor(shape=10.0),
            "concentration": 0.05,
            "burstiness": 0.0,
            "learn": False,
        }
        return cls(**chosen | settings)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = True
        return tags

    def fit(
        self,
        X: Documents | PathLike[str] | PartedFrame,
        y: object = None,
        *,
        t: CovariateLike | None = None,
        text: str | None = None,
        date: str | None = None,
        out: str | PathLike[str] | None = None,
        heldout: CountsLike | None = None,
        client: Client | None = None,
        minutes: float | None = None,
    ) -> Self:
        """Fit to documents X (counts, or texts) with covariates t (numbers or dates).

        Parameters
        ----------
        X : (D, P) counts, sparse or dense, or D texts; a path; a Dask DataFrame
            Documents; of a path (a table, news/*.parquet, a folder) and of a frame, read one after
            another.
        y : None
            Ignored.
        t : (D,) numbers or dates, (D, C) numbers, or None
            Covariate of each document; None: the same for all.
        text, date : str or None
            Columns of a path's tables or of a frame: the texts (None: "text"), and their dates.
        out : path or None
            A new folder for the run: settings, data, checkpoints, draws and results. Whatever
            ends the run, `thincrm.resume(out)` goes on with it, bit for bit; Ctrl-C stops it and
            leaves the model of the draws so far. None: nothing is written.
        heldout : (D, P) counts, a share in (0, 1), or None
            Words that are not learned from: other words of the same documents
            (`thincrm.split_words`), or such a share of X's. The progress bar shows their
            perplexity so far, and `perplexity()` tells it with its error.
        client : dask.distributed.Client or None
            Run on the workers of its cluster, with the same bits; None: on this machine.
        minutes : float or None
            The run ends after so long at most, though not before every chain has kept a draw;
            None: whenever it is done.
        """
        counts, t = self._read_documents(X, t, text, date, client, reset=True)
        length_D = lengths_of(counts)
        if not length_D.any():
            raise InvalidInput("X holds no words at all: nothing to learn from.")
        empty = int((length_D == 0).sum())
        if empty:
            warnings.warn(
                f"{empty} document(s) are empty; they keep their place and say only that "
                "topics were silent.",
                stacklevel=2,
            )
        note_long_document(length_D)
        self.covariates_ = self._covariates(t, counts.shape[0])
        self.seed_ = seed_of(self.random_state)
        self.counts_, self.heldout_ = hold_out(counts, heldout, self.seed_)
        schedule = self._schedule()
        why = UNASKED.why_fewer(schedule.n_chains) if self.n_chains == "auto" else None
        if why is not None:
            warnings.warn(why, stacklevel=2)
        if not self.quiet:
            say_kept(schedule, self.counts_, self.keep_documents)
        self._start(out, client, minutes)
        return self

    def _chains(self) -> int:
        if isinstance(self.n_chains, str) and self.n_chains == "auto":
            return UNASKED.number(int(lengths_of(self.counts_).sum()))
        return super()._chains()

    def _watch(self, log: RunLog) -> Watch:
        if self.heldout_ is None or self.quiet:
            return None
        return watch_perplexity(self.row_, self.heldout_, self.counts_, log.draws)

    def _adopt(self, draws: list[TopicDraw], trace: list[dict[str, float]]) -> None:
        known = with_documents(draws, self.counts_.shape[0])
        if not known:
            raise InvalidInput("None of the draws keeps the topics of documents: resume the run.")
        draws = draws[: known[-1] + 1]  # tables are of the last one that keeps documents
        super()._adopt(draws, trace)
        self._tables = TopicTables(self.draws_, self.vocabulary_, self.covariates_)
        self._dater = None

    @property
    def _n_features_out(self) -> int:
        return self._tables.n_topics

    def _counts(self, X: Documents | TextSource, *, reset: bool) -> CountMatrix:
        """Return checked counts; remember (reset) or check the words."""
        if isinstance(X, TextSource) or is_text(X):
            return self._counted_texts(X, learn=reset)
        names: pd.Index | None = X.columns if isinstance(X, pd.DataFrame) else None
        if hasattr(X, "vocabulary") and hasattr(X, "counts"):
            read = cast("CountedWords", X)
            X, names = read.counts, read.vocabulary
            if not reset and names is not None:
                same_words(names, self.vocabulary_)
        refuse_empty(X, "X", "documents")
        checked = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False
        )
        counts = as_counts(checked)
        if reset:
            words = pd.RangeIndex(counts.shape[1]) if names is None else names
            self.vocabulary_ = pd.Index(words, name="word")
        return counts

    def _counted_texts(self, X: Documents | TextSource, *, learn: bool) -> CountMatrix:
        """Return counts of texts; learn: which words there are is learned from them."""
        if learn:
            self.vectorizer_ = plain_vectorizer() if self.vectorizer is None else self.vectorizer
        elif not hasattr(self, "vectorizer_"):
            raise InvalidInput("X holds texts but the model was fitted to counts: pass counts.")
        counts = count_texts(X, self.vectorizer_, learn=learn, quiet=self.quiet)
        if learn:
            words = self.vectorizer_.get_feature_names_out()
            self.vocabulary_, self.n_features_in_ = pd.Index(words, name="word"), counts.shape[1]
        return counts

    def _factors(self) -> Factors[TopicLikelihood]:
        """Return the checked factors and sizes, or a sentence on why they do not fit together."""
        levy = GammaProcess(5.0, 0.1) if self.levy is None else self.levy
        thinning = SigmoidGP() if self.thinning is None else self.thinning
        factor = self.likelihood
        if factor is None:
            factor = PoissonFactor() if levy.support > 1.0 else NegativeBinomialFactor()
        if levy.support != factor.support:
            raise InvalidInput(
                f"{type(factor).__name__} needs masses in (0, {factor.support:g}); "
                f"{type(levy).__name__} gives masses in (0, {levy.support:g})."
            )
        n_topics = _FIRST_GUESS
        if self.max_topics != "grow":
            n_topics = check_count("max_topics", self.max_topics, most=_MOST_TOPICS)
        n_background = check_count("n_background", self.n_background, 0)
        if n_background >= n_topics and n_background > 0:
            raise InvalidInput(
                f"n_background must be below max_topics ({n_topics}), got {n_background}."
            )
        if n_topics <= levy.mass and levy.support == 1.0:
            levy = replace(levy, mass=0.5 * n_topics)  # type: ignore[type-var]
        if not isinstance(self.detail, str) or self.detail not in _CONCENTRATION:
            raise InvalidInput(
                argument("detail"), f" must be coarse, medium or fine, got {self.detail!r}."
            )
        chosen = self.concentration
        concentration = _CONCENTRATION[self.detail] if chosen is None else chosen
        likelihood = TopicLikelihood(factor, concentration, self.burstiness)
        return Factors(levy, thinning, likelihood, n_topics, n_background)

    def _known(self) -> Covariates:
        known = super()._known()
        self.row_ = known.row.astype(np.int32)
        return known

    def _parts(self, known: Covariates) -> Parts:
        documents = tokens(self.counts_)
        schedule, n_documents = self._schedule(), documents.n_documents
        chosen = document_sweeps(schedule, n_documents, documents.word.size, self.keep_documents)
        facts = facts_of(documents)._replace(document_sweeps=chosen)
        return Parts(shards_of(documents, known.row.astype(np.int32)), facts)

    def report_page(self, **options: object) -> Page:
        """Return the page of `thincrm.write_report`; options: texts, static."""
        from thincrm.models.topics.report import topic_page  # noqa: PLC0415 - a page's weight

        return topic_page(self, **options)

    def fit_transform(
        self, X: Documents, y: object = None, *, t: CovariateLike | None = None
    ) -> Float:
        """Fit, then return the documents' shares of topics."""
        return self.fit(X, y, t=t).transform(X, t=t)
