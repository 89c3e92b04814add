"""A fitted topic model as ArviZ groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit

from thincrm.data.counts import CountMatrix
from thincrm.errors import check_count
from thincrm.inference.diagnostics import spread_rows
from thincrm.models.arviz_groups import Variables, scalar_groups, time_coordinates
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.tables import TopicTables
from thincrm.numerics.arrays import Float, Int

__all__ = ["topic_groups"]


def topic_groups(
    tables: TopicTables, counts: CountMatrix, n_words: int, n_times: int, seed: int
) -> dict[str, tuple[Variables, Mapping[str, Any]]]:
    """Return the groups of a topic model: see `TopicModel.to_arviz`."""
    known = tables.known
    posterior, stats, place_CS = scalar_groups(list(tables.draws), known)
    chains = {"chain": np.arange(place_CS.shape[0]), "draw": np.arange(place_CS.shape[1])}
    rows = spread_rows(len(known.rows), check_count("n_times", n_times))
    times = time_coordinates(known, rows)

    def kept(values_B: Float) -> Float:
        return np.asarray(values_B[place_CS], np.float32)

    opened_BTK = tables.aligned(lambda draw: _activation(draw, rows))
    posterior["activation"] = (("chain", "draw", "t", "topic"), kept(opened_BTK))
    total_BT = np.stack([_activation(draw, rows).sum(axis=1) for draw in tables.draws])
    posterior["total_activation_at"] = (("chain", "draw", "t"), kept(total_BT))
    share_BK = np.nan_to_num(tables.aligned(lambda draw: draw.shares))
    posterior["topic_share"] = (("chain", "draw", "topic"), kept(share_BK))
    words = np.unique(tables.top_words(n_words))
    theta_BWK = _thetas(tables, words, np.random.default_rng(seed))
    dims = ("chain", "draw", "topic", "word")
    posterior["word_probability"] = (dims, kept(np.swapaxes(theta_BWK, 1, 2)))
    shown = tables.vocabulary.to_numpy()[tables.top_words(3)].T
    coordinates = {
        **chains,
        "topic": np.arange(tables.n_topics),
        "topic_words": ("topic", np.array([" ".join(map(str, three)) for three in shown])),
        "word": tables.vocabulary[words].astype(str).to_numpy(str),
        **times,
    }
    length_D: Int = np.asarray(counts.sum(axis=1)).reshape(-1)
    tokens_T = np.bincount(known.row, length_D, len(known.rows))[rows].astype(np.int64)
    return {
        "posterior": (posterior, coordinates),
        "sample_stats": (stats, chains),
        "observed_data": ({"tokens": (("t",), tokens_T)}, times),
        "constant_data": ({"documents": (("t",), known.trials[rows])}, times),
    }


def _activation(draw: TopicDraw, rows: list[int]) -> Float:
    """Return the (T, K) activation at chosen rows; a static model has one for all."""
    log_odds = draw.log_odds
    return np.asarray(expit(log_odds[rows] if len(log_odds) > 1 else log_odds[[0] * len(rows)]))


def _thetas(tables: TopicTables, words: Int, rng: np.random.Generator) -> Float:
    """Return (B, W, K): the chosen words' probabilities, drawn jointly from the Dirichlet."""

    def drawn(draw: TopicDraw) -> Float:
        hits = draw.words[words].toarray() + draw.concentration
        total = draw.tokens + draw.concentration * draw.words.shape[0]
        mass = rng.standard_gamma(hits)
        rest = rng.standard_gamma(np.maximum(total - hits.sum(axis=0), 0.0))
        return np.asarray(mass / np.maximum(mass.sum(axis=0) + rest, 1e-300))

    return tables.aligned(drawn)
