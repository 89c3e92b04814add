"""Tables with holes: what is refused, in one sentence, and what comes back."""

import numpy as np
import pandas as pd
import pytest

from thincrm.data.table_values import as_numbers, like, refuse_infinite, scale_of
from thincrm.errors import InvalidInput, InvalidType

NAMES = pd.RangeIndex(3)


def test_standard_and_back():
    value = np.array([[1.0, 10.0, np.nan], [3.0, 30.0, 5.0], [5.0, np.nan, 7.0]])
    scale = scale_of(value, NAMES, centred=True)
    standard = scale.standard(value)
    assert np.allclose(np.nanmean(standard, 0), 0)
    assert np.allclose(np.nanstd(standard, 0), 1)
    assert np.allclose(scale.back(standard), value, equal_nan=True)
    assert np.all(scale_of(value, NAMES, centred=False).level_P == 0)


@pytest.mark.parametrize("constant", [0.0, 5.0, 1e9, -3e-9])
@pytest.mark.parametrize("centred", [True, False])
def test_everything_said_of_a_constant_column_is_the_constant(constant, centred):
    value = np.column_stack([[1.0, 2.0, 4.0], [constant] * 3])
    scale = scale_of(value, pd.RangeIndex(2), centred=centred)
    assert np.all(scale.standard(value)[:, 1] == 0)
    assert np.all(scale.back(np.full((4, 2), 7.0))[:, 1] == constant)


def test_a_column_without_values_is_refused_by_name():
    table = np.array([[1.0, np.nan], [2.0, np.nan]])
    with pytest.raises(InvalidInput, match="column 'b' holds no value at all"):
        scale_of(table, pd.Index(["a", "b"]), centred=True)


def test_infinite_values_are_refused_by_their_place():
    with pytest.raises(InvalidInput, match=r"infinity, first in row 1, column 2 \(1 in all\)"):
        refuse_infinite(np.array([[1.0, 2.0, 3.0], [1.0, np.nan, -np.inf]]), NAMES)


def test_numbers_too_large_to_square_are_refused():
    with pytest.raises(InvalidInput, match="too large to square"):
        scale_of(np.array([[1e200], [-1e200]]), pd.Index(["a"]), centred=True)


def test_text_is_refused_by_name():
    with pytest.raises(InvalidType, match="column 'country' holds values that are not numbers"):
        as_numbers(pd.DataFrame({"country": ["Chad", "Peru"], "x": [1.0, 2.0]}))


def test_numbers_of_every_kind_are_taken():
    frame = pd.DataFrame(
        {"a": pd.array([1, None], "Int64"), "b": [True, False], "c": np.array([1, None], object)}
    )
    assert as_numbers(frame) is frame


def test_masked_entries_are_holes():
    table = np.ma.masked_invalid([[1, 2], [np.inf, 4]])
    assert np.isnan(as_numbers(table)[1, 0])


def test_a_frame_comes_back_as_a_frame():
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "x"])
    back = like(frame, np.array([[3.0], [4.0]]))
    assert back.index.equals(frame.index)
    assert list(back.columns) == ["a"]
    assert isinstance(like([[1.0]], np.ones((1, 1))), np.ndarray)
