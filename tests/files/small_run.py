"""A run small enough to be killed many times, and how to tell that two results are the same."""

import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import thincrm as tc
from thincrm.inference import run_log
from thincrm.models.codec import codec
from thincrm.models.registry import model_classes

SETTINGS = {
    "max_topics": 6, "n_sweeps": 18, "n_draws": 5, "n_chains": 2, "n_threads": 1,
    "random_state": 5, "quiet": True, "thinning": tc.SigmoidGP(max_centres=8),
}  # fmt: skip


def corpus(n_documents=40):
    rng = np.random.default_rng(1)
    t = np.sort(rng.integers(0, 10, n_documents)).astype(float)
    X = np.zeros((n_documents, 8), int)
    for d, when in enumerate(t):
        X[d, :4] = rng.multinomial(6 if when < 5 else 1, np.ones(4) / 4)
        X[d, 4:] = rng.multinomial(6 if when > 3 else 1, np.ones(4) / 4)
    return X, t


def fit(out=None, heldout=None, **changes):
    X, t = corpus()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="All .* topics are in use")
        return tc.TopicModel(**{**SETTINGS, **changes}).fit(X, t=t, out=out, heldout=heldout)


def bits(model):
    """Return everything a fit gives, as bytes."""
    found = []
    for draw in model.draws_:
        content, arrays = codec(type(model)).encode(draw)
        found.append((content, {name: (a.dtype, a.tobytes()) for name, a in arrays.items()}))
    table = model.trace_.reset_index()
    return found, [*table.columns], table.to_numpy().tobytes()


def files(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


def kill_again_and_again(folder, n_kills, seed):
    """Kill -9 a run at random moments and resume it, `n_kills` times in all; return the runs."""
    began = time.monotonic()
    whole = bits(fit(n_threads=1))
    longest = 0.5 * (time.monotonic() - began)
    rng, killed, runs = random.Random(seed), 0, 0
    while killed < n_kills:
        run = folder / str(runs)
        while not (run / "results.json").exists():
            child = os.fork()
            if child == 0:
                tc.resume(run) if (run / "settings.json").exists() else fit(run)
                os._exit(0)
            time.sleep(rng.uniform(0.0, longest))
            os.kill(child, signal.SIGKILL)
            killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        assert bits(tc.resume(run)) == whole, f"run {runs} with seed {seed}"
        assert bits(tc.load(run)) == whole, f"run {runs} with seed {seed}"
        runs += 1
    return runs, killed


if __name__ == "__main__":
    run_log.CHECKPOINT_SECONDS, run_log._LARGEST_SHARE = 0.0, 1e9
    fit()  # compiled once, for all children
    model_classes()  # imported once: else a child may be killed before it has done anything
    what, folder, *numbers = sys.argv[1:]
    if what == "fit":
        print("ready", flush=True)
        fit(Path(folder), n_sweeps=10**6)
    else:
        print("{} runs, {} kills".format(*kill_again_and_again(Path(folder), *map(int, numbers))))
