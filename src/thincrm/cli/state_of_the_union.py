"""The work of `thincrm demo`: every State of the Union address, fitted, shown and reported."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

import thincrm as tc
from thincrm.cli.any_run import terminal_of
from thincrm.console.output_places import check_file_place
from thincrm.console.voice import Voice
from thincrm.data.sotu import load_sotu
from thincrm.errors import Sentence, in_shell

__all__ = ["run"]

_TITLE = "The State of the Union, {} to {}"
_SEED = 1


def run(voice: Voice, out: Path, sweeps: int) -> None:
    """Fit, print topics with their curves, write report.html and tables."""
    began = time.monotonic()
    page = out / "report.html"
    check_file_place(page)
    corpus = load_sotu()
    first, last = corpus.years.min(), corpus.years.max()
    voice.say(f"State of the Union addresses, {first} to {last}: {corpus.size}.")
    model = tc.TopicModel(
        max_topics=100, detail="coarse", n_sweeps=sweeps, n_draws=40, n_chains=4, random_state=_SEED
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All .* topics are in use")  # a demo is short
        model.set_params(quiet=voice.quiet).fit(corpus, t=corpus.years)
    voice.say(terminal_of(model).table(model))
    files = model.to_csv(out / "tables")
    texts: Any = pd.Series(corpus.texts, index=corpus.labels)
    tc.write_report(model, page, texts=texts, title=_TITLE.format(first, last))
    verdict = model.verdict()
    seconds = time.monotonic() - began
    voice.say(Sentence(f"{sweeps} sweeps in {seconds:.0f} s are a first look. ", verdict))
    voice.say(f"{len(files)} tables are in {out / 'tables'}.")
    voice.say(f"{page.resolve()} written: open it in a browser.")
    voice.result(report=page, files=[str(file) for file in files], verdict=in_shell(verdict))
