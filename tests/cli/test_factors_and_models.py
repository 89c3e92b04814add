"""The command line knows factors and models by their own names, registered ones too."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import any_run, app
from thincrm.console.chosen_factors import thinning_named
from thincrm.console.model_terminal import ModelTerminal
from thincrm.models.features.terminal import FeatureTerminal
from thincrm.models.topics.terminal import TopicTerminal
from thincrm.thinning import member


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@dataclass(frozen=True, slots=True)
class MyThinning(tc.Always):
    """Everywhere open, by a name of its own."""

    command_name: ClassVar[str] = "mine"


@pytest.fixture
def mine(monkeypatch):
    monkeypatch.setattr(member, "MEMBERS", [*member.MEMBERS])
    member.register(MyThinning)


@pytest.fixture
def corpus(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{1800 + i},{' '.join(rng.choice(['war', 'peace', 'tax'], 9))}" for i in range(12)]
    path = tmp_path / "c.csv"
    path.write_text("\n".join(["date,text", *rows]))
    return path


def test_names_come_from_the_factors():
    names = [member.command_name for member in member.MEMBERS if member.command_name]
    help_text = " ".join(call("topics", "--help").stdout.replace("│", " ").split())
    for name in names:
        assert name in help_text
        chosen = thinning_named(name)
        assert chosen is None if name == "gp" else type(chosen) is member.member_named(name)


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
