"""What must hold of the draws and states of a topic model that were read from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from thincrm.data.counts import Tokens
from thincrm.files.checks import floats, is_count, need, places, positive
from thincrm.models.codec import LEVY
from thincrm.models.file_checks import check_scalars
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.likelihood import CountFactor
from thincrm.models.topics.state import TopicGlobals, TopicLocal, TopicState
from thincrm.models.topics.usage import MOST_SHAPE, TopicEvidence, Usage, padded
from thincrm.numerics.arrays import Int
from thincrm.numerics.on_disk import pieces
from thincrm.ports import LevyMeasure, State
from thincrm.thinning.member import ThinningFunction

__all__ = ["Frame", "check_draw", "check_state"]

_TOPIC_TYPES = (np.int16, np.int32)  # those that loops are compiled for


@dataclass(frozen=True, slots=True)
class Frame:
    """The factors and sizes that draws and states must fit."""

    levy: LevyMeasure
    thinning: ThinningFunction
    likelihood: CountFactor
    prepared: object
    n_topics: int
    n_background: int
    n_words: int
    length: Int  # D: tokens of each document
    trials: Int  # T: documents at each row


def check_draw(frame: Frame, draw: Any) -> None:
    """Refuse a kept draw that does not fit the model and its documents."""
    need(isinstance(draw, TopicDraw) and sparse.issparse(draw.words), "a draw")
    need(isinstance(draw.documents, sparse.csr_array), "a draw's documents")
    n_words, n_topics = draw.words.shape
    n_rows, n_documents = len(frame.trials), frame.length.size
    n_tokens = int(frame.length.sum())
    need(isinstance(draw.words, sparse.csc_array), "a draw's words")
    need(n_words == frame.n_words and n_topics >= 1, "a draw's words")
    light = draw.documents.shape[0] == 1 < n_documents  # of all documents together
    need(draw.documents.shape == (1 if light else n_documents, n_topics), "a draw's documents")
    for counts in (draw.words, draw.documents):
        places(counts.data, counts.data.shape, n_tokens + 1, "a draw's counts")
        need(counts.data.dtype == np.int32, "a draw's counts")
    need(_total(draw.words.data) <= n_tokens, "a draw's words")
    need(_total(draw.documents.data) == n_tokens, "a draw's documents")
    need(is_count(draw.chain) and is_count(draw.sweep), "a draw's place")
    positive(draw.concentration, "a draw's concentration")
    positive(draw.burstiness, "a draw's burstiness", zero=True)
    need(isinstance(draw.usage, Usage), "a draw's usage")
    n_levels = frame.likelihood.n_levels
    like_q = (n_levels, 1) if n_levels else (n_topics,)
    floats(draw.usage.shape, (n_topics,), "a draw's shape")
    floats(draw.usage.q, like_q, "a draw's q")
    floats(draw.usage.log_rest, like_q, "a draw's log_rest")
    need(np.all((draw.usage.q >= 0) & (draw.usage.log_rest <= 0)), "a draw's q")
    need(np.allclose(draw.usage.q, -np.expm1(draw.usage.log_rest), 0.0, 1e-9), "a draw's q")
    _check_levels(frame, draw.level, draw.usage.log_share, light=light)
    most = np.inf if n_levels else MOST_SHAPE
    need(np.all((draw.usage.shape > 0) & (draw.usage.shape <= most)), "a draw's shape")
    floats(draw.log_odds, (n_rows, n_topics), "a draw's log odds", finite=False)
    need(hasattr(draw.x, "_fields") and isinstance(draw.x[0], np.ndarray), "the curves")
    n_atoms = len(draw.x[0])
    need(n_topics - frame.n_background <= n_atoms <= n_topics, "the curves")
    frame.thinning.check(draw.x, frame.prepared, n_atoms)
    need(draw.labels is not None or draw.burstiness == 0 or light, "a draw without its tokens")
    need(draw.labels is None or not light, "a draw's tokens")
    if draw.labels is not None:
        places(draw.labels, (n_tokens,), n_topics, "a draw's tokens")
        need(draw.labels.dtype in _TOPIC_TYPES, "a draw's tokens")
    check_scalars(draw.scalars, "n_topics")


def _total(counts: np.ndarray) -> int:
    return sum(int(part.sum(dtype=np.int64)) for part in pieces(counts))


def _check_levels(frame: Frame, level: Any, log_share: Any, *, light: bool = False) -> None:
    """Refuse levels of documents, or shares of levels, that the likelihood does not have."""
    n_levels = frame.likelihood.n_levels
    if n_levels == 0:
        need(level is None and log_share is None, "the documents' levels")
        return
    if light:
        need(level is None, "the documents' levels")
    else:
        places(level, frame.length.shape, n_levels, "the documents' levels")
    floats(log_share, (n_levels,), "the shares of the levels")
    need(np.all(log_share <= 0), "the shares of the levels")


def check_state(frame: Frame, state: Any, shards: Sequence[Tokens]) -> None:
    """Refuse a state that no sweep of this problem could have left."""
    need(isinstance(state, State) and isinstance(state.own, TopicGlobals), "the state")
    own = state.own
    need(isinstance(own.shape, np.ndarray) and own.shape.ndim == 1, "the state's shapes")
    n_topics = own.shape.size
    need(n_topics >= frame.n_topics, "the number of topics")
    need(isinstance(own.theta, np.ndarray) and own.theta.dtype == np.float32, "the topics")
    _check_seats(own.seats, n_topics)
    need(own.theta.shape == (frame.n_words, padded(own.seats.size)), "the topics")
    need(np.all(np.isfinite(own.theta) & (own.theta >= 0)), "the topics")
    need(own.asleep is None, "the topics asleep")
    positive(own.concentration, "the concentration")
    positive(own.burstiness, "the burstiness", zero=True)
    floats(own.shape, (n_topics,), "the state's shapes")
    need(np.all((own.shape > 0) & (own.shape <= MOST_SHAPE)), "the state's shapes")
    floats(state.log_mass, (n_topics,), "the masses", finite=False)
    need(np.all(state.log_mass < np.log(frame.likelihood.support) + 1e-9), "the masses")
    need(isinstance(state.levy, LEVY) and type(state.levy) is type(frame.levy), "the masses' law")
    frame.thinning.check(state.x, frame.prepared, n_topics - frame.n_background)
    need(isinstance(state.local, tuple) and len(state.local) == len(shards), "the documents")
    for local, documents in zip(state.local, shards, strict=True):
        _check_local(frame, local, documents, own.log_share, n_topics)
    _check_evidence(frame, state, n_topics)


def _check_local(
    frame: Frame, local: Any, documents: Tokens, log_share: Any, n_topics: int
) -> None:
    need(isinstance(local, TopicLocal), "the documents")
    length, n_tokens = np.diff(documents.start), documents.word.size
    places(local.topic, (n_tokens,), n_topics, "the tokens' topics")
    _check_levels(replace(frame, length=length), local.level, log_share)
    # any other type would take a minute of compiling
    need(local.topic.dtype in _TOPIC_TYPES, "the tokens' topics")


def _check_seats(seats: Any, n_topics: int) -> None:
    """Refuse columns that are not of different topics."""
    need(isinstance(seats, np.ndarray) and seats.ndim == 1, "the topics that take part")
    places(seats, seats.shape, n_topics, "the topics that take part")
    need(np.unique(seats).size == seats.size, "the topics that take part")


def _check_evidence(frame: Frame, state: TopicState, n_topics: int) -> None:
    found, n_tokens = state.evidence, int(frame.length.sum())
    n_levels = max(1, frame.likelihood.n_levels)
    need(isinstance(found, TopicEvidence), "the counts")
    _check_seats(found.seats, n_topics)
    places(found.counts, (frame.n_words, padded(found.seats.size)), n_tokens + 1, "the counts")
    places(found.trials, (len(frame.trials) * n_levels,), np.inf, "the counts")
    trials_TB = found.trials.reshape(-1, n_levels)
    need(np.array_equal(trials_TB.sum(axis=1), frame.trials), "the counts")
    places(found.positive, (found.trials.size, n_topics), np.inf, "the counts")
    need(np.all(found.positive <= found.trials[:, None]), "the counts")
    need(isinstance(found.above, np.ndarray) and found.above.ndim == 2, "the counts")
    places(found.above, (len(found.above), n_topics), np.inf, "the counts")
    need(isinstance(found.long, np.ndarray) and found.long.shape[:1] == (2,), "the counts")
    places(found.long[0], found.long.shape[1:], n_topics, "the counts")
    places(found.long[1], found.long.shape[1:], n_tokens + 1, "the counts")
    used = np.flatnonzero(found.total)
    need(np.isin(used, found.seats).all() and np.isin(used, state.own.seats).all(), "the counts")
