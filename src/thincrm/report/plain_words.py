"""The settings of a model in words a colleague can read."""

from __future__ import annotations

from typing import Any

import numpy as np

from thincrm import __version__
from thincrm.levy import BetaProcess, GammaProcess
from thincrm.models.topics.factors import NegativeBinomialFactor, PoissonFactor

__all__ = [
    "READING_FEATURES",
    "READING_TOPICS",
    "feature_settings",
    "learned",
    "topic_settings",
]

_WORDS = {
    "GammaProcess": "A gamma process: infinitely many {s}, most of them tiny; sizes are rates.",
    "BetaProcess": "A beta process: infinitely many {s}, most of them rare; sizes are "
    "probabilities.",
    "SigmoidGP": "A smooth random curve (Gaussian process) per {one} gives its probability of "
    "being open at any time.",
    "ProbitRVM": "A sum of bumps (relevance vector machine) per {one} gives its probability of "
    "being open at any time.",
    "Bump": "One bump per {one} gives its probability of being open: each has a single season.",
    "Always": "All {s} are open at all times: nothing comes or goes in this model.",
    "FunctionThinning": "A function given by the user says when {s} are open.",
    "PoissonFactor": "An open {one} gives a document a gamma-Poisson number of words.",
    "NegativeBinomialFactor": "An open {one} gives a document a negative binomial number of words.",
    "GammaNegativeBinomialFactor": "An open {one} gives a document a negative binomial number of "
    "words; how many in all is the document's own affair.",
    "gates observation": "Every row decides anew whether a feature is open to it.",
    "gates row": "Rows with the same covariate share whether a feature is open to them.",
    "weights binary": "A row uses a feature or does not.",
    "weights real": "A row that uses a feature has a weight of its own for it.",
}
READING_TOPICS = [
    "A topic is a set of words that occur together. At any time it is open with some probability; "
    "shut, it gives a document no words at all.",
    "Bands hold the true value with 50 % (dark) and 90 % (light) probability if the model is "
    "right. They are wide where documents are few, and curves fade where fewer than five are near: "
    "within a tenth of the time, nearer ones counting more.",
    "A topic is called active where its probability of being open is at least half of its "
    "highest. Rising: active at the end but not the start; falling: the reverse; peaked: at "
    "neither end; intermittent: in two or more spells; steady: throughout.",
    "Colour tells when a topic peaks, from violet (first) to red (last), in every view but the "
    "passages of documents: there each topic of a passage has a colour of its own, stronger where "
    "the word is more surely of that topic.",
    "Counts of words by period are tokens of the documents that the draws give to the topic, on "
    "average; words of a topic do not change in this model, what is written of it may.",
    "Topics are numbered by size in the last draw and matched to it in all others; the presence "
    "of a topic is the share of draws it was found in.",
]
READING_FEATURES = [
    "A row of the table is a level plus the features it uses plus noise. At any value of the "
    "covariate a feature is used with some probability.",
    "Bands hold the true value with 50 % (dark) and 90 % (light) probability if the model is "
    "right. They are wide where rows are few, and curves fade where fewer than five are near.",
    "A bar is what a feature adds to a column, in standard deviations of that column.",
    "Features are numbered by use in the last draw and matched to it in all others; the presence "
    "of a feature is the share of draws it was found in.",
]
_LEARNED = {
    "concentration": (
        "Concentration",
        "Smaller: sizes, and words of a topic, are fewer and larger.",
    ),
    "features_per_row": ("Features of a row", "How many a row uses, on average."),
    "noise": ("Noise", "Variance that no feature explains, in standard units."),
    "shape": ("Evenness of documents", "Larger: documents use their open topics more evenly."),
    "burstiness": ("Burstiness", "How strongly a word, once used, repeats in its document."),
    "mass": ("Mass of the Lévy measure", "Larger: more of them."),
    "rate": ("Rate of the Lévy measure", "Larger: smaller sizes."),
    "discount": ("Discount of the Lévy measure", "Larger: more small ones."),
}


def topic_settings(model: Any) -> list[list[str]]:
    """Return what was chosen for topics: name, value, and a sentence."""
    levy = GammaProcess() if model.levy is None else model.levy
    plain = PoissonFactor() if levy.support > 1.0 else NegativeBinomialFactor()
    factors = {
        "Sizes of topics": levy,
        "When topics are open": model.thinning_,
        "Words of a document": plain if model.likelihood is None else model.likelihood,
    }
    return [
        *_factors(factors, "topics"),
        ["Most topics", str(model.max_topics), "The truncation; their number is learned below it."],
        ["Always-open topics", str(model.n_background), "Background topics that never close."],
        *_chains(model),
    ]


def feature_settings(model: Any) -> list[list[str]]:
    """Return what was chosen for features: name, value, and a sentence."""
    levy = BetaProcess() if model.levy is None else model.levy
    factors = {"Use of features": levy, "When features are open": model.thinning_}
    return [
        *_factors(factors, "features"),
        ["Gates", model.gates, _WORDS[f"gates {model.gates}"]],
        ["Weights", model.weights, _WORDS[f"weights {model.weights}"]],
        ["Most features", str(model.max_features), "The truncation; their number is learned."],
        *_chains(model),
    ]


def _factors(factors: dict[str, Any], plural: str) -> list[list[str]]:
    names = {name: type(factor).__name__ for name, factor in factors.items()}
    said = {
        name: _WORDS.get(kind, "").format(s=plural, one=plural[:-1]) for name, kind in names.items()
    }
    return [[name, names[name], said[name]] for name in factors]


def _chains(model: Any) -> list[list[str]]:
    return [
        ["Sweeps", f"{model.n_sweeps:,}", "Of each chain; the first third is warm-up."],
        ["Draws kept", f"{len(model.draws_):,}", "Of all chains; every band comes from them."],
        ["Chains", str(model.n_chains), "Independent runs from different starts."],
        ["Seed", str(model.seed_), "The same seed gives the same numbers."],
        ["Version", f"thincrm {__version__}", ""],
    ]


def learned(model: Any) -> list[list[str]]:
    """Return what was learned: name, posterior mean, 90 % interval, and a sentence."""
    rows = []
    for key, (name, sentence) in _LEARNED.items():
        values = [draw.scalars[key] for draw in model.draws_ if key in draw.scalars]
        if values:
            low, high = np.quantile(values, [0.05, 0.95])
            rows.append([name, f"{np.mean(values):.3g}", f"{low:.3g} to {high:.3g}", sentence])
    return rows
