"""How well held-out words are foreseen, by the model and by one in which nothing comes or goes."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thincrm.errors import InvalidInput, InvalidType
from thincrm.models.topics.model import TopicModel

__all__ = ["heldout_rows"]


def heldout_rows(model: TopicModel, static: object) -> list[list[str]] | None:
    """Return name, perplexity, its Monte Carlo error and the number of words, as text."""
    if model.heldout_ is None:
        if static is not None:
            raise InvalidInput(
                "static is compared on held-out words and model has none: fit with heldout=0.1 or "
                "such."
            )
        return None
    models = {"this model": model}
    if static is not None:
        models["static model"] = _checked(model, static)
    rows = []
    for name, each in models.items():
        found = each.perplexity(model.heldout_)
        error = "" if np.isnan(found.error) else f"{found.error:.2g}"
        rows.append([name, f"{found.value:.1f}", error, f"{found.n_words:,}"])
    return rows


def _checked(model: TopicModel, static: object) -> TopicModel:
    if not isinstance(static, TopicModel):
        raise InvalidType(f"static must be a TopicModel, got {type(static).__name__}.")
    check_is_fitted(static)
    same = static.counts_.shape == model.counts_.shape
    if not same or (static.counts_ != model.counts_).nnz > 0:  # type: ignore[attr-defined]
        raise InvalidInput(
            "static was fitted to other words than model: fit it to the same documents, with the "
            "same heldout and random_state."
        )
    return static
