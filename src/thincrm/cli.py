"""The command line: `thincrm --help`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from thincrm import __version__
from thincrm.errors import ThincrmError

__all__ = ["app"]

_BAD_INPUT, _INTERRUPTED = 2, 130


class Sentences(TyperGroup):
    """Commands that fail in one sentence on standard error, not in a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors of ours end with code 2, an interrupt with 130."""
        with warnings.catch_warnings():
            warnings.showwarning = _note
            try:
                return super().invoke(ctx)
            except ThincrmError as error:
                typer.secho(f"Error: {error}", fg="red", err=True)
                raise typer.Exit(_BAD_INPUT) from error
            except KeyboardInterrupt as error:
                typer.secho("Interrupted: what was written before stays.", fg="red", err=True)
                raise typer.Exit(_INTERRUPTED) from error


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.secho(f"Note: {message}", fg="yellow", err=True)


app = typer.Typer(
    cls=Sentences,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Thinned completely random measures: topics that come and go, with a covariate.",
    epilog="Example: thincrm reproduce sotu-topics --quick",
)
reproduce = typer.Typer(
    no_args_is_help=True,
    help="Tables and figures of Foti, Futoma, Rockmore and Williamson (2013), one command each.",
    epilog="Example: thincrm reproduce sotu-perplexity --quick --out results",
)
app.add_typer(reproduce, name="reproduce")

Data = Annotated[
    Path | None,
    typer.Option(
        help="A prepared corpus NAME_counts.npz, with NAME_vocab.txt and NAME_docs.csv beside it; "
        "otherwise the addresses of the package sotu, up to 2002."
    ),
]
Out = Annotated[Path, typer.Option(help="Folder for CSV files and the picture.")]
Splits = Annotated[
    int | None,
    typer.Option(help="Hold-out sets to average over.", show_default="5, quick: 1"),
]
Sweeps = Annotated[
    int | None, typer.Option(help="Sweeps of each sampler.", show_default="1000, quick: 30")
]
MaxTopics = Annotated[
    int | None,
    typer.Option(help="Most topics that a model may use.", show_default="300, quick: 50"),
]
Seed = Annotated[int, typer.Option(help="Of splits and samplers.")]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick", help="About a minute: few documents, sweeps and topics. Shows, not proves."
    ),
]
_RESULTS = Path("results")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"thincrm {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Thinned completely random measures: topics that come and go, with a covariate."""


@reproduce.command("sotu-perplexity", epilog="Example: thincrm reproduce sotu-perplexity --quick")
def sotu_perplexity(
    data: Data = None,
    out: Out = _RESULTS,
    splits: Splits = None,
    sweeps: Sweeps = None,
    max_topics: MaxTopics = None,
    seed: Seed = 0,
    quick: Quick = False,
) -> None:
    """Table 2: perplexity of held-out words; static, dynamic, BNBP, thinned BNBP, LDA, HDP."""
    from thincrm.experiments import Settings, show  # noqa: PLC0415 - help does not wait for them

    chosen = {"data": data, "splits": splits, "sweeps": sweeps, "max_topics": max_topics}
    show.show_perplexity(Settings.of(quick=quick, seed=seed, **chosen), out)


@reproduce.command("sotu-decades", epilog="Example: thincrm reproduce sotu-decades --quick")
def sotu_decades(
    data: Data = None,
    out: Out = _RESULTS,
    splits: Splits = None,
    sweeps: Sweeps = None,
    max_topics: MaxTopics = None,
    seed: Seed = 0,
    quick: Quick = False,
) -> None:
    """Table 3: the decade of held-out documents; dynamic, static, two classifiers, at random."""
    from thincrm.experiments import Settings, show  # noqa: PLC0415

    chosen = {"data": data, "splits": splits, "sweeps": sweeps, "max_topics": max_topics}
    show.show_decades(Settings.of(quick=quick, seed=seed, **chosen), out)


@reproduce.command("sotu-topics", epilog="Example: thincrm reproduce sotu-topics --sweeps 200")
def sotu_topics(
    data: Data = None,
    out: Out = _RESULTS,
    sweeps: Sweeps = None,
    max_topics: MaxTopics = None,
    seed: Seed = 0,
    quick: Quick = False,
) -> None:
    """Figure 2 and table 4: an early, a middle and a late topic, their curves and words."""
    from thincrm.experiments import Settings, show  # noqa: PLC0415

    chosen = {"data": data, "sweeps": sweeps, "max_topics": max_topics}
    show.show_topics(Settings.of(quick=quick, seed=seed, **chosen), out)
