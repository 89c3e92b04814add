"""Is the number of topics right? Made-up corpora of 4 to 10 topics, four chains of 240 sweeps each.

    python benchmarks/bench_number.py [--corpora 50] [--first 0]

A corpus has 600 documents at 20 times and 200 words. A topic is a draw of Dirichlet(0.1) and open
from one time to another, five apart or more; a document has up to three of the open ones, 20 words
of each on average, and there are always two to choose from. Topics are counted that hold 1 % of the
words or more: firm ones, and those of the last draw of the first chain alone. 50 corpora take five
minutes on two cores.
"""

from __future__ import annotations

import argparse

import numpy as np

import thincrm as tc

DOCUMENTS, TIMES, WORDS = 600, 20, 200
FEWEST, MOST = 4, 10  # topics
LEAST = 0.01  # of the words


def draw_corpus(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return counts, times and the number of topics that hold enough of the words."""
    rng = np.random.default_rng(seed)
    n_topics = int(rng.integers(FEWEST, MOST + 1))
    theta_KP = rng.dirichlet(np.full(WORDS, 0.1), n_topics)
    first_K = rng.integers(0, TIMES - 5, n_topics)
    last_K = np.array([rng.integers(first + 5, TIMES + 1) for first in first_K])
    first_K[:2], last_K[:2] = 0, TIMES
    t = np.arange(DOCUMENTS) % TIMES
    size_DK = np.zeros((DOCUMENTS, n_topics), np.int64)
    for d in range(DOCUMENTS):
        opened = np.flatnonzero((first_K <= t[d]) & (t[d] < last_K))
        used = rng.choice(opened, min(opened.size, int(rng.integers(1, 4))), replace=False)
        size_DK[d, used] = rng.negative_binomial(2, 2 / 22, used.size)
    counts = sum(
        np.array([rng.multinomial(n, theta_KP[k]) for n in size_DK[:, k]]) for k in range(n_topics)
    )
    share_K = size_DK.sum(axis=0) / size_DK.sum()
    return np.asarray(counts), t, int((share_K >= LEAST).sum())


def numbers_found(counts: np.ndarray, t: np.ndarray, seed: int) -> tuple[int, int]:
    """Return how many topics hold enough of the words: firm ones, and those of one chain."""
    model = tc.TopicModel(n_sweeps=240, random_state=seed, quiet=True).fit(counts, t=t)
    told = model.reliability()
    last = [draw for draw in model.draws_ if draw.chain == 0][-1]
    return int((told["firm"] & (told["share"] >= LEAST)).sum()), int((last.shares >= LEAST).sum())


def main() -> None:
    ask = argparse.ArgumentParser()
    ask.add_argument("--corpora", type=int, default=50)
    ask.add_argument("--first", type=int, default=0)
    asked = ask.parse_args()
    right, right_alone = 0, 0
    for seed in range(asked.first, asked.first + asked.corpora):
        counts, t, true = draw_corpus(seed)
        found, alone = numbers_found(counts, t, seed)
        right, right_alone = right + (found == true), right_alone + (alone == true)
        if found != true or alone != true:
            print(f"corpus {seed}: {true} topics, {found} firm, {alone} in one chain", flush=True)
    print(f"right in {right} of {asked.corpora}; in one chain, {right_alone}")


if __name__ == "__main__":
    main()
