"""Models to stand beside ours: the unigram, and tomotopy's LDA and HDP where it is installed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from thincrm.data.counts import CountMatrix
from thincrm.experiments.settings import Settings
from thincrm.numerics.arrays import Float, Int

__all__ = [
    "Score", "has_tomotopy", "heldout_shares", "late_samples", "other_models", "perplexity_of",
]  # fmt: skip

SIZES = (50, 100, 200, 300)
PRIORS = (0.01, 0.1)  # eta, of the words of a topic; tomotopy learns alpha only
_QUICK_SIZES = (20,)
_LARGE = 0.005


class Score(NamedTuple):
    """How a model did on held-out words."""

    perplexity: float
    error: float
    topics: float
    large_topics: float
    seconds: float


def has_tomotopy() -> bool:
    """Tell whether tomotopy can be imported."""
    try:
        import tomotopy  # noqa: F401, PLC0415 - stands beside, is not needed
    except ImportError:
        return False
    return True


def late_samples(sweeps: int) -> int:
    """Return how many samples LDA and HDP are averaged over, evenly spaced in the second half."""
    return min(100, sweeps - sweeps // 2)


def other_models(
    train: CountMatrix, heldout: CountMatrix, settings: Settings, seed: int
) -> Iterator[tuple[str, Score]]:
    """Yield the names and scores of the models that are not ours."""
    yield "unigram", _unigram(train, heldout)
    if not has_tomotopy():
        return
    import tomotopy  # noqa: PLC0415

    sizes = _QUICK_SIZES if settings.quick else SIZES
    for n_topics, eta in product(sizes, PRIORS):
        model = tomotopy.LDAModel(k=n_topics, alpha=0.1, eta=eta, seed=seed)
        model.optim_interval = 10
        name = f"LDA {n_topics}, eta {eta:g}"
        yield name, _tomotopy(model, train, heldout, settings.sweeps)
    for eta in PRIORS:
        model = tomotopy.HDPModel(initial_k=10, alpha=0.1, gamma=0.1, eta=eta, seed=seed)
        model.optim_interval = 10
        yield f"HDP, eta {eta:g}", _tomotopy(model, train, heldout, settings.sweeps)


def _unigram(train: CountMatrix, heldout: CountMatrix) -> Score:
    """Score the corpus's own word frequencies, one added to every count."""
    start = time.perf_counter()
    frequency = np.asarray(train.sum(axis=0)) + 1.0
    rate = (frequency / frequency.sum())[heldout.indices]
    return Score(perplexity_of(rate, heldout), np.nan, 1.0, 1.0, time.perf_counter() - start)


def perplexity_of(rate_C: Float, heldout: CountMatrix) -> float:
    """Return exp(-sum y log f / sum y), `f` being the shares of the held-out cells."""
    return float(np.exp(-(heldout.data * np.log(rate_C)).sum() / heldout.data.sum()))


def _tomotopy(model: Any, train: CountMatrix, heldout: CountMatrix, sweeps: int) -> Score:
    """Fit a model of tomotopy and score it."""
    start = time.perf_counter()
    rate_C, used, large = heldout_shares(model, train, heldout, sweeps)
    return Score(perplexity_of(rate_C, heldout), np.nan, used, large, time.perf_counter() - start)


def heldout_shares(
    model: Any, train: CountMatrix, heldout: CountMatrix, sweeps: int
) -> tuple[Float, float, float]:
    """Fit a model of tomotopy; return shares of held-out cells, topics in use and large ones.

    f_dp = mean over samples of theta_d phi_p. Document and topic distributions sum to 1, so that
    this is the ratio of sums that ours is.
    """
    place_D = _add_documents(model, train)
    n_samples = late_samples(sweeps)
    document = np.repeat(np.arange(heldout.shape[0]), np.diff(heldout.indptr))
    rate_C = np.zeros(heldout.nnz)
    used, large = [], []
    for sample in range(n_samples):
        until = sweeps - (n_samples - 1 - sample) * ((sweeps - sweeps // 2) // n_samples)
        model.train(until - model.global_step, workers=1)  # one worker: the same seed, same bits
        rate_C += _shares(model, place_D, train.shape[1])[document, heldout.indices]
        tokens = np.asarray(model.get_count_by_topics())
        used.append((tokens > 0).sum())
        large.append((tokens >= _LARGE * tokens.sum()).sum())
    return rate_C / n_samples, float(np.mean(used)), float(np.mean(large))


def _add_documents(model: Any, train: CountMatrix) -> np.ndarray:
    """Add the documents that have words, as tomotopy drops others; return the place of each."""
    length_D: Int = np.asarray(train.sum(axis=1))
    for row in np.flatnonzero(length_D):
        cells = slice(train.indptr[row], train.indptr[row + 1])
        model.add_doc(np.repeat(train.indices[cells], train.data[cells]).astype(str).tolist())
    return np.where(length_D > 0, np.cumsum(length_D > 0) - 1, -1)


def _shares(model: Any, place_D: np.ndarray, n_words: int) -> Float:
    """Return the (D, P) word distributions of the documents in the model's present state."""
    topics_DK = np.array([doc.get_topic_dist(normalize=False) for doc in model.docs], float)
    if hasattr(model, "live_k"):  # HDP's are counts, without the prior's alpha times topic shares
        tokens_K = np.asarray(model.get_count_by_topics(), float)
        topics_DK += model.alpha * tokens_K / tokens_K.sum()
    topics_DK /= topics_DK.sum(axis=1, keepdims=True)
    average = topics_DK.mean(axis=0)
    topics_DK = np.where(place_D[:, None] >= 0, topics_DK[np.maximum(place_D, 0)], average)
    known = np.array(list(model.used_vocabs), int)
    words_KP = np.full((model.k, n_words), model.eta)  # a word never seen has its prior only
    for topic in range(model.k):
        words_KP[topic, known] = model.get_topic_word_dist(topic, normalize=False)
    return np.asarray(topics_DK @ (words_KP / words_KP.sum(axis=1, keepdims=True)))
