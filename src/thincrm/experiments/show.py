"""Run an experiment for a reader: progress, a table beside the paper's, files in a folder."""

from __future__ import annotations

from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from thincrm.experiments import decades, perplexity, topic_pictures, topics
from thincrm.experiments.baselines import has_tomotopy, late_samples
from thincrm.experiments.daters import N_DRAWS, steps
from thincrm.experiments.desk import Desk, number, open_table
from thincrm.experiments.settings import Settings
from thincrm.printable import printable

__all__ = ["show_decades", "show_perplexity", "show_topics"]


def show_perplexity(settings: Settings, out: Path) -> None:
    """Run the perplexity experiment, print its table, write CSV files and a picture."""
    desk = Desk(settings, out, "sotu_perplexity")
    results = perplexity.run(
        settings, desk.report("split", settings.splits, "model", "perplexity", ".1f")
    )
    table = open_table("Perplexity of held-out words, State of the Union (paper: table 2)", "model")
    for column in ("perplexity", "topics", "large", "paper", "its topics"):
        table.add_column(column, justify="right")
    for name, row in results.summary.iterrows():
        table.add_row(
            Text(str(name)),
            number(row["perplexity"], ".1f", row["spread"]),
            number(row["topics"], ".1f"),
            number(row["large_topics"], ".1f"),
            number(row["paper_perplexity"], ".1f"),
            number(row["paper_topics"], ".1f"),
        )
    desk.say(table)
    how = f"{settings.splits} split(s), 20 % of each document's words held out"
    _state(desk, settings, results.corpus, how)
    desk.say(
        "±: standard deviation over splits; topics: those with a token; large: those with 0.5 % "
        "of all tokens."
    )
    if has_tomotopy():
        n_samples = late_samples(settings.sweeps)
        desk.say(f"LDA and HDP: tomotopy, alpha learned, average of {n_samples} late samples.")
    else:
        desk.say("tomotopy is not installed, so LDA and HDP are left out: pip install tomotopy.")
    desk.write({"splits": results.splits, "summary": results.summary.reset_index()})
    desk.draw(topic_pictures.draw_perplexity, results)


def show_decades(settings: Settings, out: Path) -> None:
    """Run the decade experiment, print its table, write CSV files and a picture."""
    desk = Desk(settings, out, "sotu_decades")
    results = decades.run(
        settings, desk.report("split", settings.splits, "method", "accuracy", ".3f")
    )
    table = open_table(
        "Decade of held-out documents, State of the Union (paper: table 3)", "method"
    )
    for column in ("accuracy", "L1 in decades", "paper", "its L1"):
        table.add_column(column, justify="right")
    for name, row in results.summary.iterrows():
        table.add_row(
            Text(str(name)),
            number(row["accuracy"], ".3f", row["accuracy_spread"]),
            number(row["l1"], ".2f", row["l1_spread"]),
            number(row["paper_accuracy"], ".2f"),
            number(row["paper_l1"], ".2f"),
        )
    desk.say(table)
    how = f"{settings.splits} split(s), 20 % of each decade held out"
    _state(desk, settings, results.corpus, how)
    desk.say(f"Each document: {steps(settings)} Gibbs sweeps, average of {N_DRAWS} draws.")
    desk.write(
        {
            "splits": results.splits,
            "summary": results.summary.reset_index(),
            "guesses": results.guesses,
        }
    )
    desk.draw(topic_pictures.draw_decades, results)


def show_topics(settings: Settings, out: Path) -> None:
    """Run the topic experiment, print three topics' words, write CSV files and a picture."""
    desk = Desk(settings, out, "sotu_topics")
    results = topics.run(settings)
    title = "Three topics, State of the Union (paper: table 4)"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    columns = []
    for period, part in results.words.groupby("period", sort=False):
        table.add_column(str(period))
        chance = part["probability"].map("{:.3f}".format)
        columns.append(part["word"].astype(str) + " (" + chance + ")")
    for row in zip(*columns, strict=True):
        table.add_row(*(Text(printable(cell)) for cell in row))
    desk.say(table)
    for name, words in topics.PAPER.items():
        desk.say(f"The paper's topic on {name}: {', '.join(words)}.")
    _state(desk, settings, results.corpus, "all documents")
    desk.write({"words": results.words, "curves": results.curves})
    desk.draw(topic_pictures.draw_topics, results)


def _state(desk: Desk, settings: Settings, corpus: str, how: str) -> None:
    """Say what the experiment was run with."""
    source = f"{settings.data or 'package sotu, up to 2002'}{', quick' if settings.quick else ''}"
    sweeps = f"{settings.sweeps} sweeps, {settings.sweeps // 3} of them warm-up"
    desk.state(f"{corpus} ({source}); {how}; {sweeps}; at most {settings.max_topics} topics")
