"""The settings of a feature model, and how to read its page, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thincrm.report.plain_words import (
    LEVY_PARAMETERS,
    Rows,
    factor_rows,
    pooled_rows,
    run_rows,
    summary,
)

if TYPE_CHECKING:
    from thincrm.models.features.model import FeatureModel

__all__ = ["LEARNED", "READING", "feature_settings"]

READING = [
    "A row of the table is a level, plus factors if there are any, plus the features it uses, plus "
    "noise. At any value of the covariate a feature is used with some probability.",
    "Bands hold the true value with 50 % (dark) and 90 % (light) probability if the model is "
    "right. They are wide where rows are few, and curves fade where fewer than five are near.",
    "A bar is what a feature adds to a column, in standard deviations of that column.",
    "Features are numbered by use in the last draw and matched to it in all others; the presence "
    "of a feature is the share of draws it was found in.",
]
LEARNED = {
    "concentration": ("Concentration", "Smaller: fewer features, each used by more rows."),
    "features_per_row": ("Features of a row", "How many a row uses, on average."),
    "noise": ("Noise", "Variance that no feature explains, in standard units."),
    **LEVY_PARAMETERS,
}
_GATES = {
    "observation": "Every row decides anew whether a feature is open to it.",
    "row": "Rows with the same covariate share whether a feature is open to them.",
}
_WEIGHTS = {
    "binary": "A row uses a feature or does not.",
    "real": "A row that uses a feature has a weight of its own for it.",
}
_LEVELS = {
    "smooth": "What a column is without factors and features follows the covariate.",
    "constant": "What a column is without factors and features is one number.",
}


def feature_settings(model: FeatureModel) -> tuple[str, Rows]:
    """Return a line on the model, and what was chosen: name, value, and a sentence."""
    levy = model.levy_
    factors = factor_rows(
        {"Use of features": levy, "When features are open": model.thinning_}, "feature"
    )
    level = "smooth" if model.curves_.sizes else "constant"
    choices = [
        ["Gates", model.gates, _GATES[model.gates]],
        ["Weights", model.weights, _WEIGHTS[model.weights]],
        ["Factors", f"at most {model.n_dense_}", "Every row uses them, beside features."],
        ["Level", level, _LEVELS[level]],
        ["Most features", str(model.max_features), "The truncation; their number is learned."],
    ]
    pooled = pooled_rows(model.covariates_, "rows")
    run = run_rows(model.n_sweeps_, model.draws_, model.seed_)
    return summary(factors, run), [*factors, *choices, *pooled, *run]
