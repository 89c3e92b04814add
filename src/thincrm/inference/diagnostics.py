"""Have the chains converged, and what are the draws worth? A table, and a sentence that may say no.

Only label-free quantities are compared: topic 3 of one chain is not topic 3 of another, but the
number of topics, the log joint, the total activation and the learned scalars are the same thing
everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol, Self

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from thincrm.data.counts import CountsLike
from thincrm.data.covariates import Covariates
from thincrm.errors import InvalidInput, Sentence, argument, either
from thincrm.inference.convergence import FEWEST_DRAWS, bulk_ess, rank_rhat, shown_rhat, tail_ess
from thincrm.numerics.arrays import Float, Int

__all__ = [
    "Diagnostics",
    "KeptDraw",
    "Verdict",
    "by_chain",
    "judge",
    "label_free",
    "said",
    "spread_rows",
    "summarise",
]

LARGEST_RHAT = 1.05  # about what converged chains show when their draws are worth 100
FEWEST_INDEPENDENT = 100  # for a 90 % band whose ends are good to a few points
_SETTING = "max_"  # scalars of a draw that begin so are no draws
_LONGER = Sentence("run longer (", argument("n_sweeps"), ")")
_FOUR = either("n_chains=4", "--chains 4")
_TIMES = 5  # covariate rows at which the total activation is looked at
_NAMES = {
    "log_likelihood": "the log likelihood",
    "log_joint": "the log joint",
    "fill_variance": "the variance of fills",
    "level_variance": "the variance of levels",
    "heldout": "the held-out likelihood",
    "total_activation": "the total activation",
}


class KeptDraw(Protocol):
    """What a kept draw of any model has."""

    @property
    def chain(self) -> int:
        """Return the number of its chain."""

    @property
    def sweep(self) -> int:
        """Return the sweep after which it was kept."""

    @property
    def scalars(self) -> dict[str, float]:
        """Return its label-free quantities by name."""


class Verdict(Sentence):
    """A sentence on convergence; `.ok` tells whether it is a yes.

    `.rhat` and `.worth` are its worst R-hat and fewest independent draws, NaN where there are too
    few draws; `.enough` tells whether more sweeps would change nothing: a chain alone is never a
    yes, but it can be long enough. `.doubt` names what chains disagree on most, if they do, and
    `.missing` what a yes waits for, where that is not R-hat and the worth of draws.
    """

    ok: bool
    enough: bool
    rhat: float
    worth: float
    doubt: str
    missing: str

    def __new__(
        cls,
        sentence: str,
        ok: bool = False,
        *,
        enough: bool = False,
        rhat: float = float("nan"),
        worth: float = float("nan"),
        doubt: str = "",
        missing: str = "",
    ) -> Self:
        """Return the sentence with its yes or no."""
        verdict = super().__new__(cls, sentence)
        verdict.ok, verdict.enough, verdict.rhat, verdict.worth = ok, enough, rhat, worth
        verdict.doubt, verdict.missing = doubt, missing
        return verdict


class Diagnostics:
    """Diagnostics of a fitted model that keeps `draws_`, each with a chain, a sweep and scalars."""

    draws_: list[Any]
    covariates_: Covariates

    def diagnostics(self, heldout: CountsLike | None = None) -> pd.DataFrame:
        """Return R-hat and effective sample sizes of label-free quantities.

        Columns: mean, sd, rhat (rank-normalised, split), ess_bulk, ess_tail, n_chains,
        n_draws (of each chain). Quantities that never vary are left out.

        Parameters
        ----------
        heldout : (D, P) counts or None
            Held-out counts of the fitted documents: adds their likelihood to the quantities.
        """
        check_is_fitted(self)
        table = self._quantities()
        if heldout is not None:
            table["heldout"] = self._heldout_scores(heldout)
        return summarise(table)

    def verdict(self, heldout: CountsLike | None = None) -> Verdict:
        """Say in a sentence whether the chains agree and what the draws are worth."""
        return judge(self.diagnostics(heldout), self._aside())

    def _aside(self) -> Collection[str]:
        """Return quantities that a yes does not rest on; they are told beside it."""
        return ()

    def _quantities(self) -> pd.DataFrame:
        """Return what is compared of every draw, indexed by chain and sweep."""
        return label_free(self.draws_, self.covariates_)

    def _heldout_scores(self, heldout: CountsLike) -> Float:
        raise InvalidInput("this model takes no held-out counts: leave heldout out.")


def label_free(draws: Sequence[KeptDraw], known: Covariates) -> pd.DataFrame:
    """Return the label-free quantities of every draw, indexed by chain and sweep.

    The scalars that all draws have; and, where draws have `log_odds` (T, K) at the distinct
    covariate rows, the total activation sum_k a_tk, its mean over rows and at five of them.
    """
    index = pd.MultiIndex.from_tuples(
        [(draw.chain, draw.sweep) for draw in draws], names=["chain", "sweep"]
    )
    names = [
        name
        for name in draws[0].scalars
        if not name.startswith(_SETTING) and all(name in draw.scalars for draw in draws)
    ]
    columns = {name: np.array([draw.scalars[name] for draw in draws], float) for name in names}
    kept = (getattr(draw, "log_odds", None) for draw in draws)
    curves: list[Float] = [log_odds_TK for log_odds_TK in kept if log_odds_TK is not None]
    if curves and len(curves[0]) > 1:
        total_BT = np.stack([expit(log_odds_TK).sum(axis=1) for log_odds_TK in curves])
        columns["total_activation"] = total_BT.mean(axis=1)
        labels = known.labels()
        for row in spread_rows(total_BT.shape[1], _TIMES):
            columns[f"total_activation[{_shown(labels[row])}]"] = total_BT[:, row]
    return pd.DataFrame(columns, index=index, dtype=float)


def spread_rows(n_rows: int, most: int) -> list[int]:
    """Return at most `most` of so many rows, evenly spread, both ends among them."""
    return [int(row) for row in np.unique(np.round(np.linspace(0, n_rows - 1, most)))]


def _shown(label: object) -> str:
    if isinstance(label, pd.Timestamp):
        return label.isoformat().removesuffix("T00:00:00").removesuffix("T00:00:00+00:00")
    if isinstance(label, tuple):
        return ", ".join(f"{value:g}" for value in label)
    return f"{label:g}" if isinstance(label, float) else str(label)


def by_chain(index: pd.Index) -> Int:
    """Return the (C, S) places of the draws of each chain, all as long as the shortest.

    The latest draws are kept. A chain that was stopped before half of the longest is left out: it
    would cost the others more than it tells.
    """
    chain = index.get_level_values("chain").to_numpy()
    places = [np.flatnonzero(chain == c) for c in np.unique(chain)]
    longest = max(place.size for place in places)
    places = [place for place in places if 2 * place.size >= longest]
    shortest = min(place.size for place in places)
    return np.stack([place[-shortest:] for place in places])


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """Return the diagnostics of each column of a table indexed by chain and sweep."""
    place_CS = by_chain(table.index)
    rows = {}
    for name in table.columns:
        draws_CS = table[name].to_numpy(float)[place_CS]
        if np.ptp(draws_CS) > 0.0:
            rows[name] = {
                "mean": draws_CS.mean(),
                "sd": draws_CS.std(ddof=1),
                "rhat": rank_rhat(draws_CS),
                "ess_bulk": bulk_ess(draws_CS),
                "ess_tail": tail_ess(draws_CS),
                "n_chains": place_CS.shape[0],
                "n_draws": place_CS.shape[1],
            }
    columns = ["mean", "sd", "rhat", "ess_bulk", "ess_tail", "n_chains", "n_draws"]
    found = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    whole = found.astype({"n_chains": int, "n_draws": int})
    return whole.rename_axis(index="quantity")


def judge(every: pd.DataFrame, aside: Collection[str] = ()) -> Verdict:
    """Say in a sentence what a table of diagnostics means.

    aside: quantities that the yes or no does not rest on, but that the sentence tells if they have
    not settled.
    """
    table = every[~every.index.isin(list(aside))]
    if table.empty:
        nothing = "Nothing varied from draw to draw: there is nothing to judge."
        return Verdict(nothing, enough=True)
    n_chains, n_draws = int(table["n_chains"].iloc[0]), int(table["n_draws"].iloc[0])
    if n_draws < FEWEST_DRAWS:
        return Verdict(
            Sentence(
                f"Too few draws to judge ({n_draws} of each chain): keep at least {FEWEST_DRAWS} (",
                argument("n_draws"), ", ", argument("n_sweeps"), ").",
            ),
            False,
        )  # fmt: skip
    worst, rhat = str(table["rhat"].idxmax()), float(table["rhat"].max())
    worth_Q = table[["ess_bulk", "ess_tail"]].min(axis=1)
    slowest, worth = str(worth_Q.idxmin()), int(worth_Q.min())
    alone = n_chains == 1
    limit = max(LARGEST_RHAT, np.sqrt(1.0 + 4.0 / n_draws))  # short halves differ by chance
    if rhat > limit:
        who = "The only chain is still drifting on" if alone else "The chains disagree on"
        others = int((table["rhat"] > limit).sum()) - 1
        more = f" and on {others} of {len(table) - 1} other quantities" if others else ""
        doubt = f"{said(worst)} (R-hat {shown_rhat(rhat)})"
        return Verdict(
            Sentence(f"{who} {doubt}{more}: ", _LONGER, "."), rhat=rhat, worth=worth, doubt=doubt
        )
    agree = "One chain, whose halves agree" if alone else f"{n_chains} chains agree"
    many = worth >= FEWEST_INDEPENDENT
    value = (
        f"the {n_chains * n_draws} draws are worth {'' if many else 'only '}{worth} "
        f"independent ones (fewest for {said(slowest)})"
    )
    advice = "" if many else Sentence("; ", _LONGER, " before trusting narrow bands")
    doubt = Sentence("; it was compared with no other: ", _FOUR, " would say more") if alone else ""
    unsettled = _unsettled(every[every.index.isin(list(aside))], limit)
    found = Sentence(f"{agree} (R-hat at most {rhat:.2f}); {value}", advice, doubt, unsettled)
    return Verdict(found, many and not alone, enough=many, rhat=rhat, worth=worth)


def _unsettled(aside: pd.DataFrame, limit: float) -> str:
    """Return what there is to say of quantities that the verdict does not rest on."""
    if aside.empty or not aside["rhat"].max() > limit:
        return "."
    worst, rhat = str(aside["rhat"].idxmax()), float(aside["rhat"].max())
    unread = "features" if "feature" in worst else "that"
    return (
        f". This is about fills and curves; {said(worst)} has not settled "
        f"(R-hat {shown_rhat(rhat)}), so do not read {unread}."
    )


def said(name: str) -> str:
    """Return a label-free quantity in words: n_topics is "the number of topics"."""
    stem, _, place = name.partition("[")
    if stem == "topic_share":
        return f"the share of topic {place.removesuffix(']')}"
    plain = _NAMES.get(stem) or _pattern(stem)
    return f"{plain} at {place.removesuffix(']')}" if place else plain


def _pattern(stem: str) -> str:
    words = stem.replace("_", " ")
    if stem.startswith("n_"):
        return "the number of " + words.removeprefix("n ")
    many, per, one = words.partition(" per ")
    return f"the number of {many} of a {one}" if per else "the learned " + words
