"""The settings of a topic model, and how to read its page, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thincrm.levy import GammaProcess
from thincrm.models.topics.chain_topics import SIMILARITY
from thincrm.models.topics.documents_kept import with_documents
from thincrm.models.topics.factors import NegativeBinomialFactor, PoissonFactor
from thincrm.report.plain_words import (
    LEVY_PARAMETERS,
    Rows,
    factor_rows,
    pooled_rows,
    run_rows,
    summary,
)

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["LEARNED", "READING", "topic_settings"]

READING = [
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
    "Topics are matched over draws and chains, and numbered by size; a topic is found in a chain, "
    "or a draw, where the one matched to it has much the same words (a cosine above "
    f"{SIMILARITY:g}). One that fewer than three quarters of the chains have (of the draws, if "
    "there is one chain) is in italics, and below the others: it does not repeat, and another run "
    "may not find it.",
]
LEARNED = {
    "concentration": (
        "Concentration",
        "Smaller: sizes, and words of a topic, are fewer and larger.",
    ),
    "shape": ("Evenness of documents", "Larger: documents use their open topics more evenly."),
    "burstiness": ("Burstiness", "How strongly a word, once used, repeats in its document."),
    **LEVY_PARAMETERS,
}


def _kept_rows(model: TopicModel) -> Rows:
    """Return what was pooled, and what of documents was kept, where that is not all."""
    n_whole, n_draws = len(with_documents(model.draws_, model.counts_.shape[0])), len(model.draws_)
    said = "Draws that keep the topics of documents; the others keep what all have in common."
    kept = [["Documents kept", f"in {n_whole} of {n_draws} draws", said]]
    return [*pooled_rows(model.covariates_, "documents"), *(kept if n_whole < n_draws else [])]


def topic_settings(model: TopicModel) -> tuple[str, Rows]:
    """Return a line on the model, and what was chosen: name, value, and a sentence."""
    levy = GammaProcess() if model.levy is None else model.levy
    plain = PoissonFactor() if levy.support > 1.0 else NegativeBinomialFactor()
    factors = factor_rows(
        {
            "Sizes of topics": levy,
            "When topics are open": model.thinning_,
            "Words of a document": plain if model.likelihood is None else model.likelihood,
        },
        "topic",
    )
    fixed = model.concentration
    limits = [
        [
            "Detail",
            model.detail if fixed is None else f"concentration {fixed:g}",
            "How finely topics are told apart: coarser ones are fewer, and come back more surely.",
        ],
        ["Most topics", str(model.max_topics), "The truncation; their number is learned below it."],
        ["Always-open topics", str(model.n_background), "Background topics that never close."],
    ]
    run = run_rows(model.n_sweeps_, model.draws_, model.seed_)
    return summary(factors[:2], run), [*factors, *limits, *_kept_rows(model), *run]
