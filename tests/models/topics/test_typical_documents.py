"""Documents of topics, block by block, against loops over all of them at once."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from thincrm.data import counts
from thincrm.models.topics.typical import count_documents, typical_documents

N_DOCUMENTS, N_TOPICS = 200, 6


@pytest.fixture(params=[7, 64, 10_000])
def draw(request, monkeypatch):
    """A draw whose shares are often equal, looked at in blocks of several sizes."""
    monkeypatch.setattr(counts, "_ROWS", request.param)
    rng = np.random.default_rng(2)
    table = rng.integers(0, 3, (N_DOCUMENTS, N_TOPICS)) * (rng.random((N_DOCUMENTS, 1)) < 0.9)
    table[:, 4] = 0
    documents = sparse.csr_array(table.astype(np.int32))
    return SimpleNamespace(documents=documents, words=np.zeros((3, N_TOPICS)))


def plainly(draw, topic, inside, most):
    table = draw.documents.toarray()
    share = {d: table[d, topic] / table[d].sum() for d in inside if table[d, topic]}
    return [(d, share[d]) for d in sorted(share, key=lambda d: (-share[d], d))[:most]]


def test_tokens_and_documents_are_counted(draw):
    tokens, documents = count_documents(draw)
    np.testing.assert_array_equal(tokens, draw.documents.toarray().sum(axis=0))
    np.testing.assert_array_equal(documents, (draw.documents.toarray() > 0).sum(axis=0))


@pytest.mark.parametrize("most", [1, 3, 500])
def test_the_largest_shares_are_typical(draw, most):
    period = np.random.default_rng(3).integers(0, 4, N_DOCUMENTS)
    topics = np.array([5, 0, 4, 2])
    found = typical_documents(draw, topics, lambda i, j: period[i:j], 4, most)
    rows = iter(zip(*found, strict=True))
    for number, topic in enumerate(topics):
        for part in range(4):
            inside = np.flatnonzero(period == part)
            for rank, (d, share) in enumerate(plainly(draw, topic, inside, most), 1):
                assert next(rows) == (number, part, rank, d, share)
    assert next(rows, None) is None
