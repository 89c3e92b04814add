"""The settings of a model in words a colleague can read."""

from __future__ import annotations

from typing import Any

import numpy as np

from thincrm import __version__
from thincrm.levy import GammaProcess
from thincrm.likelihood import NegativeBinomialFactor, PoissonFactor

__all__ = ["learned", "settings"]

_WORDS = {
    "GammaProcess": "A gamma process: infinitely many topics, most of them tiny; sizes are rates.",
    "BetaProcess": "A beta process: infinitely many topics, most of them tiny; sizes are "
    "probabilities.",
    "SigmoidGP": "A smooth random curve (Gaussian process) per topic gives its probability of "
    "being open at any time.",
    "ProbitRVM": "A sum of bumps (relevance vector machine) per topic gives its probability of "
    "being open at any time.",
    "Bump": "One bump per topic gives its probability of being open: each has a single season.",
    "Always": "Every topic is open at all times: nothing comes or goes in this model.",
    "FunctionThinning": "A function given by the user says when topics are open.",
    "PoissonFactor": "An open topic gives a document a gamma-Poisson number of words.",
    "NegativeBinomialFactor": "An open topic gives a document a negative binomial number of words.",
}
_LEARNED = {
    "concentration": ("Spread of topics over words", "Smaller: each topic keeps to fewer words."),
    "shape": ("Evenness of documents", "Larger: documents use their open topics more evenly."),
    "burstiness": ("Burstiness", "How strongly a word, once used, repeats in its document."),
    "mass": ("Mass of the Lévy measure", "Larger: more topics."),
    "rate": ("Rate of the Lévy measure", "Larger: smaller topics."),
    "discount": ("Discount of the Lévy measure", "Larger: more small topics."),
}


def settings(model: Any) -> list[list[str]]:
    """Return what was chosen: name, value, and a sentence."""
    levy = GammaProcess() if model.levy is None else model.levy
    plain = PoissonFactor() if levy.support > 1.0 else NegativeBinomialFactor()
    factors = {
        "Sizes of topics": levy,
        "When topics are open": model.thinning_,
        "Words of a document": plain if model.likelihood is None else model.likelihood,
    }
    rows = [
        [name, type(factor).__name__, _WORDS.get(type(factor).__name__, "")]
        for name, factor in factors.items()
    ]
    return [
        *rows,
        ["Most topics", str(model.max_topics), "The truncation; their number is learned below it."],
        ["Sweeps", f"{model.n_sweeps:,}", "Of each chain; the first third is warm-up."],
        ["Draws kept", f"{len(model.draws_):,}", "Of all chains; every band comes from them."],
        ["Chains", str(model.n_chains), "Independent runs from different starts."],
        ["Always-open topics", str(model.n_background), "Background topics that never close."],
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
