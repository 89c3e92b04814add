"""Whatever is passed as covariates: an answer that is sound, or an error that is ours."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from thincrm.data.covariates import covariates
from thincrm.errors import ThincrmError

WHEN = {"min_value": dt.datetime(1600, 1, 1), "max_value": dt.datetime(2200, 1, 1)}
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.decimals(allow_nan=False),
    st.just(Decimal("NaN")),
    st.fractions(),
    st.text(max_size=12),
    st.binary(max_size=4),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.timezones()),
    st.times(),
    st.timedeltas(),
    st.just(pd.NaT),
    st.just(pd.NA),
    st.sampled_from(["2020-01-01", "1862", "2020-01-01T00:00Z", "nan", "inf", "now", "1e400"]),
)
ARRAYS = st.sampled_from("?bBhHiIlLefdgFD").flatmap(
    lambda code: hnp.arrays(np.dtype(code), hnp.array_shapes(max_dims=3, max_side=3, min_side=0))
)
DATETIMES = hnp.arrays(hnp.datetime64_dtypes(), hnp.array_shapes(max_dims=2, max_side=3))
NESTED = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4), max_leaves=8)


def sound_or_refused(t):
    try:
        found = covariates(t)
    except ThincrmError:
        return
    assert np.all(np.isfinite(found.rows))
    assert found.trials.sum() == found.row.size
    assert np.array_equal(np.bincount(found.row, minlength=len(found.rows)), found.trials)
    assert len(np.unique(found.rows, axis=0)) == len(found.rows)
    assert len(found.labels()) == len(found.rows)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(NESTED)
def test_nested_lists_of_anything(t):
    sound_or_refused(t)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.one_of(ARRAYS, DATETIMES))
def test_arrays_of_any_type_and_shape(t):
    sound_or_refused(t)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(SCALARS, min_size=1, max_size=4))
def test_series_and_tables_of_anything(items):
    column = pd.Series(items, dtype=object)
    sound_or_refused(column)
    sound_or_refused(pd.DataFrame({"a": column, "b": range(len(items))}))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.datetimes(**WHEN), min_size=1, max_size=6))
def test_any_dates_come_back_from_their_labels_to_a_millisecond(dates):
    dates = [date.replace(microsecond=date.microsecond // 1000 * 1000) for date in dates]
    found = covariates(dates)
    assert found.kind == "date"
    labels = found.labels()
    assert [labels[row].to_pydatetime() for row in found.row] == dates
    assert np.array_equal(found.encode(labels), found.rows)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
def test_any_numbers_come_back_from_their_rows(numbers):
    found = covariates(numbers)
    assert found.rows[found.row, 0].tolist() == numbers
    assert np.array_equal(found.encode(found.labels()), found.rows)
