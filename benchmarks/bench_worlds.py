"""Do 90 % bands hold the truth? Worlds drawn from the topic model, fitted with default settings.

    python benchmarks/bench_worlds.py [--worlds 8] [--first 0]

Everything is drawn from its prior: mass and rate of the gamma process, shape of the usages, urn of
bursty words, then masses, curves, topics, and 144 documents at 12 times. Worlds with too few or too
many words are passed over: that depends on the data alone, so that given the data the truth is
still a draw of the posterior, and bands of 90 % hold it nine times of ten. Each firm topic is held
against the true one that most of its words come from. 40 worlds take ten minutes on one core.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit

import thincrm as tc
from thincrm.levy.learning import PRIORS
from thincrm.models.topics.factors.poisson import SHAPE_PRIOR
from thincrm.models.topics.usage import MOST_SHAPE
from thincrm.models.topics.words import URN_LAW

TIMES, AT_EACH, WORDS, ROOM = 12, 12, 200, 200
FEWEST, MOST = 4_000, 16_000  # words of a world
CONCENTRATION = 0.1  # of detail="medium"
ROW = np.repeat(np.arange(TIMES), AT_EACH)


class World(NamedTuple):
    """The true topics that hold a word, and the documents."""

    theta_PK: np.ndarray
    opened_TK: np.ndarray
    share_TK: np.ndarray
    counts_DP: np.ndarray
    label_N: np.ndarray  # of each word, by documents, then words


def draw_world(rng: np.random.Generator) -> World:
    """Draw from the prior until there are as many words as wanted."""
    while True:
        rate_TK, opened_TK, size_DK, urn = _draw_sizes(rng)
        if FEWEST <= size_DK.sum() <= MOST:
            break
    held = np.flatnonzero(size_DK.any(axis=0))
    theta_KP = rng.dirichlet(np.full(WORDS, CONCENTRATION), held.size)
    document, topic = np.nonzero(size_DK[:, held])
    size = size_DK[:, held][document, topic]
    found = [_words(rng, n, theta_KP[k], urn) for n, k in zip(size, topic, strict=True)]
    document_N, topic_N, word_N = (
        np.repeat(document, size),
        np.repeat(topic, size),
        np.hstack(found),
    )
    counts_DP = np.zeros((ROW.size, WORDS), np.int64)
    np.add.at(counts_DP, (document_N, word_N), 1)
    label_N = topic_N[np.lexsort((word_N, document_N))]
    share_TK = rate_TK / rate_TK.sum(axis=1, keepdims=True)
    return World(theta_KP.T, opened_TK[:, held], share_TK[:, held], counts_DP, label_N)


def _draw_sizes(
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Draw the (T, K) rates and activations, the (D, K) words of topics, and the urn."""
    gamma = {name: rng.gamma(a, 1.0 / b) for name, (a, b) in PRIORS._asdict().items()}
    shape, urn = MOST_SHAPE, 0.0
    while shape >= MOST_SHAPE:
        shape = rng.gamma(SHAPE_PRIOR[0], 1.0 / SHAPE_PRIOR[1])
    while urn < URN_LAW.least:
        urn = rng.gamma(URN_LAW.shape, 1.0 / URN_LAW.rate)
    levy, curves = tc.GammaProcess(gamma["mass"], gamma["rate"]), tc.SigmoidGP()
    mass_K = np.exp(levy.draw_log_mass(rng, ROOM))
    prepared = curves.prepare(np.arange(TIMES))
    opened_TK = expit(curves.log_odds(curves.draw(rng, ROOM, prepared), prepared))
    gate_DK = rng.random((ROW.size, ROOM)) < opened_TK[ROW]
    mean_DK = np.minimum(rng.gamma(shape, size=gate_DK.shape) * mass_K * gate_DK, 1e6)
    return opened_TK * mass_K, opened_TK, rng.poisson(mean_DK), urn


def _words(rng: np.random.Generator, size: int, theta_P: np.ndarray, urn: float) -> np.ndarray:
    """Draw a document's words of one topic from Polya's urn of `urn` balls."""
    word = rng.choice(WORDS, size, p=theta_P)
    for i in range(1, size):
        if rng.random() * (urn + i) < i:
            word[i] = word[rng.integers(i)]
    return word


def scores(world: World, model: tc.TopicModel) -> pd.DataFrame:
    """Return, of each firm topic, how much of the truth its 90 % bands hold, and what it is."""
    firm, words, curves = model.reliability(), model.topics(), model.activation()
    common_KL = in_common(world, model)
    rows = []
    for k in np.flatnonzero(firm["firm"]):
        true = int(common_KL[k].argmax())
        mine, shown = curves[curves["topic"] == k], words[words["topic"] == k]
        theta_W = world.theta_PK[shown["word"].to_numpy(int), true]
        rows.append(
            {
                "activation": _held(mine["lower"], world.opened_TK[:, true], mine["upper"]),
                "share": _held(mine["share_lower"], world.share_TK[:, true], mine["share_upper"]),
                "words": _held(shown["lower"], theta_W, shown["upper"]),
                "purity": common_KL[k, true] / common_KL[k].sum(),
                "of_words": firm.loc[k, "share"],
            }
        )
    return pd.DataFrame(rows)


def in_common(world: World, model: tc.TopicModel) -> np.ndarray:
    """Return the (K, L) words of the model's topics that come from true ones, in all draws."""
    tables, n_true = model.topic_tables(), world.theta_PK.shape[1]
    common_KL = np.zeros((tables.n_topics, n_true))
    for draw, found in zip(tables.draws, tables.found, strict=True):
        place = draw.token_topics() * n_true + world.label_N
        both = np.bincount(place, minlength=draw.words.shape[1] * n_true).reshape(-1, n_true)
        common_KL[found >= 0] += both[found[found >= 0]]
    return common_KL


def _held(lower: pd.Series, true: np.ndarray, upper: pd.Series) -> float:
    return float(((lower.to_numpy() <= true) & (true <= upper.to_numpy())).mean())


def fitted(seed: int) -> tuple[World, tc.TopicModel]:
    """Return a world and the model of its documents."""
    world = draw_world(np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of empty documents
        model = tc.TopicModel(random_state=seed, n_threads=1, quiet=True)
        return world, model.fit(world.counts_DP, t=ROW)


def rank_of_number(world: World, model: tc.TopicModel, rng: np.random.Generator) -> float:
    """Return where the true number of topics stands among the draws' (0 to 1), ties at random."""
    true, drawn = world.theta_PK.shape[1], model.n_topics_.to_numpy()
    return float((drawn < true).mean() + rng.random() * (drawn == true).mean())


def main() -> None:
    ask = argparse.ArgumentParser()
    ask.add_argument("--worlds", type=int, default=8)
    ask.add_argument("--first", type=int, default=0)
    asked = ask.parse_args()
    found, ranks, rng = [], [], np.random.default_rng(0)
    print("world  words  topics true/drawn  firm  activation share words in 90 % bands  seconds")
    for seed in range(asked.first, asked.first + asked.worlds):
        start = time.perf_counter()
        world, model = fitted(seed)
        table = scores(world, model)
        found.append(table.assign(world=seed))
        ranks.append(rank_of_number(world, model, rng))
        held = table[["activation", "share", "words"]].mean()
        print(
            f"{seed:5d} {world.counts_DP.sum():6d} {world.theta_PK.shape[1]:7d} "
            f"{model.n_topics_.mean():9.1f} {len(table):7d}   "
            + "  ".join(f"{value:.2f}" for value in held)
            + f"  {time.perf_counter() - start:6.1f}",
            flush=True,
        )
    print_summary(pd.concat(found), np.array(ranks))


def print_summary(table: pd.DataFrame, ranks: np.ndarray) -> None:
    """Print coverages with standard errors (worlds are independent, topics of one are not)."""
    for name in ("activation", "share", "words"):
        by_world = table.groupby("world")[name].agg(["sum", "size"])
        mean = by_world["sum"].sum() / by_world["size"].sum()
        residual = by_world["sum"] - mean * by_world["size"]
        error = np.sqrt((residual**2).sum()) / by_world["size"].sum()
        print(f"{name}: 90 % bands of {len(table)} firm topics hold {mean:.3f} +- {error:.3f}")
    inside = ((ranks > 0.05) & (ranks < 0.95)).mean()
    print(
        f"number of topics: mean rank {ranks.mean():.3f} +- {np.sqrt(1 / 12 / ranks.size):.3f}, "
        f"uniform with p = {stats.kstest(ranks, 'uniform').pvalue:.2g}, 90 % intervals {inside:.2f}"
    )


if __name__ == "__main__":
    main()
