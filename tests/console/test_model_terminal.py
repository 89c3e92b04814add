"""A model of one's own on the command line: shown as every model is, refused where it lacks."""

import json

import pandas as pd
import pytest
from rich.table import Table

from thincrm.console.model_terminal import ModelTerminal, RunCommand
from thincrm.console.show_run import show_run
from thincrm.console.voice import Voice
from thincrm.data.covariates import covariates
from thincrm.errors import InvalidInput


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

    def nothing_found(self):
        return "No parts are in use."

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
    assert show_run(Voice(), ModelTerminal(), CountModel(), tmp_path)
    said = capsys.readouterr().out
    for part in ("part", "75 %", "█", "b -3", "2 to 3 parts in use", "Fine.", "1 tables"):
        assert part in said
    show_run(Voice(json=True), ModelTerminal(), CountModel(), tmp_path)
    assert json.loads(capsys.readouterr().out)["n_parts"] == [2, 3]


def test_where_nothing_is_in_use_no_table_is_shown(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ModelTerminal, "table", lambda self, model: Table("feature"))
    monkeypatch.setattr(ModelTerminal, "n_found", lambda self, model: pd.Series([0, 0]))
    show_run(Voice(), ModelTerminal(), CountModel(), tmp_path)
    told = capsys.readouterr().out
    assert told.startswith("No parts are in use.\nFine.\n")
