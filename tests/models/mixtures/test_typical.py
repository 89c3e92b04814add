"""What a cluster is like: where it is unlike the others first, rare values of categories last."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from thincrm.models.mixtures.typical import typical_entries


def test_the_most_unlike_come_first():
    mean = {
        "size": [1.0, 1.1, 9.0],
        "weight": [5.0, 70.0, 6.0],
        "flat": [3.0, 3.0, 3.0],
        "colour = red": [0.1, 0.1, 0.9],
        "colour = blue": [0.9, 0.9, 0.1],
    }
    index = pd.MultiIndex.from_product([range(3), mean], names=["cluster", "column"])
    value = np.array([[mean[name][k] for name in mean] for k in range(3)]).ravel()
    table = pd.DataFrame({"mean": value, "lower": value - 1, "upper": value + 1}, index=index)
    table["sd"] = np.where(["=" in name for _, name in index], np.nan, 2.0)
    layout = SimpleNamespace(levels=((), (), (), ("red", "blue")))
    columns = pd.Index(["size", "weight", "flat", "colour"])
    model = SimpleNamespace(clusters=lambda: table, layout_=layout, columns_=columns)
    found = typical_entries(model)
    names = [[entry.name for entry in entries] for entries in found]
    assert names[1][0] == "weight"
    assert {*names[2][:2]} == {"size", "colour = red"}
    assert names[2][-1] == "colour = blue"
    assert names[0][-1] == "colour = red"
    entry = found[2][names[2].index("colour = red")]
    assert (entry.mean, entry.lower, entry.upper) == (0.9, 0.9 - 1, 1.9)
    assert entry.is_probability
    assert np.isnan(entry.sd)
    assert not found[1][0].is_probability


def test_of_two_clusters_what_they_share_comes_later():
    index = pd.MultiIndex.from_product([range(2), ["same", "size"]], names=["cluster", "column"])
    table = pd.DataFrame({"mean": [5.0, 0.0, 5.1, 8.0]}, index=index).assign(lower=0.0, upper=9.0)
    table["sd"] = 1.0
    layout, columns = SimpleNamespace(levels=((), ())), pd.Index(["same", "size"])
    model = SimpleNamespace(clusters=lambda: table, layout_=layout, columns_=columns)
    assert [entries[0].name for entries in typical_entries(model)] == ["size", "size"]
