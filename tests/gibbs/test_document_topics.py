"""What documents use, counted again document by document."""

import numpy as np
import pytest

from thincrm.data.counts import Tokens
from thincrm.gibbs.document_topics import DocumentTopics
from thincrm.likelihood.documents import count_documents
from thincrm.numerics.threads import using_threads


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_usages_of_short_and_long_documents(n_threads):
    rng, n_topics, length = np.random.default_rng(3), 4, np.array([3, 0, 700, 64, 130, 65, 1])
    topic = rng.choice(n_topics, length.sum(), p=[0.9, 0.05, 0.05, 0.0]).astype(np.int16)
    start, row = np.concatenate([[0], np.cumsum(length)]), np.array([0, 1, 1, 0, 2, 1, 2])
    documents = Tokens(start, np.zeros(topic.size, np.int32), 1)
    usage = DocumentTopics.empty(documents, topic.dtype)
    count_documents(start, documents.word, topic, *usage, np.zeros((1, 16), np.int32))
    with using_threads(n_threads):
        positive, above = usage.add_up(documents, row, 3, n_topics)
    size_DK = np.array([
        np.bincount(topic[start[d] : start[d + 1]], minlength=n_topics) for d in range(length.size)
    ])  # fmt: skip
    assert len(above) == size_DK.max() > 300
    for j, found in enumerate(above):
        np.testing.assert_array_equal(found, (size_DK > j).sum(0))
    for t in range(3):
        np.testing.assert_array_equal(positive[t], (size_DK[row == t] > 0).sum(0))
