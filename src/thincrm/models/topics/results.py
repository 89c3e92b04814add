"""What a fitted topic model tells: labelled tables, topics matched across draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from thincrm.data.counts import CountMatrix, word_totals
from thincrm.data.covariates import CovariateLike, Covariates
from thincrm.errors import InvalidInput, check_count
from thincrm.models.topics.chain_topics import CHAINS, SIMILARITY
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.hierarchy import groups_table
from thincrm.models.topics.tables import TopicTables
from thincrm.numerics.arrays import Float

__all__ = ["TopicResults"]


class TopicResults:
    """Tables of a fitted `TopicModel`."""

    covariates_: Covariates
    thinning_: Any
    prepared_: Any
    counts_: CountMatrix
    seed_: int
    _tables: TopicTables

    def topics(
        self,
        n_words: int = 10,
        level: float = 0.9,
        order: Literal["relevance", "probability"] = "relevance",
    ) -> pd.DataFrame:
        """Return the first `n_words` words of each topic, with credible bands.

        order: by relevance, which is higher for words that are rare elsewhere, or by probability.
        """
        check_is_fitted(self)
        if order not in ("relevance", "probability"):
            raise InvalidInput(f"order must be 'relevance' or 'probability', got {order!r}.")
        common_P = self.common_words() if order == "relevance" else None
        return self._tables.topics(n_words, level, self.seed_, common_P)

    def common_words(self) -> Float:
        """Return the (P,) shares of words in the corpus, the mean count added to each word's.

        How often a rare word occurs elsewhere is not known well, so it is not lifted for that.
        """
        seen_P = word_totals(self.counts_).astype(float)
        return np.asarray((seen_P + seen_P.mean()) / (2.0 * seen_P.sum()))

    def topic_tables(self) -> TopicTables:
        """Return what the tables are made from: topics matched over draws and chains."""
        check_is_fitted(self)
        return self._tables

    def word_tokens(self) -> pd.DataFrame:
        """Return words by topics: tokens of each word that were drawn from it (no echoes).

        On average of the draws that have the topic.
        """
        check_is_fitted(self)
        return pd.DataFrame(self._tables.word_tokens(), index=self._tables.vocabulary)

    def activation(self, t: CovariateLike | None = None, level: float = 0.9) -> pd.DataFrame:
        """Return each topic's probability of being open through time, and its share of words.

        Columns: topic, t, mean, lower, upper (of the probability), share, share_lower,
        share_upper (expected share of words). t: where; None: the distinct times of the fit.
        """
        check_is_fitted(self)
        if t is None:
            return self._tables.activation(self.covariates_.rows, level, _kept_log_odds)
        return self._tables.activation(self._encode(t, None), level, self._log_odds)

    def first_active(self, level: float = 0.9) -> pd.DataFrame:
        """Return, per topic, the first time at which it is active.

        Active: its probability of being open is at least half of its highest.
        """
        return self._lifetimes(level, "first")

    def last_active(self, level: float = 0.9) -> pd.DataFrame:
        """Return, per topic, the last time at which it is active (see `first_active`)."""
        return self._lifetimes(level, "last")

    def _lifetimes(self, level: float, which: Literal["first", "last"]) -> pd.DataFrame:
        check_is_fitted(self)
        return self._tables.lifetimes(level, which)

    def shapes(self) -> pd.DataFrame:
        """Return the probabilities that each topic is rising, falling, peaked or intermittent."""
        check_is_fitted(self)
        return self._tables.shapes()

    def coherence(self, n_words: int = 10) -> pd.Series:
        """Return each topic's NPMI coherence: do its words share documents? (-1 to 1).

        Its words are the first `n_words` of `topics`.
        """
        check_is_fitted(self)
        return self._tables.coherence(self.counts_, n_words, self.common_words())

    def reliability(self, similarity: float = SIMILARITY, chains: float = CHAINS) -> pd.DataFrame:
        """Return which topics come back: chains, draws (shares of them), firm, share of tokens.

        Parameters
        ----------
        similarity : float
            A topic is found in a chain, or in a draw, where the one matched to it has words of a
            cosine above this.
        chains : float
            A topic is firm if at least this share of the chains has it; with one chain, of draws.
        """
        check_is_fitted(self)
        return self._tables.consensus(similarity).table(chains)

    def groups(self, n_groups: int = 12) -> pd.DataFrame:
        """Return a coarse view: topics put together until so many groups are left.

        Indexed by topic, the largest group first; columns: group, share (of tokens), group_share,
        group_words. Topics that have words in common are in one group (Ward).
        """
        check_is_fitted(self)
        n_groups, tables = check_count("n_groups", n_groups), self._tables
        share_K = self.reliability()["share"].to_numpy()
        return groups_table(tables.mean_theta, share_K, tables.vocabulary, n_groups)

    def documents(self, least: float = 0.01) -> pd.DataFrame:
        """Return the topics of each fitted document, the largest first: document, t, topic, share.

        least: leave out topics that hold a smaller share of the document's words.
        """
        check_is_fitted(self)
        return self._tables.documents(least)

    def representative_documents(
        self, n_documents: int = 3, periods: Sequence[Any] | None = None
    ) -> pd.DataFrame:
        """Return the documents with the largest share of each topic, per period.

        periods: increasing covariate values that cut time into periods; None: all time as one.
        """
        check_is_fitted(self)
        cuts = None if periods is None else self._encode(periods, None)[:, 0]
        return self._tables.representative(n_documents, cuts)

    def _encode(self, t: CovariateLike, n_documents: int | None) -> Float:
        values = self.covariates_.encode(t)
        if n_documents is not None and len(values) != n_documents:
            raise InvalidInput(
                f"X and t have inconsistent numbers of samples: [{n_documents}, {len(values)}]."
            )
        return values

    def _log_odds(self, draw: TopicDraw, rows: Float) -> Float:
        """Return the (N, K) log odds of a draw's topics at encoded covariate rows."""
        place = self.covariates_.places(rows)
        if place is not None:  # a draw keeps its curves at the rows of the fit
            return np.asarray(draw.log_odds[place if len(draw.log_odds) > 1 else 0 * place])
        labels = self.covariates_.labels(rows)
        at = rows if isinstance(labels, pd.MultiIndex) else labels
        if not self.thinning_.varies:
            at = np.zeros(len(rows))
        thinned = self.thinning_.log_odds(draw.x, self.prepared_, at)
        always = np.full((len(rows), draw.words.shape[1] - thinned.shape[1]), np.inf)
        return np.concatenate([always, thinned], axis=1)


def _kept_log_odds(draw: TopicDraw, rows: Float) -> Float:
    """Return the log odds a draw was kept with; those of a static model are the same everywhere."""
    return np.broadcast_to(draw.log_odds, (len(rows), draw.log_odds.shape[1]))
