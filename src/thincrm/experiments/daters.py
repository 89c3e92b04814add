"""Ways to tell the decade of a document, taught with documents whose years are known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from thincrm.data.counts import tokens
from thincrm.data.sotu import Corpus
from thincrm.experiments.settings import Settings
from thincrm.models.topics.model import TopicModel
from thincrm.models.topics.predict.dates import log_likelihood_at
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import sweep_generator
from thincrm.numerics.threads import using_threads
from thincrm.thinning import Always

__all__ = ["DYNAMIC", "N_DRAWS", "STATIC", "guesses", "steps"]

DYNAMIC, STATIC = "dynamic", "static, one a decade"
N_DRAWS = 20  # that chances of decades are averaged over
_STATIC_DRAWS = 5
_SHARE = 4  # a decade's own model may have a quarter of the topics of the model of all decades


def steps(settings: Settings) -> int:
    """Return how many Gibbs sweeps, or particles, a document and a draw get."""
    return 20 if settings.quick else 100


def guesses(
    train: Corpus, test: Corpus, settings: Settings, seed: int
) -> Iterator[tuple[str, Int]]:
    """Yield the name of each method, and its decades for the documents of `test`."""
    model = TopicModel(
        max_topics=settings.max_topics,
        detail="fine",
        n_sweeps=settings.sweeps,
        n_chains=1,
        random_state=seed,
    ).fit(train.counts, t=train.decades)
    chance = model.predict_time(
        test.counts, evidence="topics", n_draws=N_DRAWS, n_steps=steps(settings)
    )
    decades = chance.columns.to_numpy()
    yield DYNAMIC, decades[chance.to_numpy().argmax(axis=1)]
    yield "dynamic, median", _median(chance)
    chance = model.predict_time(test.counts)
    yield "dynamic, and words", decades[chance.to_numpy().argmax(axis=1)]
    yield "dynamic, and words, median", _median(chance)
    chance = model.predict_time(
        test.counts,
        evidence="topics",
        n_draws=_STATIC_DRAWS,
        n_steps=steps(settings),
        method="particles",
    )
    yield "dynamic, particles", decades[chance.to_numpy().argmax(axis=1)]
    chance = model.predict_time(test.counts, evidence="topics", n_draws=N_DRAWS, method="cheap")
    yield "dynamic, cheap", decades[chance.to_numpy().argmax(axis=1)]
    yield STATIC, _static(train, test, settings, seed)
    others = {
        "naive Bayes": MultinomialNB(fit_prior=False),
        "logistic regression": make_pipeline(
            TfidfTransformer(sublinear_tf=True), LogisticRegression(C=10.0, max_iter=1000)
        ),
    }
    for name, classifier in others.items():
        yield name, classifier.fit(train.counts, train.decades).predict(test.counts)


def _median(chance: pd.DataFrame) -> Int:
    below = np.cumsum(chance.to_numpy(), axis=1) < 0.5
    return np.asarray(chance.columns.to_numpy()[below[:, :-1].sum(axis=1)])


def _static(train: Corpus, test: Corpus, settings: Settings, seed: int) -> Int:
    """Fit an exchangeable model to each decade alone; return the decades that suit best."""
    decades = np.unique(train.decades)
    score = [
        _log_likelihood(train.take(train.decades == decade), test, settings, seed)
        for decade in decades
    ]
    return np.asarray(decades[np.argmax(score, axis=0)])


def _log_likelihood(train: Corpus, test: Corpus, settings: Settings, seed: int) -> Float:
    """Return the (D,) log-likelihoods of new documents, up to what all decades share."""
    model = TopicModel(
        thinning=Always(),
        max_topics=max(2, settings.max_topics // _SHARE),
        detail="fine",
        n_sweeps=settings.sweeps,
        n_chains=1,
        n_draws=_STATIC_DRAWS,
        random_state=seed,
        quiet=True,
    ).fit(train.counts)
    documents, found = tokens(test.counts), []
    with using_threads(None):
        for number, draw in enumerate(model.draws_):
            always = np.full((1, draw.words.shape[1]), np.inf)
            fit = log_likelihood_at(
                sweep_generator(seed, number), documents, always, draw, steps(settings)
            )
            found.append(fit[:, 0])
    return np.asarray(logsumexp(found, axis=0))
