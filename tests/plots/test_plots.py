"""Pictures: axes in, axes out, dates on the axis, nothing beside the paper, and sentences."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import thincrm as tc
from thincrm import plots
from thincrm.errors import InvalidInput

plt = pytest.importorskip("matplotlib.pyplot")
dates = pytest.importorskip("matplotlib.dates")

DATES = pd.date_range("1790-01-08", periods=16, freq="10YS")
WORDS = ["tax", "$100$", "<b>", "_under^score", *(f"word{p}" for p in range(8))]
NARROW, WIDE = 3.3, 6.9  # inches: one column of a journal, and two


class Imputation(NamedTuple):
    mean: pd.DataFrame
    lower: pd.DataFrame
    upper: pd.DataFrame


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = np.zeros((80, 12), int)
    for d in range(80):
        for topic in {d // 20, rng.integers(4)}:
            X[d, 3 * topic : 3 * topic + 3] += rng.poisson(4.0, 3)
    fitted = tc.TopicModel(
        max_topics=24,
        detail="fine",
        n_sweeps=24,
        n_draws=10,
        n_chains=2,
        random_state=0,
        quiet=True,
    )
    return fitted.fit(pd.DataFrame(X, columns=WORDS), t=DATES.repeat(5))


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def feature_table():
    rng = np.random.default_rng(1)
    index = pd.MultiIndex.from_product([range(3), [f"column {p}" for p in range(6)]])
    mean = rng.standard_normal(18)
    return pd.DataFrame({"mean": mean, "lower": mean - 0.3, "upper": mean + 0.3}, index=index)


def holes():
    table = pd.DataFrame(np.random.default_rng(2).standard_normal((16, 3)), columns=list("abc"))
    seen = table.copy()
    seen.iloc[2, 0] = seen.iloc[5, 2] = np.nan
    return Imputation(table, table - 1.0, table + 1.0), seen


PICTURES = {
    "lines": lambda model, ax: plots.activation(model, range(4), ax=ax),
    "ridge": lambda model, ax: plots.activation(model, range(4), kind="ridge", ax=ax),
    "heat": lambda model, ax: plots.activation(model, kind="heat", ax=ax),
    "share": lambda model, ax: plots.share(model, ax=ax),
    "cards": lambda model, ax: plots.topic_cards(model, range(2), n_words=4, ax=ax),
    "trace": lambda model, ax: plots.trace(model, ["concentration", "log_joint"], ax=ax),
    "images": lambda _, ax: plots.features(np.eye(4, 9), (3, 3), ax=ax),
    "bars": lambda _, ax: plots.features(feature_table(), ax=ax),
    "holes": lambda _, ax: plots.imputation(*holes(), t=DATES, ax=ax),
    "prior": lambda _, ax: plots.prior(
        tc.ThinnedCRM(tc.GammaProcess(), tc.Bump()), DATES, ax=ax
    ),
}  # fmt: skip


def inside(figure):
    """Tell whether all that shows is on the paper (to a few hundredths of an inch)."""
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    slack = 0.04
    return (
        min(box.x0, box.y0) > -slack and box.x1 < width + slack and box.y1 < height + slack
    ), box


@pytest.mark.parametrize("name", PICTURES)
def test_narrow_axes_are_drawn_on_and_returned(model, name):
    figure, ax = plt.subplots(figsize=(NARROW, 2.8), layout="constrained")
    assert PICTURES[name](model, ax) is ax
    figure.draw_without_rendering()
    drawn = [one for part in (ax, *ax.child_axes) for one in part.get_children()]
    assert len(drawn) > 3
    sizes = [t.get_fontsize() for t in figure.findobj(plt.Text) if t.get_text().strip()]
    assert min(sizes) >= 6.0
    assert inside(figure)[0], inside(figure)[1]


@pytest.mark.parametrize("name", PICTURES)
def test_axes_are_made_two_columns_wide(model, name):
    figure = PICTURES[name](model, None).get_figure()
    assert figure.get_size_inches()[0] == WIDE
    figure.draw_without_rendering()
    assert inside(figure)[0], inside(figure)[1]


@pytest.mark.parametrize("name", ["lines", "ridge", "heat", "share", "holes"])
def test_dates_stay_dates(model, name):
    ax = PICTURES[name](model, None)
    ax.get_figure().draw_without_rendering()
    axis = ax.child_axes[-1] if ax.child_axes else ax
    low, high = (moment.year for moment in dates.num2date(axis.get_xlim()))
    assert 1780 <= low <= 1795
    assert 1935 <= high <= 1950
    pairs = zip(axis.get_xticks(), axis.get_xticklabels(), strict=True)
    first, last = axis.get_xlim()
    labels = [label.get_text() for place, label in pairs if first <= place <= last]
    assert labels
    assert set(labels) <= {str(year) for year in range(1780, 1951)}


def test_lines_show_the_table(model):
    table = model.activation(level=0.5)
    ax = plots.activation(table, [1])
    (panel,) = ax.child_axes
    mine = table[table["topic"] == 1]
    np.testing.assert_allclose(panel.lines[0].get_ydata(), mine["mean"])
    assert panel.get_title(loc="left") == "topic 1"
    named = plots.activation(model, [1]).child_axes[0].get_title(loc="left")
    first = model.topics(1).query("topic == 1")["word"].item()
    assert first.replace("$", "") in named.replace("\\$", "")


def test_heat_is_sorted_by_birth():
    t = np.arange(10)
    born = [7, 0, 3]
    parts = [
        pd.DataFrame({"topic": k, "t": t, "mean": np.where(t >= b, 0.8, 0.1)})
        for k, b in enumerate(born)
    ]
    table = pd.concat(parts).assign(lower=0.0, upper=1.0)
    ax = plots.activation(table, kind="heat")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["topic 1", "topic 2", "topic 0"]


def test_shares_are_stacked_to_one(model):
    ax = plots.share(model, topics=[0, 1])
    assert len(ax.collections) == 3
    top = max(path.vertices[:, 1].max() for path in ax.collections[-1].get_paths())
    assert top == pytest.approx(1.0)
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named[0] == f"{model._tables.n_topics - 2} others"


def test_trace_draws_a_line_for_each_chain(model):
    ax = plots.trace(model, ["concentration"])
    (panel,) = ax.child_axes
    assert len(panel.lines) == 2
    assert panel.lines[0].get_xdata().size == 24
    assert "R-hat" in panel.get_title(loc="left")


def test_a_feature_model_is_drawn_too():
    X = np.random.default_rng(2).standard_normal((40, 6))
    X[::2] += [6.0, 0.0, -6.0, 0.0, 6.0, 0.0]
    fitted = tc.FeatureModel(
        weights="binary", max_features=4, n_sweeps=12, random_state=0, quiet=True
    )
    fitted.fit(X, t=np.repeat(np.arange(10), 4))
    assert plots.features(fitted).child_axes
    assert plots.features(fitted, (2, 3)).child_axes[0].images
    assert plots.activation(fitted, kind="ridge").get_yticklabels()[0].get_text()[:7] == "feature"
    assert plots.trace(fitted, ["noise"]).child_axes


def test_numbers_and_time_zones(model):
    base = model.activation().query("topic < 2")
    numbers = base.assign(t=np.tile(np.arange(16) * 0.5, 2))
    assert plots.activation(numbers).child_axes[0].get_xlim() == (0.0, 7.5)
    zoned = base.assign(t=pd.DatetimeIndex(base["t"]).tz_localize("UTC"))
    plots.activation(zoned, kind="ridge").get_figure().draw_without_rendering()


def test_sentences(model):
    with pytest.raises(InvalidInput, match="There are no features to draw"):
        plots.features(np.empty((0, 3)))
    with pytest.raises(InvalidInput, match="kind must be one of lines, ridge, heat"):
        plots.activation(model, kind="pie")
    with pytest.raises(InvalidInput, match="there is no topic 99: topics go from 0"):
        plots.activation(model, [99])
    with pytest.raises(InvalidInput, match="one covariate value only"):
        plots.activation(model.activation().query("t == t.min()"))
    with pytest.raises(InvalidInput, match="needs columns topic and t"):
        plots.activation(pd.DataFrame({"topic": [0], "x": [1.0]}))
    with pytest.raises(InvalidInput, match="no column share"):
        plots.share(model.activation().drop(columns="share"))
    with pytest.raises(InvalidInput, match="pass a fitted model"):
        plots.activation("nothing")
    with pytest.raises(InvalidInput, match="does not hold the 9 columns"):
        plots.features(np.eye(4, 9), (2, 2))
    with pytest.raises(InvalidInput, match="no holes"):
        plots.imputation(holes()[0], holes()[0].mean)
    with pytest.raises(InvalidInput, match="there is no quantity"):
        plots.trace(model, ["nonsense"])
    _, tiny = plt.subplots(figsize=(1.0, 1.0))
    with pytest.raises(InvalidInput, match="panels do not fit"):
        plots.activation(model, ax=tiny)
    with pytest.raises(InvalidInput, match="levy= and thinning="):
        plots.prior(model, DATES)
