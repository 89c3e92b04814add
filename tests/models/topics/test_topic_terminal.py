"""The table of topics in the terminal, number by number."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from thincrm.data.counts import as_counts, split_words
from thincrm.data.covariates import covariates
from thincrm.models.topics.terminal import TopicTerminal

YEARS = [1900, 1900, 1900, 1950]  # of documents: the first year counts three times
OPEN = {0: [0.2, 0.9], 1: [0.5, 0.1], 2: [1.0, 0.4]}
SHARE = {0: [0.1, 0.5], 1: [0.6, 0.2], 2: [0.3, 0.3]}
CHAINS, DRAWS = [1.0, 0.5, 0.75], [0.9, 0.31, 0.8]
WORDS = {0: ["war", "army"], 1: ["tax", "gold"], 2: ["peace", "treaty"]}


def model_of(n_chains):
    """Return what the table asks of a model of three topics, the second of which is not firm."""
    rows = [(k, OPEN[k][i], SHARE[k][i]) for k in OPEN for i in range(2)]
    words = [(k, word) for k in WORDS for word in WORDS[k]]
    firm = {"chains": CHAINS, "draws": DRAWS, "firm": [True, False, True]}
    return SimpleNamespace(
        covariates_=covariates(YEARS),
        draws_=[SimpleNamespace(chain=c) for c in range(n_chains) for _ in range(2)],
        activation=lambda: pd.DataFrame(rows, columns=["topic", "mean", "share"]),
        topics=lambda n_words: pd.DataFrame(words, columns=["topic", "word"]),
        reliability=lambda: pd.DataFrame(firm),
    )


@pytest.mark.parametrize(
    ("n_chains", "found"), [(4, ["4/4", "3/4", "2/4"]), (1, ["90 %", "80 %", "31 %"])]
)
def test_rows_are_of_firm_topics_first_then_of_the_others(n_chains, found):
    table = TopicTerminal().table(model_of(n_chains))
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    assert cells[0] == ["0", "2", "1"]
    share = [np.dot([0.75, 0.25], SHARE[k]) for k in (0, 2, 1)]
    assert cells[1] == [f"{100 * value:.1f} %" for value in share] == ["20.0 %", "30.0 %", "50.0 %"]
    assert cells[2] == ["90 %", "100 %", "50 %"]
    assert cells[3][0][-1] == "█"
    assert cells[4] == found
    assert cells[5] == ["war army", "peace treaty", "tax gold"]
    where = "chains" if n_chains > 1 else "draws"
    assert str(table.caption) == f"The lower topics do not come back: too few {where} have them."
    assert [row.end_section for row in table.rows] == [False, True, False]


def test_tiny_topics_that_do_not_come_back_are_left_out(monkeypatch):
    """Of a topic of a word or two, most of the words shown would be the prior's."""
    monkeypatch.setitem(SHARE, 1, [0.0009, 0.0009])
    monkeypatch.setitem(SHARE, 2, [0.0001, 0.0001])
    table = TopicTerminal().table(model_of(4))
    assert [str(cell) for cell in table.columns[0].cells] == ["0", "2"]
    assert table.caption is None
    monkeypatch.setitem(SHARE, 1, [0.0011, 0.0011])
    table = TopicTerminal().table(model_of(4))
    assert [str(cell) for cell in table.columns[0].cells] == ["0", "2", "1"]


def test_where_all_topics_come_back_nothing_is_set_apart():
    model = model_of(4)
    firm = model.reliability().assign(firm=True)
    model.reliability = lambda: firm
    table = TopicTerminal().table(model)
    assert table.caption is None
    assert [str(cell) for cell in table.columns[0].cells] == ["0", "1", "2"]
    none = firm.assign(firm=False)
    model.reliability = lambda: none
    told = str(TopicTerminal().table(model).caption)
    assert told == "These topics do not come back: too few chains have them."


def test_held_out_words_are_also_told_by_frequencies_alone():
    """exp(-sum y log f / sum y), f being the shares of words in what was fitted, 1/2 added."""
    counts = as_counts(np.random.default_rng(0).poisson([9.0, 3.0, 1.0, 0.2], (20, 4)))
    model = SimpleNamespace(counts_=counts, vocabulary_=pd.Index(list("abcd")), covariates_=None)
    found = SimpleNamespace(value=2.5, error=0.1, n_words=7)
    again = SimpleNamespace(
        set_params=lambda **_: None,
        fit=lambda *_, **__: None,
        perplexity=lambda heldout: found,
        n_topics_=pd.Series([2, 5]),
    )
    told = TopicTerminal().evaluate(None, model, again, 0.3, 4)
    train, heldout = (part.toarray() for part in split_words(counts, 0.3, 4))
    share = [(n + 0.5) / (train.sum() + 2.0) for n in train.sum(axis=0)]
    logs = [n * np.log(f) for n, f in zip(heldout.sum(axis=0), share, strict=True)]
    assert told == {
        "perplexity": 2.5,
        "monte_carlo_error": 0.1,
        "perplexity_of_word_frequencies": pytest.approx(np.exp(-sum(logs) / heldout.sum())),
        "held_out_words": 7,
        "topics": 3.5,
    }
