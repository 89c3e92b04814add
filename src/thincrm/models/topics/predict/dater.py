"""What dating learns once from the documents of a fit: words' curves, and weights of evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thincrm.data.counts import tokens
from thincrm.models.topics.predict.evidence import (
    USUAL,
    Weights,
    learn_weights,
    log_topic_evidence,
)
from thincrm.models.topics.predict.second_fits import (
    VARIANCES,
    SecondFit,
    final_words,
    second_fits,
)
from thincrm.models.topics.predict.word_dates import WordDates
from thincrm.numerics.arrays import Float
from thincrm.numerics.threads import one_blas_thread
from thincrm.numerics.waiting import telling

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["Dater", "Learned", "Method"]

_USUAL_VARIANCE = VARIANCES[1]  # where too few documents say which is best


class Method(NamedTuple):
    """How topics date documents: see `TopicModel.predict_time`."""

    name: str
    n_draws: int
    n_steps: int


class Learned(NamedTuple):
    """Words' curves, and how much topics and words count."""

    words: WordDates
    weights: Weights


class Dater:
    """Learns how to date documents like those of a fit; what was learned is kept."""

    def __init__(self, model: TopicModel) -> None:
        self._model = model
        self._fits: list[SecondFit] | None = None
        self._words: dict[float, WordDates] = {}
        self._learned: dict[Method, Learned] = {}

    def learned(self, how: Method) -> Learned:
        """Return what holds for a way to date by topics: weights depend on how good it is."""
        if how not in self._learned:
            with (
                telling("learning how words and topics date documents", quiet=self._model.quiet),
                one_blas_thread(),
            ):
                variance, weights = self._best(how)
                if variance not in self._words:
                    self._words[variance] = final_words(self._model, variance)
                self._learned[how] = Learned(self._words[variance], weights)
        return self._learned[how]

    def _best(self, how: Method) -> tuple[float, Weights]:
        """Return the variance of curves and the weights that date held-out documents best."""
        if self._fits is None:
            self._fits = second_fits(self._model)
        varies = self._model.thinning_.varies
        if not self._fits:
            return _USUAL_VARIANCE, USUAL if varies else Weights(0.0, USUAL.words)
        rows = self._model.covariates_.rows
        log_even = np.log(self._model.covariates_.n_values())
        topics_DT = np.concatenate([_topics(fit, rows, log_even, how) for fit in self._fits])
        sizes = [fit.row.size for fit in self._fits]
        log_prior_DT = np.repeat([fit.log_prior for fit in self._fits], sizes, axis=0)
        row_D = np.concatenate([fit.row for fit in self._fits])
        found = []
        for place, variance in enumerate(VARIANCES):
            words = [fit.words[place].log_evidence(fit.counts, rows) for fit in self._fits]
            weights, score = learn_weights(log_prior_DT, topics_DT, np.concatenate(words), row_D)
            found.append((score, variance, weights if varies else weights._replace(topics=0.0)))
        _, variance, weights = max(found, key=lambda one: one[0])
        return variance, weights


def _topics(fit: SecondFit, rows: Float, log_even_T: Float, how: Method) -> Float:
    """Return the (H, T) evidence of topics for the documents held out."""
    if fit.model is None:
        return np.zeros((fit.row.size, len(rows)))
    chance, _ = fit.model.chances_by_topics(tokens(fit.counts), rows, log_even_T, how)
    return log_topic_evidence(chance, log_even_T)
