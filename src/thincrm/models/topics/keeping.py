"""What is kept of a topic model's state: numbers for the trace, and draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from thincrm.inference.updates import log_odds_of
from thincrm.models.topics.draw import TopicDraw, document_topics
from thincrm.models.topics.joint import log_joint
from thincrm.models.topics.state import TopicLocal, TopicProblem, TopicShard, TopicState
from thincrm.models.topics.sweep import usage_of
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
    """What a draw keeps of a shard's documents."""

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


def _part(shard: TopicShard, local: TopicLocal, kept: _Kept) -> tuple[TopicLocal, _Part]:
    _, topic, size = local.usage.pairs()
    labels = kept.rank_K[local.topic].astype(local.topic.dtype) if kept.bursty else None
    return local, _Part(local.usage.n_used, kept.rank_K[topic], size, labels, local.level)


def _joined(arrays: list[np.ndarray | None]) -> np.ndarray | None:
    found = [array for array in arrays if array is not None]
    if not found:
        return None
    if sum(array.size for array in found) > _MANY:
        away = DiskArray(found[0].dtype)
        for array in found:
            away.append(array)
        return away.mapped()
    return found[0] if len(found) == 1 else np.concatenate(found)


def _documents(problem: TopicProblem, state: TopicState, used: Int) -> _Documents:
    """Return what is kept of documents: fetched from all shards."""
    rank = np.full(problem.n_atoms, -1, np.int32)
    rank[used] = np.arange(used.size)
    message = _Kept(rank, state.own.burstiness > 0.0)
    _, parts = problem.engine.map(_part, problem.shards, state.local, message)
    n_used, topic, size = [
        np.concatenate(part) for part in zip(*(p[:3] for p in parts), strict=True)
    ]
    return _Documents(
        document_topics(n_used, topic, size, used.size),
        _joined([part.labels for part in parts]),
        _joined([part.level for part in parts]),
    )


def _keeps_documents(problem: TopicProblem, sweep: int) -> bool:
    chosen = problem.facts.document_sweeps
    return chosen is None or sweep in chosen


def draw_bytes(problem: TopicProblem, state: TopicState, sweep: int) -> int:
    """Return how large a draw of this state would be, without making it."""
    seen, n_rows = state.evidence, len(problem.trials)
    used = int((seen.total > 0).sum())
    size = 8 * int(np.count_nonzero(seen.counts)) + 16 * n_rows * used
    if _keeps_documents(problem, sweep):
        size += 8 * int(seen.positive.sum()) + 4 * int(problem.trials.sum())
        size += 2 * problem.facts.n_tokens if state.own.burstiness > 0.0 else 0
    return size


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
