"""Sentences that hold two wordings: that of Python and that of the command line."""

import pickle
import warnings

import pytest

from thincrm.errors import (
    CannotWrite,
    InvalidInput,
    InvalidType,
    Sentence,
    argument,
    check_between,
    check_count,
    either,
    in_shell,
)
from thincrm.inference.diagnostics import Verdict


def test_arguments_are_options_on_the_command_line():
    with pytest.raises(InvalidInput) as caught:
        check_count("n_sweeps", 0)
    assert str(caught.value) == "n_sweeps must be at least 1, got 0."
    assert in_shell(caught.value) == "--sweeps must be at least 1, got 0."
    with pytest.raises(InvalidType) as caught:
        check_count("max_topics", "many")
    assert in_shell(caught.value) == "--max-topics must be a number, got 'many'."
    assert in_shell(argument("random_state")) == "--seed"
    with pytest.raises(InvalidInput) as caught:
        check_between("--heldout", 2, 0.0, 1.0)  # a command names its own option
    assert in_shell(caught.value).startswith("--heldout must lie")


def test_what_a_sentence_quotes_is_never_rewritten():
    path = "/data/n_sweeps/random_state.csv"
    error = InvalidInput(argument("n_sweeps"), f" is missing in {path}, heldout=3.")
    assert in_shell(error) == f"--sweeps is missing in {path}, heldout=3."
    assert in_shell(InvalidInput(f"{path} does not exist.")) == f"{path} does not exist."


def test_parts_keep_both_wordings_when_joined():
    inner = Sentence("pass ", either("max_topics='grow'", "--max-topics grow"))
    outer = Sentence("Raise it, or ", inner, ".")
    assert outer == "Raise it, or pass max_topics='grow'."
    assert outer.shell == "Raise it, or pass --max-topics grow."
    assert in_shell("plain") == "plain"
    assert in_shell(Verdict(outer, True)) == outer.shell


def test_warnings_and_other_errors_carry_them_too():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(Sentence("see ", argument("n_chains")), stacklevel=1)
    assert in_shell(caught[0].message) == "see --chains"
    assert in_shell(CannotWrite("no ", argument("n_draws"))) == "no --draws"


def test_errors_survive_being_sent_to_another_process():
    error = pickle.loads(pickle.dumps(InvalidInput(argument("n_sweeps"), " is wrong.")))
    assert str(error) == "n_sweeps is wrong."
    assert in_shell(error) == "--sweeps is wrong."
