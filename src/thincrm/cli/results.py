"""What a run has to show: tables in its folder, a summary in the terminal, a report, exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import thincrm as tc
from thincrm.cli.kept import kept_reading, kept_texts
from thincrm.cli.shell import in_shell
from thincrm.cli.terminal import feature_table, topic_table
from thincrm.cli.voice import Voice
from thincrm.errors import InvalidInput

__all__ = ["export", "load_topics", "report", "show"]


def show(voice: Voice, model: Any, run: Path, skipped: int = 0) -> bool:
    """Write a fitted model's tables, print a summary; tell whether its run is complete."""
    is_topics = isinstance(model, tc.TopicModel)
    files = model.to_csv(run / "tables")
    voice.say(topic_table(model) if is_topics else feature_table(model))
    counted = model.n_topics_ if is_topics else model.n_features_
    what = "topics" if is_topics else "features"
    low, high = int(counted.min()), int(counted.max())
    number = f"{low}" if low == high else f"{low} to {high}"
    verdict = model.verdict()
    voice.say(f"{number} {what} in use; the largest are shown. {verdict}")
    predicted = _held_out(model) if is_topics else {}
    if predicted:
        voice.say(
            "Held-out perplexity {perplexity:.1f} (Monte Carlo error {monte_carlo_error:.1g}) of "
            "{held_out_words:,} words.".format(**predicted)
        )
    voice.say(f"{len(files)} tables are in {run / 'tables'}.")
    complete = bool(model.complete_)
    if not complete:
        voice.say(f"Stopped early: this is what there is so far. Go on: thincrm resume {run}")
    elif is_topics:
        voice.say(f"Next: thincrm report {run}")
    voice.result(
        run=run,
        complete=complete,
        skipped=skipped,
        verdict=in_shell(str(verdict)),
        converged=bool(verdict.ok),
        **{f"n_{what}": [low, high]},
        **predicted,
        files=[str(file) for file in files],
    )
    return complete


def _held_out(model: Any) -> dict[str, float]:
    """Return how well words that the run held out are predicted; nothing, if it held out none."""
    if model.heldout_ is None:
        return {}
    found = model.perplexity()
    return {
        "perplexity": found.value,
        "monte_carlo_error": found.error,
        "held_out_words": found.n_words,
    }


def load_topics(run: Path) -> Any:
    """Return the topic model of a run."""
    model = tc.load(run)
    if not isinstance(model, tc.TopicModel):
        raise InvalidInput(f"{run} holds a {type(model).__name__}, and a TopicModel is needed.")
    return model


def report(run: Path, path: Path, title: str | None) -> None:
    """Write the report of a run."""
    from thincrm.report import write_report  # noqa: PLC0415 - a page's weight

    model = load_topics(run)
    texts = kept_texts(run, model.counts_.shape[0])
    name = title or kept_reading(run).get("source")
    write_report(model, path, texts=texts, title=str(name) if name else None)


def export(run: Path, to: str, path: Path) -> list[Path]:
    """Write a run for another program; return the files."""
    model = tc.load(run) if to != "pyldavis" else load_topics(run)
    if to == "csv":
        return list(model.to_csv(path))
    if to == "pyldavis":
        model.to_pyldavis(path)
    else:
        _write_netcdf(model.to_arviz(), path)
    return [path]


def _write_netcdf(draws: Any, path: Path) -> None:
    try:
        draws.to_netcdf(path)
    except (ImportError, ValueError) as error:  # ArviZ 1 comes without what writes files
        raise InvalidInput(
            f"{path} needs h5netcdf and h5py: pip install 'thincrm[arviz]'."
        ) from error
