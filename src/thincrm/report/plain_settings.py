"""The settings of any model in plain words: its factors describe themselves."""

from __future__ import annotations

from collections.abc import Mapping

from thincrm.report.fitted import Fitted
from thincrm.report.plain_words import Rows, factor_rows, origin_rows, summary

__all__ = ["plain_settings", "spaced"]

_FACTORS = {
    "levy": "Lévy measure",
    "thinning": "Thinning function",
    "likelihood": "Likelihood",
}
_RUN = {
    "n_sweeps": ("Sweeps", "Of each chain; the first third is warm-up."),
    "n_draws": ("Draws kept", "Of each chain; every band comes from them."),
    "n_chains": ("Chains", "Independent runs from different starts."),
}
_UNSAID = ("random_state", "n_threads", "quiet")  # the seed is said, the others change no number


def plain_settings(params: Mapping[str, object], model: Fitted, noun: str) -> tuple[str, Rows]:
    """Return a line on the model, and every setting: name, value, a sentence if there is one.

    params: as they were given. Of a factor that was left to the model, the fitted one is described
    (`thinning_`).
    """
    given = {name: x for name, x in params.items() if name not in _UNSAID}
    if "n_sweeps" in given:
        given["n_sweeps"] = getattr(model, "n_sweeps_", given["n_sweeps"])  # as many as were made
    used = {name: getattr(model, f"{name}_", None) if x is None else x for name, x in given.items()}
    factors = {_name(key): x for key, x in used.items() if hasattr(x, "plain_words")}
    chosen = [key for key in used if _name(key) not in factors]
    others = [[_name(key), _value(used[key]), ""] for key in chosen if key not in _RUN]
    run = [[_name(key), _value(used[key]), _RUN[key][1]] for key in _RUN if key in chosen]
    first, origin = factor_rows(factors, noun), origin_rows(model.seed_)
    return summary(first, [*run, *origin]), [*first, *others, *run, *origin]


def _name(key: str) -> str:
    return _FACTORS.get(key) or (_RUN[key][0] if key in _RUN else spaced(key))


def _value(value: object) -> str:
    return "default" if value is None else f"{value!s:.80}"


def spaced(name: str) -> str:
    """Return the name of a variable as words."""
    return name.replace("_", " ").capitalize()
