"""Tables of a stranger: columns, labels and categories that are formulas, escapes and markup."""

import csv

import numpy as np
import pandas as pd
import pytest
from test_terminal import E_, assert_harmless, call

FORMULA = "=1+1"
MARKUP = "</script><img src=x onerror=alert(1)>"
SHORT = ("--sweeps", 12, "--draws", 4, "--threads", 1, "--chains", 1)


def table(folder):
    """Write rows: three numbers, a category, and names that the tables of a run have too."""
    rng = np.random.default_rng(3)
    kind = np.arange(40) % 2
    values = {
        "cluster": [f"{FORMULA}{n}" for n in range(40)],  # the labels
        "mean": 1990 + np.arange(40) // 4,  # two covariates
        "line": rng.integers(0, 3, 40),
        f"{FORMULA}{E_}": np.where(kind, 8.0, 0.0) + rng.standard_normal(40),
        "sort": np.where(kind, MARKUP, f"{FORMULA}{E_}"),
        f"sort = {MARKUP}": 50 + 9 * kind + rng.standard_normal(40),
        "more": 9 * kind + rng.standard_normal(40),
    }
    found = pd.DataFrame(values)
    found.iloc[3, 3] = np.nan
    found.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def cells(path):
    with path.open(newline="", encoding="utf-8") as file:
        return [*csv.reader(file)]


@pytest.fixture(scope="module", params=["clusters", "features"])
def run(request, tmp_path_factory):
    """Return a run of such a table, and the table."""
    folder = tmp_path_factory.mktemp(request.param)
    path, out = table(folder), folder / "run"
    how = ("--label", "cluster", "--covariate", "mean", "--covariate", "line")
    more = ("--weights", "binary") if request.param == "features" else ()
    done = call(request.param, path, *how, "--out", out, *SHORT, *more)
    assert done.exit_code == 0, done.output
    assert_harmless(done.stdout, done.stderr)
    return out, path, request.param


def test_no_table_holds_a_formula(run):
    out, path, command = run
    more = [("impute", out, path), ("export", out, "--to", "csv")]
    own = [("assign", out, path), ("report", out)] if command == "clusters" else []
    for words in more + own:
        done = call(*words)
        assert done.exit_code == 0, done.output
        assert_harmless(done.stdout, done.stderr)
    found = [*out.rglob("*.csv")]
    assert len(found) > 5
    for path in found:
        for cell in (cell for row in cells(path) for cell in row):
            try:
                float(cell)
            except ValueError:
                assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")), path


def test_no_column_takes_the_place_of_another(run):
    """Labels and covariates that are called as a column of the table is."""
    out, path, command = run
    call("impute", out, path)
    head, *rows = cells(out / "impute.csv")
    assert len(rows) == 1
    assert len({*head}) == len(head)
    assert rows[0].count(f"'{FORMULA}3") == 1
    head, *rows = cells(out / "tables" / "activation.csv")
    assert len({*head}) == len(head)
    values = {name: {row[place] for row in rows} for place, name in enumerate(head)}
    assert values["mean_"] == {f"{year}.0" for year in range(1990, 2000)}
    assert values["line"] == {"0.0", "1.0", "2.0"}
    if command == "clusters":
        call("assign", out, path)
        head, *rows = cells(out / "assign.csv")
        assert [row[0] for row in rows] == [f"'{FORMULA}{n}" for n in range(40)]
        assert {"probability", "log_density"} < {*head}
