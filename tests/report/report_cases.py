"""Small fitted models for the report: plain, dated, hostile."""

import warnings

import numpy as np
import pandas as pd

from thincrm.models.features.model import FeatureModel
from thincrm.models.topics.model import TopicModel

SETTINGS = {"max_topics": 8, "n_sweeps": 30, "n_draws": 6, "random_state": 3, "quiet": True}
PAYLOADS = [
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "]]><svg onload=alert(1)>",
    "<img src=http://evil.invalid/x>",
    "\u2028alert(1)\u2029",
    "{{data}}",
    "{{script}}",
    "${alert(1)}",
    "javascript:alert(1)",
    "'\"><b>bold</b>",
    "&lt;script&gt;",
    "=HYPERLINK(0)",
    "a;=1+1",
    "+1",
    "-1",
    "@sum",
    "\ud800",
    "\x00nul",
    "\u202etxt",
    "<style>*{display:none}</style>",
    "<base href=//evil.invalid>",
    "expression(alert(1))",
    "<a href=data:text/html,x>",
    "%3Cscript%3E",
    "<iframe src=//evil.invalid>",
]
WORDS = [word for word in PAYLOADS if word != "\ud800"]  # pandas takes no half of a pair


def corpus(n_words=12, n_documents=160, seed=0):
    """Return counts and years: a third of the words early, a third late, a third always."""
    rng = np.random.default_rng(seed)
    year = np.sort(rng.integers(1900, 1920, n_documents))
    third = n_words // 3
    counts = np.zeros((n_documents, n_words), int)
    for d, when in enumerate(year):
        for block, is_open in enumerate((when < 1908, when >= 1912, True)):
            if is_open:
                size = 1 + rng.poisson(9)
                counts[d, block * third : (block + 1) * third] += rng.multinomial(
                    size, np.ones(third) / third
                )
    return counts, year


def fitted(words=None, t=None, **settings):
    """Return a model of the corpus, with these words and times (default: years)."""
    counts, year = corpus(12 if words is None else len(words))
    X = counts if words is None else pd.DataFrame(counts, columns=words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few topics are allowed here
        return TopicModel(**{**SETTINGS, **settings}).fit(X, t=year if t is None else t(year))


def dates(year):
    return pd.to_datetime([f"{y}-06-15" for y in year])


def texts_of(model):
    """Return a text for each document: its words, repeated as counted."""
    words = [str(word) for word in model.vocabulary_]
    rows = model.counts_.toarray()
    return [" ".join(w for w, n in zip(words, row, strict=True) for _ in range(n)) for row in rows]


def fitted_features(columns=None, **settings):
    """Return a model of a table in which one feature is used early and one late."""
    rng = np.random.default_rng(2)
    at = np.sort(rng.random(80))
    n_columns = 16 if columns is None else len(columns)
    feature = np.zeros((2, n_columns))
    feature[0, :4], feature[1, 4:8] = 2.0, -2.0
    used = rng.random((80, 2)) < np.column_stack([1 - at, at])
    table = pd.DataFrame(used @ feature + 0.3 * rng.normal(size=(80, n_columns)))
    table.columns = range(n_columns) if columns is None else columns
    chosen = {
        "weights": "binary",
        "max_features": 6,
        "n_sweeps": 40,
        "n_draws": 10,
        "random_state": 3,
        "quiet": True,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few features are allowed here
        return FeatureModel(**{**chosen, **settings}).fit(table, t=pd.Series(at, name="income"))
