"""A topic model in files: what it is made of, and how it is built again."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse

from thincrm.data.counts import as_counts
from thincrm.data.covariates import Covariates
from thincrm.errors import InvalidInput, check_positive
from thincrm.estimators.checks import (
    check_covariates,
    check_params,
    need,
    pack_prepared,
    unpack_prepared,
)
from thincrm.estimators.codec import (
    LEVY,
    LIKELIHOOD,
    THINNING,
    pack_vectorizer,
    pack_words,
    unpack_vectorizer,
    unpack_words,
)
from thincrm.estimators.journal import rows_of
from thincrm.estimators.stored import StoredModel
from thincrm.estimators.topic_checks import Frame, check_draw, check_state
from thincrm.gibbs.chains import Standing
from thincrm.likelihood.usage import MOST_SHAPE

__all__ = ["TopicFiles"]

_SETTINGS = {"model", "params", "seed"}
_COUNTS = ("max_topics", "n_sweeps", "n_draws", "n_chains", "n_background")
_DATA = {"counts", "covariates", "vocabulary", "named", "prepared", "vectorizer"}
_FREE_WORDS, _WORDS_PER_CELL = 2**16, 64
_HELDOUT = "heldout"  # only of a model that has some


class TopicFiles(StoredModel):
    """Packing and unpacking of `TopicModel`."""

    counts_: Any
    heldout_: Any
    burstiness: float | None
    covariates_: Covariates
    prepared_: Any
    row_: np.ndarray
    seed_: int
    thinning_: Any
    trace_: pd.DataFrame
    vocabulary_: pd.Index
    vectorizer: Any
    vectorizer_: Any
    n_features_in_: int
    feature_names_in_: Any

    @abstractmethod
    def _factors(self) -> tuple[Any, Any, Any, int, int]:
        """Return Lévy measure, thinning function, likelihood, numbers of (background) topics."""

    @abstractmethod
    def _known(self) -> Covariates:
        """Return the covariates that the thinning function sees."""

    def _pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        words = pack_words(self.vocabulary_)
        if isinstance(words, int) and not _can_be_nameless(self.counts_):
            raise InvalidInput(
                f"X has {words} columns and words in only {self.counts_.nnz} cells: leave out the "
                "empty columns, files do not hold so many words without a name."
            )
        has_texts = hasattr(self, "vectorizer_")
        vectorizer = pack_vectorizer(self.vectorizer_) if has_texts else None
        params["vectorizer"] = params["vectorizer"] is not None and vectorizer is not None
        params["random_state"] = self.seed_
        settings = {"model": type(self).__name__, "params": params, "seed": self.seed_}
        data = {
            "counts": self.counts_,
            "covariates": self.covariates_,
            "vocabulary": words,
            "named": hasattr(self, "feature_names_in_"),
            "prepared": pack_prepared(self.prepared_),
            "vectorizer": vectorizer,
        }
        if self.heldout_ is not None:
            data[_HELDOUT] = self.heldout_
        return settings, data

    @classmethod
    def _unpack(cls, settings: dict[str, Any], data: dict[str, Any]) -> Self:
        need(set(settings) == _SETTINGS and set(data) - {_HELDOUT} == _DATA, "the settings")
        params = _checked(settings["params"])
        model = cls(**{**params, "vectorizer": None})
        need(set(params) == set(model.get_params(deep=False)), "the settings")  # type: ignore[attr-defined]
        need(isinstance(settings["seed"], int) and settings["seed"] >= 0, "the seed")
        model.seed_ = settings["seed"]
        model.counts_ = _checked_counts(data["counts"])
        model.heldout_ = None
        if _HELDOUT in data:
            model.heldout_ = _checked_counts(data[_HELDOUT])
            need(model.heldout_.shape == model.counts_.shape, "the held-out counts")
        n_documents, n_words = model.counts_.shape
        bare = isinstance(data["vocabulary"], int)
        need(not bare or _can_be_nameless(model.counts_), "the number of words")
        model.covariates_ = check_covariates(data["covariates"], n_documents)
        model.vocabulary_ = unpack_words(data["vocabulary"], n_words)
        model.n_features_in_ = n_words
        need(not bare or (data["named"] is False and data["vectorizer"] is None), "the words")
        if data["named"] is True:
            model.feature_names_in_ = np.asarray(model.vocabulary_, object)
        if data["vectorizer"] is not None:
            model.vectorizer_ = unpack_vectorizer(data["vectorizer"], model.vocabulary_)
            model.vectorizer = model.vectorizer_ if params["vectorizer"] is True else None
        model._length()
        _, model.thinning_, *_ = model._factors()
        model.prepared_ = unpack_prepared(data["prepared"], model.thinning_, model._known())
        return model

    def _frame(self) -> Frame:
        levy, thinning, likelihood, n_topics, n_background = self._factors()
        return Frame(
            levy, thinning, likelihood, self.prepared_, n_topics, n_background,
            self.counts_.shape[1], np.asarray(self.counts_.sum(axis=1)).reshape(-1),
            np.bincount(self.row_),
        )  # fmt: skip

    def _check_draw(self, draw: Any) -> None:
        check_draw(self._frame(), draw)

    def _check_standing(self, standing: Standing) -> None:
        length = self._length()
        need(standing.chain < length.n_chains and standing.sweep <= length.n_sweeps, "the sweep")
        check_state(self._frame(), standing.state)
        learned = standing.state.burstiness * MOST_SHAPE <= 1.0 + 1e-9
        fixed = standing.state.burstiness == self.burstiness
        need(learned if self.burstiness is None else fixed, "the burstiness")

    def _trace(self) -> list[dict[str, float]]:
        return rows_of(
            {str(name): part.to_numpy() for name, part in self.trace_.reset_index().items()}
        )


def _can_be_nameless(counts: Any) -> bool:
    """Tell whether so many words may be kept as a number: a small file must not claim billions."""
    return bool(counts.shape[1] <= _FREE_WORDS + _WORDS_PER_CELL * counts.nnz)


def _checked_counts(found: Any) -> Any:
    need(isinstance(found, sparse.csr_array) and found.dtype == np.int64, "the counts")
    counts = as_counts(found)
    need(0 < counts.sum() < 2**62, "the counts")
    return counts


def _checked(params: Any) -> dict[str, Any]:
    found = check_params(params, _COUNTS, levy=LEVY, thinning=THINNING, likelihood=LIKELIHOOD)
    for name in ("concentration", "burstiness"):
        if found[name] is not None and found[name] != 0:
            check_positive(name, found[name])
    return found
