"""Do independent runs find the same topics? Groups of four chains, and LDA's, by one consensus.

    python benchmarks/bench_again.py KEEP CORPUS [--groups 10] [--first 0] [--lda 100] [...]

CORPUS is sotu_counts.npz, or a table with columns of texts and dates (--text, --date). A group is a
fit with default settings; LDA is tomotopy's, alpha learned, eta 0.01, four chains of 1,000
iterations, 50 draws of the second half of each. What chains have in common is written to KEEP, a
group is not made twice, and pairs are compared at the end: groups 0 and 1, 2 and 3, ..., and all.
A group of the State of the Union takes three minutes on one core, of LDA two.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

import thincrm as tc
from thincrm.data.covariates import covariates
from thincrm.data.sotu import read_sotu
from thincrm.inference.convergence import rank_rhat
from thincrm.models.topics.draw import TopicDraw
from thincrm.models.topics.tables import TopicTables
from thincrm.models.topics.text_sources import plain_vectorizer

CHAINS, ITERATIONS, DRAWS, ETA = 4, 1000, 50, 0.01
AGAIN = 0.8  # cosine of the words of topics that two groups have
LEAST = 0.002  # of the tokens: topics whose words are scored


class Corpus(NamedTuple):
    """Documents by words, and when they are from."""

    counts: sparse.csr_array
    t: Any


class Group(NamedTuple):
    """Draws of chains without documents, and what the fit said."""

    draws: list[TopicDraw]
    says: str
    seconds: float


def read(path: Path, text: str, date: str) -> Corpus:
    if path.suffix == ".npz":
        sotu = read_sotu(path)
        return Corpus(sparse.csr_array(sotu.counts), sotu.years)
    found = tc.read_texts(path, text, date)
    return Corpus(sparse.csr_array(plain_vectorizer().fit_transform(found.texts)), found.t)


def ours(corpus: Corpus, seed: int) -> Group:
    """Fit with default settings."""
    start = time.perf_counter()
    model = tc.TopicModel(random_state=seed, n_threads=1, quiet=True).fit(corpus.counts, t=corpus.t)
    seconds = time.perf_counter() - start
    draws = [
        replace(
            draw,
            documents=sparse.csr_array(np.asarray(draw.documents.sum(axis=0)).reshape(1, -1)),
            log_odds=None, x=None, labels=None, level=None,
        )
        for draw in model.draws_
    ]  # fmt: skip
    return Group(draws, str(model.verdict()), seconds)


def lda(corpus: Corpus, n_topics: int, seed: int) -> Group:
    """Fit tomotopy's LDA; its words of topics are counts, as those of our draws are."""
    start = time.perf_counter()
    draws = [draw for c in range(CHAINS) for draw in _lda_chain(corpus.counts, n_topics, seed, c)]
    return Group(draws, "", time.perf_counter() - start)


def _lda_chain(
    counts: sparse.csr_array, n_topics: int, seed: int, chain: int
) -> Iterator[TopicDraw]:
    import tomotopy  # noqa: PLC0415 - stands beside, is not needed

    model = tomotopy.LDAModel(k=n_topics, alpha=0.1, eta=ETA, seed=CHAINS * seed + chain + 1)
    model.optim_interval = 10
    for row in range(counts.shape[0]):
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        words = np.repeat(counts.indices[cells], counts.data[cells])
        if words.size:
            model.add_doc(words.astype(str).tolist())
    model.train(ITERATIONS // 2, workers=1)
    known = np.array(list(model.used_vocabs), int)
    for sweep in range(DRAWS):
        model.train(ITERATIONS // 2 // DRAWS, workers=1)
        words_PK = np.zeros((counts.shape[1], n_topics), np.int32)
        for k in range(n_topics):
            held = np.asarray(model.get_topic_word_dist(k, normalize=False))
            words_PK[known, k] = np.rint(held - ETA)
        words_PK = words_PK[:, words_PK.any(axis=0)]
        size = sparse.csr_array(words_PK.sum(axis=0, dtype=np.int64)[None])
        scalars = {"log_joint": float(model.ll_per_word) * float(counts.sum())}
        yield TopicDraw(
            chain, sweep, sparse.csc_array(words_PK), ETA, None, None, None, size, scalars
        )


def kept(path: Path, make: Callable[[], Group]) -> Group:
    """Return a group, made unless it was before."""
    if not path.exists():
        path.write_bytes(pickle.dumps(make()))
    return pickle.loads(path.read_bytes())


class Findings(NamedTuple):
    """The firm topics of a group: words they hold, and their shares of tokens in all draws."""

    words_PK: np.ndarray
    share_K: np.ndarray


def findings(name: str, corpus: Corpus, group: Group) -> Findings:
    """Print what a group found, and return it."""
    counts = corpus.counts
    tables = TopicTables(group.draws, pd.RangeIndex(counts.shape[1]), covariates(corpus.t))
    consensus = tables.consensus(0.7)
    firm, share_K = consensus.firm(), consensus.share.mean(axis=0)
    large = consensus.table()["share"].to_numpy() >= LEAST
    seen_P = np.asarray(counts.sum(axis=0), float).reshape(-1)
    shown_P = (seen_P + seen_P.mean()) / (2.0 * seen_P.sum())
    npmi = [tables.coherence(counts, 10, p)[large].mean() for p in (shown_P, np.ones(seen_P.size))]
    joint_CB = np.reshape([draw.scalars["log_joint"] for draw in group.draws], (CHAINS, -1))
    print(
        f"{name}: {np.mean([d.words.shape[1] for d in group.draws]):.0f} topics, {firm.sum()} firm "
        f"hold {share_K[firm].sum():.3f}; NPMI of {large.sum()} large ones {npmi[0]:.3f} as shown, "
        f"{npmi[1]:.3f} by probability; R-hat of the log joint {rank_rhat(joint_CB):.2f}; "
        f"{group.seconds:.0f} s. {group.says}",
        flush=True,
    )
    return Findings(tables.word_tokens()[:, firm], share_K[firm])


def again(one: Findings, other: Findings) -> float:
    """Return how much of one group's firm topics, by tokens, the other has among its own."""
    unit, others = (x.words_PK / np.linalg.norm(x.words_PK, axis=0) for x in (one, other))
    found_K = (unit.T @ others).max(axis=1) > AGAIN
    return float(one.share_K[found_K].sum() / one.share_K.sum())


def print_pairs(name: str, found: list[Findings]) -> None:
    if len(found) < 2:
        return
    pairs = [pair for i in range(0, len(found) - 1, 2) for pair in permutations(found[i : i + 2])]
    values = [again(*pair) for pair in pairs]
    every = [again(*pair) for pair in permutations(found, 2)]
    print(
        f"{name}, found again: " + " ".join(f"{value:.3f}" for value in values),
        f"mean {np.mean(values):.3f}; all {len(every)} ordered pairs {min(every):.3f} to "
        f"{max(every):.3f}, mean {np.mean(every):.3f}",
    )


def main() -> None:
    ask = argparse.ArgumentParser()
    ask.add_argument("keep", type=Path, nargs="?")
    ask.add_argument("corpus", type=Path, nargs="?")
    ask.add_argument("--text", default="text")
    ask.add_argument("--date", default="date")
    ask.add_argument("--groups", type=int, default=10)
    ask.add_argument("--first", type=int, default=0)
    ask.add_argument("--lda", type=int, default=100)
    ask.add_argument("--lda-groups", type=int, default=2)
    asked = ask.parse_args()
    if asked.corpus is None:
        ask.print_usage()
        return
    corpus = read(asked.corpus, asked.text, asked.date)
    asked.keep.mkdir(parents=True, exist_ok=True)
    models = {
        "ours": (asked.groups, partial(ours, corpus)),
        f"lda{asked.lda}": (asked.lda_groups, partial(lda, corpus, asked.lda)),
    }
    for name, (number, fit) in models.items():
        found = []
        for seed in range(asked.first, asked.first + number):
            group = kept(asked.keep / f"{name}_{seed}.pkl", partial(fit, seed))
            found.append(findings(f"{name} {seed}", corpus, group))
        print_pairs(name, found)


if __name__ == "__main__":
    main()
