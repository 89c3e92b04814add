"""A topic model on the command line: its table, and `infer`, `date` and `evaluate` of its runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from rich.table import Table

from thincrm.console.data_columns import DocumentColumns
from thincrm.console.model_terminal import ModelTerminal, RunCommand
from thincrm.console.run_source import kept_texts
from thincrm.console.terminal_tables import (
    MOST_ATOMS,
    MOST_SHOWN,
    CurveTable,
    plain_table,
    say_written,
    value_text,
)
from thincrm.data.counts import split_words
from thincrm.data.reading import Counts
from thincrm.data.writing import write_csv
from thincrm.errors import check_between
from thincrm.models.topics.corpus import read_new_documents
from thincrm.models.topics.model import TopicModel
from thincrm.models.topics.predict.dated_documents import DatedDocuments
from thincrm.numerics.arrays import Int
from thincrm.numerics.waiting import now

__all__ = ["TopicTerminal"]

_WORDS = 8
_LEAST = 0.001  # share of words of a topic that does not come back, but is shown
_REASONS = 4  # words, and topics, that dated a document


class TopicTerminal(ModelTerminal[TopicModel]):
    """How a topic model is shown and used."""

    def table(self, model: TopicModel) -> Table:
        """Return the largest topics: share of words, curve, where it was found, words.

        Those that come back (`reliability`) first, then, apart, some of the others.
        """
        curves = model.activation()
        shape = (int(curves["topic"].max()) + 1, len(model.covariates_.rows))
        open_KT = curves["mean"].to_numpy().reshape(shape)
        n_chains = len({draw.chain for draw in model.draws_})
        where = "chains" if n_chains > 1 else "draws"
        grid = CurveTable(model.covariates_, "topic", "words", "most relevant words", where)
        reliable = model.reliability()
        found_K, firm_K = reliable[where], reliable["firm"].to_numpy()
        share_K = curves["share"].to_numpy().reshape(shape) @ grid.weight_T
        table = model.topics(_WORDS)
        words = table.groupby("topic")["word"].agg(lambda w: " ".join(map(str, w)))
        told = np.flatnonzero(firm_K | (share_K >= _LEAST))
        shown = told[np.argsort(~firm_K[told], kind="stable")][:MOST_ATOMS].tolist()
        for place, topic in enumerate(shown):
            if not firm_K[topic] and (place == 0 or firm_K[shown[place - 1]]):
                which = "The lower" if place else "These"
                grid.below(f"{which} topics do not come back: too few {where} have them.")
            size, part = f"{100 * share_K[topic]:.1f} %", float(found_K[topic])
            found = f"{part * n_chains:.0f}/{n_chains}" if n_chains > 1 else f"{100 * part:.0f} %"
            grid.add(topic, size, open_KT[topic], words[topic], found)
        return grid.table

    def heldout(self, model: TopicModel) -> dict[str, float]:
        """Return the perplexity of words that the run held out."""
        if model.heldout_ is None:
            return {}
        found = model.perplexity()
        return {
            "perplexity": found.value,
            "monte_carlo_error": found.error,
            "held_out_words": found.n_words,
        }

    def texts(self, run: Path, model: TopicModel) -> pd.Series[str] | None:
        """Return the run's texts."""
        return kept_texts(run, model.counts_.shape[0])

    def infer(
        self, command: RunCommand, model: TopicModel, corpus: Path, how: DocumentColumns
    ) -> None:
        """Write (documents, topics) shares."""
        with command.voice.telling(f"reading {corpus.name}"):
            found = read_new_documents(command.run, model, corpus, how, dated=True)
            now("finding topics of documents")
            share = model.transform(found.documents, t=found.t)
        table = pd.DataFrame(share, index=found.index)
        table.columns = pd.Index([f"topic{topic}" for topic in range(share.shape[1])])
        write_csv(table, command.out, index=True, float_format="%.6g")
        shown = plain_table(str(found.index.name), "largest topics")
        for place, row in zip(table.index[:MOST_SHOWN], share, strict=False):
            top = np.argsort(-row)[:4]
            largest = " ".join(f"{k} ({100 * row[k]:.0f} %)" for k in top)
            shown.add_row(value_text(place), largest)
        dated = "of their time" if found.t is not None else "of any time"
        how_read = f"read as documents {dated}"
        say_written(command.voice, shown, command.out, len(table), how_read, found.skipped)

    def date(
        self,
        command: RunCommand,
        model: TopicModel,
        corpus: Path,
        how: DocumentColumns,
        level: float,
    ) -> None:
        """Write the most probable time of each document, an interval, and what speaks for it."""
        check_between("level", level, 0.0, 1.0)
        with command.voice.telling(f"reading {corpus.name}"):
            found = read_new_documents(command.run, model, corpus, how, dated=False)
            now("dating documents")
            table = _dated(model.date_documents(found.documents), level).set_axis(found.index)
        write_csv(table, command.out, index=True)
        unit = str(found.index.name)
        shown = plain_table(
            unit, "most probable", "probability", "from", "to", "because of words", "topics"
        )
        for place, row in table.head(MOST_SHOWN).iterrows():
            shown.add_row(
                value_text(place),
                value_text(row["time"]),
                f"{row['probability']:.2f}",
                value_text(row["lower"]),
                value_text(row["upper"]),
                value_text(row["words"]),
                value_text(row["topics"]),
            )
        width = f"intervals of {100 * level:g} %"
        say_written(command.voice, shown, command.out, len(table), width, found.skipped)

    def evaluate(
        self, command: RunCommand, model: TopicModel, again: TopicModel, share: float, seed: int
    ) -> dict[str, float]:
        """Return the perplexity of held-out words, and that of word frequencies alone."""
        train, heldout = split_words(model.counts_, share, seed)
        again.set_params(vectorizer=None)
        again.fit(Counts(train, model.vocabulary_), t=model.covariates_, heldout=heldout)
        found = again.perplexity(heldout)
        seen = np.asarray(train.sum(axis=0)).reshape(-1) + 0.5
        words: Int = np.asarray(heldout.sum(axis=0)).reshape(-1)
        unigram = np.exp(-(words @ np.log(seen / seen.sum())) / words.sum())
        return {
            "perplexity": found.value,
            "monte_carlo_error": found.error,
            "perplexity_of_word_frequencies": float(unigram),
            "held_out_words": found.n_words,
            "topics": float(again.n_topics_.mean()),
        }


def _dated(dates: DatedDocuments, level: float) -> pd.DataFrame:
    """Return dates with intervals, and the words and topics that speak most for them."""
    table = dates.intervals(level)
    found = dates.evidence(_REASONS)
    for column, kind in (("words", "word"), ("topics", "topic")):
        named = found[found["kind"] == kind].groupby("document")["name"]
        told = {document: ", ".join(map(str, names)) for document, names in named}
        table[column] = [told.get(document, "") for document in table.index]
    return table
