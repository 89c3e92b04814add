"""The work of `thincrm topics`: read, count words, fit, keep the source, show."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal, TypedDict

from thincrm.console.chosen_factors import thinning_named
from thincrm.console.data_columns import DocumentColumns
from thincrm.console.run_source import new_run
from thincrm.console.show_run import keep_results, show_run
from thincrm.console.voice import Voice, say_skipped
from thincrm.data.counts import lengths_of
from thincrm.data.reading import Counts, is_counts
from thincrm.data.vocabulary import count_words
from thincrm.inference.dask_cluster import Client
from thincrm.models.topics.corpus import MOST_LETTERS, count_corpus, read_corpus
from thincrm.models.topics.model import UNASKED, TopicModel
from thincrm.models.topics.terminal import TopicTerminal

__all__ = ["TopicSettings", "WordChoice", "fit_topics"]


class WordChoice(TypedDict):
    """Which words to count, as of `choose_words`."""

    min_count: int
    min_df: int | float
    max_df: int | float
    tfidf_share: float | None
    stop_words: str | None
    ngrams: int
    vocabulary: Path | None


class TopicSettings(TypedDict):
    """Settings of a TopicModel."""

    max_topics: int | Literal["grow"]
    detail: Literal["coarse", "medium", "fine"]
    n_sweeps: int | Literal["auto"]
    n_draws: int
    n_chains: int | Literal["auto"]
    random_state: int
    n_threads: int | None
    quiet: bool


def fit_topics(
    voice: Voice,
    path: Path,
    how: DocumentColumns,
    words: WordChoice,
    thinning: str,
    settings: TopicSettings,
    heldout: float | None,
    out: Path,
    client: Client | None = None,
    minutes: float | None = None,
) -> bool:
    """Fit a topic model, keep it in `out`, show it; tell whether it got to its end."""
    factor = thinning_named(thinning)
    model, texts = TopicModel(thinning=factor, **settings), None
    with voice.telling(f"reading {path.name}"):
        if path.is_file() and is_counts(path):
            corpus = read_corpus(path, how, how.words)
            assert isinstance(corpus.documents, Counts)
            counts = corpus.documents
        else:
            corpus, counts, vectorizer, texts = count_corpus(
                path, how, partial(count_words, **words)
            )
            # texts are counted here, once; the model keeps the vectoriser for new ones
            model.vectorizer = model.vectorizer_ = vectorizer
            if texts is None:
                voice.say(
                    f"The texts have more than {MOST_LETTERS // 10**6} million letters and are not "
                    "kept with the run: its report has no quotations."
                )
    say_skipped(voice, corpus.skipped, corpus.first_skipped)
    voice.say("{:,} documents, {:,} words.".format(*counts.counts.shape))
    if model.n_chains == "auto":
        UNASKED.give(model, int(lengths_of(counts.counts).sum()), voice.say)
    place = new_run(out, corpus.reading, texts, () if texts is None else corpus.names)
    model.fit(counts, t=corpus.t, out=place, heldout=heldout, client=client, minutes=minutes)
    keep_results(model, out)
    return show_run(voice, TopicTerminal(), model, out, corpus.skipped)
