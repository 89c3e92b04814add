"""What must hold of a topic model that was read from a file, before anything is done with it.

Compiled loops do not check their indices, so a number out of place would not be an error but a
crash: every index is checked here, and every number is one the sampler could have made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from thincrm.data.covariates import Covariates
from thincrm.draws import TopicDraw
from thincrm.errors import DamagedFile
from thincrm.estimators.codec import LEVY
from thincrm.estimators.journal import is_count
from thincrm.gibbs.topics import DocumentTopics, TopicState
from thincrm.likelihood.usage import MOST_SHAPE, TopicEvidence, Usage, padded
from thincrm.numerics.arrays import Int
from thincrm.thinning import ProbitRVM, SigmoidGP
from thincrm.thinning.basis import Basis

__all__ = [
    "Frame",
    "check_covariates",
    "check_draw",
    "check_state",
    "pack_prepared",
    "unpack_prepared",
]

_FARTHEST_DAY = 1e8
_MOST_NUMBER = 1e15
_BASIS = ("scale", "centres", "basis_MTJ", "direction_MLR", "inverse_MR")


@dataclass(frozen=True, slots=True)
class Frame:
    """The factors and sizes that draws and states must fit."""

    levy: Any
    thinning: Any
    likelihood: Any
    prepared: Any
    n_topics: int
    n_background: int
    n_words: int
    length: Int  # D: tokens of each document
    trials: Int  # T: documents at each row


def need(holds: Any, what: str) -> None:
    """Say that `what` cannot be, unless it holds."""
    if not holds:
        raise DamagedFile(f"The file was not written by thincrm: {what} cannot be.")


def _floats(value: Any, shape: tuple[int, ...], what: str, *, finite: bool = True) -> None:
    need(isinstance(value, np.ndarray) and value.dtype == float and value.shape == shape, what)
    need(not np.any(~np.isfinite(value) if finite else np.isnan(value)), what)


def _places(value: Any, shape: tuple[int, ...], below: float, what: str) -> None:
    need(isinstance(value, np.ndarray) and value.dtype.kind == "i" and value.shape == shape, what)
    need(value.size == 0 or (value.min() >= 0 and value.max() < below), what)


def _positive(value: Any, what: str, *, zero: bool = False) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    need(number and (0 < value < _MOST_NUMBER or (zero and value == 0)), what)


def check_covariates(known: Any, n_documents: int) -> Covariates:
    """Return covariates whose rows are sorted, distinct and pointed at."""
    need(isinstance(known, Covariates) and isinstance(known.rows, np.ndarray), "covariates")
    names = known.names
    need(isinstance(names, tuple) and all(isinstance(name, str) for name in names), "covariates")
    need(known.kind in ("number", "date", "date+utc") and known.rows.ndim == 2, "covariates")
    need(len(names) == known.rows.shape[1] >= 1 and len(known.rows) >= 1, "covariates")
    need(known.kind == "number" or len(names) == 1, "several dates per observation")
    _floats(known.rows, known.rows.shape, "covariates")
    need(known.kind == "number" or np.abs(known.rows).max() < _FARTHEST_DAY, "dates")
    _places(known.row, (n_documents,), len(known.rows), "covariate rows")
    _places(known.trials, (len(known.rows),), np.inf, "covariate rows")
    counted = np.bincount(known.row, minlength=len(known.rows))
    need(np.array_equal(counted, known.trials), "covariate rows")
    need(np.array_equal(np.unique(known.rows, axis=0), known.rows), "covariate rows")
    row, trials = known.row.astype(np.int64), known.trials.astype(np.int64)
    return Covariates(known.rows, row, trials, known.kind, names)


def pack_prepared(prepared: Any) -> dict[str, Any] | None:
    """Return the arrays of a basis; other thinning functions prepare the same bits anywhere."""
    return {name: getattr(prepared, name) for name in _BASIS} if _is_basis(prepared) else None


def _is_basis(prepared: Any) -> bool:
    return isinstance(prepared, Basis)


def unpack_prepared(packed: Any, thinning: Any, known: Covariates) -> Any:
    """Return what the thinning function had prepared, with the very bits it had."""
    if not isinstance(thinning, ProbitRVM | SigmoidGP):
        return thinning.prepare(known)
    need(isinstance(packed, dict) and set(packed) == set(_BASIS), "the basis of the curves")
    n_widths, n_rows, n_columns = len(thinning.widths), *known.rows.shape
    for name in ("centres", "basis_MTJ"):
        need(isinstance(packed[name], np.ndarray), "the basis of the curves")
        need(packed[name].ndim >= 2, "the basis of the curves")
    n_centres, n_kept = len(packed["centres"]), packed["basis_MTJ"].shape[-1] - 1
    shapes: dict[str, tuple[int, ...]] = {
        "scale": (n_columns,),
        "centres": (n_centres, n_columns),
        "basis_MTJ": (n_widths, n_rows, n_kept + 1),
    }
    if isinstance(thinning, SigmoidGP):
        shapes |= {
            "direction_MLR": (n_widths, n_centres, n_kept),
            "inverse_MR": (n_widths, n_kept),
        }
    need(n_kept == n_centres or isinstance(thinning, SigmoidGP), "the basis of the curves")
    for name, shape in shapes.items():
        _floats(packed[name], shape, "the basis of the curves")
    need(
        n_centres >= 1 and n_kept >= 1 and np.all(packed["scale"] > 0),
        "the scale of the covariates",
    )
    parts: dict[str, Any] = {name: packed[name] for name in shapes}
    return Basis(known, **parts)


def _check_curves(frame: Frame, x: Any, n_atoms: int) -> None:
    """Refuse variables of curves that are not of the kind, number and range of the model's."""
    like = frame.thinning.draw(0, 1, frame.prepared)
    need(type(x) is type(like), "the curves")
    for name, one, part in zip(like._fields, like, x, strict=True):
        shape = (n_atoms, *one.shape[1:])
        if one.dtype.kind == "i":
            _places(part, shape, len(frame.thinning.widths), f"the curves' {name}")
            need(part.dtype == one.dtype, f"the curves' {name}")
        else:
            _floats(part, shape, f"the curves' {name}")
        need(name != "precisions" or np.all(part > 0), f"the curves' {name}")


def check_draw(frame: Frame, draw: Any) -> None:
    """Refuse a kept draw that does not fit the model and its documents."""
    need(isinstance(draw, TopicDraw) and sparse.issparse(draw.words), "a draw")
    need(isinstance(draw.documents, sparse.csr_array), "a draw's documents")
    n_words, n_topics = draw.words.shape
    n_rows, n_documents = len(frame.trials), frame.length.size
    n_tokens = int(frame.length.sum())
    need(isinstance(draw.words, sparse.csc_array), "a draw's words")
    need(n_words == frame.n_words and n_topics >= 1, "a draw's words")
    need(draw.documents.shape == (n_documents, n_topics), "a draw's documents")
    for counts in (draw.words, draw.documents):
        _places(counts.data, counts.data.shape, np.inf, "a draw's counts")
        need(counts.data.max(initial=0) <= n_tokens, "a draw's counts")
    need(draw.words.data.sum(dtype=np.int64) <= n_tokens, "a draw's words")
    need(draw.documents.data.sum(dtype=np.int64) == n_tokens, "a draw's documents")
    need(is_count(draw.chain) and is_count(draw.sweep), "a draw's place")
    _positive(draw.concentration, "a draw's concentration")
    _positive(draw.burstiness, "a draw's burstiness", zero=True)
    need(isinstance(draw.usage, Usage), "a draw's usage")
    for name, part in zip(Usage._fields, draw.usage, strict=True):
        _floats(part, (n_topics,), f"a draw's {name}", finite=name != "log_rest")
    need(np.all((draw.usage.q >= 0) & (draw.usage.q <= 1)), "a draw's q")
    need(np.all(draw.usage.shape > 0) and np.all(draw.usage.log_rest <= 0), "a draw's shape")
    _floats(draw.log_odds, (n_rows, n_topics), "a draw's log odds", finite=False)
    need(hasattr(draw.x, "_fields") and isinstance(draw.x[0], np.ndarray), "the curves")
    n_atoms = len(draw.x[0])
    need(n_topics - frame.n_background <= n_atoms <= n_topics, "the curves")
    _check_curves(frame, draw.x, n_atoms)
    need(draw.labels is not None or draw.burstiness == 0, "a draw without its tokens")
    if draw.labels is not None:
        _places(draw.labels, (n_tokens,), n_topics, "a draw's tokens")
    need(isinstance(draw.scalars, dict) and "n_topics" in draw.scalars, "a draw's numbers")
    for value in draw.scalars.values():
        need(isinstance(value, float) or is_count(value), "a draw's numbers")


def check_state(frame: Frame, state: Any) -> None:
    """Refuse a state that no sweep of this problem could have left."""
    need(isinstance(state, TopicState) and isinstance(state.shape, np.ndarray), "the state")
    need(state.shape.ndim == 1, "the state's shapes")
    n_topics, n_tokens = state.shape.size, int(frame.length.sum())
    n_words, n_documents = frame.n_words, frame.length.size
    need(n_topics >= frame.n_topics, "the number of topics")
    _places(state.topic, (n_tokens,), n_topics, "the tokens' topics")
    need(isinstance(state.theta, np.ndarray) and state.theta.dtype == np.float32, "the topics")
    need(state.theta.shape == (n_words, padded(n_topics)), "the topics")
    need(np.all(np.isfinite(state.theta) & (state.theta >= 0)), "the topics")
    _positive(state.concentration, "the concentration")
    _positive(state.burstiness, "the burstiness", zero=True)
    need(state.burstiness * MOST_SHAPE <= 1.0 + 1e-9, "the burstiness")
    _floats(state.shape, (n_topics,), "the state's shapes")
    need(np.all((state.shape > 0) & (state.shape <= MOST_SHAPE)), "the state's shapes")
    _floats(state.log_mass, (n_topics,), "the masses", finite=False)
    need(np.all(state.log_mass < np.log(frame.likelihood.support) + 1e-9), "the masses")
    need(isinstance(state.levy, LEVY) and type(state.levy) is type(frame.levy), "the masses' law")
    _check_curves(frame, state.x, n_topics - frame.n_background)
    _check_evidence(frame, state, n_topics)
    need(isinstance(state.usage, DocumentTopics), "the documents' topics")
    _places(state.usage.n_used, (n_documents,), np.inf, "the documents' topics")
    need(np.all(state.usage.n_used <= frame.length), "the documents' topics")
    _places(state.usage.topic, (n_tokens,), n_topics, "the documents' topics")
    _places(state.usage.size, (n_tokens,), n_tokens + 1, "the documents' topics")


def _check_evidence(frame: Frame, state: TopicState, n_topics: int) -> None:
    found, n_tokens = state.evidence, int(frame.length.sum())
    need(isinstance(found, TopicEvidence), "the counts")
    _places(found.counts, state.theta.shape, n_tokens + 1, "the counts")
    _places(found.positive, (len(frame.trials), n_topics), np.inf, "the counts")
    need(np.all(found.positive <= frame.trials[:, None]), "the counts")
    need(isinstance(found.above, np.ndarray) and found.above.ndim == 2, "the counts")
    _places(found.above, (len(found.above), n_topics), np.inf, "the counts")
    need(np.array_equal(found.trials, frame.trials), "the counts")
