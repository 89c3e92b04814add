"""What a fitted topic model predicts: topics, held-out words and times of documents."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from thincrm.data.counts import CountMatrix, CountsLike, Documents, as_counts, tokens
from thincrm.data.covariates import CovariateLike
from thincrm.errors import InvalidInput
from thincrm.models.topics.documents_kept import with_documents
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.predict.dates import (
    cheap_log_score,
    log_likelihood_at,
    time_distribution,
)
from thincrm.models.topics.predict.inputs import document_items
from thincrm.models.topics.predict.new_documents import infer_usage, time_chances
from thincrm.models.topics.predict.perplexity import Perplexity, heldout_log_likelihoods, perplexity
from thincrm.models.topics.results import TopicResults
from thincrm.numerics.arrays import Float
from thincrm.numerics.streams import sweep_generator
from thincrm.numerics.threads import using_threads

__all__ = ["TopicPredictions"]

_TRANSFORM, _DATES = 1, 2  # addresses of the random streams


class TopicPredictions(TopicResults):
    """Predictions of a fitted `TopicModel`."""

    draws_: list[TopicDraw]
    row_: np.ndarray
    heldout_: CountMatrix | None
    n_threads: int | None

    def _counts(self, X: Documents, *, reset: bool) -> CountMatrix:
        """Return checked counts of documents."""
        raise NotImplementedError

    def transform(self, X: Documents, t: CovariateLike | None = None) -> Float:
        """Return (D, K) the expected share of each topic in each document, new or old.

        Averaged over five draws, spread evenly over all, topics matched. Documents without t may
        come from any time.
        """
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        known = t is not None
        rows = self.covariates_.rows if t is None else self._encode(t, counts.shape[0])
        documents = tokens(counts)
        items = document_items(documents)
        share = np.zeros((counts.shape[0], self._tables.n_topics))
        with using_threads(self.n_threads):
            for i, (draw, found) in enumerate(self._tables.latest(5)):
                rng = sweep_generator(self.seed_, _TRANSFORM, i)
                odds = self._log_odds(draw, rows)
                usage = infer_usage(rng, documents, odds, draw, known=known, items_D=items)
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

    def predict_time(
        self,
        X: Documents,
        candidates: CovariateLike | None = None,
        *,
        method: Literal["gibbs", "particles", "cheap"] = "gibbs",
        n_draws: int = 20,
        n_steps: int = 100,
    ) -> pd.DataFrame:
        """Return a distribution over dates for each undated document.

        Parameters
        ----------
        X : (D, P) counts or D texts
            Documents.
        candidates : covariates or None
            Times to choose from; None: the distinct ones of the fit, weighed equally.
        method : {"gibbs", "particles", "cheap"}
            How the sum over the topics of a document's words is done: by Gibbs sampling of the
            topics and the time together, by particles for all times at once (noisier for long
            documents), or not at all (a plug-in multinomial: quick, and too sure of itself).
        n_draws : int
            Draws averaged over.
        n_steps : int
            Gibbs sweeps, or particles, per document and draw.
        """
        check_is_fitted(self)
        if method not in ("gibbs", "particles", "cheap"):
            raise InvalidInput(f"method must be 'gibbs', 'particles' or 'cheap', got {method!r}.")
        documents = tokens(self._counts(X, reset=False))
        times = self.covariates_.rows if candidates is None else self._encode(candidates, None)
        items = document_items(documents)
        found = []
        with using_threads(self.n_threads):
            for i, (draw, _) in enumerate(self._tables.latest(n_draws)):
                odds, rng = self._log_odds(draw, times), sweep_generator(self.seed_, _DATES, i)
                if method == "cheap":
                    found.append(cheap_log_score(documents, odds, draw))
                elif method == "particles":
                    found.append(log_likelihood_at(rng, documents, odds, draw, n_steps))
                else:
                    found.append(time_chances(rng, documents, odds, draw, n_steps, items))
        if method == "gibbs":
            chance = np.mean(found, axis=0)
        else:
            chance = time_distribution(np.stack(found), np.zeros(len(times)))
        return pd.DataFrame(chance, columns=self.covariates_.labels(times), index=_index(X))


def _index(X: Documents) -> pd.Index | None:
    return X.index if isinstance(X, pd.DataFrame | pd.Series) else None
