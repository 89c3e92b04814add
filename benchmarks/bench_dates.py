"""Dates of undated documents: ours against scikit-learn's classifiers, same splits, same words.

    python benchmarks/bench_dates.py DATA [--corpora sotu inaugural commits] [--splits 5]

DATA is a folder with sotu_counts.npz (and its table), inaugural.jsonl.gz, commits_counts.npz and
commits_days.npz. A fifth of the documents is held out. Every method gives a distribution over the
same times; its mode and its median are scored, and its better one counts in the ratio.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

from thincrm.data.counts import as_counts
from thincrm.data.sotu import read_sotu
from thincrm.experiments.decades import hold_out
from thincrm.models.topics.model import TopicModel
from thincrm.numerics.threads import one_blas_thread

PIECE = 150  # words of an inaugural address that make a document
COMMITS = 12_000
MANY = 64  # classes that logistic regression is not asked to tell apart


def sotu(data: Path, split: int):
    corpus = read_sotu(data / "sotu_counts.npz")
    return corpus.counts, corpus.decades.astype(float), hold_out(corpus.decades, 0.2, split), 10.0


def inaugural(data: Path, split: int):
    pieces, year = [], []
    with gzip.open(data / "inaugural.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            address = json.loads(line)
            words = address["text"].split()
            parts = [words[i : i + PIECE] for i in range(0, len(words), PIECE)]
            pieces += [" ".join(part) for part in parts]
            year += [float(address["year"])] * len(parts)
    counts = as_counts(CountVectorizer(stop_words="english", min_df=5).fit_transform(pieces))
    return counts, np.array(year), _fifth(len(year), split), 1.0


def commits(data: Path, split: int):
    counts = as_counts(sparse.load_npz(data / "commits_counts.npz"))
    day = np.load(data / "commits_days.npz")["day"].astype(float)
    long = np.flatnonzero(np.asarray(counts.sum(axis=1)).reshape(-1) >= 20)
    chosen = np.sort(np.random.default_rng(0).choice(long, COMMITS, replace=False))
    counts = counts[chosen]
    words = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= 20)
    return as_counts(counts[:, words]), day[chosen], _fifth(COMMITS, split), 1.0


def _fifth(n_documents: int, split: int) -> np.ndarray:
    return np.sort(np.random.default_rng(split).permutation(n_documents)[: n_documents // 5])


def errors(chance: np.ndarray, times: np.ndarray, truth: np.ndarray, unit: float) -> dict:
    mode = times[chance.argmax(axis=1)]
    median = times[(np.cumsum(chance, axis=1)[:, :-1] < 0.5).sum(axis=1)]
    return {
        "accuracy": np.mean(mode == truth),
        "mode": np.mean(np.abs(mode - truth)) / unit,
        "median": np.mean(np.abs(median - truth)) / unit,
    }


def peers(n_classes: int) -> dict:
    found = {
        "multinomial naive Bayes": MultinomialNB(fit_prior=False),
        "complement naive Bayes": ComplementNB(),
    }
    if n_classes <= MANY:
        tfidf = TfidfTransformer(sublinear_tf=True)
        classifier = LogisticRegression(C=10.0, max_iter=1000)
        found["logistic regression"] = make_pipeline(tfidf, classifier)
    return found


def compare(make, data: Path, split: int, sweeps: int) -> dict[str, dict]:
    counts, when, held, unit = make(data, split)
    rest = np.setdiff1d(np.arange(len(when)), held)
    truth = when[held]
    model = TopicModel(
        max_topics=300,
        n_sweeps=sweeps,
        n_draws=20,
        n_chains=1,
        random_state=split,
        n_threads=1,
        quiet=True,
    ).fit(counts[rest], t=when[rest])
    known = model.covariates_
    times = known.rows[:, 0]
    start = time.process_time()
    dates = model.date_documents(counts[held])
    first = time.process_time() - start
    found = {"ours": errors(dates.chance.to_numpy(), times, truth, unit)}
    start = time.process_time()
    model.predict_time(counts[held])
    table = dates.intervals(0.9)
    lower, upper = table["lower"].to_numpy(float), table["upper"].to_numpy(float)
    found["ours"] |= {"seconds": time.process_time() - start, "learning": first}
    found["ours"]["cover"] = np.mean((lower <= truth) & (truth <= upper))
    found["ours"]["tokens"] = float(counts[held].sum())
    topics = model.predict_time(counts[held], evidence="topics").to_numpy()
    found["ours, topics alone"] = errors(topics, times, truth, unit)
    for name, classifier in peers(len(times)).items():
        start = time.process_time()
        with one_blas_thread():
            classifier.fit(counts[rest], known.row)
            chance = classifier.predict_proba(counts[held])
        found[name] = errors(chance, times[np.unique(known.row)], truth, unit)
        found[name]["seconds"] = time.process_time() - start
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpora", nargs="+", default=["sotu", "inaugural", "commits"])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=300)
    args = parser.parse_args()
    corpora = {"sotu": sotu, "inaugural": inaugural, "commits": commits}
    for name in args.corpora:
        runs = []
        for split in range(args.splits):
            runs.append(compare(corpora[name], args.data, split, args.sweeps))
        print(f"\n{name}, {args.splits} splits: means")
        best = {}
        for method in runs[0]:
            mean = {key: np.mean([run[method][key] for run in runs]) for key in runs[0][method]}
            best[method] = min(mean["mode"], mean["median"])
            print(f"  {method:24}", "  ".join(f"{key} {value:.3f}" for key, value in mean.items()))
        for method, error in best.items():
            if "ours" not in method:
                print(f"  error of ours / {method}: {best['ours'] / error:.3f}")


if __name__ == "__main__":
    main()
