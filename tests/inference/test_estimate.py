"""What a long run will take is said after its first sweeps."""

import numpy as np
import pytest
from scipy import sparse

import thincrm as tc
from thincrm.inference import driver, progress
from thincrm.inference.estimate import size_of
from thincrm.levy import GammaProcess


def test_sizes_are_those_of_all_arrays():
    table = sparse.csr_array(np.eye(3))
    inside = table.data.nbytes + table.indices.nbytes + table.indptr.nbytes
    assert size_of({"a": (np.zeros(4), [np.zeros(2, np.int8)]), "b": table}) == 34 + inside
    assert size_of(GammaProcess()) == 0


@pytest.mark.parametrize("kind", ["topics", "features"])
def test_a_long_run_says_what_it_takes(kind, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(driver, "_LONG_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_SILENT_SECONDS", 0.0)
    rng = np.random.default_rng(1)
    counts, table = rng.poisson(0.6, (20, 8)), rng.normal(size=(12, 3))
    usual = {"n_sweeps": 5, "n_draws": 3, "random_state": 1, "n_threads": 1}
    if kind == "topics":
        tc.TopicModel(max_topics=30, **usual).fit(counts, t=np.arange(20) % 4, out=tmp_path / "run")
    else:
        tc.FeatureModel(max_features=4, **usual).fit(table, t=np.arange(12) % 3)
    said = [line for line in capsys.readouterr().err.splitlines() if "This run takes" in line]
    assert len(said) == 1
    assert "0:00 min more" in said[0]
    assert "GB of memory" in said[0]
    assert ("GB of disk" in said[0]) == (kind == "topics")
