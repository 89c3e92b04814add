"""The command line knows factors and models by their own names, registered ones too."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import any_run, app
from thincrm.console.chosen_factors import thinning_named
from thincrm.console.model_terminal import ModelTerminal, RunCommand
from thincrm.console.voice import Voice
from thincrm.data.covariates import covariates
from thincrm.errors import InvalidInput
from thincrm.models.features.terminal import FeatureTerminal
from thincrm.models.topics.terminal import TopicTerminal
from thincrm.thinning import base

SMALL = ("--sweeps", 6, "--draws", 2)
pytestmark = pytest.mark.filterwarnings("ignore:All .* topics are in use")


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@dataclass(frozen=True, slots=True)
class MyThinning(tc.Always):
    """Everywhere open, by a name of its own."""

    command_name: ClassVar[str] = "mine"


@pytest.fixture
def mine(monkeypatch):
    monkeypatch.setattr(base, "MEMBERS", [*base.MEMBERS])
    base.register(MyThinning)


@pytest.fixture
def corpus(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{1800 + i},{' '.join(rng.choice(['war', 'peace', 'tax'], 9))}" for i in range(12)]
    path = tmp_path / "c.csv"
    path.write_text("\n".join(["date,text", *rows]))
    return path


def test_names_come_from_the_factors():
    names = [member.command_name for member in base.MEMBERS if member.command_name]
    help_text = " ".join(call("topics", "--help").stdout.replace("│", " ").split())
    for name in names:
        assert name in help_text
        chosen = thinning_named(name)
        assert chosen is None if name == "gp" else type(chosen) is base.member_named(name)


def test_a_thinning_function_of_ones_own_is_on_the_command_line(
    mine, corpus, tmp_path, monkeypatch
):
    seen = []
    fit = tc.TopicModel.fit

    def watched(model, *args, out, **more):
        seen.append(model.thinning)
        return fit(model.set_params(thinning=tc.Always()), *args, out=out, **more)

    monkeypatch.setattr(tc.TopicModel, "fit", watched)
    out = tmp_path / "run"
    done = call("topics", corpus, "--date", "date", "--thinning", "mine", "--out", out, *SMALL)
    assert done.exit_code == 0, done.output
    assert seen == [MyThinning()]


@pytest.mark.parametrize("command", ["topics", "features"])
def test_an_unknown_name_is_a_sentence(command, mine, corpus, tmp_path):
    done = call(command, corpus, "--thinning", "bumb", "--out", tmp_path / "run")
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: --thinning must be one of gp, rvm, bump, always, mine")
    assert not (tmp_path / "run").exists()


def test_a_model_is_found_by_its_class_or_its_base():
    class Other(tc.FeatureModel):
        pass

    assert type(any_run.terminal_of(tc.TopicModel())) is TopicTerminal
    assert type(any_run.terminal_of(tc.DependentIBP())) is FeatureTerminal
    assert type(any_run.terminal_of(Other())) is FeatureTerminal
    assert type(any_run.terminal_of(object())) is ModelTerminal


class CountModel:
    """What a model of one's own has after a fit."""

    atoms = "parts"
    complete_ = True
    covariates_ = covariates([1.0, 2.0])
    n_parts_ = pd.Series([2, 3])

    def activation(self):
        return pd.DataFrame({"part": [0, 0], "t": [1.0, 2.0], "mean": [0.5, 1.0]})

    def profiles(self):
        return pd.DataFrame({"part": [0, 0], "column": ["a", "b"], "mean": [1.0, -3.0]})

    def to_csv(self, folder):
        return [folder / "a.csv"]

    def verdict(self):
        return "Fine."


def test_what_a_model_lacks_is_refused_with_both_names(tmp_path):
    plain, model = ModelTerminal(), CountModel()
    command = RunCommand("impute", Voice(), tmp_path, tmp_path / "x")
    for ask in (
        lambda: plain.infer(command, model, tmp_path, None),
        lambda: plain.date(command, model, tmp_path, None, 0.9),
        lambda: plain.impute(command, model, tmp_path, None, 0.9),
        lambda: plain.evaluate(command, model, model, 0.2, 0),
    ):
        with pytest.raises(InvalidInput, match="'thincrm impute' does not work with a CountModel"):
            ask()


def test_any_model_is_shown(tmp_path, capsys):
    assert any_run.show_run(Voice(), ModelTerminal(), CountModel(), tmp_path)
    said = capsys.readouterr().out
    for part in ("part", "75 %", "█", "b -3", "2 to 3 parts in use", "Fine.", "1 tables"):
        assert part in said
    any_run.show_run(Voice(json=True), ModelTerminal(), CountModel(), tmp_path)
    assert json.loads(capsys.readouterr().out)["n_parts"] == [2, 3]


def test_a_curve_needs_one_covariate():
    from thincrm.console.terminal_tables import CurveTable

    one = CurveTable(covariates([1.0, 2.0]), "topic", "words", "last")
    two = CurveTable(covariates(np.ones((2, 2)) * [[1], [2]]), "topic", "words", "last")
    assert len(one.table.columns) == len(two.table.columns) + 2
