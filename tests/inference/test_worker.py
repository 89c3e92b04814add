"""The process of a chain that runs beside others."""

import subprocess
import sys
import time

import numpy as np

import thincrm as tc
from thincrm.inference import driver


def test_a_chains_process_loads_no_more_than_sweeps_need():
    """What takes as long to load as many sweeps do: scikit-learn, and scipy's distributions."""
    code = (
        "import sys, thincrm.inference.worker, thincrm.models.topics.likelihood, thincrm.thinning;"
        "print(*{'sklearn', 'scipy.stats', 'matplotlib'} & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not run.stdout.strip()


def test_chains_of_a_small_table_stay_in_one_process(monkeypatch):
    """However long the first sweep takes, which loads loops: a process would load them again."""
    table = np.random.default_rng(3).standard_normal((20, 4))
    generator = driver.sweep_generator

    def slow_at_first(seed, chain, sweep, *rest):
        if (chain, sweep) == (0, 1):
            time.sleep(0.2)
        return generator(seed, chain, sweep, *rest)

    def elsewhere(*_):
        raise AssertionError("a process was started")

    monkeypatch.setattr(driver, "sweep_generator", slow_at_first)
    monkeypatch.setattr(driver, "run_tasks", elsewhere)
    model = tc.FeatureModel(n_chains=2, n_sweeps=150, n_draws=5, n_threads=2, quiet=True)
    model.fit(table, t=np.arange(20.0))
    assert len(model.trace_) == 300
