"""Runs fitted to counts: new documents come as counts of the same words."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse
from typer.testing import CliRunner

import thincrm as tc
from thincrm.cli import app
from thincrm.errors import InvalidInput

SMALL = ("--chains", 1, "--sweeps", 15, "--draws", 5, "--max-topics", 12, "--seed", 3, "--quiet")
WORDS = ["apple", "pear", "plum", "cherry", "iron", "steel", "coal", "copper"]
pytestmark = pytest.mark.filterwarnings("ignore:All .* topics are in use")


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write_market(path, counts):
    io.mmwrite(path, sparse.coo_matrix(counts), field="integer")


def write_uci(path, counts):
    found = sparse.coo_array(counts)
    head = [*map(str, found.shape), str(found.nnz)]
    cells = zip(*found.coords, found.data, strict=True)
    path.write_text("\n".join([*head, *(f"{d + 1} {w + 1} {n}" for d, w, n in cells)]) + "\n")


def write_ldac(path, counts):
    lines = []
    for row in counts:
        (used,) = np.nonzero(row)
        lines.append(" ".join([str(used.size), *(f"{w}:{row[w]}" for w in used)]))
    path.write_text("\n".join(lines) + "\n")


def write_npz(path, counts):
    sparse.save_npz(path, sparse.csr_array(counts))


WRITERS = {
    "a.mtx": write_market,
    "docword.txt": write_uci,
    "a.ldac": write_ldac,
    "a.npz": write_npz,
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with counts in four formats, their dates and a run of the first."""
    where = tmp_path_factory.mktemp("counts")
    rng = np.random.default_rng(0)
    counts = np.zeros((60, 8), int)
    counts[:30, :4] = rng.multinomial(30, np.ones(4) / 4, 30)
    counts[30:, 4:] = rng.multinomial(30, np.ones(4) / 4, 30)
    for name, write in WRITERS.items():
        write(where / name, counts)
        write(where / f"new_{name}", counts[[0, 59]])
        write(where / f"few_{name}", counts[:, :5])
    write_ldac(where / "many_a.ldac", np.hstack([counts, counts]))
    years = [f"{1 + i % 12}/5/{1700 + i}" for i in range(60)]
    pd.DataFrame({"when": years}).to_csv(where / "docs.csv", index=False)
    pd.DataFrame({"when": [years[0], years[59]]}).to_csv(where / "new_docs.csv", index=False)
    (where / "words.txt").write_text("\n".join(WORDS))
    (where / "other.txt").write_text("\n".join([*WORDS[:-1], "tin"]))
    (where / "new.csv").write_text("text\napple pear\n")
    dated = ("--metadata", where / "docs.csv", "--date", "when", "--date-format", "%d/%m/%Y")
    done = call(
        "topics", where / "a.mtx", "--words", where / "words.txt", *dated, "--out", where / "run",
        *SMALL,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return where


@pytest.mark.parametrize("name", WRITERS)
def test_new_counts_in_every_format(place, tmp_path, name):
    new = place / f"new_{name}"
    done = call("infer", place / "run", new, "--out", tmp_path / "s.csv")
    assert done.exit_code == 0, done.output
    assert "of any time" in done.stdout
    shares = pd.read_csv(tmp_path / "s.csv", index_col="document")
    assert shares.idxmax(axis=1).nunique() == 2
    done = call(
        "date", place / "run", new, "--words", place / "words.txt", "--out", tmp_path / "d.csv"
    )
    assert done.exit_code == 0, done.output
    dates = pd.read_csv(tmp_path / "d.csv", parse_dates=["lower", "upper"])
    assert dates["upper"][0].year < 1745
    assert dates["lower"][1].year > 1715


def test_a_run_that_is_passed_on_does_not_tell_where_its_files_were(place):
    kept = (place / "run" / "source" / "reading.json").read_text("utf-8")
    assert json.loads(kept)["metadata"] == "docs.csv"
    assert str(place) not in kept


def test_dates_come_from_the_table_beside_them(place, tmp_path):
    new = ("infer", place / "run", place / "new_a.mtx", "--out", tmp_path / "s.csv")
    done = call(*new, "--metadata", place / "new_docs.csv")  # its columns and form as in the run
    assert done.exit_code == 0, done.output
    assert "of their time" in done.stdout
    expected = tc.load(place / "run").transform(
        tc.read_counts(place / "new_a.mtx"), t=pd.to_datetime(["1700-05-01", "1759-05-12"])
    )
    found = pd.read_csv(tmp_path / "s.csv", index_col="document")
    np.testing.assert_allclose(found, expected, atol=1e-5)
    done = call(*new, "--metadata", place / "docs.csv")
    assert done.exit_code == 2
    assert "60 rows" in done.stderr


@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        ("few_a.mtx", (), "5 words but the vocabulary 8"),
        ("few_docword.txt", (), "5 words but the vocabulary 8"),
        ("few_a.npz", (), "5 words but the vocabulary 8"),
        ("many_a.ldac", (), "words below 8"),
        ("new_a.mtx", ("--words", "other.txt"), "Word 8 of the vocabulary is 'tin'"),
        ("new_a.mtx", ("--words", "none.txt"), "none.txt does not exist"),
        ("new.csv", (), "was fitted to counts"),
        (".", (), "was fitted to counts"),
        ("missing.mtx", (), "does not exist"),
    ],
)
def test_other_counts_are_a_sentence(place, tmp_path, name, more, words):
    more = [place / part if part.endswith(".txt") else part for part in more]
    for command in ("infer", "date"):
        done = call(command, place / "run", place / name, *more, "--out", tmp_path / "x.csv")
        assert done.exit_code == 2, done.output
        assert words in done.stderr
        assert not (tmp_path / "x.csv").exists()


def test_python_checks_the_words_too(place):
    model = tc.load(place / "run")
    with pytest.raises(InvalidInput, match="'tin' but the model was fitted to 'copper'"):
        model.transform(tc.read_counts(place / "new_a.mtx", place / "other.txt"))
    with pytest.raises(InvalidInput, match="5 words but the model was fitted to 8"):
        model.transform(tc.read_counts(place / "few_a.mtx", WORDS[:5]))


def test_held_out_words_are_told_at_the_end(place, tmp_path):
    small = ("--sweeps", 15, "--max-topics", 12, "--seed", 3)
    fit = ("topics", place / "a.npz", "--thinning", "always", *small, "--heldout", 0.2)
    done = call(*fit, "--draws", 5, "--out", tmp_path / "run", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert 3.0 < found["perplexity"] < 6.0
    assert found["monte_carlo_error"] >= 0.0
    assert found["held_out_words"] == 60 * 6
    model = tc.load(tmp_path / "run")
    assert model.perplexity().value == found["perplexity"]
    assert (tmp_path / "run" / "tables" / "perplexity.csv").exists()
    done = call("resume", tmp_path / "run")
    assert f"Held-out perplexity {found['perplexity']:.1f}" in done.stdout
    one = ("--draws", 1, "--chains", 1)
    done = call(*fit, *one, "--out", tmp_path / "one", "--json")
    assert json.loads(done.stdout)["monte_carlo_error"] is None
    done = call(*fit[:-1], "0.001", "--out", tmp_path / "none")
    assert done.exit_code == 2
    assert "--heldout 0.001 takes none" in done.stderr
    assert not (tmp_path / "none").exists()
