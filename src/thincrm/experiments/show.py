"""Run an experiment for a reader: progress, a table beside the paper's, files in a folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

import thincrm
from thincrm.errors import InvalidInput
from thincrm.experiments import decades, perplexity, pictures, topics
from thincrm.experiments.baselines import has_tomotopy, late_samples
from thincrm.experiments.daters import N_DRAWS, steps
from thincrm.experiments.settings import Settings

__all__ = ["show_decades", "show_perplexity", "show_topics"]


def show_perplexity(settings: Settings, out: Path) -> None:
    """Run the perplexity experiment, print its table, write CSV files and a picture."""
    desk = _Desk(settings, out, "sotu_perplexity")
    results = perplexity.run(settings, desk.report("model", "perplexity", ".1f"))
    table = _table("Perplexity of held-out words, State of the Union (paper: table 2)", "model")
    for column in ("perplexity", "topics", "large", "paper", "its topics"):
        table.add_column(column, justify="right")
    for name, row in results.summary.iterrows():
        table.add_row(
            Text(str(name)),
            _number(row["perplexity"], ".1f", row["spread"]),
            _number(row["topics"], ".1f"),
            _number(row["large_topics"], ".1f"),
            _number(row["paper_perplexity"], ".1f"),
            _number(row["paper_topics"], ".1f"),
        )
    desk.say(table)
    desk.state(
        results.corpus, f"{settings.splits} split(s), 20 % of each document's words held out"
    )
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
    desk.draw(pictures.draw_perplexity, results)


def show_decades(settings: Settings, out: Path) -> None:
    """Run the decade experiment, print its table, write CSV files and a picture."""
    desk = _Desk(settings, out, "sotu_decades")
    results = decades.run(settings, desk.report("method", "accuracy", ".3f"))
    table = _table("Decade of held-out documents, State of the Union (paper: table 3)", "method")
    for column in ("accuracy", "L1 in decades", "paper", "its L1"):
        table.add_column(column, justify="right")
    for name, row in results.summary.iterrows():
        table.add_row(
            Text(str(name)),
            _number(row["accuracy"], ".3f", row["accuracy_spread"]),
            _number(row["l1"], ".2f", row["l1_spread"]),
            _number(row["paper_accuracy"], ".2f"),
            _number(row["paper_l1"], ".2f"),
        )
    desk.say(table)
    desk.state(results.corpus, f"{settings.splits} split(s), 20 % of each decade held out")
    desk.say(f"Each document: {steps(settings)} Gibbs sweeps, average of {N_DRAWS} draws.")
    desk.write(
        {
            "splits": results.splits,
            "summary": results.summary.reset_index(),
            "guesses": results.guesses,
        }
    )
    desk.draw(pictures.draw_decades, results)


def show_topics(settings: Settings, out: Path) -> None:
    """Run the topic experiment, print three topics' words, write CSV files and a picture."""
    desk = _Desk(settings, out, "sotu_topics")
    results = topics.run(settings)
    title = "Three topics, State of the Union (paper: table 4)"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    columns = []
    for period, part in results.words.groupby("period", sort=False):
        table.add_column(str(period))
        chance = part["probability"].map("{:.3f}".format)
        columns.append(part["word"].astype(str) + " (" + chance + ")")
    for row in zip(*columns, strict=True):
        table.add_row(*(Text(cell) for cell in row))
    desk.say(table)
    for name, words in topics.PAPER.items():
        desk.say(f"The paper's topic on {name}: {', '.join(words)}.")
    desk.state(results.corpus, "all documents")
    desk.write({"words": results.words, "curves": results.curves})
    desk.draw(pictures.draw_topics, results)


class _Desk:
    """Where one experiment's results go: the terminal and a folder."""

    def __init__(self, settings: Settings, out: Path, name: str) -> None:
        self.settings, self.out, self.name = settings, out, name
        self._start = time.monotonic()
        self._console, self._errors = Console(), Console(stderr=True)
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"The folder {out} cannot be made: {error.strerror}.") from error
        if not os.access(out, os.W_OK):
            raise InvalidInput(f"The folder {out} cannot be written to: choose another.")

    def say(self, what: Any) -> None:
        """Print a table, or a sentence as it is."""
        self._console.print(what, markup=False, highlight=False, soft_wrap=isinstance(what, str))

    def state(self, corpus: str, how: str) -> None:
        """Print what the experiment was run with, and how long it took."""
        at, sweeps = self.settings, self.settings.sweeps
        self.say(
            f"{corpus} ({at.data or 'package sotu, up to 2002'}{', quick' if at.quick else ''}); "
            f"{how}; {sweeps} sweeps, {sweeps // 3} of them warm-up; at most {at.max_topics} "
            f"topics; seed {at.seed}; thincrm {thincrm.__version__}; "
            f"{time.monotonic() - self._start:.0f} s in all."
        )

    def report(self, what: str, value: str, form: str) -> Callable[[pd.DataFrame], None]:
        """Return what is to be done after each row: say it, and keep the rows so far."""

        def after(rows: pd.DataFrame) -> None:
            last = rows.iloc[-1]
            self._errors.print(
                f"split {last['split']} of {self.settings.splits}: {last[what]}, "
                f"{value} {last[value]:{form}}, {last['seconds']:.0f} s",
                markup=False,
                highlight=False,
            )
            rows.to_csv(self._path("splits.csv"), index=False)

        return after

    def _path(self, ending: str) -> Path:
        return self.out / f"{self.name}_{ending}"

    def write(self, tables: dict[str, pd.DataFrame]) -> None:
        """Write each table as a CSV file."""
        for name, table in tables.items():
            path = self._path(f"{name}.csv")
            table.to_csv(path, index=False)
            self.say(f"{path} written")

    def draw(self, draw: Callable[[Any, Any], Any], results: Any) -> None:
        """Save the picture, or say why there is none."""
        path = self.out / f"{self.name}.png"
        if pictures.save(draw, results, path):
            self.say(f"{path} written")
        else:
            self.say(
                "matplotlib is not installed, so there is no picture: pip install 'thincrm[plot]'."
            )


def _table(title: str, first: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    table.add_column(first, no_wrap=True)
    return table


def _number(value: float, form: str, spread: float = float("nan")) -> str:
    if pd.isna(value):
        return ""
    return f"{value:{form}}" if pd.isna(spread) else f"{value:{form}} ± {spread:{form}}"
