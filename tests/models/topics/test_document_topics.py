"""What documents use, counted again document by document."""

from itertools import pairwise

import numpy as np
import pytest

from thincrm.data.counts import Tokens
from thincrm.models.topics.kernel import Corpus, count_documents
from thincrm.models.topics.usage_counts import DocumentTopics, UsageCounts, add_up, share_out
from thincrm.numerics.threads import using_threads


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_usages_of_short_and_long_documents(n_threads):
    rng, n_topics, length = np.random.default_rng(3), 4, np.array([3, 0, 700, 64, 130, 65, 1])
    topic = rng.choice(n_topics, length.sum(), p=[0.9, 0.05, 0.05, 0.0]).astype(np.int16)
    start, row = np.concatenate([[0], np.cumsum(length)]), np.array([0, 1, 1, 0, 2, 1, 2])
    documents = Tokens(start, np.zeros(topic.size, np.int32), 1)
    usage = DocumentTopics.empty(documents, topic.dtype)
    count_documents(start, topic, n_topics, *usage)
    packed = DocumentTopics.of(documents, topic, n_topics)
    assert packed.topic.size == packed.size.size == usage.n_used.sum()
    found_DK = np.zeros((length.size, n_topics), int)
    document, used, size = packed.pairs()
    found_DK[document, used] = size
    np.testing.assert_array_equal(packed.start, np.concatenate([[0], np.cumsum(packed.n_used)]))
    order = np.argsort(row, kind="stable")
    corpus = Corpus(order, row, np.arange(length.size), start, documents.word)
    with using_threads(n_threads):
        bounds = share_out(corpus)
    assert bounds[0] == 0
    assert bounds[-1] == length.size
    cuts, parts = list(pairwise(bounds)), []
    for of_a_thread in (cuts[::2], cuts[1::2]):
        part = UsageCounts.none(3, n_topics)
        for cut in of_a_thread:
            part = part.and_of(*cut, corpus, usage)
        parts.append(part)
    positive, above = add_up(parts)
    size_DK = np.array([
        np.bincount(topic[start[d] : start[d + 1]], minlength=n_topics) for d in range(length.size)
    ])  # fmt: skip
    np.testing.assert_array_equal(found_DK, size_DK)
    assert len(above) == size_DK.max() > 300
    for j, found in enumerate(above):
        np.testing.assert_array_equal(found, (size_DK > j).sum(0))
    for t in range(3):
        np.testing.assert_array_equal(positive[t], (size_DK[row == t] > 0).sum(0))
