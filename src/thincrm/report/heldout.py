"""How well held-out words are foreseen, by the model and by one in which nothing comes or goes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thincrm.errors import InvalidInput, InvalidType
from thincrm.estimators import TopicModel

__all__ = ["heldout_rows"]


def heldout_rows(model: Any, heldout: Any, static: Any) -> list[list[str]] | None:
    """Return name, perplexity, its Monte Carlo error and the number of words, as text."""
    if heldout is None:
        if static is not None:
            raise InvalidInput("static is compared on held-out words: pass heldout= with it.")
        return None
    models = {"this model": model}
    if static is not None:
        models["static model"] = _checked(model, static)
    rows = []
    for name, each in models.items():
        found = each.perplexity(heldout)
        error = "" if np.isnan(found.error) else f"{found.error:.2g}"
        rows.append([name, f"{found.value:.1f}", error, f"{found.n_words:,}"])
    return rows


def _checked(model: Any, static: Any) -> Any:
    if not isinstance(static, TopicModel):
        raise InvalidType(f"static must be a TopicModel, got {type(static).__name__}.")
    check_is_fitted(static)
    if static.counts_.shape != model.counts_.shape:
        raise InvalidInput(
            f"static was fitted to counts of shape {static.counts_.shape} and model to "
            f"{model.counts_.shape}: fit both to the same documents."
        )
    return static
