"""When undated documents were written: by their topics, and by the words that topics leave out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from thincrm.data.counts import CountMatrix, Documents, Tokens, tokens
from thincrm.data.covariates import CovariateLike
from thincrm.data.reading.frames import PartedFrame
from thincrm.errors import InvalidInput
from thincrm.inference.dask_cluster import Client
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.predict.dated_documents import DatedDocuments, TopicEvidence
from thincrm.models.topics.predict.dater import Dater, Method
from thincrm.models.topics.predict.dates import time_distribution
from thincrm.models.topics.predict.evidence import log_topic_evidence, weigh
from thincrm.models.topics.predict.shards import dates_of, new_shards
from thincrm.models.topics.results import TopicResults
from thincrm.models.topics.text_sources import TextSource, source_of
from thincrm.numerics.arrays import Float
from thincrm.ports import Engine

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["TopicDating"]

_DATES = 2  # address of the random streams


class TopicDating(TopicResults):
    """Dates of documents by a fitted `TopicModel`."""

    draws_: list[TopicDraw]
    n_threads: int | None
    _dater: Dater | None
    _engine: Callable[[Client | None], Engine]

    @abstractmethod
    def _counts(self, X: Documents | TextSource, *, reset: bool) -> CountMatrix:
        """Return checked counts of documents."""

    def _read_documents(
        self,
        X: Documents | PathLike[str] | PartedFrame,
        t: CovariateLike | None,
        text: str | None,
        date: str | None,
        client: Client | None,
        *,
        reset: bool,
    ) -> tuple[CountMatrix, CovariateLike | None]:
        """Return counts and covariate of documents, wherever they are (`source_of`)."""
        source = source_of(X, t, text, date, client)
        if source is None:
            return self._counts(cast("Documents", X), reset=reset), t
        return self._counts(source, reset=reset), source.covariate(t)

    def predict_time(
        self,
        X: Documents | PathLike[str] | PartedFrame,
        candidates: CovariateLike | None = None,
        *,
        text: str | None = None,
        evidence: Literal["both", "topics"] = "both",
        method: Literal["gibbs", "particles", "cheap"] = "gibbs",
        n_draws: int = 5,
        n_steps: int = 20,
        client: Client | None = None,
    ) -> pd.DataFrame:
        """Return a distribution over dates for each undated document.

        p(t | d) ~ prior(t) exp(a log p(t | topics) + b sum_w x_dw beta_w(t)), where beta_w are
        smooth curves of the words and a, b are learned from documents of the fit, by fits that did
        not see them. The first call makes these; later ones are quick.

        Parameters
        ----------
        X : (D, P) counts or D texts; a path; a Dask DataFrame
            Documents, as of `fit`.
        text : str or None
            Column of the texts, of a path's tables or of a frame; None: "text".
        candidates : covariates or None
            Times to choose from, weighed equally; None: the distinct ones of the fit, weighed by
            its documents.
        evidence : {"both", "topics"}
            "topics": p(t | topics) alone, all candidates weighed equally (a row that stands for
            several times of the fit as often as there are of these).
        method : {"gibbs", "particles", "cheap"}
            How the sum over the topics of a document's words is done: by Gibbs sampling of the
            topics and the time together, by particles for all times at once (noisier for long
            documents), or not at all (a plug-in multinomial: quick, and too sure of itself).
        n_draws : int
            Draws averaged over.
        n_steps : int
            Gibbs sweeps, or particles, per document and draw. With evidence="topics" give more of
            both: 20 and 100.
        client : dask.distributed.Client or None
            Date X on the workers of its cluster, with the same bits; None: on this machine, where
            what the first call makes is always made.
        """
        check_is_fitted(self)
        if method not in ("gibbs", "particles", "cheap"):
            raise InvalidInput(f"method must be 'gibbs', 'particles' or 'cheap', got {method!r}.")
        if evidence not in ("both", "topics"):
            raise InvalidInput(f"evidence must be 'both' or 'topics', got {evidence!r}.")
        how, engine = Method(method, n_draws, n_steps), self._engine(client)
        if evidence == "both":
            return self._date(X, text, candidates, how, client).chance
        counts, _ = self._read_documents(X, None, text, None, client, reset=False)
        times, log_even = self._candidates(candidates)
        chance, _ = self.chances_by_topics(tokens(counts), times, log_even, how, engine)
        return pd.DataFrame(chance, columns=self.covariates_.labels(times), index=_index(X))

    def date_documents(
        self,
        X: Documents | PathLike[str] | PartedFrame,
        candidates: CovariateLike | None = None,
        *,
        text: str | None = None,
        n_draws: int = 5,
        n_steps: int = 20,
    ) -> DatedDocuments:
        """Date documents, and tell which words and topics did it; arguments as of `predict_time`.

        The result has `.chance` (what `predict_time` returns), `.intervals(level)` and
        `.evidence(n)`.
        """
        check_is_fitted(self)
        return self._date(X, text, candidates, Method("gibbs", n_draws, n_steps))

    def _date(
        self,
        X: Documents | PathLike[str] | PartedFrame,
        text: str | None,
        candidates: CovariateLike | None,
        how: Method,
        client: Client | None = None,
    ) -> DatedDocuments:
        counts, _ = self._read_documents(X, None, text, None, client, reset=False)
        engine = self._engine(client)
        times, log_even = self._candidates(candidates)
        if self._dater is None:
            self._dater = Dater(cast("TopicModel", self))
        learned = self._dater.learned(how)
        log_prior = np.zeros(len(times))
        if candidates is None:
            log_prior = np.log(self.covariates_.trials)
        words_DC = learned.words.log_evidence(counts, times)
        chance_DC, topics = self.chances_by_topics(tokens(counts), times, log_even, how, engine)
        topics_DC = log_topic_evidence(chance_DC, log_even)
        chance = weigh(learned.weights, log_prior, topics_DC, words_DC)
        labels = self.covariates_.labels(times)
        return DatedDocuments(
            pd.DataFrame(chance, columns=labels, index=_index(X)),
            np.exp(log_prior - np.logaddexp.reduce(log_prior)),
            times,
            learned,
            learned.words.features(counts),
            topics,
            self._tables.vocabulary,
        )

    def _candidates(self, candidates: CovariateLike | None) -> tuple[Float, Float]:
        """Return the times to choose from, and their log weights: a distinct time has 1."""
        if candidates is None:
            return self.covariates_.rows, np.log(self.covariates_.n_values())
        times = self._encode(candidates, None)
        return times, np.zeros(len(times))

    def chances_by_topics(
        self,
        documents: Tokens,
        times: Float,
        log_prior_C: Float,
        how: Method,
        engine: Engine | None = None,
    ) -> tuple[Float, list[TopicEvidence]]:
        """Return the (D, C) chances of times by topics; with Gibbs, what draws' topics say too."""
        engine = self._engine(None) if engine is None else engine
        shards, found, topics = new_shards(documents), [], []
        with engine.running():
            for i, (draw, match) in enumerate(self._tables.spread_out(how.n_draws)):
                odds, address = self._log_odds(draw, times), (self.seed_, _DATES, i)
                dated = dates_of(engine, shards, draw, odds, log_prior_C, address, how)
                found.append(dated.chance)
                if how.name == "gibbs":
                    topics.append(TopicEvidence.of(dated, odds, match))
        if how.name == "gibbs":
            return np.mean(found, axis=0), topics
        return time_distribution(np.stack(found), log_prior_C), topics


def _index(X: object) -> pd.Index | None:
    return X.index if isinstance(X, pd.DataFrame | pd.Series) else None
