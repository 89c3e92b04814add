"""A model outside the package: one file, one line, and everything the library gives."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from poisson_rows import PoissonRows
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import app
from thincrm.inference import driver, run_log
from thincrm.thinning import Bump, SigmoidGP

YEARS = np.repeat(np.arange(1900, 1912), 8)


def rows():
    """Return 96 rows of four columns: one part early, one late, one always there."""
    rng = np.random.default_rng(4)
    early = np.outer(YEARS < 1906, [8.0, 8.0, 0.0, 0.0])
    late = np.outer(YEARS > 1907, [0.0, 0.0, 9.0, 3.0])
    return rng.poisson(early + late + [1.0, 0.0, 0.0, 4.0])


@pytest.fixture(scope="module")
def fitted():
    return PoissonRows(random_state=1).fit(rows(), t=YEARS)


def same(a, b):
    assert len(a.draws_) == len(b.draws_) > 0
    for one, other in zip(a.draws_, b.draws_, strict=True):
        np.testing.assert_array_equal(one.theta_KP, other.theta_KP)
        np.testing.assert_array_equal(one.log_mass, other.log_mass)
        for part, twin in zip(one.x, other.x, strict=True):
            np.testing.assert_array_equal(part, twin)
    assert a.trace_.equals(b.trace_)


def test_it_finds_what_comes_and_goes(fitted):
    table = fitted.activation()
    assert [*table.columns] == ["part", "t", "mean", "lower", "upper"]
    mean = table.pivot(index="t", columns="part", values="mean")
    early, late = mean.loc[1900:1904].mean(), mean.loc[1909:].mean()
    assert (early - late).max() > 0.3
    assert (late - early).max() > 0.3
    assert ((table["lower"] <= table["mean"]) & (table["mean"] <= table["upper"])).all()
    assert fitted.n_parts_.median() >= 2


@pytest.mark.parametrize("thinning", [Bump(), SigmoidGP(), tc.ProbitRVM(), tc.Always()], ids=repr)
def test_any_thinning_function_and_any_number_of_threads(thinning):
    one, two = (
        PoissonRows(thinning=thinning, n_sweeps=9, random_state=2, n_threads=n).fit(rows(), t=YEARS)
        for n in (1, 2)
    )
    same(one, two)


def test_saved_and_loaded(fitted, tmp_path):
    fitted.save(tmp_path / "run")
    loaded = tc.load(tmp_path / "run")
    assert type(loaded) is PoissonRows
    same(fitted, loaded)
    assert loaded.activation().equals(fitted.activation())


def test_interrupted_and_resumed(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr(run_log, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(run_log, "_LARGEST_SHARE", 1e9)

    class Interrupted(PoissonRows):
        def _watch(self, log):
            def stop(draw):
                if draw.sweep > 40:
                    raise KeyboardInterrupt
                return ""

            return stop

    with pytest.warns(UserWarning, match="stopped after sweep"):
        short = Interrupted(random_state=1).fit(rows(), t=YEARS, out=tmp_path / "run")
    assert not short.complete_
    settings = tmp_path / "run" / "settings.json"
    assert "Interrupted" in settings.read_text("utf-8")


SCRIPT = """
import sys
import numpy as np
sys.path.insert(0, {here!r})
from thincrm.inference import run_log
from test_fourth_model import YEARS, rows
from poisson_rows import PoissonRows
run_log.CHECKPOINT_SECONDS, run_log._LARGEST_SHARE = 0.0, 1e9
PoissonRows(random_state=1).fit(rows(), t=YEARS, out={out!r})
"""


def test_killed_and_resumed(fitted, tmp_path):
    out = tmp_path / "run"
    script = SCRIPT.format(here=str(Path(__file__).parent), out=str(out))
    process = subprocess.Popen([sys.executable, "-c", script])
    while process.poll() is None and len([*out.glob("draws/*.json")]) < 3:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    same(tc.resume(out), fitted)


def test_chains_side_by_side_have_the_bits_of_chains_one_after_another(monkeypatch, tmp_path):
    """Whatever modules lie in the folder one is in: their processes import none of them."""
    (tmp_path / "queue.py").write_text("raise SystemExit('code of a stranger')")
    monkeypatch.chdir(tmp_path)
    settings = {"n_chains": 3, "n_sweeps": 12, "random_state": 3}
    alone = PoissonRows(n_threads=1, **settings).fit(rows(), t=YEARS)
    monkeypatch.setattr(driver, "_WORTH_SECONDS", 0.0)
    same(PoissonRows(n_threads=2, **settings).fit(rows(), t=YEARS), alone)


def test_diagnostics_exports_and_a_report(fitted, tmp_path):
    assert {"n_parts", "mass"} <= {*fitted.diagnostics().index}
    assert str(fitted.verdict())
    files = fitted.to_csv(tmp_path / "tables")
    assert {file.stem for file in files} == {"parts", "activation", "diagnostics", "trace"}
    page = tc.write_report(fitted, tmp_path / "report.html").read_text("utf-8")
    assert "<h1>PoissonRows: what was found</h1>" in page
    assert '"noun":"part"' in page


def test_commands_that_take_any_run(fitted, tmp_path):
    run = tmp_path / "run"
    fitted.save(run)

    def call(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    done = call("report", run, "--out", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    assert '"noun":"part"' in (tmp_path / "r.html").read_text("utf-8")
    done = call("export", run, "--to", "csv", "--out", tmp_path / "tables")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "tables" / "parts.csv").exists()
    done = call("resume", run, "--quiet")
    assert done.exit_code == 0, done.output
    done = call("impute", run, tmp_path / "r.html")
    assert done.exit_code == 2
    assert "'thincrm impute' does not work with a PoissonRows" in done.stderr


def test_draws_for_arviz(fitted):
    pytest.importorskip("arviz")
    tree = fitted.to_arviz(n_times=5)
    activation = tree["posterior"]["activation"]
    assert activation.dims == ("chain", "draw", "t", "part")
    assert activation.shape[:3] == (1, len(fitted.draws_), 5)
