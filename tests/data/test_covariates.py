import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from thincrm.data.covariates import Covariates, covariates, encode
from thincrm.errors import InvalidInput, InvalidType

HELSINKI = ZoneInfo("Europe/Helsinki")


def days(year, month=1, day=1):
    """Days since 1970-01-01 by Python's own calendar."""
    return dt.date(year, month, day).toordinal() - dt.date(1970, 1, 1).toordinal()


NUMBERS = {
    "list": [3, 1, 2],
    "tuple": (3, 1, 2),
    "floats": [3.0, 1.0, 2.0],
    "generator": (n for n in (3, 1, 2)),
    "array": np.array([3, 1, 2]),
    "small integers": np.array([3, 1, 2], np.uint8),
    "half floats": np.array([3, 1, 2], np.float16),
    "series": pd.Series([3, 1, 2], index=[9, 8, 7]),
    "index": pd.Index([3, 1, 2]),
    "nullable": pd.Series([3, 1, 2], dtype="Int64"),
    "nullable array": pd.array([3, 1, 2], dtype="Float64"),
    "category": pd.Series([3, 1, 2], dtype="category"),
    "strings": ["3", "1.0", "2e0"],
    "decimals": [Decimal(3), Decimal(1), Decimal(2)],
    "fractions": [Fraction(3), Fraction(1), Fraction(2)],
    "mixed numbers": np.array([3, 1.0, Decimal(2)], object),
    "one column": np.array([[3], [1], [2]]),
    "one-column table": pd.DataFrame({"t": [3, 1, 2]}),
    "unmasked": np.ma.array([3, 1, 2], mask=False),
}


@pytest.mark.parametrize("form", NUMBERS)
def test_numbers_in_every_form(form):
    found = covariates(NUMBERS[form])
    assert found.kind == "number"
    assert found.names == ("t",)
    assert found.rows.tolist() == [[1.0], [2.0], [3.0]]
    assert found.rows.dtype == np.float64
    assert found.row.tolist() == [2, 0, 1]
    assert found.trials.tolist() == [1, 1, 1]
    assert found.labels().tolist() == [1, 2, 3]


DATES = {
    "ISO strings": ["1862-12-01", "1970-01-01", "2020-02-29"],
    "array of strings": np.array(["1862-12-01", "1970-01-01", "2020-02-29"]),
    "string series": pd.Series(["1862-12-01", "1970-01-01", "2020-02-29"]),
    "strings with times": ["1862-12-01T00:00", "1970-01-01T00:00:00", "2020-02-29 00:00:00.000"],
    "dates": [dt.date(1862, 12, 1), dt.date(1970, 1, 1), dt.date(2020, 2, 29)],
    "datetimes": [dt.datetime(1862, 12, 1), dt.datetime(1970, 1, 1), dt.datetime(2020, 2, 29)],
    "dates and datetimes": [dt.date(1862, 12, 1), dt.datetime(1970, 1, 1), dt.date(2020, 2, 29)],
    "dates and strings": [dt.date(1862, 12, 1), "1970-01-01", pd.Timestamp("2020-02-29")],
    "timestamps": [pd.Timestamp("1862-12-01"), pd.Timestamp(0), pd.Timestamp("2020-02-29")],
    "datetime64[D]": np.array(["1862-12-01", "1970-01-01", "2020-02-29"], "M8[D]"),
    "datetime64[h]": np.array(["1862-12-01", "1970-01-01", "2020-02-29"], "M8[h]"),
    "datetime64[s]": np.array(["1862-12-01", "1970-01-01", "2020-02-29"], "M8[s]"),
    "datetime64[us]": np.array(["1862-12-01", "1970-01-01", "2020-02-29"], "M8[us]"),
    "datetime64[ns]": np.array(["1862-12-01", "1970-01-01", "2020-02-29"], "M8[ns]"),
    "list of datetime64": [np.datetime64("1862-12-01"), np.datetime64(0, "s"), "2020-02-29"],
    "datetime index": pd.DatetimeIndex(["1862-12-01", "1970-01-01", "2020-02-29"]),
    "periods": [pd.Period("1862-12-01", "D"), pd.Period("1970", "Y"), pd.Period("2020-02-29", "D")],
    "period index": pd.PeriodIndex(["1862-12-01", "1970-01-01", "2020-02-29"], freq="D"),
    "one column": np.array([["1862-12-01"], ["1970-01-01"], ["2020-02-29"]], "M8[D]"),
    "one-column table": pd.DataFrame({"t": [dt.date(1862, 12, 1), "1970-01-01", "2020-02-29"]}),
}


@pytest.mark.parametrize("form", DATES)
def test_dates_in_every_form(form):
    found = covariates(DATES[form])
    assert found.kind == "date"
    assert found.rows[:, 0].tolist() == [days(1862, 12, 1), 0.0, days(2020, 2, 29)]
    assert found.labels().tolist() == [
        pd.Timestamp("1862-12-01"),
        pd.Timestamp("1970-01-01"),
        pd.Timestamp("2020-02-29"),
    ]
    assert found.labels().name == "t"


AWARE = {
    "strings with Z": ["2020-01-01T12:00:00Z", "2020-07-01T12:00:00Z"],
    "strings with an offset": ["2020-01-01T14:00:00+02:00", "2020-07-01T14:00:00+02:00"],
    "UTC datetimes": [
        dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC),
        dt.datetime(2020, 7, 1, 12, tzinfo=dt.UTC),
    ],
    "a zone in winter and in summer": [
        dt.datetime(2020, 1, 1, 14, tzinfo=HELSINKI),
        dt.datetime(2020, 7, 1, 15, tzinfo=HELSINKI),
    ],
    "timestamps": [
        pd.Timestamp("2020-01-01 14:00", tz="Europe/Helsinki"),
        pd.Timestamp("2020-07-01 15:00", tz="Europe/Helsinki"),
    ],
    "series": pd.Series(pd.to_datetime(["2020-01-01 12:00", "2020-07-01 12:00"], utc=True)),
    "index": pd.DatetimeIndex(["2020-01-01 14:00", "2020-07-01 15:00"], tz="Europe/Helsinki"),
}


@pytest.mark.parametrize("form", AWARE)
def test_dates_with_a_zone_are_kept_in_utc(form):
    found = covariates(AWARE[form])
    assert found.kind == "date+utc"
    assert found.rows[:, 0].tolist() == [days(2020) + 0.5, days(2020, 7) + 0.5]
    assert str(found.labels().tz) == "UTC"


@pytest.mark.parametrize("year", [1600, 1677, 1790, 1862, 1970, 2000, 2100, 2200, 2262, 2263])
def test_far_years_in_strings_dates_and_arrays(year):
    """Nanoseconds would end in 1677 and 2262."""
    for t in ([f"{year}-03-01"], [dt.date(year, 3, 1)], np.array([f"{year}-03-01"], "M8[D]")):
        values, kind, _ = encode(t)
        assert kind == "date"
        assert values[0, 0] == days(year, 3, 1)
        assert covariates(t).labels()[0] == pd.Timestamp(year=year, month=3, day=1)


def test_a_bare_year_among_dates_is_its_first_day_and_alone_is_a_number():
    assert encode(["1862", "1863-02-01"])[0][:, 0].tolist() == [days(1862), days(1863, 2, 1)]
    assert encode(["1862", "1863"])[1] == "number"
    assert encode(np.array(["1862", "1863"], "M8[Y]"))[0][:, 0].tolist() == [days(1862), days(1863)]
    assert encode(pd.PeriodIndex(["2020Q2"], freq="Q"))[0][0, 0] == days(2020, 4, 1)


def test_times_of_day_are_fractions_of_days():
    values = encode([dt.datetime(1970, 1, 2, 6), dt.datetime(1969, 12, 31, 18)])[0]
    assert values[:, 0].tolist() == [1.25, -0.25]
    micro = encode([dt.datetime(2020, 1, 1, 0, 0, 0, 1)])[0][0, 0]
    assert micro - days(2020) == pytest.approx(1 / 86_400e6, rel=0.05)


@pytest.mark.parametrize("year", [1600, 1789, 1970, 2060, 2199])
def test_labels_show_a_time_as_it_was_written(year):
    """A float day has no room for single microseconds; labels must not show the rounding."""
    times = [dt.datetime(year, 1, 1, 5, 7, second, 1000 * second) for second in range(60)]
    assert covariates(times).labels().tolist() == [pd.Timestamp(time) for time in times]


def test_repeated_and_uneven_covariates_are_counted_per_distinct_row():
    found = covariates([1990, 2005.5, 1990, 1990, 1600, 2005.5])
    assert found.rows[:, 0].tolist() == [1600.0, 1990.0, 2005.5]
    assert found.trials.tolist() == [1, 3, 2]
    assert found.rows[found.row, 0].tolist() == [1990, 2005.5, 1990, 1990, 1600, 2005.5]
    assert found.labels().tolist() == [1600.0, 1990.0, 2005.5]


def test_vectors_are_sorted_by_their_first_column_first():
    t = np.array([[2.0, 1.0], [1.0, 5.0], [2.0, -1.0], [1.0, 5.0]])
    found = covariates(t)
    assert found.rows.tolist() == [[1.0, 5.0], [2.0, -1.0], [2.0, 1.0]]
    assert found.trials.tolist() == [2, 1, 1]
    assert np.array_equal(found.rows[found.row], t)
    assert found.names == ("t0", "t1")
    assert covariates(t.tolist()).rows.tolist() == found.rows.tolist()
    assert covariates([tuple(row) for row in t]).row.tolist() == found.row.tolist()


def test_tables_keep_their_names():
    found = covariates(pd.DataFrame({"income": [3.0, 1.0], "age": [40, 50]}))
    assert found.names == ("income", "age")
    assert found.labels().names == ["income", "age"]
    assert covariates(pd.Series([1, 2], name="year")).labels().name == "year"
    same = covariates(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    assert same.names == ("a", "a")
    assert same.rows.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("form", [*NUMBERS, *DATES, *AWARE])
def test_labels_can_be_read_again(form):
    t = next(forms[form] for forms in (NUMBERS, DATES, AWARE) if form in forms)
    if form == "generator":
        t = [3, 1, 2]
    found = covariates(t)
    assert np.array_equal(found.encode(found.labels()), found.rows)
    again = covariates(found.labels())
    assert again.kind == found.kind
    assert np.array_equal(again.rows, found.rows)


def test_labels_of_vectors_can_be_read_again():
    found = covariates(pd.DataFrame({"a": [3, 1, 1], "b": [0.5, 2.0, -1.0]}))
    assert np.array_equal(found.encode(found.labels()), found.rows)
    assert covariates(found.labels()).names == ("a", "b")


def test_labels_of_other_values():
    found = covariates(["2020-01-01", "2021-01-01"])
    asked = found.labels(found.encode(["1999-12-31T12:00"]))
    assert asked.tolist() == [pd.Timestamp("1999-12-31 12:00")]
    numbers = covariates([1, 2])
    assert numbers.labels(np.array([[0.5], [2.0]])).tolist() == [0.5, 2.0]
    assert numbers.labels(np.zeros((0, 1))).size == 0


def test_covariates_of_covariates_are_themselves():
    found = covariates([1, 2])
    assert covariates(found) is found
    assert isinstance(found, Covariates)


def test_one_value_alone():
    for t, kind in [(5, "number"), (5.0, "number"), (np.float64(5), "number"), ("5", "number")]:
        assert encode(t)[0].tolist() == [[5.0]]
        assert encode(t)[1] == kind
    for t in (
        "1970-01-06",
        dt.date(1970, 1, 6),
        pd.Timestamp("1970-01-06"),
        pd.Period("1970-01-06"),
    ):
        assert encode(t)[0].tolist() == [[5.0]]
        assert encode(t)[1] == "date"
    assert encode(np.datetime64("1970-01-06"))[0].tolist() == [[5.0]]


NAIVE_AND_AWARE = [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)]
REFUSED = {
    "NaN": ([1.0, math.nan, math.nan], InvalidInput, r"^t\[1\] is not a finite .*; 2 such in all"),
    "infinity": ([1.0, -math.inf], InvalidInput, r"^t\[1\] is not a finite number"),
    "None": ([1, None], InvalidInput, r"^t\[1\] is not a finite number"),
    "None among dates": (["2020-01-01", None], InvalidInput, r"^t\[1\] is missing"),
    "lists among dates": (["2020-01-01", [5]], InvalidInput, r"\[5\] at position 1"),
    "None alone": (None, InvalidInput, "is missing"),
    "NA": (pd.Series([1, None], dtype="Int64"), InvalidInput, r"^t\[1\] is not a finite number"),
    "NaT": (["2020-01-01", pd.NaT], InvalidInput, r"^t\[1\] is missing"),
    "NaT in an array": (np.array(["NaT", "2020"], "M8[D]"), InvalidInput, r"^t\[0\] is missing"),
    "NaT period": (pd.PeriodIndex(["2020", None], freq="Y"), InvalidInput, "is missing"),
    "masked": (np.ma.array([1.0, 2.0], mask=[0, 1]), InvalidInput, r"^t\[1\] is masked"),
    "empty string": (["2020-01-01", ""], InvalidInput, r"^t\[1\] is missing"),
    "words": (["2020-01-01", "spring"], InvalidInput, "'spring' at position 1.*1862-12-01"),
    "another order of dates": (["12/01/1862"], InvalidInput, "neither numbers nor ISO dates"),
    "the clock": (["now"], InvalidInput, "'now' at position 0"),
    "category of words": (pd.Series(["a", "b"], dtype="category"), InvalidInput, "'a' at pos"),
    "bytes": ([b"2020"], InvalidInput, "neither numbers nor ISO dates"),
    "mixed zones": (NAIVE_AND_AWARE, InvalidType, "with and without a time zone"),
    "two zones": (
        [pd.Timestamp("2020", tz="UTC"), pd.Timestamp("2020", tz="Europe/Helsinki")],
        InvalidType,
        "of several zones",
    ),
    "two offsets": (["2020-01-01T00+02:00", "2020-07-01T00+03:00"], InvalidType, "several zones"),
    "numbers and dates": ([1.5, dt.date(2020, 1, 1)], InvalidInput, "mixes numbers with other"),
    "dates and numbers": ([dt.date(2020, 1, 1), 5], InvalidInput, "mixes numbers with other"),
    "strings and numbers": (["2020-01-01", 5], InvalidInput, "mixes numbers with other"),
    "booleans": ([True, False], InvalidType, "True/False"),
    "boolean array": (np.array([True]), InvalidType, "got bool"),
    "numbers and booleans": ([1, True], InvalidType, "True/False"),
    "object booleans": (np.array([1, True], object), InvalidType, "True/False"),
    "complex": ([1j], InvalidType, "got complex128"),
    "object complex": (np.array([1j, 2], object), InvalidType, "complex"),
    "time differences": (np.array([1, 2], "m8[D]"), InvalidType, "time differences"),
    "timedelta objects": ([dt.timedelta(1)], InvalidType, "time differences"),
    "time of day": ([dt.time(3)], InvalidInput, "neither numbers nor ISO dates"),
    "ragged": ([[1, 2], [3]], InvalidInput, "rows of different lengths"),
    "empty": ([], InvalidInput, "^t is empty: pass one covariate"),
    "empty array": (np.zeros(0), InvalidInput, "^t is empty"),
    "no rows": (np.zeros((0, 2)), InvalidInput, "t0 is empty"),
    "no columns": (np.zeros((2, 0)), InvalidInput, "without columns"),
    "empty table": (pd.DataFrame(), InvalidInput, "without columns"),
    "table without rows": (pd.DataFrame({"a": []}), InvalidInput, "^a is empty"),
    "three dimensions": (np.zeros((2, 2, 2)), InvalidInput, "one or two dimensions, got 3"),
    "dates in a table": (
        pd.DataFrame({"x": [1], "when": [dt.date(2020, 1, 1)]}),
        InvalidInput,
        "turn dates into numbers first",
    ),
    "dates in a matrix": (np.array([["2020", "2021"]], "M8[Y]"), InvalidInput, "turn dates into"),
    "hole in a table": (pd.DataFrame({"x": [1, np.nan]}), InvalidInput, r"^x\[1\] is not a finite"),
    "word in a matrix": (np.array([[1, "a"]], object), InvalidInput, "^t1 holds values"),
    "too far": (np.array(["300000-01-01"], "M8[D]"), InvalidInput, "is too far away"),
    "further": (np.array([2**60], "M8[Y]"), InvalidType, "cannot be read"),
    "too large": ([10**400], InvalidInput, "is not a finite number"),
    "set": ({1, 2}, InvalidType, "order of the observations"),
    "dict": ({1: 2}, InvalidType, "order of the observations"),
    "sparse": (sparse.eye_array(2).todia(), InvalidType, "a list or an array"),
    "sparse rows": (sparse.eye_array(2).tocsr(), InvalidInput, "neither numbers nor ISO dates"),
    "records": (np.array([(1, 2)], [("a", int), ("b", int)]), InvalidType, "cannot be read"),
    "objects": ([object()], InvalidInput, "neither numbers nor ISO dates"),
    "function": (len, InvalidInput, "neither numbers nor ISO dates"),
    "intervals": (pd.interval_range(0, 2), InvalidInput, "neither numbers nor ISO dates"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_one_sentence(case):
    t, error, words = REFUSED[case]
    with pytest.raises(error, match=words) as caught:
        covariates(t)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith((".", ")."))


def test_new_covariates_must_be_of_the_same_kind():
    numbers, dates = covariates([1, 2]), covariates(["2020-01-01"])
    aware = covariates(["2020-01-01T00:00Z"])
    assert numbers.encode([5]).tolist() == [[5.0]]
    assert dates.encode([dt.date(1970, 1, 2)]).tolist() == [[1.0]]
    for model, t, words in [
        (numbers, ["2020-01-01"], "kind 'date' but the model was given 'number'"),
        (dates, [2020], "kind 'number' but the model was given 'date'"),
        (dates, ["2020-01-01T00:00Z"], r"kind 'date\+utc' but the model was given 'date'"),
        (aware, ["2020-01-01"], r"kind 'date' but the model was given 'date\+utc'"),
    ]:
        with pytest.raises(InvalidType, match=words):
            model.encode(t)


def test_new_covariates_must_have_the_same_columns():
    table = covariates(np.zeros((2, 3)))
    assert table.encode(np.ones((1, 3))).tolist() == [[1.0, 1.0, 1.0]]
    with pytest.raises(InvalidInput, match="t has 2 columns but the model was given 3"):
        table.encode(np.zeros((2, 2)))
    with pytest.raises(InvalidInput, match="t has 1 columns but the model was given 3"):
        table.encode([1.0, 2.0])


def test_rows_of_single_numbers_are_those_of_sorting():
    rng = np.random.default_rng(0)
    for values in (rng.integers(-5, 5, 300) * 0.5, rng.standard_normal(50), np.array([-0.0, 0.0])):
        rows, row, trials = np.unique(values, return_inverse=True, return_counts=True)
        known = covariates(values)
        np.testing.assert_array_equal(known.rows[:, 0], rows)
        np.testing.assert_array_equal(known.row, row)
        np.testing.assert_array_equal(known.trials, trials)
        assert known.row.dtype == known.trials.dtype == np.int64
