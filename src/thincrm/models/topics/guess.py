"""First topics for all tokens: guessed on some documents, handed out to the rest."""

from __future__ import annotations

import numpy as np

from thincrm.data.counts import Tokens
from thincrm.models.topics.guess_kernel import guess_topics
from thincrm.models.topics.kernel import NO_COUNTS, Corpus, redraw_documents
from thincrm.models.topics.usage import Usage, padded, token_rates
from thincrm.numerics.streams import fresh_key
from thincrm.numerics.threads import map_blocks

__all__ = ["first_room", "first_topics", "some_documents"]

_MOST_TOKENS = 1_000_000  # guessed one by one at the price of all topics each
_WORK = 4_000_000  # tokens in all passes together, within 15 to 100 passes
_USAGE, _NEWNESS, _CONCENTRATION = 3.0, 0.015, 0.05
_EVEN_PASSES, _EVEN = 10, 0.1
_FEW, _SHARE = 20, 0.6  # topics to start with: at most so many, or a multiple of root tokens
_BLOCK = 4096


def first_room(documents: Tokens, n_topics: int) -> int:
    """Return how many topics a chain starts with: no more than the tokens are likely to ask for.

    A start takes all the topics it gets, and chains are slow to give them up. So what they find
    does not depend on the truncation where that is generous, and a generous one costs nothing.
    """
    return min(n_topics, max(_FEW, int(_SHARE * np.sqrt(documents.word.size))))


def first_topics(rng: np.random.Generator, documents: Tokens, n_topics: int) -> np.ndarray:
    """Return a topic for every token, below `first_room`."""
    kind = np.int16 if n_topics < 2**15 - 1 else np.int32
    n_topics = first_room(documents, n_topics)
    chosen_D = some_documents(rng, documents)
    some = documents if chosen_D.all() else _take(documents, chosen_D)
    topic = np.zeros(some.word.size, kind)
    n_passes = int(np.clip(_WORK // max(topic.size, 1), 15, 100))
    guess_topics(
        fresh_key(rng), n_passes, some.start, some.word, topic, n_topics, some.n_words,
        _USAGE, _NEWNESS * some.n_words, _CONCENTRATION, _EVEN_PASSES, _EVEN,
    )  # fmt: skip
    return topic if some is documents else _hand_out(rng, documents, some, topic, n_topics)


def some_documents(rng: np.random.Generator, documents: Tokens) -> np.ndarray:
    """Choose documents at random, up to as many tokens as are worth a guess: true if chosen."""
    length_D = np.diff(documents.start)
    order_D = rng.permutation(length_D.size)
    chosen_D = np.zeros(length_D.size, bool)
    chosen_D[order_D] = np.cumsum(length_D[order_D]) <= max(_MOST_TOKENS, length_D[order_D[:1]])
    return chosen_D


def _take(documents: Tokens, chosen_D: np.ndarray) -> Tokens:
    length_D = np.diff(documents.start)
    start = np.concatenate([[0], np.cumsum(length_D[chosen_D])])
    return Tokens(start, documents.word[np.repeat(chosen_D, length_D)], documents.n_words)


def _hand_out(
    rng: np.random.Generator, documents: Tokens, some: Tokens, guessed: np.ndarray, n_topics: int
) -> np.ndarray:
    """Give all tokens to the topics that some have, one after the other within a document."""
    theta = np.zeros((some.n_words, padded(n_topics + 1)), np.float32)
    np.add.at(theta, (some.word, guessed), 1.0)
    alive = theta[:, :n_topics].sum(axis=0) > 0
    theta[:, :n_topics][:, alive] += np.float32(_CONCENTRATION)
    theta /= np.maximum(theta.sum(axis=0), 1.0)
    usage = Usage(np.full(n_topics, _EVEN), np.full(n_topics, 0.5), np.full(n_topics, np.log(0.5)))
    longest = int(np.diff(documents.start).max())
    rates = token_rates(usage, np.full((1, n_topics), np.inf), theta, 0.0, longest)
    items = np.arange(documents.n_documents)
    row = np.zeros(items.size, np.int32)
    corpus = Corpus(items.astype(np.int32), row, items, documents.start, documents.word)
    topic = np.full(documents.word.size, n_topics, guessed.dtype)
    n_used, used = np.empty(items.size, np.int32), np.empty_like(topic)
    size = np.empty(topic.size, np.int32)
    key = fresh_key(rng)

    def work(first: int, stop: int) -> None:
        redraw_documents(first, stop, key, corpus, rates, topic, n_used, used, size, NO_COUNTS)

    map_blocks(work, items.size, _BLOCK)
    return topic
