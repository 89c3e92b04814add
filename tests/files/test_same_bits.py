"""Tables of a model that was loaded, or whose run was resumed, are the fit's own, bit for bit."""

import numpy as np
import pandas as pd
import pytest
import test_features
import test_saving
from hostile import fit_clusters
from small_run import fit

import thincrm as tc
from thincrm.models.codec import codec

pytestmark = pytest.mark.filterwarnings("ignore:All .* (topics|features|clusters)")


def assert_same(found, wanted):
    assert list(found) == list(wanted)
    for name, table in wanted.items():
        pd.testing.assert_frame_equal(found[name], table, check_exact=True, obj=name)
        numbers = table.select_dtypes("float")
        there = found[name][numbers.columns]
        assert there.to_numpy().tobytes() == numbers.to_numpy().tobytes(), name


def assert_in_order(model):
    for draw in model.draws_:
        for name, array in codec(type(model)).encode(draw)[1].items():
            assert array.flags.c_contiguous, name


@pytest.mark.parametrize("changes", test_saving.FACTORS.values(), ids=test_saving.FACTORS)
def test_tables_of_topics(changes, tmp_path):
    model = fit(tmp_path / "run", **changes)
    tables = model.tables()
    assert_in_order(model)
    assert_same(fit(**changes).tables(), tables)
    assert_same(tc.load(tmp_path / "run").tables(), tables)
    assert_same(tc.resume(tmp_path / "run").tables(), tables)
    model.save(tmp_path / "copy")
    assert_same(tc.load(tmp_path / "copy").tables(), tables)


@pytest.mark.parametrize("changes", test_features.KINDS.values(), ids=test_features.KINDS)
def test_tables_of_features(changes, tmp_path):
    model = test_features.fit(tmp_path / "run", **changes)
    tables = model.tables()
    assert_in_order(model)
    assert_same(tc.load(tmp_path / "run").tables(), tables)
    assert_same(tc.resume(tmp_path / "run").tables(), tables)
    Y, t = test_features.table()
    loaded = tc.load(tmp_path / "run").impute(Y, t=t)
    for part, wanted in zip(loaded, model.impute(Y, t=t), strict=True):
        assert np.asarray(part).tobytes() == np.asarray(wanted).tobytes()


@pytest.mark.parametrize("gates", ["shared", "weighted", "observation"])
def test_tables_of_clusters(gates, tmp_path):
    model = fit_clusters(tmp_path / "run", gates=gates, n_sweeps=12, n_draws=4)
    tables = model.tables()
    assert_in_order(model)
    assert_same(tc.load(tmp_path / "run").tables(), tables)
    assert_same(tc.resume(tmp_path / "run").tables(), tables)
