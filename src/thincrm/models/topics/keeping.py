"""What is kept of a topic model's state: numbers for the trace, and draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from thincrm.inference.updates import log_odds_of
from thincrm.models.topics.draw import TopicDraw, document_topics
from thincrm.models.topics.joint import log_joint
from thincrm.models.topics.state import TopicLocal, TopicProblem, TopicShard, TopicState
from thincrm.models.topics.sweep import usage_of
from thincrm.models.topics.usage_counts import DocumentTopics
from thincrm.numerics.arrays import Int
from thincrm.numerics.on_disk import DiskArray

__all__ = ["draw_bytes", "keep", "numbers_of"]

_LARGE = 0.005  # of all tokens
_MANY = 2**25  # tokens whose topics a draw keeps on disk


def numbers_of(state: TopicState) -> dict[str, float]:
    """Return label-free parameters of a state."""
    found = {
        "concentration": state.own.concentration,
        "shape": float(np.mean(state.own.shape)),
        "burstiness": state.own.burstiness,
    }
    for name in ("mass", "rate", "discount"):
        if hasattr(state.levy, name):
            found[name] = float(getattr(state.levy, name))
    return found


@dataclass(frozen=True, slots=True)
class _Kept:
    rank_K: np.ndarray
    bursty: bool


class _Part(NamedTuple):
    """What a draw keeps of a shard's documents, in types that are as small as they may be."""

    n_used: np.ndarray
    topic: np.ndarray
    size: np.ndarray
    labels: np.ndarray | None
    level: np.ndarray | None


class _Documents(NamedTuple):
    """What a draw keeps of all documents, or of what they have in common."""

    topics: sparse.csr_array
    labels: np.ndarray | None = None
    level: np.ndarray | None = None


def _part(shard: TopicShard, local: TopicLocal, kept: _Kept) -> _Part:
    used = DocumentTopics.of(shard.tokens, local.topic, kept.rank_K.size)
    rank_K = kept.rank_K.astype(local.topic.dtype)
    size = used.size.astype(np.min_scalar_type(used.size.max(initial=0)))
    labels = rank_K[local.topic] if kept.bursty else None
    return _Part(used.n_used, rank_K[used.topic], size, labels, local.level)


class _Joined:
    """The arrays of all shards as one, of the first one's kind if none is given; maybe on disk."""

    def __init__(self, on_disk: bool, kind: DTypeLike | None) -> None:
        self._on_disk, self._kind = on_disk, kind
        self._parts = list[np.ndarray]()
        self._away: DiskArray | None = None

    def append(self, part: np.ndarray | None) -> None:
        """Add the array of the next shard, if there is one."""
        if part is None:
            return
        self._kind = part.dtype if self._kind is None else self._kind
        if self._on_disk:
            self._away = DiskArray(self._kind) if self._away is None else self._away
            self._away.append(part)
        else:
            self._parts.append(part.astype(self._kind))

    def whole(self) -> Any:
        """Return the array of all shards; None: there is none."""
        if self._away is not None:
            return self._away.mapped()
        return np.concatenate(self._parts) if self._parts else None


def _documents(problem: TopicProblem, state: TopicState, used: Int) -> _Documents:
    """Return what is kept of documents: fetched from one shard after another."""
    rank_K = np.full(problem.n_atoms, -1, np.int32)
    rank_K[used] = np.arange(used.size)
    message, many = _Kept(rank_K, state.own.burstiness > 0.0), problem.facts.n_tokens > _MANY
    kinds = (False, None), (many, np.int32), (many, np.int32), (many, None), (False, None)
    found = [_Joined(*kind) for kind in kinds]
    for part in problem.engine.each(_part, problem.shards, state.local, message):
        for whole, more in zip(found, part, strict=True):
            whole.append(more)
    n_used, topic, size, labels, level = (whole.whole() for whole in found)
    return _Documents(document_topics(n_used, topic, size, used.size), labels, level)


def _keeps_documents(problem: TopicProblem, sweep: int) -> bool:
    chosen = problem.facts.document_sweeps
    return chosen is None or sweep in chosen


def draw_bytes(problem: TopicProblem, state: TopicState, sweep: int) -> tuple[int, int]:
    """Return how large a draw of this state would be, and how much of it in memory."""
    seen, n_rows = state.evidence, len(problem.trials)
    used = int((seen.total > 0).sum())
    parts = [(8, int(np.count_nonzero(seen.counts))), (16, n_rows * used)]
    if _keeps_documents(problem, sweep):
        n_labels = problem.facts.n_tokens if state.own.burstiness > 0.0 else 0
        parts += [(8, int(seen.positive.sum())), (4, int(problem.trials.sum())), (2, n_labels)]
    return sum(b * n for b, n in parts), sum(b * n for b, n in parts if n <= _MANY)


def keep(problem: TopicProblem, state: TopicState, chain: int, sweep: int) -> TopicDraw:
    """Return the draw of a state, without the topics that hold no token."""
    own, total = state.own, state.evidence.total
    used = np.flatnonzero(total > 0)
    if _keeps_documents(problem, sweep):
        documents = _documents(problem, state, used)
    else:
        documents = _Documents(sparse.csr_array(total[None, used].astype(np.int32)))
    thinned = used[used >= problem.n_background] - problem.n_background
    more = {
        "n_topics": used.size,
        "n_large_topics": int((total >= _LARGE * total.sum()).sum()),
        "max_topics": problem.n_atoms,
        "log_joint": log_joint(problem, state),
    }
    return TopicDraw(
        chain=chain,
        sweep=sweep,
        words=sparse.csc_array(state.evidence.of(used)),
        concentration=own.concentration,
        usage=usage_of(problem, state).of(used),
        log_odds=log_odds_of(problem, state.x)[:, used],
        x=type(state.x)(*(part[thinned] for part in state.x)),
        documents=documents.topics,
        scalars={**more, **numbers_of(state)},
        burstiness=own.burstiness,
        labels=documents.labels,
        level=documents.level,
    )
