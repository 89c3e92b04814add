"""Run the experiment on density regression for a reader: progress, a table, files in a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from thincrm.experiments import mixtures
from thincrm.experiments.desk import Desk, number, open_table
from thincrm.experiments.mixture_settings import MixtureSettings

__all__ = ["show_mixtures"]


def show_mixtures(settings: MixtureSettings, out: Path) -> None:
    """Run the experiment, print its table, write a CSV file.

    What the file has of the same settings is not run again.
    """
    desk = Desk(settings, out, "mixtures")
    report = desk.report("split", settings.splits, "method", "score", ".3f")
    found = mixtures.run(settings, report, desk.before("splits"))
    table = open_table("Mean log density of held-out responses, in standard units", "data")
    for method in mixtures.METHODS:
        table.add_column(method, justify="right")
    table.add_column("clusters", justify="right")
    table.add_column("covered", justify="right")
    table.add_column("2012", justify="right")
    for name, rows in found.groupby("data", sort=False):
        cells = []
        for method in mixtures.METHODS:
            score = rows.loc[rows["method"] == method, "score"]
            error = 2 * score.std(ddof=1) / np.sqrt(len(score)) if len(score) > 1 else np.nan
            cells.append(f"{number(score.mean(), '.3f')} ({number(error, '.2f')})")
        ours = rows[rows["method"] == "linear"]
        table.add_row(
            str(name),
            *cells,
            number(ours["clusters"].mean(), ".1f"),
            number(ours["covered"].mean(), ".2f"),
            mixtures.PUBLISHED.get(str(name), ""),
        )
    desk.say(table)
    desk.state(
        f"a tenth of the rows held out, {settings.splits} times; {settings.sweeps} sweeps, "
        f"{settings.sweeps // 3} of them warm-up; at most {settings.max_clusters} clusters"
    )
    desk.say(
        "In brackets: two standard errors. Of linear clusters, how many there are, and covered: "
        "held-out responses in their 90 % intervals. "
        "2012: means of logs, then logs of means, as published on other releases of the data."
    )
    desk.write({"splits": found})
