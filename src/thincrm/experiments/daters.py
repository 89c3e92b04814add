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
from thincrm.estimators.topics import TopicModel
from thincrm.evaluate.dates import log_likelihood_at
from thincrm.experiments.settings import Settings
from thincrm.numerics.arrays import Float, Int
from thincrm.numerics.streams import sweep_generator
from thincrm.numerics.threads import using_threads
from thincrm.thinning import Always

__all__ = ["DYNAMIC", "N_DRAWS", "STATIC", "guesses", "particles"]

DYNAMIC, STATIC = "dynamic, particles", "static, one a decade"
N_DRAWS = 5  # that likelihoods of documents are averaged over
_SHARE = 4  # a decade's own model may have a quarter of the topics of the model of all decades


def particles(settings: Settings) -> int:
    """Return how many particles estimate the likelihood of a document."""
    return 20 if settings.quick else 100


def guesses(
    train: Corpus, test: Corpus, settings: Settings, seed: int
) -> Iterator[tuple[str, Int]]:
    """Yield the name of each method, and its decades for the documents of `test`."""
    model = TopicModel(
        max_topics=settings.max_topics, n_sweeps=settings.sweeps, random_state=seed
    ).fit(train.counts, t=train.years)
    chance = model.predict_time(test.counts, n_draws=N_DRAWS, n_particles=particles(settings))
    yield DYNAMIC, _likeliest(chance)
    chance = model.predict_time(test.counts, n_draws=N_DRAWS, method="cheap")
    yield "dynamic, cheap", _likeliest(chance)
    yield STATIC, _static(train, test, settings, seed)
    others = {
        "naive Bayes": MultinomialNB(fit_prior=False),
        "logistic regression": make_pipeline(
            TfidfTransformer(sublinear_tf=True), LogisticRegression(C=10.0, max_iter=1000)
        ),
    }
    for name, classifier in others.items():
        yield name, classifier.fit(train.counts, train.decades).predict(test.counts)


def _likeliest(chance_of_year: pd.DataFrame) -> Int:
    """Return each document's likeliest decade: a decade's years share its prior weight."""
    decade = chance_of_year.columns.to_numpy() // 10 * 10
    mean = chance_of_year.T.groupby(decade).mean()
    likeliest: Int = np.asarray(mean.index)[mean.to_numpy().argmax(axis=0)]
    return likeliest


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
        n_sweeps=settings.sweeps,
        n_draws=N_DRAWS,
        random_state=seed,
        quiet=True,
    ).fit(train.counts)
    documents, found = tokens(test.counts), []
    with using_threads(None):
        for number, draw in enumerate(model.draws_):
            always = np.full((1, draw.words.shape[1]), np.inf)
            fit = log_likelihood_at(
                sweep_generator(seed, number), documents, always, draw, particles(settings)
            )
            found.append(fit[:, 0])
    return np.asarray(logsumexp(found, axis=0))
