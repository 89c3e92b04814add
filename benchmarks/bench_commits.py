"""Many distinct days: what they cost against quarters, in a sweep and in the start.

    python benchmarks/bench_commits.py [--counts commits_counts.npz --days commits_days.npz]

Processor time on one thread, room for 200 topics, default settings. Without files: documents of
the lengths and word frequencies of commit messages, made up. Last, ns a token with room for 1,000
topics on 5,000 documents of 200 words with a date each.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from scipy import sparse

import thincrm as tc
from thincrm.inference import driver
from thincrm.models.topics.likelihood import TopicLikelihood
from thincrm.models.topics.sweep import SWEEP, redraw_tokens

DOCUMENTS, TOPICS, SWEEPS = 12_000, 200, 9
DAYS = 10_354  # some thirty years of them


def made_up(n_documents: int, n_words: int = 10_000) -> tuple[sparse.csr_array, np.ndarray]:
    rng = np.random.default_rng(0)
    length = rng.geometric(1 / 19, n_documents)
    word = rng.zipf(1.2, 2 * length.sum()) - 1
    word = word[word < n_words][: length.sum()]
    document = np.repeat(np.arange(n_documents), length)[: word.size]
    ones, shape = np.ones(word.size, np.int64), (n_documents, n_words)
    return sparse.csr_array((ones, (document, word)), shape), rng.integers(0, DAYS, n_documents)


def some(counts: str, days: str) -> tuple[sparse.csr_array, np.ndarray]:
    every, day = sparse.csr_array(sparse.load_npz(counts)), np.load(days)["day"]
    chosen = np.sort(np.random.default_rng(0).choice(every.shape[0], DOCUMENTS, replace=False))
    return every[chosen], day[chosen]


class Clock:
    """Processor seconds of the start, of every sweep, and of its tokens, of a fit."""

    def __init__(self) -> None:
        self.start, self.sweeps, self.tokens = 0.0, list[float](), list[float]()

    def timed(self, update):
        def run(rng, problem, state):
            before = time.process_time()
            state = update(rng, problem, state)
            self.tokens.append(time.process_time() - before)
            return state

        return run if update is redraw_tokens else update

    def fit(self, counts, t, n_topics: int, n_sweeps: int = SWEEPS) -> Clock:
        begin, began = TopicLikelihood.start, 0.0

        def start(likelihood, rng, problem):
            nonlocal began
            before = time.process_time()
            state = begin(likelihood, rng, problem)
            began = time.process_time()
            self.start = began - before
            return state

        def generator(*address):
            nonlocal began
            if len(address) == 3 and address[2] > 1:
                self.sweeps.append(time.process_time() - began)
            began = time.process_time()
            return made(*address)

        made, driver.sweep_generator = driver.sweep_generator, generator
        TopicLikelihood.start = start
        TopicLikelihood.updates = tuple(self.timed(update) for update in SWEEP)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tc.TopicModel(
                    max_topics=n_topics, n_sweeps=n_sweeps, n_draws=1, n_chains=1,
                    random_state=0, n_threads=1, quiet=True,
                ).fit(counts, t=t)  # fmt: skip
        finally:
            driver.sweep_generator, TopicLikelihood.start = made, begin
            TopicLikelihood.updates = SWEEP
        return self

    @property
    def sweep(self) -> float:
        return float(np.median(self.sweeps))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--counts")
    parser.add_argument("--days")
    options = parser.parse_args()
    if options.counts and options.days:
        counts, day = some(options.counts, options.days)
    else:
        counts, day = made_up(DOCUMENTS)
    t = pd.to_datetime(day, unit="D")
    quarter = t.to_period("Q").start_time
    Clock().fit(counts[:50], t[:50], 5, 3)  # compiles
    found = {}
    for name, when in (("days", t), ("quarters", quarter)):
        clock = found[name] = Clock().fit(counts, when, TOPICS)
        print(
            f"{counts.shape[0]:,} documents, {int(counts.sum()):,} tokens, {len(set(when)):>6,} "
            f"{name}: start {clock.start:.2f} s, sweep {1e3 * clock.sweep:.0f} ms"
        )
    many, few = found["days"], found["quarters"]
    print(
        f"days over quarters: start {many.start / few.start:.2f}, sweep "
        f"{many.sweep / few.sweep:.2f}"
    )
    rng = np.random.default_rng(1)
    topic = rng.dirichlet(np.full(5_000, 0.02), 100)
    mixed = rng.dirichlet(np.full(100, 0.05), 5_000) @ topic
    large = sparse.csr_array(rng.multinomial(200, mixed / mixed.sum(axis=1, keepdims=True)))
    clock = Clock().fit(large, pd.to_datetime(np.arange(5_000), unit="D"), 1_000)
    print(
        f"1,000 topics, 5,000 documents of 200 words on 5,000 days: "
        f"{1e9 * np.median(clock.tokens) / large.sum():.0f} ns a token, "
        f"{1e9 * clock.sweep / large.sum():.0f} with the rest of the sweep"
    )


if __name__ == "__main__":
    main()
