"""`thincrm topics`: from a corpus to a run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from thincrm.console import options as o
from thincrm.console.data_columns import DocumentColumns
from thincrm.console.once import OnceCommand
from thincrm.console.output_places import check_run_place
from thincrm.console.stopping import end_of, resumable
from thincrm.console.voice import Voice
from thincrm.errors import InvalidInput
from thincrm.inference.dask_cluster import connected
from thincrm.numerics.waiting import starting

if TYPE_CHECKING:
    from thincrm.models.topics.terminal import TopicTerminal

__all__ = ["Detail", "add_commands", "terminal", "topics"]

_EXAMPLES = """\
Example: thincrm topics corpus.csv --text body --date date --out run

Example: thincrm topics speeches/ --date name --stop-words german --out run

Example: thincrm topics 'news/*.parquet' --text body --date published --out run

Example: thincrm topics docword.txt --words vocab.txt --metadata docs.csv --date year --out run
"""


class Detail(StrEnum):
    """How finely topics are told apart."""

    coarse = "coarse"
    medium = "medium"
    fine = "fine"


def add_commands(app: typer.Typer) -> None:
    """Add the model's commands."""
    app.command(cls=OnceCommand, epilog=_EXAMPLES)(topics)


def terminal() -> TopicTerminal:
    """Return how the model is shown and used on the command line."""
    from thincrm.models.topics.terminal import TopicTerminal  # noqa: PLC0415 - help is quick

    return TopicTerminal()


def topics(
    corpus: Annotated[
        Path,
        typer.Argument(
            help="A .csv, .tsv, .jsonl or .parquet file with one document per row, many of them "
            "('news/*.parquet'), a folder of text files, or counts (MatrixMarket, UCI, LDA-C, "
            ".npz).",
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
    words: Annotated[Path | None, typer.Option(help="Vocabulary file, one word per line.")] = None,
    stop_words: Annotated[
        str, typer.Option(help="Stop words: a language, a file with one word per line, or none.")
    ] = "english",
    min_count: Annotated[
        int, typer.Option(help="Drop words that occur less often in the corpus.", min=1)
    ] = 1,
    min_df: Annotated[
        str,
        typer.Option(help="Drop words in fewer documents: a number, or a share such as 0.01."),
    ] = "2",
    max_df: Annotated[
        str, typer.Option(help="Drop words in more documents: a number, or a share such as 0.5.")
    ] = "1.0",
    tfidf_share: Annotated[
        float | None,
        typer.Option(help="Keep this share of the words, by tf-idf (paper: 0.15).", min=0, max=1),
    ] = None,
    ngrams: Annotated[int, typer.Option(help="Count phrases of up to this many words.", min=1)] = 1,
    max_topics: Annotated[
        str, typer.Option(help="The most topics there can be; grow = more where needed.")
    ] = "200",
    detail: Annotated[
        Detail,
        typer.Option(help="How finely topics are told apart: coarser ones come back more surely."),
    ] = Detail.medium,
    thinning: o.Thinning = o.THINNING,
    heldout: Annotated[
        float,
        typer.Option(help="Share of words held out to measure perplexity.", min=0, max=0.9),
    ] = 0.0,
    sweeps: o.SweepsOrAuto = "auto",
    minutes: o.MinutesOfAuto = None,
    draws: o.Draws = o.DRAWS,
    chains: Annotated[
        int | None,
        typer.Option(
            help="Independent chains, side by side on the cores there are.",
            min=1,
            show_default="4; fewer for a large corpus",
        ),
    ] = None,
    seed: o.RandomSeed = o.SEED,
    threads: o.Threads = None,
    scheduler: o.Scheduler = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Find topics that change with time, or with another covariate, in a corpus."""
    with starting(quiet=quiet):
        from thincrm.models.topics import fit_command as work  # noqa: PLC0415 - help is quick

    check_run_place(out)
    how = DocumentColumns(
        text, date, tuple(covariate or ()), metadata, date_format, skip_bad, words, encoding
    )
    chosen = work.WordChoice(
        min_count=min_count,
        min_df=_count_or_share("--min-df", min_df),
        max_df=_count_or_share("--max-df", max_df),
        tfidf_share=tfidf_share,
        stop_words=None if stop_words == "none" else stop_words,
        ngrams=ngrams,
        vocabulary=words,
    )
    settings = work.TopicSettings(
        max_topics=_truncation(max_topics),
        detail=detail.value,
        n_sweeps=o.sweeps_named(sweeps),
        n_draws=draws,
        n_chains="auto" if chains is None else chains,
        random_state=seed,
        n_threads=threads,
        quiet=quiet,
    )
    with resumable(out), connected(scheduler) as client:
        complete = work.fit_topics(
            Voice(quiet, json),
            corpus,
            how,
            chosen,
            thinning,
            settings,
            heldout or None,
            out,
            client,
            o.minutes_of(minutes, sweeps),
        )
    end_of(out, complete)


def _count_or_share(name: str, value: str) -> int | float:
    """Return a number of documents (5) or a share of them (0.05)."""
    try:
        return int(value) if value.strip().isdecimal() else float(value)
    except ValueError as error:
        raise InvalidInput(f"{name} must be a number, got {value!r}.") from error


def _truncation(value: str) -> int | Literal["grow"]:
    if value == "grow":
        return "grow"
    if not (value.isascii() and value.isdecimal() and int(value) > 0):
        raise InvalidInput(f"--max-topics must be a whole number or grow, got {value!r}.")
    return int(value)
