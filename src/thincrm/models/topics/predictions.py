"""What a fitted topic model predicts: topics, held-out words and dates of documents."""

from __future__ import annotations

from os import PathLike

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thincrm.data.counts import CountMatrix, CountsLike, Documents, as_counts, tokens
from thincrm.data.covariates import CovariateLike
from thincrm.data.reading.frames import PartedFrame
from thincrm.errors import InvalidInput
from thincrm.inference.dask_cluster import Client
from thincrm.models.topics.dating import TopicDating
from thincrm.models.topics.documents_kept import with_documents
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.predict.perplexity import Perplexity, heldout_log_likelihoods, perplexity
from thincrm.models.topics.predict.shards import new_shards, shares_of
from thincrm.numerics.arrays import Float
from thincrm.numerics.threads import using_threads

__all__ = ["TopicPredictions"]

_TRANSFORM = 1  # address of the random streams


class TopicPredictions(TopicDating):
    """Predictions of a fitted `TopicModel`."""

    row_: np.ndarray
    heldout_: CountMatrix | None

    def transform(
        self,
        X: Documents | PathLike[str] | PartedFrame,
        t: CovariateLike | None = None,
        *,
        text: str | None = None,
        date: str | None = None,
        client: Client | None = None,
    ) -> Float:
        """Return (D, K) the expected share of each topic in each document, new or old.

        Averaged over five draws, spread evenly over all, topics matched. Documents without t may
        come from any time. X, text, date: as of `fit`, so that files and Dask DataFrames are read,
        too. client: a dask.distributed.Client, to use its cluster, with the same bits; None: this
        machine.
        """
        check_is_fitted(self)
        counts, t = self._read_documents(X, t, text, date, client, reset=False)
        rows, log_prior, place = self.covariates_.rows, np.log(self.covariates_.n_values()), None
        if t is not None:
            encoded = self._encode(t, counts.shape[0])
            rows, place = np.unique(encoded, axis=0, return_inverse=True)
            place = place.reshape(-1)
        shards, engine = new_shards(tokens(counts), place), self._engine(client)
        share = np.zeros((counts.shape[0], self._tables.n_topics))
        with engine.running():
            for i, (draw, found) in enumerate(self._tables.spread_out(5)):
                address = self.seed_, _TRANSFORM, i
                log_odds = self._log_odds(draw, rows)
                usage = shares_of(engine, shards, draw, log_odds, log_prior, address)
                share[:, found >= 0] += usage[:, found[found >= 0]]
        return np.asarray(share / np.maximum(share.sum(axis=1, keepdims=True), 1e-300))

    def perplexity(self, heldout: CountsLike | None = None) -> Perplexity:
        """Return the perplexity of held-out counts of the fitted documents (`tc.split_words`).

        heldout: None: those of `fit(heldout=...)`. The result has `.value` and `.error` (Monte
        Carlo standard error).
        """
        check_is_fitted(self)
        heldout = self.heldout_ if heldout is None else heldout
        if heldout is None:
            raise InvalidInput(
                "No words were held out: pass heldout, or fit with heldout=0.1 or such."
            )
        with using_threads(self.n_threads):
            return perplexity(
                self._whole_draws(), self.row_, as_counts(heldout, "heldout"), tokens(self.counts_)
            )

    def _whole_draws(self) -> list[TopicDraw]:
        """Return the draws that keep documents."""
        return [self.draws_[b] for b in with_documents(self.draws_, self.counts_.shape[0])]

    def _heldout_scores(self, heldout: CountsLike) -> Float:
        known = with_documents(self.draws_, self.counts_.shape[0])
        score_B = np.full(len(self.draws_), np.nan)
        with using_threads(self.n_threads):
            score_B[known] = heldout_log_likelihoods(
                self._whole_draws(), self.row_, as_counts(heldout, "heldout"), tokens(self.counts_)
            )
        return score_B
