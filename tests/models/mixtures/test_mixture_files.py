"""The same bits on threads, from files and after a kill; files that lie are refused."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from mixture_rows import come_and_go, small

import thincrm as tc
from thincrm.errors import DamagedFile
from thincrm.inference.run_log import ChainState
from thincrm.models.mixtures.gaussian import GaussianClusters

Y, T, *_ = come_and_go(5)
GATES = ("shared", "weighted", "observation")


def same(a, b):
    assert len(a.draws_) == len(b.draws_) > 0
    for one, other in zip(a.draws_, b.draws_, strict=True):
        for name in ("labels", "log_mass", "counts", "background"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        for part, twin in zip((*one.x, *one.params), (*other.x, *other.params), strict=True):
            np.testing.assert_array_equal(part, twin)
    assert a.trace_.equals(b.trace_)


@pytest.mark.parametrize("gates", GATES)
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_any_number_of_threads_and_from_files(gates, covariance, tmp_path):
    settings = {"gates": gates, "likelihood": GaussianClusters(covariance), "n_sweeps": 12}
    one = small(**settings).fit(Y, t=T)
    two = small(**{**settings, "n_threads": 2}).fit(Y, t=T, out=tmp_path / "run")
    same(one, two)
    loaded = tc.load(tmp_path / "run")
    same(one, loaded)
    np.testing.assert_array_equal(one.labels_, loaded.labels_)
    np.testing.assert_array_equal(one.score_samples(Y, T), loaded.score_samples(Y, T))
    assert one.activation().equals(loaded.activation())


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from mixture_rows import small
from test_mixture_files import T, Y
from thincrm.inference import run_log
run_log.CHECKPOINT_SECONDS, run_log._LARGEST_SHARE = 0.0, 1e9
small(gates={gates!r}).fit(Y, t=T, out={out!r})
"""


@pytest.mark.parametrize("gates", GATES)
def test_killed_and_resumed(gates, tmp_path):
    out = tmp_path / "run"
    script = SCRIPT.format(here=str(Path(__file__).parent), gates=gates, out=str(out))
    process = subprocess.Popen([sys.executable, "-c", script])
    while process.poll() is None and len([*out.glob("draws/*.json")]) < 3:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    same(tc.resume(out), small(gates=gates).fit(Y, t=T))


def test_saved_data_frames_keep_names_and_dates(tmp_path):
    import pandas as pd

    table = pd.DataFrame(Y, columns=["height", "weight"])
    when = pd.Timestamp("2001-01-01") + pd.to_timedelta((T * 800).astype(int), "D")
    model = small(n_sweeps=9).fit(table, t=when)
    model.save(tmp_path / "run")
    loaded = tc.load(tmp_path / "run")
    assert loaded.clusters().equals(model.clusters())
    assert [*loaded.clusters().index.get_level_values("column")[:2]] == ["height", "weight"]
    assert loaded.activation()["t"].dtype.kind == "M"
    pd.testing.assert_frame_equal(
        loaded.impute(table, t=when).mean, model.impute(table, t=when).mean
    )


def test_draws_and_states_that_cannot_be_are_refused():
    import dataclasses

    model = small(n_sweeps=6, n_draws=2).fit(Y, t=T)
    draw = model.draws_[-1]
    model._check_draw(draw)
    for change in (
        {"labels": draw.labels + np.int16(draw.n_used)},
        {"labels": draw.labels[:-1]},
        {"counts": draw.counts + 1},
        {"n_used": draw.n_used + 40},
        {"log_mass": np.full(draw.log_mass.shape, np.nan)},
        {"params": draw.params._replace(mean=draw.params.mean[:, :1])},
        {"background": draw.background.astype(float)},
    ):
        with pytest.raises(DamagedFile, match="cannot be"):
            model._check_draw(dataclasses.replace(draw, **change))
    state = model._example()[0]
    model._check_state(ChainState(0, 1, state))
    local = state.local[0]
    bad = dataclasses.replace(state, local=(local._replace(label=local.label + np.int32(99)),))
    with pytest.raises(DamagedFile, match="the labels cannot be"):
        model._check_state(ChainState(0, 1, bad))


def test_a_run_with_another_law_than_its_draws_is_refused(tmp_path):
    full = small(n_sweeps=6, n_draws=2, likelihood=GaussianClusters("full"))
    full.fit(Y, t=T, out=tmp_path / "a")
    settings = tmp_path / "a" / "settings.json"
    text = settings.read_text("utf-8")
    assert json.loads(text)
    settings.write_text(text.replace('"full"', '"diagonal"'), "utf-8")
    with pytest.raises(DamagedFile):
        tc.load(tmp_path / "a")
