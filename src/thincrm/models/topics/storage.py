"""A topic model in files: what its data are, and what must hold of draws and states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from thincrm.data.counts import CountMatrix, as_counts, lengths_of
from thincrm.data.covariates import Covariates
from thincrm.errors import InvalidInput, check_positive
from thincrm.files.checks import need
from thincrm.inference.run_log import ChainState
from thincrm.models.base import Factors
from thincrm.models.codec import pack_vectorizer, pack_words, unpack_vectorizer, unpack_words
from thincrm.models.stored import StoredModel
from thincrm.models.topics.checks import Frame, check_draw, check_state
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.usage import MOST_SHAPE

__all__ = ["TopicFiles"]

_DATA = {"counts", "vocabulary", "named", "vectorizer"}
_FREE_WORDS, _WORDS_PER_CELL = 2**16, 64
_HELDOUT = "heldout"  # only of a model that has some


class TopicFiles(StoredModel):
    """Packing and unpacking of `TopicModel`."""

    counts_: CountMatrix
    heldout_: CountMatrix | None
    burstiness: float | None
    covariates_: Covariates
    vocabulary_: pd.Index
    vectorizer: Any
    vectorizer_: Any
    n_features_in_: int
    feature_names_in_: np.ndarray

    def _pack_params(self) -> dict[str, Any]:
        params = super()._pack_params()
        has_texts = hasattr(self, "vectorizer_")
        vectorizer = pack_vectorizer(self.vectorizer_) if has_texts else None
        self._packed_vectorizer = vectorizer
        params["vectorizer"] = params["vectorizer"] is not None and vectorizer is not None
        return params

    def _pack_data(self) -> dict[str, Any]:
        words = pack_words(self.vocabulary_)
        if isinstance(words, int) and not _can_be_nameless(self.counts_):
            raise InvalidInput(
                f"X has {words} columns and words in only {self.counts_.nnz} cells: leave out the "
                "empty columns, files do not hold so many words without a name."
            )
        data = {
            "counts": self.counts_,
            "vocabulary": words,
            "named": hasattr(self, "feature_names_in_"),
            "vectorizer": self._packed_vectorizer,
        }
        return data if self.heldout_ is None else {**data, _HELDOUT: self.heldout_}

    @classmethod
    def _unpack_params(cls, params: dict[str, Any]) -> dict[str, Any]:
        for name in ("concentration", "burstiness"):
            if params[name] is not None and params[name] != 0:
                check_positive(name, params[name])
        return {**params, "vectorizer": params["vectorizer"] is True or None}

    def _unpack_data(self, data: dict[str, Any]) -> int:
        need(set(data) - {_HELDOUT} == _DATA, "the data")
        self.counts_ = _checked_counts(data["counts"])
        self.heldout_ = None
        if _HELDOUT in data:
            self.heldout_ = _checked_counts(data[_HELDOUT])
            need(self.heldout_.shape == self.counts_.shape, "the held-out counts")
        n_documents, n_words = self.counts_.shape
        bare = isinstance(data["vocabulary"], int)
        need(not bare or _can_be_nameless(self.counts_), "the number of words")
        need(not bare or (data["named"] is False and data["vectorizer"] is None), "the words")
        self.vocabulary_ = unpack_words(data["vocabulary"], n_words)
        self.n_features_in_ = n_words
        if data["named"] is True:
            self.feature_names_in_ = np.asarray(self.vocabulary_, object)
        chosen, self.vectorizer = self.vectorizer is True, None
        if data["vectorizer"] is not None:
            self.vectorizer_ = unpack_vectorizer(data["vectorizer"], self.vocabulary_)
            self.vectorizer = self.vectorizer_ if chosen else None
        return int(n_documents)

    def _frame(self) -> Frame:
        factors: Factors[TopicLikelihood] = self._factors()
        return Frame(
            factors.levy, factors.thinning, factors.likelihood.factor, self.prepared_,
            factors.n_atoms, factors.n_background, self.counts_.shape[1],
            lengths_of(self.counts_), self._known().trials,
        )  # fmt: skip

    def _check_draw(self, draw: Any) -> None:
        check_draw(self._frame(), draw)

    def _check_state(self, place: ChainState) -> None:
        shards = self._problem().shards
        check_state(self._frame(), place.state, [shard.tokens for shard in shards])
        learned = place.state.own.burstiness * MOST_SHAPE <= 1.0 + 1e-9
        fixed = place.state.own.burstiness == self.burstiness
        need(learned if self.burstiness is None else fixed, "the burstiness")


def _can_be_nameless(counts: CountMatrix) -> bool:
    """Tell whether so many words may be kept as a number: a small file must not claim billions."""
    return bool(counts.shape[1] <= _FREE_WORDS + _WORDS_PER_CELL * counts.nnz)


def _checked_counts(found: Any) -> CountMatrix:
    need(isinstance(found, sparse.csr_array) and found.dtype == np.int64, "the counts")
    counts = as_counts(found)
    need(0 < lengths_of(counts).sum() < 2**62, "the counts")
    return counts
