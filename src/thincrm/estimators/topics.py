"""TopicModel: topics that come and go, from counts or texts and a covariate."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import validate_data

from thincrm.data.counts import as_counts, is_text, tokens
from thincrm.data.covariates import Covariates, covariates
from thincrm.data.notes import note_long_document, note_many_values, note_one_value, refuse_empty
from thincrm.data.reading.counts import same_words
from thincrm.draws import TopicDraw
from thincrm.errors import InvalidInput, check_count
from thincrm.estimators.exchange import TopicExchange
from thincrm.estimators.heldout import hold_out, watch_perplexity
from thincrm.estimators.journal import Journal
from thincrm.estimators.sampling import Plan, sample
from thincrm.estimators.seeds import seed_of
from thincrm.estimators.topic_files import TopicFiles
from thincrm.estimators.topic_tables import TopicTables, scalar
from thincrm.gibbs.topics import TopicProblem
from thincrm.levy import GammaProcess
from thincrm.likelihood import NegativeBinomialFactor, PoissonFactor
from thincrm.numerics.threads import using_threads
from thincrm.numerics.waiting import telling
from thincrm.thinning import Always, ProbitRVM, SigmoidGP

__all__ = ["TopicModel"]

_PAPER_WIDTHS = (100.0, 200.0, 1e3, 2e3, 1e4)
_MOST_TOPICS = 100_000
_FIRST_GUESS = 100  # topics to start from when the truncation may grow


class TopicModel(
    TopicFiles,
    TopicExchange,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
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
    n_sweeps : int
        Sweeps of each chain; the first third is warm-up.
    n_draws : int
        Draws kept of each chain, evenly spaced over the rest.
    n_chains : int
        Independent chains.
    n_background : int
        Topics that are always open.
    concentration : float or None
        Of the topics' symmetric Dirichlet prior; None: learned.
    burstiness : float or None
        How strongly a word, once used, repeats in its document: 1 / s, where a topic's words in a
        document are an urn of s balls. 0: not at all, as in the paper; None: learned.
    learn : bool
        Learn the Lévy measure's parameters too.
    random_state : int, RandomState or None
        The same int gives the same bits, on any number of threads.
    n_threads : int or None
        None: one per core.
    vectorizer : scikit-learn vectoriser or None
        Turns texts into counts; None: CountVectorizer(stop_words="english", min_df=2).
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

    def __init__(
        self,
        levy: Any = None,
        thinning: Any = None,
        likelihood: Any = None,
        *,
        max_topics: int | Literal["grow"] = 200,
        n_sweeps: int = 600,
        n_draws: int = 100,
        n_chains: int = 1,
        n_background: int = 0,
        concentration: float | None = None,
        burstiness: float | None = None,
        learn: bool = True,
        random_state: Any = None,
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
        self.concentration = concentration
        self.burstiness = burstiness
        self.learn = learn
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
        X: Any,
        y: Any = None,
        *,
        t: Any = None,
        out: str | Path | None = None,
        heldout: Any = None,
    ) -> Self:
        """Fit to documents X (counts, or texts) with covariates t (numbers or dates).

        Parameters
        ----------
        X : (D, P) counts, sparse or dense, or D texts
            Documents.
        y : None
            Ignored.
        t : (D,) numbers or dates, (D, C) numbers, or None
            Covariate of each document; None: the same for all.
        out : path or None
            A new folder for the run: settings, data, checkpoints, draws and results. Whatever
            ends the run, `thincrm.resume(out)` goes on with it, bit for bit; Ctrl-C stops it and
            leaves the model of the draws so far. None: nothing is written.
        heldout : (D, P) counts, a share in (0, 1), or None
            Words that are not learned from: other words of the same documents
            (`thincrm.split_words`), or such a share of X's. The progress bar shows their
            perplexity so far, and `perplexity()` tells it with its error.
        """
        counts = self._counts(X, reset=True)
        if counts.sum() == 0:
            raise InvalidInput("X holds no words at all: nothing to learn from.")
        empty = int((np.asarray(counts.sum(axis=1)) == 0).sum())
        if empty:
            warnings.warn(
                f"{empty} document(s) are empty; they keep their place and say only that "
                "topics were silent.",
                stacklevel=2,
            )
        note_long_document(np.asarray(counts.sum(axis=1)).reshape(-1))
        self.covariates_ = self._covariates(t, counts.shape[0])
        self.seed_ = seed_of(self.random_state)
        self.counts_, self.heldout_ = hold_out(counts, heldout, self.seed_)
        self._length()
        _, self.thinning_, *_ = self._factors()
        with telling("preparing the covariates", quiet=bool(self.quiet)):
            self.prepared_ = self.thinning_.prepare(self._known())
        with self._journal(out) as journal:
            self._sample(journal)
        return self

    def _sample(self, journal: Journal) -> None:
        with using_threads(self.n_threads):
            watch = None
            if self.heldout_ is not None and not self.quiet:
                watch = watch_perplexity(self.row_, self.heldout_, self.counts_, journal.draws)
            draws, trace = sample(self._problem(), self._length(), journal, watch)
        self.complete_ = not journal.stopped
        self._adopt(draws, trace)

    def _adopt(self, draws: list[TopicDraw], trace: list[dict[str, float]]) -> None:
        self.draws_ = draws
        self.trace_ = pd.DataFrame(trace).set_index(["chain", "sweep"])
        self.n_topics_ = scalar(self.draws_, "n_topics")
        self._tables = TopicTables(self.draws_, self.vocabulary_, self.covariates_)
        self._n_features_out = self._tables.n_topics

    def _length(self) -> Plan:
        return Plan(
            check_count("n_sweeps", self.n_sweeps),
            check_count("n_draws", self.n_draws),
            check_count("n_chains", self.n_chains),
            self.seed_,
            self.max_topics == "grow",
            bool(self.quiet),
        )

    def _counts(self, X: Any, *, reset: bool) -> Any:
        """Return checked counts; remember (reset) or check the words."""
        if is_text(X):
            if reset:
                chosen = self.vectorizer
                self.vectorizer_ = (
                    CountVectorizer(stop_words="english", min_df=2) if chosen is None else chosen
                )
                counts = as_counts(self.vectorizer_.fit_transform(X))
                self.vocabulary_ = pd.Index(self.vectorizer_.get_feature_names_out(), name="word")
                self.n_features_in_ = counts.shape[1]
                return counts
            if not hasattr(self, "vectorizer_"):
                raise InvalidInput("X holds texts but the model was fitted to counts: pass counts.")
            return as_counts(self.vectorizer_.transform(X))
        names = X.columns if isinstance(X, pd.DataFrame) else None
        if hasattr(X, "vocabulary") and hasattr(X, "counts"):  # what the readers return
            X, names = X.counts, X.vocabulary
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

    def _covariates(self, t: Any, n_documents: int) -> Covariates:
        given = t is not None
        if t is None:
            if not isinstance(self.thinning, Always):
                warnings.warn(
                    "No covariate t was given: all documents share one, so topics cannot come "
                    "and go. Pass t=, or thinning=Always() to say so.",
                    stacklevel=3,
                )
            t = np.zeros(n_documents)
        known = covariates(t)
        if known.row.size != n_documents:
            raise InvalidInput(
                f"X and t have inconsistent numbers of samples: [{n_documents}, {known.row.size}]."
            )
        if given and not isinstance(self.thinning, Always):
            note_one_value(known, "documents", "topics")
        note_many_values(known)
        return known

    def _factors(self) -> tuple[Any, Any, Any, int, int]:
        """Return the checked factors and sizes, or a sentence on why they do not fit together."""
        levy = GammaProcess(5.0, 0.1) if self.levy is None else self.levy
        thinning = SigmoidGP() if self.thinning is None else self.thinning
        likelihood = self.likelihood
        if likelihood is None:
            likelihood = PoissonFactor() if levy.support > 1.0 else NegativeBinomialFactor()
        if levy.support != likelihood.support:
            raise InvalidInput(
                f"{type(likelihood).__name__} needs masses in (0, {likelihood.support:g}); "
                f"{type(levy).__name__} gives masses in (0, {levy.support:g})."
            )
        growing = self.max_topics == "grow"
        n_topics = _FIRST_GUESS
        if not growing:
            n_topics = check_count("max_topics", self.max_topics, most=_MOST_TOPICS)
        n_background = check_count("n_background", self.n_background, 0)
        if n_background >= n_topics and n_background > 0:
            raise InvalidInput(
                f"n_background must be below max_topics ({n_topics}), got {n_background}."
            )
        if n_topics <= levy.mass and levy.support == 1.0:
            levy = type(levy)(**{**_fields(levy), "mass": 0.5 * n_topics})
        return levy, thinning, likelihood, n_topics, n_background

    def _known(self) -> Covariates:
        """Return the covariates that the thinning function sees, and remember their rows."""
        known = self.covariates_
        if isinstance(self.thinning_, Always):
            known = covariates(np.zeros(known.row.size))
        self.row_ = known.row.astype(np.int32)
        return known

    def _problem(self) -> TopicProblem:
        """Return the sampler's problem."""
        levy, thinning, likelihood, n_topics, n_background = self._factors()
        return TopicProblem(
            levy=levy,
            thinning=thinning,
            likelihood=likelihood,
            prepared=self.prepared_,
            tokens=tokens(self.counts_),
            row=self.row_,
            order=np.argsort(self.row_, kind="stable").astype(np.int32),
            trials=np.bincount(self.row_),
            n_topics=n_topics,
            n_background=n_background,
            concentration=self.concentration,
            learn_masses=bool(self.learn),
            burstiness=self.burstiness,
        )

    def fit_transform(self, X: Any, y: Any = None, *, t: Any = None) -> Any:
        """Fit, then return the documents' shares of topics."""
        return self.fit(X, y, t=t).transform(X, t=t)


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}
