"""First topics for all tokens: guessed on some documents, handed out to the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thincrm.data.counts import Tokens
from thincrm.models.topics.first_guess import guess_topics
from thincrm.models.topics.kernel import Corpus, Rates, redraw_documents
from thincrm.models.topics.state import TopicProblem, TopicShard
from thincrm.models.topics.tally import NO_TALLY
from thincrm.models.topics.usage import Usage, padded, token_rates
from thincrm.models.topics.usage_counts import DocumentTopics
from thincrm.numerics.arrays import Bool, Int
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.threads import map_blocks
from thincrm.numerics.waiting import now

__all__ = [
    "FIRST_CONCENTRATION",
    "MOST_TOKENS",
    "Sample",
    "first_room",
    "first_topics",
    "lengths_of",
    "some_documents",
]

MOST_TOKENS = 1_000_000  # guessed one by one at the price of all topics each
FIRST_CONCENTRATION = 0.05  # where it is learned
_USAGE = 0.1  # of every topic, where topics are handed out
_FEW, _SHARE = 20, 0.19  # topics to start with: at most so many, or a multiple of root tokens
_BLOCK = 4096


class Sample(NamedTuple):
    """Some of the documents of all shards, in their order."""

    documents: Tokens
    whole: bool  # these are all documents

    @classmethod
    def joined(cls, parts: list[Sample]) -> Sample:
        """Return the documents of all shards as one sample."""
        if len(parts) == 1:
            return parts[0]
        ends = np.cumsum([0, *(part.documents.word.size for part in parts)])
        starts = [part.documents.start[1:] + end for part, end in zip(parts, ends, strict=False)]
        word = np.concatenate([part.documents.word for part in parts])
        documents = Tokens(np.concatenate([[0], *starts]), word, parts[0].documents.n_words)
        return cls(documents, all(part.whole for part in parts))


def first_room(n_tokens: int, n_topics: int) -> int:
    """Return how many topics a chain starts with: no more than the tokens are likely to ask for.

    A start takes all the topics it gets, and chains are slow to give them up. So what they find
    does not depend on the truncation where that is generous, and a generous one costs nothing.
    """
    return min(n_topics, max(_FEW, int(_SHARE * np.sqrt(n_tokens))))


def lengths_of(problem: TopicProblem) -> Int:
    """Return the (D,) tokens of every document."""
    nothing = (None,) * len(problem.shards)
    parts = problem.engine.map(_lengths, problem.shards, nothing, None)[1]
    return np.concatenate(parts)


def _lengths(shard: TopicShard, local: None, message: None) -> tuple[None, Int]:
    return None, np.diff(shard.tokens.start)


def some_documents(rng: np.random.Generator, length_D: Int, most_tokens: int = MOST_TOKENS) -> Bool:
    """Choose documents at random, up to as many tokens as are worth a guess: true if chosen."""
    order_D = rng.permutation(length_D.size)
    chosen_D = np.zeros(length_D.size, bool)
    longest = max(most_tokens, int(length_D[order_D[:1]].sum()))
    chosen_D[order_D] = np.cumsum(length_D[order_D]) <= longest
    return chosen_D


def take(documents: Tokens, chosen_D: Bool) -> Tokens:
    """Return some of the documents."""
    if chosen_D.all():
        return documents
    length_D = np.diff(documents.start)
    start = np.concatenate([[0], np.cumsum(length_D[chosen_D])])
    return Tokens(start, documents.word[np.repeat(chosen_D, length_D)], documents.n_words)


def _sampled(shard: TopicShard, local: None, chosen_D: Bool) -> tuple[None, Sample]:
    here_D = chosen_D[shard.first : shard.first + shard.row.size]
    return None, Sample(take(shard.tokens, here_D), bool(here_D.all()))


@dataclass(frozen=True, slots=True)
class _Handout:
    key: np.uint64
    rates: Rates
    n_topics: int
    kind: str


def first_topics(
    rng: np.random.Generator, problem: TopicProblem, most_tokens: int = MOST_TOKENS
) -> tuple[np.ndarray, ...]:
    """Return, per shard, a topic for every token, below `first_room`."""
    n_topics, likelihood = first_room(problem.facts.n_tokens, problem.n_atoms), problem.likelihood
    chosen_D = some_documents(rng, lengths_of(problem), most_tokens)
    nothing = (None,) * len(problem.shards)
    some = Sample.joined(problem.engine.map(_sampled, problem.shards, nothing, chosen_D)[1])
    concentration = likelihood.concentration or FIRST_CONCENTRATION
    topic = guess_topics(rng, some.documents, n_topics, concentration)
    if some.whole:
        n_tokens = problem.engine.map(_n_tokens, problem.shards, nothing, None)[1]
        return tuple(np.split(topic, np.cumsum(n_tokens)[:-1]))
    rates = _guessed_rates(some.documents, topic, n_topics, concentration, problem.facts.longest)
    now("handing out first topics")
    message = _Handout(fresh_key(rng), rates, n_topics, topic.dtype.name)
    return problem.engine.map(_hand_out, problem.shards, nothing, message)[0]


def _n_tokens(shard: TopicShard, local: None, message: None) -> tuple[None, int]:
    return None, shard.tokens.word.size


def _guessed_rates(
    some: Tokens, guessed: np.ndarray, n_topics: int, concentration: float, longest: int
) -> Rates:
    """Return the weights of tokens in the topics that some have."""
    theta = np.zeros((some.n_words, padded(n_topics + 1)), np.float32)
    np.add.at(theta, (some.word, guessed), 1.0)
    alive = theta[:, :n_topics].sum(axis=0) > 0
    theta[:, :n_topics][:, alive] += np.float32(concentration)
    theta /= np.maximum(theta.sum(axis=0), 1.0)
    usage = Usage(np.full(n_topics, _USAGE), np.full(n_topics, 0.5), np.full(n_topics, np.log(0.5)))
    return token_rates(usage, np.full((1, n_topics), np.inf), theta, 0.0, longest)


def _hand_out(shard: TopicShard, local: None, message: _Handout) -> tuple[np.ndarray, None]:
    """Give all tokens to the topics that some have, one after the other within a document."""
    documents, n_documents = shard.tokens, shard.row.size
    row = np.zeros(n_documents, np.int32)
    order = np.arange(n_documents, dtype=np.int32)
    corpus = Corpus(order, row, shard.items, documents.start, documents.word)
    topic = np.full(documents.word.size, message.n_topics, message.kind)

    def work(first: int, stop: int) -> None:
        room = DocumentTopics.unkept(topic.dtype)
        redraw_documents(first, stop, message.key, corpus, message.rates, topic, *room, NO_TALLY)

    map_blocks(work, n_documents, _BLOCK)
    return topic, None
