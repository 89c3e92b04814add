"""The work of `thincrm infer`, `date`, `impute` and `evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.table import Table as Grid
from rich.text import Text
from sklearn.base import clone

import thincrm as tc
from thincrm.cli.documents import read_documents
from thincrm.cli.kept import kept_reading
from thincrm.cli.results import load_topics
from thincrm.cli.voice import Voice
from thincrm.data.reading import Counts
from thincrm.data.reading.lines import UTF8
from thincrm.data.writing import write_csv
from thincrm.errors import InvalidInput, check_between
from thincrm.numerics.arrays import Float
from thincrm.printable import printable

__all__ = ["date", "evaluate", "impute", "infer"]

_SHOWN = 10
_LEVEL = 0.9


def infer(
    voice: Voice,
    run: Path,
    corpus: Path,
    reading: dict[str, Any],
    words: Path | None,
    path: Path,
) -> None:
    """Write (documents, topics) shares."""
    model = load_topics(run)
    found = read_documents(run, model, corpus, reading, words, dated=True)
    share = model.transform(found.documents, t=found.t)
    table = pd.DataFrame(share, index=found.index)
    table.columns = pd.Index([f"topic{topic}" for topic in range(share.shape[1])])
    write_csv(table, path, index=True, float_format="%.6g")
    grid = _grid(str(found.index.name), "largest topics")
    for place, row in zip(table.index[:_SHOWN], share, strict=False):
        top = np.argsort(-row)[:4]
        largest = " ".join(f"{k} ({100 * row[k]:.0f} %)" for k in top)
        grid.add_row(Text(printable(str(place))), largest)
    dated = "of their time" if found.t is not None else "of any time"
    _end(voice, grid, path, len(table), f"read as documents {dated}", found.skipped)


def date(
    voice: Voice,
    run: Path,
    corpus: Path,
    reading: dict[str, Any],
    words: Path | None,
    level: float,
    path: Path,
) -> None:
    """Write the likeliest time of each document, with an interval."""
    check_between("level", level, 0.0, 1.0)
    model = load_topics(run)
    found = read_documents(run, model, corpus, reading, words, dated=False)
    chance = model.predict_time(found.documents)
    table = _intervals(chance, level).set_axis(found.index)
    write_csv(table, path, index=True)
    grid = _grid(str(found.index.name), "likeliest", "probability", "from", "to")
    for place, row in table.head(_SHOWN).iterrows():
        grid.add_row(
            Text(printable(str(place))),
            _said(row["time"]),
            f"{row['probability']:.2f}",
            _said(row["lower"]),
            _said(row["upper"]),
        )
    _end(voice, grid, path, len(table), f"intervals of {100 * level:g} %", found.skipped)


def _intervals(chance: pd.DataFrame, level: float) -> pd.DataFrame:
    values: Float = chance.to_numpy()
    below = np.cumsum(values, axis=1)
    tail = (1.0 - level) / 2.0
    last = values.shape[1] - 1
    low = np.minimum((below < tail).sum(axis=1), last)
    high = np.minimum((below < 1.0 - tail).sum(axis=1), last)
    best = values.argmax(axis=1)
    return pd.DataFrame(
        {
            "time": chance.columns[best],
            "probability": values[np.arange(len(values)), best],
            "lower": chance.columns[low],
            "upper": chance.columns[high],
        }
    )


def _said(value: Any) -> str:
    if isinstance(value, pd.Timestamp):
        return value.strftime("%Y-%m-%d") if value == value.normalize() else str(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def impute(
    voice: Voice,
    run: Path,
    table: Path,
    level: float,
    encoding: str | None,
    skip_bad: bool,
    path: Path,
) -> None:
    """Write each hole of a table with its mean and interval."""
    model = tc.load(run)
    if not isinstance(model, tc.FeatureModel):
        raise InvalidInput(f"{run} holds a {type(model).__name__}, and a FeatureModel is needed.")
    before = kept_reading(run)
    options: dict[str, Any] = {
        name: before.get(name) for name in ("covariate", "label", "date_format")
    }
    options["encoding"] = encoding or before.get("encoding") or UTF8
    columns = [str(name) for name in model.columns_]
    found = tc.read_table(table, columns=columns, skip_bad=skip_bad, **options)
    filled = model.impute(found.values, t=found.t, level=level)
    hole = found.values.isna().to_numpy()
    row, column = np.nonzero(hole)
    index = found.values.index
    lines = found.lines
    named = {} if index is lines else {str(index.name): index[row]}
    holes = pd.DataFrame(
        {
            str(lines.name): lines[row],  # names may repeat
            **named,
            "column": found.values.columns[column],
            "mean": np.asarray(filled.mean)[hole],
            "lower": np.asarray(filled.lower)[hole],
            "upper": np.asarray(filled.upper)[hole],
        }
    )
    write_csv(holes, path, float_format="%.6g")
    grid = _grid(str(lines.name), *named, "column", "mean", "from", "to")
    for cells in holes.head(_SHOWN).itertuples(index=False):
        grid.add_row(*(Text(printable(_said(cell))) for cell in cells))
    _end(voice, grid, path, len(holes), f"intervals of {100 * level:g} %", found.skipped)


def evaluate(
    voice: Voice, run: Path, share: float, sweeps: int | None, seed: int, path: Path
) -> None:
    """Fit again without some data, and write how well they are predicted."""
    check_between("--heldout", share, 0.0, 1.0)
    model = tc.load(run)
    again = clone(model)
    changes = {"random_state": seed, "quiet": voice.quiet}
    again.set_params(**changes, **({} if sweeps is None else {"n_sweeps": sweeps}))
    if isinstance(model, tc.TopicModel):
        found = _perplexity(model, again, share, seed)
    else:
        found = _cells(model, again, share, seed)
    write_csv(pd.DataFrame([found]), path)
    grid = _grid("measure", "value")
    for name, value in found.items():
        grid.add_row(name.replace("_", " "), f"{value:.6g}")
    voice.say(grid)
    voice.say(f"{100 * share:g} % held out, seed {seed}. {path} written.")
    voice.result(run=run, file=path, **found)


def _perplexity(model: Any, again: Any, share: float, seed: int) -> dict[str, float]:
    train, heldout = tc.split_words(model.counts_, share, seed)
    again.set_params(vectorizer=None)
    again.fit(Counts(train, model.vocabulary_), t=model.covariates_, heldout=heldout)
    found = again.perplexity(heldout)
    seen = np.asarray(train.sum(axis=0)).reshape(-1) + 0.5
    words = np.asarray(heldout.sum(axis=0)).reshape(-1)
    unigram = np.exp(-(words @ np.log(seen / seen.sum())) / words.sum())
    return {
        "perplexity": found.value,
        "monte_carlo_error": found.error,
        "perplexity_of_word_frequencies": float(unigram),
        "held_out_words": found.n_words,
        "topics": float(again.n_topics_.mean()),
    }


def _cells(model: Any, again: Any, share: float, seed: int) -> dict[str, float]:
    known, values = model.covariates_, model.values_
    t = known.labels(known.rows[known.row])
    hidden = ~np.isnan(values) & (np.random.default_rng(seed).random(values.shape) < share)
    if not hidden.any():
        raise InvalidInput("No cell is held out: raise --heldout.")
    seen = np.where(hidden, np.nan, values)
    filled = again.fit(seen, t=t).impute(seen, t=t, level=_LEVEL)
    centre, spread = np.nanmean(seen, axis=0), np.nanstd(seen, axis=0)
    column = np.nonzero(hidden)[1]
    truth, scale = values[hidden], np.where(spread > 0, spread, 1.0)[column]
    inside = (filled.lower[hidden] <= truth) & (truth <= filled.upper[hidden])

    def error(guess: Float) -> float:
        return float(np.sqrt(np.mean(((guess - truth) / scale) ** 2)))

    return {
        "error_in_standard_units": error(filled.mean[hidden]),
        "error_of_column_means": error(centre[column]),
        f"share_in_intervals_of_{100 * _LEVEL:.0f}_percent": float(inside.mean()),
        "held_out_cells": int(hidden.sum()),
        "features": float(again.n_features_.mean()),
    }


def _grid(*columns: str) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        grid.add_column(Text(printable(column)))
    return grid


def _end(voice: Voice, grid: Grid, path: Path, n_rows: int, how: str, skipped: int) -> None:
    voice.say(grid)
    first = f"the first {_SHOWN} are shown; " if n_rows > _SHOWN else ""
    voice.say(f"{n_rows:,} rows, {how}; {first}{path} written.")
    if skipped:
        voice.say(f"{skipped:,} bad rows were passed over.")
    voice.result(file=path, rows=n_rows, skipped=skipped)
