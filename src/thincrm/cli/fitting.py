"""`thincrm topics`, `features` and `resume`: from a file to a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from thincrm.cli import options as o
from thincrm.cli.voice import Voice, check_run_place
from thincrm.errors import InvalidInput
from thincrm.printable import printable

__all__ = ["FEATURES_EXAMPLE", "TOPICS_EXAMPLE", "features", "resume", "topics"]

_INTERRUPTED = 130
TOPICS_EXAMPLE = """\
Example: thincrm topics corpus.csv --text body --date date --out run

Example: thincrm topics speeches/ --date name --stop-words german --out run

Example: thincrm topics docword.txt --words vocab.txt --metadata docs.csv --date year --out run
"""
FEATURES_EXAMPLE = """\
Example: thincrm features table.csv --covariate gdp --label country --out run
"""


def topics(
    corpus: Annotated[
        Path,
        typer.Argument(
            help="A .csv, .tsv, .jsonl or .parquet file with a document a row, a folder of text "
            "files, or counts (MatrixMarket, UCI, LDA-C, .npz).",
            show_default=False,
        ),
    ],
    out: o.OutRun,
    text: o.TextColumn = None,
    date: o.DateColumn = None,
    covariate: o.Covariates = None,
    metadata: o.Metadata = None,
    date_format: o.DateFormat = None,
    encoding: o.Encoding = None,
    skip_bad: o.SkipBad = False,
    words: Annotated[
        Path | None, typer.Option(help="Vocabulary: a file with a word a line.")
    ] = None,
    stop_words: Annotated[
        str, typer.Option(help="Language of the stop words, a file with one a line, or none.")
    ] = "english",
    min_count: Annotated[int, typer.Option(help="Fewest occurrences of a word.", min=1)] = 1,
    min_df: Annotated[
        str, typer.Option(help="Fewest documents with a word: a number, or a share such as 0.01.")
    ] = "2",
    max_df: Annotated[str, typer.Option(help="Most documents with a word, likewise.")] = "1.0",
    tfidf_share: Annotated[
        float | None,
        typer.Option(help="Keep this share of words, by tf-idf (the paper: 0.15).", min=0, max=1),
    ] = None,
    ngrams: Annotated[int, typer.Option(help="Count phrases of up to so many words.", min=1)] = 1,
    max_topics: Annotated[
        str, typer.Option(help="More topics than are needed; grow: as many as are.")
    ] = "200",
    thinning: o.Thinnings = o.ThinningName.gp,
    heldout: Annotated[
        float,
        typer.Option(
            help="Share of words that are not learned from, to show how well they are predicted.",
            min=0,
            max=0.9,
        ),
    ] = 0.0,
    sweeps: o.NumSweeps = o.SWEEPS,
    draws: o.Draws = o.DRAWS,
    chains: o.NumChains = o.CHAINS,
    seed: o.RandomSeed = o.SEED,
    threads: o.Threads = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Find topics that come and go in a corpus; everything is kept in the folder --out."""
    from thincrm.cli import work  # noqa: PLC0415 - help does not wait for it

    voice = Voice(quiet, json)
    check_run_place(out)
    found = work.read_corpus(
        corpus,
        {
            "text": text or "text",
            "date": date,
            "covariates": covariate or [],
            "metadata": metadata,
            "date_format": date_format,
            "encoding": encoding or "utf-8",
            "skip_bad": skip_bad,
        },
        words,
    )
    chosen = {
        "min_count": min_count,
        "min_df": _limit("--min-df", min_df),
        "max_df": _limit("--max-df", max_df),
        "tfidf_share": tfidf_share,
        "stop_words": None if stop_words == "none" else stop_words,
        "ngrams": ngrams,
        "vocabulary": words,
    }
    settings = {
        "max_topics": "grow" if max_topics == "grow" else _whole("--max-topics", max_topics),
        "n_sweeps": sweeps,
        "n_draws": draws,
        "n_chains": chains,
        "random_state": seed,
        "n_threads": threads,
        "quiet": quiet,
    }
    with _run(out):
        complete = work.fit_topics(voice, found, chosen, thinning, settings, heldout or None, out)
    _end(complete)


def features(
    table: Annotated[
        Path,
        typer.Argument(
            help="A .csv, .tsv, .jsonl or .parquet file; empty cells are holes.", show_default=False
        ),
    ],
    out: o.OutRun,
    covariate: Annotated[
        str | None, typer.Option(help="Column that features depend on: numbers or dates.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of numbers to explain. May be repeated.", show_default="all of numbers"
        ),
    ] = None,
    label: Annotated[str | None, typer.Option(help="Column with the rows' names.")] = None,
    date_format: o.DateFormat = None,
    encoding: o.Encoding = None,
    skip_bad: o.SkipBad = False,
    max_features: Annotated[int, typer.Option(help="More features than are needed.", min=1)] = 20,
    thinning: o.Thinnings = o.ThinningName.gp,
    sweeps: o.NumSweeps = o.SWEEPS,
    draws: o.Draws = o.DRAWS,
    chains: o.NumChains = o.CHAINS,
    seed: o.RandomSeed = o.SEED,
    threads: o.Threads = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Find features that switch on with a covariate in a table with holes."""
    from thincrm.cli import work  # noqa: PLC0415

    voice = Voice(quiet, json)
    check_run_place(out)
    reading = {
        "covariate": covariate,
        "columns": column or None,
        "label": label,
        "date_format": date_format,
        "encoding": encoding or "utf-8",
        "skip_bad": skip_bad,
    }
    settings = {
        "max_features": max_features,
        "n_sweeps": sweeps,
        "n_draws": draws,
        "n_chains": chains,
        "random_state": seed,
        "n_threads": threads,
        "quiet": quiet,
    }
    with _run(out):
        complete = work.fit_features(voice, table, reading, thinning, settings, out)
    _end(complete)


def resume(run: o.Run, quiet: o.Quiet = False, json: o.Json = False) -> None:
    """Go on with a run that was stopped, as if it had never been."""
    from thincrm.cli import work  # noqa: PLC0415

    with _run(run):
        complete = work.resume(Voice(quiet, json), run)
    _end(complete)


@contextmanager
def _run(out: Path) -> Iterator[None]:
    """Say how to go on with a run that was interrupted before there was anything to show."""
    try:
        yield
    except KeyboardInterrupt:
        if not (out / "settings.json").exists():
            raise
        said = f"Interrupted before the first draw: 'thincrm resume {out}' goes on."
        typer.secho(printable(said), fg="red", err=True)
        raise typer.Exit(_INTERRUPTED) from None


def _end(complete: bool) -> None:
    if not complete:
        raise typer.Exit(_INTERRUPTED)


def _limit(name: str, value: str) -> Any:
    """Return a number of documents (5) or a share of them (0.05)."""
    try:
        return int(value) if value.strip().isdecimal() else float(value)
    except ValueError as error:
        raise InvalidInput(f"{name} must be a number, got {value!r}.") from error


def _whole(name: str, value: str) -> int:
    if not (value.isascii() and value.isdecimal() and int(value) > 0):
        raise InvalidInput(f"{name} must be a whole number or grow, got {value!r}.")
    return int(value)
