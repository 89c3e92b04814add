"""Values as plain JSON and named arrays, and back: a closed list of classes, never code.

A JSON object is `{"is": what, ...}`: a dict, a tuple, an array (by its name in the file of
arrays), words, a sparse matrix, dates, or a class of the codec's own list with its fields. What
is read is built by calling that class, which checks its own parameters.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from scipy import sparse

from thincrm.errors import DamagedFile, InvalidType, ThincrmError
from thincrm.numerics.on_disk import pieces

__all__ = ["Codec", "Json"]

_FEW_WORDS = 20
_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_SPARSE = {"csr": sparse.csr_array, "csc": sparse.csc_array}
_INDEX = {np.dtype(np.int32), np.dtype(np.int64)}  # of places in a sparse matrix
Arrays = dict[str, np.ndarray]
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class Codec:
    """Turn values into (content, arrays) and back.

    Parameters
    ----------
    classes : iterable of type
        Frozen dataclasses and named tuples that may be kept.
    """

    def __init__(self, classes: Iterable[type]) -> None:
        self._classes = {kind.__name__: kind for kind in classes}

    def encode(self, value: object) -> tuple[Json, Arrays]:
        """Return the plain content and the arrays of `value`, or say what cannot be kept."""
        arrays: Arrays = {}
        return self._encode(value, "value", arrays), arrays

    def _encode(self, value: object, path: str, arrays: Arrays) -> Json:
        if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"is": "number", "text": str(value)}
        if self._classes.get(type(value).__name__) is type(value):
            of = {key: self._encode(part, f"{path}.{key}", arrays) for key, part in _parts(value)}
            return {"is": type(value).__name__, "of": of}
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            of = {key: self._encode(part, f"{path}.{key}", arrays) for key, part in value.items()}
            return {"is": "dict", "of": of}
        if isinstance(value, datetime.date | np.datetime64):
            return {"is": "date", "text": pd.Timestamp(value).isoformat()}
        if type(value) in (list, tuple, set, frozenset) or _is_objects(value):
            return self._encode_items(value, path, arrays)
        return _encode_array(value, path, arrays)

    def _encode_items(self, value: Any, path: str, arrays: Arrays) -> Json:
        kind = type(value).__name__ if isinstance(value, tuple | set | frozenset) else "list"
        items = sorted(value) if kind in ("set", "frozenset") else list(value)
        if len(items) > _FEW_WORDS and all(isinstance(item, str) for item in items):
            of: Json = _encode_words(items, path, arrays)
        else:
            of = [self._encode(item, f"{path}.{i}", arrays) for i, item in enumerate(items)]
        return of if kind == "list" else {"is": kind, "of": of}

    def decode(self, content: Json, arrays: Arrays) -> Any:
        """Return the value that was encoded, or say that it was not made by this codec."""
        try:
            return self._decode(content, arrays)
        except DamagedFile:
            raise
        except ThincrmError as error:
            raise DamagedFile(f"A value in the file cannot be: {error!s:.200}") from error
        except (
            ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError,
            RecursionError, MemoryError,
        ) as error:  # fmt: skip
            raise DamagedFile("The file holds values that thincrm did not write.") from error

    def _decode(self, content: Any, arrays: Arrays) -> Any:
        if content is None or isinstance(content, bool | int | float | str):
            return content
        if isinstance(content, list):
            return [self._decode(item, arrays) for item in content]
        kind = content["is"]
        if kind in self._classes:
            of = {key: self._decode(part, arrays) for key, part in content["of"].items()}
            return self._classes[kind](**of)
        return _PLAIN[kind](self, content, arrays)


def _parts(value: Any) -> list[tuple[str, Any]]:
    """Return the names and values of the fields of a dataclass or a named tuple."""
    names = [field.name for field in fields(value)] if is_dataclass(value) else value._fields
    return [(name, getattr(value, name)) for name in names]


def _is_objects(value: object) -> bool:
    return isinstance(value, np.ndarray | pd.Index | pd.Series) and (
        value.dtype == object or pd.api.types.is_string_dtype(value.dtype)
    )


def _encode_words(words: list[str], path: str, arrays: Arrays) -> dict[str, Json]:
    data = [word.encode("utf-8", "surrogatepass") for word in words]
    end = np.cumsum([len(word) for word in data], dtype=np.int64)
    arrays[f"{path}.text"] = np.frombuffer(b"".join(data), np.uint8)
    arrays[f"{path}.end"] = end
    return {"is": "words", "text": f"{path}.text", "end": f"{path}.end"}


def _encode_array(value: object, path: str, arrays: Arrays) -> Json:
    if isinstance(value, sparse.csr_array | sparse.csc_array):
        for part in ("data", "indices", "indptr"):
            arrays[f"{path}.{part}"] = getattr(value, part)
        shape: list[Json] = [int(size) for size in value.shape]
        return {"is": value.format, "shape": shape, "name": path}
    if isinstance(value, pd.DatetimeIndex | pd.Series) and hasattr(value, "dt"):
        value = pd.DatetimeIndex(value)
    if isinstance(value, pd.DatetimeIndex):
        utc = value.tz is not None
        stamps = value.tz_convert("UTC").tz_localize(None) if utc else value
        arrays[path] = stamps.to_numpy().astype("M8[us]").astype(np.int64)
        return {"is": "dates", "name": path, "utc": utc}
    if isinstance(value, pd.Series | pd.Index):
        value = value.to_numpy()
    if isinstance(value, np.ndarray) and value.dtype.kind == "M":
        arrays[path] = value.astype("M8[us]").astype(np.int64)
        return {"is": "dates", "name": path, "utc": False}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.ndim > 0:
        arrays[path] = value
        return {"is": "array", "name": path}
    raise InvalidType(
        f"{path.removeprefix('value.')} is a {type(value).__name__}, which may hold code of yours: "
        "files hold only numbers, words and the library's own classes."
    )


def _decode_words(_: Codec, content: Any, arrays: Arrays) -> list[str]:
    text, end = arrays[content["text"]], arrays[content["end"]]
    if text.dtype != np.uint8 or text.ndim != 1 or end.dtype != np.int64 or end.ndim != 1:
        raise ValueError("not words")
    start = np.concatenate([[0], end[:-1]])
    if np.any(end < start) or (end[-1] if end.size else 0) != text.size:
        raise ValueError("words overlap")
    data = text.tobytes()
    bounds = zip(start.tolist(), end.tolist(), strict=True)
    return [data[i:j].decode("utf-8", "surrogatepass") for i, j in bounds]


def _decode_sparse(_: Codec, content: Any, arrays: Arrays) -> Any:
    data, indices, indptr = (
        arrays[f"{content['name']}.{p}"] for p in ("data", "indices", "indptr")
    )
    n_rows, n_columns = content["shape"]
    size, span = (n_rows, n_columns) if content["is"] == "csr" else (n_columns, n_rows)
    if any(part.ndim != 1 for part in (data, indices, indptr)) or not (
        {indices.dtype, indptr.dtype} <= _INDEX
    ):
        raise ValueError("not a sparse matrix")
    if (
        not 0 <= span < 2**31
        or indptr.size != size + 1
        or indptr[0] != 0
        or indptr[-1] != data.size
        or indices.size != data.size
        or np.any(np.diff(indptr) < 0)
        or not _all_below(indices, span)
    ):
        raise ValueError("places outside of the matrix")
    return _SPARSE[content["is"]]((data, indices, indptr), shape=(n_rows, n_columns))


def _all_below(places: np.ndarray, span: int) -> bool:
    """Tell whether all are in [0, span); few of those on disk are ever in memory."""
    return all(part.min() >= 0 and part.max() < span for part in pieces(places))


def _decode_dates(_: Codec, content: Any, arrays: Arrays) -> pd.DatetimeIndex:
    stamps = arrays[content["name"]]
    if stamps.dtype != np.int64 or stamps.ndim != 1 or not isinstance(content["utc"], bool):
        raise ValueError("not dates")
    index = pd.DatetimeIndex(stamps.view("M8[us]"))
    return index.tz_localize("UTC") if content["utc"] else index


def _decode_dict(codec: Codec, content: Any, arrays: Arrays) -> dict[str, Any]:
    return {str(key): codec._decode(part, arrays) for key, part in content["of"].items()}


def _decode_items(make: Callable[[Any], Any]) -> Callable[[Codec, Any, Arrays], Any]:
    return lambda codec, content, arrays: make(codec._decode(content["of"], arrays))


_PLAIN: dict[str, Callable[[Codec, Any, Arrays], Any]] = {
    "array": lambda _, content, arrays: arrays[content["name"]],
    "csc": _decode_sparse,
    "csr": _decode_sparse,
    "date": lambda _, content, __: datetime.datetime.fromisoformat(content["text"]),
    "dates": _decode_dates,
    "dict": _decode_dict,
    "frozenset": _decode_items(frozenset),
    "number": lambda _, content, __: _NUMBERS[content["text"]],
    "set": _decode_items(set),
    "tuple": _decode_items(tuple),
    "words": _decode_words,
}
