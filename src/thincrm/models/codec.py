"""What files may hold: the library's own classes, a closed list."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

from thincrm import levy
from thincrm.data.covariates import Covariates
from thincrm.data.table_values import Scale
from thincrm.errors import DamagedFile
from thincrm.files.tree import Codec
from thincrm.inference.run_log import ChainState
from thincrm.models.registry import model_classes
from thincrm.ports import State
from thincrm.thinning.member import MEMBERS

__all__ = [
    "LEVY",
    "codec",
    "pack_vectorizer",
    "pack_words",
    "unpack_vectorizer",
    "unpack_words",
]

LEVY = tuple(getattr(levy, name) for name in levy.__all__)
_CODE = ("preprocessor", "tokenizer")
_DTYPES = {"int32": np.int32, "int64": np.int64, "float64": np.float64}


def codec(*models: type) -> Codec:
    """Return what reads and writes the factors and these models; none: all that are known now."""
    thinnings = [kind for member in MEMBERS for kind in (member, member.state)]
    own = [
        kind
        for model in (models or model_classes())
        for kind in (*getattr(model, "stores", ()), *getattr(model, "likelihoods", ()))
    ]
    return Codec([*LEVY, *thinnings, Covariates, Scale, State, ChainState, *own])


def pack_words(words: pd.Index) -> Any:
    """Return a vocabulary as something the codec takes."""
    if words.equals(pd.RangeIndex(len(words))):
        return len(words)
    if pd.api.types.is_integer_dtype(words.dtype):
        return words.to_numpy().astype(np.int64)
    return [str(word) for word in words]


def unpack_words(packed: Any, size: int) -> pd.Index:
    """Return the vocabulary of `size` words, or say that it is none."""
    words = pd.RangeIndex(packed) if isinstance(packed, int) else packed
    plain = isinstance(words, list) and all(isinstance(word, str) for word in words)
    number = isinstance(words, np.ndarray) and words.ndim == 1 and words.dtype == np.int64
    if not (plain or number or isinstance(words, pd.RangeIndex)) or len(words) != size:
        raise DamagedFile(f"The vocabulary does not have {size} words.")
    return pd.Index(words, name="word")


def pack_vectorizer(vectorizer: Any) -> dict[str, Any] | None:
    """Return the plain settings of a CountVectorizer; None, with a warning, of anything else."""
    if type(vectorizer) is CountVectorizer:
        settings: dict[str, Any] = vectorizer.get_params(deep=False)
        settings["dtype"] = np.dtype(settings["dtype"]).name
        settings["vocabulary"] = settings["vocabulary"] is not None
        plain = all(settings[name] is None for name in _CODE) and settings["dtype"] in _DTYPES
        if plain and isinstance(settings["analyzer"], str):
            return settings
    warnings.warn(
        f"The vectorizer ({type(vectorizer).__name__}) is or has code of yours, which files do "
        "not hold: the model that is read from there takes counts, not texts.",
        stacklevel=4,
    )
    return None


def unpack_vectorizer(settings: object, words: pd.Index) -> CountVectorizer:
    """Return the fitted vectoriser that counts `words`."""
    known = CountVectorizer().get_params(deep=False)
    if (
        not isinstance(settings, dict)
        or set(settings) != set(known)
        or settings["input"] != "content"  # "filename" would open files that texts name
        or not isinstance(settings["analyzer"], str)
        or any(settings[name] is not None for name in _CODE)
    ):
        raise DamagedFile("The settings of the vectorizer cannot be.")
    fixed = settings["vocabulary"] is True
    changed = {"dtype": _DTYPES[settings["dtype"]], "vocabulary": list(words) if fixed else None}
    vectorizer = CountVectorizer(**{**settings, **changed})
    vectorizer._validate_params()
    vectorizer.vocabulary_ = {word: place for place, word in enumerate(words)}
    vectorizer.fixed_vocabulary_ = fixed
    return vectorizer
