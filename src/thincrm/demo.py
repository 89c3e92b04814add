"""`python -m thincrm.demo [folder]`: draw from thinned measures, check them, show pictures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from matplotlib.figure import Figure
from PIL import Image
from rich.console import Console
from rich.table import Table
from scipy.special import expit

from thincrm.files import make_folder, write_file
from thincrm.levy import BetaProcess, GammaProcess, GeneralizedGammaProcess, StableBetaProcess
from thincrm.measure import NormalizedCRM, ThinnedCRM, plot_correlation
from thincrm.numerics.arrays import Float
from thincrm.ports import GateEvidence
from thincrm.processes import (
    kernel_beta_process,
    markov_gamma_process,
    ornstein_uhlenbeck_dirichlet_process,
    spatial_normalized_gamma_process,
)
from thincrm.thinning import Bump, ProbitRVM

__all__ = ["main"]

TIMES = np.linspace(0.0, 10.0, 41)
HERE, THERE = 4.0, 5.0
N_DRAWS, N_SETS, N_ATOMS, LARGE = 20, 200, 20_000, 2000.0  # LARGE: the mass the sets share
BLUE, ORANGE, GREEN, BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"  # Okabe and Ito
STYLE = {
    "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, BLACK]),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "legend.frameon": False,
    "savefig.dpi": 120,
}
FAMILIES: dict[str, Callable[[float], ThinnedCRM | NormalizedCRM]] = {
    "gamma × gaussian bump": lambda mass: ThinnedCRM(
        GammaProcess(mass), Bump(length=0.1), coupling="shared", covariates=TIMES
    ),
    "beta × probit RVM": lambda mass: ThinnedCRM(
        BetaProcess(mass), ProbitRVM(), coupling="shared", covariates=TIMES
    ),
    "kernel beta process": lambda mass: kernel_beta_process(mass, length=0.1, covariates=TIMES),
    "spatial normalised gamma": lambda mass: spatial_normalized_gamma_process(
        mass, length=1.0, scale=1.0, window=(-3.0, 13.0)
    ),
    "Ornstein-Uhlenbeck DP": lambda mass: ornstein_uhlenbeck_dirichlet_process(
        mass, rate=0.5, span=(0.0, 10.0)
    ),
    "Markov gamma chain": lambda mass: markov_gamma_process(mass, 0.6, n_steps=11),
}


def main(folder: str = "demo") -> None:
    """Print a table of measures and write four pictures into `folder`."""
    out = make_folder(folder)
    console = Console()
    console.print("Drawing from six families of random measures (B_t), 0 <= t <= 10 ...")
    console.print(_table())
    console.print(
        f"seen: over {N_SETS} disjoint sets A, on which the pairs (B_s(A), B_t(A)) are i.i.d., "
        f"in each of {N_DRAWS} draws.\nprinted: the paper's formula, which belongs to weighted "
        "measures.\n",
        highlight=False,
    )
    pictures = {
        "measures": (_draw_measures, "the six families: every dot is an open atom"),
        "correlation": (_draw_correlation, "exact correlation, and the formula the paper prints"),
        "activation": (_draw_activation, "an activation curve redrawn from counts of open gates"),
        "masses": (_draw_masses, "how heavy the atoms of four Lévy measures are"),
    }
    with plt.style.context(STYLE):
        for name, (draw, meaning) in pictures.items():
            _save(draw(), out / f"{name}.png")
            console.print(f"{out / name}.png: {meaning}", highlight=False)


def _save(figure: Figure, path: Path) -> None:
    """Save with 64 colours: many dots that overlap make a large file otherwise."""
    pixels = BytesIO()
    figure.savefig(pixels)
    plt.close(figure)
    small = BytesIO()
    Image.open(pixels).convert("RGB").quantize(64).save(small, "png", optimize=True)
    write_file(path, small.getvalue())


def _table() -> Table:
    table = Table(title=f"Correlation of B_{HERE:g} and B_{THERE:g}", title_justify="left")
    table.add_column("family")
    for column in ("atoms", "open at t", "exact", "seen", "printed"):
        table.add_column(column, justify="right")
    for name, family in FAMILIES.items():
        drawn = family(10.0).draw(TIMES, rng=0)
        crm = _unnormalised(family(LARGE))
        seen, error = _seen_correlation(crm, [HERE, THERE])
        table.add_row(
            name,
            f"{drawn.n_atoms}",
            f"{(drawn.weights > 0).sum(1).mean():.0f}",
            f"{crm.correlation(HERE, THERE):.2f}",
            f"{seen[0]:.2f} ± {error[0]:.2f}",
            f"{crm.paper_correlation(HERE, THERE):.2f}",
        )
    return table


def _unnormalised(measure: ThinnedCRM | NormalizedCRM) -> ThinnedCRM:
    return measure.crm if isinstance(measure, NormalizedCRM) else measure


def _seen_correlation(crm: ThinnedCRM, t: list[float]) -> tuple[Float, Float]:
    """Return the correlations of the first of `t` with the others, and their standard errors."""
    seen = []
    for seed in range(N_DRAWS):
        drawn = crm.draw(t, rng=seed, n_atoms=N_ATOMS)
        member = (drawn.locations * N_SETS).astype(int)
        totals = [np.bincount(member, weight_K, N_SETS) for weight_K in drawn.weights]
        seen.append(np.asarray(np.corrcoef(totals))[0, 1:])
    return np.mean(seen, axis=0), np.std(seen, axis=0) / np.sqrt(N_DRAWS - 1)


def _draw_measures() -> Any:
    figure, axes = plt.subplots(3, 2, figsize=(7.0, 6.5), sharex=True, sharey=True)
    for ax, (name, family) in zip(axes.flat, FAMILIES.items(), strict=True):
        family(10.0).draw(TIMES, rng=0).plot(ax)
        ax.set_title(name, fontsize=9)
        ax.label_outer()
    return figure


def _draw_correlation() -> Any:
    """Draw the curves, and what is seen with two standard errors; at t = s, of two draws there."""
    figure, ax = plt.subplots(figsize=(5.0, 3.6))
    crm = ThinnedCRM(GammaProcess(LARGE), Bump(length=0.1), covariates=TIMES)
    plot_correlation(crm, TIMES, ax)
    t = [5.0, 5.0, 6.0, 7.0, 8.0]
    together = replace(crm, coupling="comonotone")
    for name, measure, colour, marker in (
        ("independent", crm, BLUE, "o"),
        ("comonotone", together, ORANGE, "s"),
    ):
        seen, error = _seen_correlation(measure, t)
        ax.errorbar(t[1:], seen, 2 * error, fmt=marker, color=colour, ms=4, label=f"seen, {name}")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return figure


def _draw_activation() -> Any:
    """Redraw one curve given, at each time, how many of 20 gates are open."""
    rng = np.random.default_rng(3)
    early, late = (np.exp(-(((TIMES - middle) / 1.5) ** 2)) for middle in (3.0, 7.5))
    truth = 0.05 + 0.8 * early + 0.4 * late
    counts = rng.binomial(20, truth)
    thinning = ProbitRVM()
    prepared = thinning.prepare(TIMES)
    evidence = GateEvidence.from_counts(counts[:, None], np.full(TIMES.size, 20))
    x = thinning.draw(rng, 1, prepared)
    curves: list[Float] = []
    for _ in range(1000):
        x = thinning.redraw(rng, x, evidence, prepared)
        curves.append(expit(thinning.log_odds(x, prepared)[:, 0]))
    low, middle, high = np.quantile(curves[200:], (0.05, 0.5, 0.95), axis=0)
    figure, ax = plt.subplots(figsize=(5.0, 3.2))
    ax.fill_between(TIMES, low, high, color=BLUE, alpha=0.25, lw=0, label="90 % of draws")
    ax.plot(TIMES, middle, color=BLUE, label="median draw")
    ax.plot(TIMES, truth, "--", color=BLACK, label="truth")
    ax.plot(TIMES, counts / 20, "o", color=ORANGE, ms=3, label="share of 20 gates open")
    ax.set(xlabel="t", ylabel="probability of being open", ylim=(0, 1.02))
    ax.legend()
    return figure


def _draw_masses() -> Any:
    figure, ax = plt.subplots(figsize=(5.0, 3.2))
    rank = np.arange(1, 301)
    styles = ("-", "--", "-.", ":")
    factors = (GammaProcess(), BetaProcess(), GeneralizedGammaProcess(), StableBetaProcess())
    for levy, style in zip(factors, styles, strict=True):
        ax.loglog(rank, levy.series(0, rank.size), style, label=type(levy).__name__)
    ax.set(xlabel="atom, heaviest first", ylabel="mass", ylim=(1e-8, 5))
    ax.legend()
    return figure


if __name__ == "__main__":
    main(*sys.argv[1:])
