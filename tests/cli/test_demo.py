"""`thincrm demo` on a small corpus in place of the addresses."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from thincrm.cli import app, state_of_the_union
from thincrm.data.counts import as_counts
from thincrm.data.sotu import Corpus, prepare_addresses


def test_the_demo_prints_topics_and_says_where_the_report_is(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    rate = np.kron([[2.0, 0.1], [0.1, 2.0]], np.ones((20, 10)))
    words = pd.Index([f"word{i}" for i in range(20)])
    texts = np.array([f"Speech {i}" for i in range(40)], object)
    corpus = Corpus(
        as_counts(rng.poisson(rate)), words, np.arange(1800, 1840), pd.Index(texts), texts
    )
    monkeypatch.setattr(state_of_the_union, "load_sotu", lambda: corpus)
    out = tmp_path / "demo"
    done = CliRunner().invoke(app, ["demo", "--out", str(out), "--sweeps", "12"])
    assert done.exit_code == 0, done.output
    for part in ("1800", "1839", "█", "word1", str(out / "report.html")):
        assert part in done.stdout.replace("\n", "")
    assert (out / "report.html").stat().st_size > 10_000
    assert len(pd.read_csv(out / "tables" / "activation.csv")) > 40


def test_documents_are_quoted_as_they_were_spoken():
    pytest.importorskip("sklearn")
    filler = " ".join(f"alpha{chr(97 + i)}" for i in range(26)) + " "
    frame = pd.DataFrame(
        {
            "year": [1800, 1801],
            "date": ["1800-01-01", "1801-01-01"],
            "president_full": ["A", "B"],
            "text": [f"We've [Applause] met. {filler * 12}\n\nThe Nation's END.", filler * 12],
        }
    )
    corpus = prepare_addresses(frame)
    assert corpus.texts[0].startswith("We've [Applause] met.")
    assert corpus.texts[0].endswith("The Nation's END.")
    assert corpus.take([1]).texts[0] == frame["text"][1].strip()
