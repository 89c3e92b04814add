"""The settings of a model in words a colleague can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Protocol

import numpy as np

from thincrm.data.covariates import Covariates, covariates
from thincrm.inference.diagnostics import KeptDraw

__all__ = [
    "LEVY_PARAMETERS",
    "Factor",
    "Rows",
    "factor_rows",
    "learned",
    "origin_rows",
    "pooled_rows",
    "run_rows",
    "summary",
]

Rows = list[list[str]]  # a table of the page
LEVY_PARAMETERS = {
    "mass": ("Mass of the Lévy measure", "Larger: more of them."),
    "rate": ("Rate of the Lévy measure", "Larger: smaller sizes."),
    "discount": ("Discount of the Lévy measure", "Larger: more small ones."),
}


class Factor(Protocol):
    """A factor of the product: it describes itself."""

    @property
    def plain_words(self) -> str:
        """Return a sentence in which {one} and {many} stand for the atoms."""


def factor_rows(factors: Mapping[str, Factor], noun: str) -> Rows:
    """Return what each factor is called on the page, its class, and its own sentence."""
    return [
        [name, type(factor).__name__, factor.plain_words.format(one=noun, many=f"{noun}s")]
        for name, factor in factors.items()
    ]


def run_rows(n_sweeps: int, draws: Sequence[KeptDraw], seed: int) -> Rows:
    """Return how the chains were run: name, value, and a sentence."""
    n_chains = len({draw.chain for draw in draws})
    return [
        ["Sweeps", f"{n_sweeps:,}", "Of each chain; the first third is warm-up."],
        ["Draws kept", f"{len(draws):,}", "Of all chains; every band comes from them."],
        ["Chains", str(n_chains), "Independent runs from different starts."],
        *origin_rows(seed),
    ]


def pooled_rows(known: Covariates, things: str) -> Rows:
    """Return at how many of the covariates curves were followed, where that is not at all."""
    if known.own is None:
        return []
    value = f"{len(known.rows):,} of {len(covariates(known.own).rows):,}"
    said = f"Distinct covariates at which curves are followed (max_rows); {things} keep their own."
    return [["Covariates", value, said]]


def origin_rows(seed: int) -> Rows:
    """Return what gives the same numbers again: the seed, and the version."""
    return [
        ["Seed", str(seed), "The same seed gives the same numbers."],
        ["Version", f"thincrm {version('thincrm')}", ""],
    ]


def summary(factors: Rows, run: Rows) -> str:
    """Return the line below the headline: the factors, and how the chains were run."""
    value = {name: text for name, text, _ in run}
    parts = [text for _, text, _ in factors]
    parts += [f"{value['Sweeps']} sweeps"] if "Sweeps" in value else []
    parts += [f"seed {value['Seed']}", value["Version"]]
    return " · ".join(parts)


def learned(draws: Sequence[KeptDraw], meanings: Mapping[str, tuple[str, str]]) -> Rows:
    """Return what was learned: name, posterior mean, 90 % interval, and a sentence.

    meanings: names and sentences of some of the draws' scalars, in the order of the page.
    """
    rows = []
    for key, (name, sentence) in meanings.items():
        values = [draw.scalars[key] for draw in draws if key in draw.scalars]
        if values:
            low, high = np.quantile(values, [0.05, 0.95])
            rows.append([name, f"{np.mean(values):.3g}", f"{low:.3g} to {high:.3g}", sentence])
    return rows
