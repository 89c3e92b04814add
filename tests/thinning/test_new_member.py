"""A thinning function outside the package: one file, one line, and everything knows it."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import app
from thincrm.data.covariates import covariates
from thincrm.numerics.arrays import as_generator
from thincrm.thinning.free import move_freely
from thincrm.thinning.member import MEMBERS, ThinningFunction, register

YEARS = np.repeat(np.arange(1900, 1912), 8)


class SlopeState(NamedTuple):
    """Where and how steeply an atom opens."""

    centre: np.ndarray  # K
    slope: np.ndarray  # K


@dataclass(frozen=True, slots=True)
class Slope(ThinningFunction):
    """p_x(t) = expit(s (t - c)), in units of the covariate's range: an atom opens, or shuts."""

    spread: float = 10.0
    command_name: ClassVar[str] = "slope"
    state: ClassVar[type[Any]] = SlopeState
    plain_words: ClassVar[str] = "One slope per {one}: it opens, or shuts, once."

    def prepare(self, t):
        return covariates(t)

    def draw(self, rng, n_atoms, prepared):
        rng = as_generator(rng)
        return SlopeState(rng.random(n_atoms), self.spread * rng.standard_normal(n_atoms))

    def _scaled(self, prepared, t):
        rows = prepared.rows if t is None else prepared.encode(t)
        low, high = prepared.rows[:, 0].min(), prepared.rows[:, 0].max()
        return (rows[:, 0] - low) / max(high - low, 1e-12)

    def log_odds(self, x, prepared, t=None):
        return x.slope * (self._scaled(prepared, t)[:, None] - x.centre)

    def log_prob(self, x, prepared):
        return -0.5 * (x.slope / self.spread) ** 2 + np.where(
            (x.centre > 0) & (x.centre < 1), 0.0, -np.inf
        )

    def mean_activation(self, prepared, t=None):
        return expit(self.log_odds(self.draw(0, 10_000, prepared), prepared, t)).mean(1)

    def pair_activation(self, prepared, s, t, coupling):
        x = self.draw(0, 10_000, prepared)
        a, b = (expit(self.log_odds(x, prepared, at)) for at in (s, t))
        return a @ b.T / 10_000

    def redraw(self, rng, x, evidence, prepared):
        rng = as_generator(rng)

        def log_likelihood(x_KD, k):
            odds = self.log_odds(SlopeState(*x_KD.T), prepared)
            logs = -np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)
            return evidence.of_atoms(k).log_likelihood(*logs)

        moved = move_freely(
            rng,
            np.column_stack(x),
            lambda: np.column_stack(self.draw(rng, len(x.centre), prepared)),
            log_likelihood,
            lambda x_KD: self.log_prob(SlopeState(*x_KD.T), prepared),
            [0.3, self.spread],
        )
        return SlopeState(*(np.ascontiguousarray(part) for part in moved.T))


@pytest.fixture(autouse=True)
def known():
    register(Slope)
    yield
    MEMBERS.remove(Slope)


def table():
    rng = np.random.default_rng(0)
    rows = np.outer(YEARS > 1905, [2.0, -1.0, 3.0]) + 0.3 * rng.standard_normal((YEARS.size, 3))
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


SMALL = {"n_sweeps": 9, "n_draws": 3, "n_chains": 1, "random_state": 0, "quiet": True}
MODELS = {
    "features": tc.FeatureModel(thinning=Slope(), weights="binary", max_features=4, **SMALL),
    "topics": tc.TopicModel(thinning=Slope(), max_topics=8, **SMALL),
    "clusters": tc.MixtureModel(thinning=Slope(), max_clusters=4, **SMALL),
}
pytestmark = pytest.mark.filterwarnings("ignore:All .* are in use")


def data(name):
    return np.abs(np.nan_to_num(table())).astype(int) + 1 if name == "topics" else table()


def same(a, b):
    assert a.activation().equals(b.activation())
    for one, other in zip(a.draws_, b.draws_, strict=True):
        np.testing.assert_array_equal(one.x.slope, other.x.slope)


@pytest.mark.parametrize("name", MODELS)
def test_fit_threads_files_and_going_on(name, tmp_path):
    model = clone(MODELS[name]).set_params(n_threads=1)
    model.fit(data(name), t=YEARS, out=tmp_path / "run")
    loaded = tc.load(tmp_path / "run")
    assert loaded.thinning == Slope()
    same(loaded, model)
    same(clone(model).set_params(n_threads=2).fit(data(name), t=YEARS), model)
    shorter = clone(model).set_params(n_sweeps=6, n_draws=2)
    shorter.fit(data(name), t=YEARS, out=tmp_path / "shorter")
    assert tc.resume(tmp_path / "shorter", n_sweeps=9).n_sweeps_ == 9


def test_a_report_describes_it(tmp_path):
    model = clone(MODELS["features"]).fit(table(), t=YEARS)
    tc.write_report(model, tmp_path / "report.html")
    assert "One slope per feature" in (tmp_path / "report.html").read_text("utf-8")


def test_the_command_line_knows_it(tmp_path):
    frame = pd.DataFrame(table(), columns=["a", "b", "c"]).assign(year=YEARS)
    frame.to_csv(tmp_path / "t.csv", index=False)
    run, page = tmp_path / "run", tmp_path / "report.html"

    def call(line):
        done = CliRunner().invoke(app, line.split())
        assert done.exit_code == 0, done.output

    call(
        f"features {tmp_path / 't.csv'} --covariate year --thinning slope --weights binary "
        f"--max-features 4 --sweeps 6 --draws 2 --out {run}"
    )
    assert tc.load(run).thinning == Slope()
    call(f"report {run} --out {page}")
    assert "One slope per feature" in page.read_text("utf-8")
    call(f"impute {run} {tmp_path / 't.csv'} --out {tmp_path / 'filled.csv'}")
    assert pd.read_csv(tmp_path / "filled.csv")["mean"].notna().all()
