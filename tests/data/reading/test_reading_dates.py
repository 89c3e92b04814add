"""Dates in the usual forms, and columns of them."""

import datetime

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thincrm.data.covariates import covariates
from thincrm.data.reading.dates import DateColumn, date_in_name

FORMS = (
    "%Y-%m-%d", "%Y%m%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d %B %Y", "%d %b %Y", "%B %d, %Y",
    "%b. %d, %Y", "%d-%b-%Y", "%A, %d %B %Y", "%Y-%m-%dT%H:%M:%S", "%d %B %Y, %H:%M:%S",
    "%B %d, %Y at %I:%M:%S %p",
)  # fmt: skip


def column(*values, form=None):
    dates = DateColumn(form)
    for value in values:
        dates.read(value)
    return dates.series("when")


@given(
    st.datetimes(datetime.datetime(1600, 1, 1), datetime.datetime(2199, 12, 31)),
    st.sampled_from(FORMS),
)
def test_usual_forms_are_read_as_they_were_written(moment, form):
    moment = moment.replace(microsecond=0)
    if "%S" not in form:
        moment = datetime.datetime.combine(moment.date(), datetime.time())
    assert column(moment.strftime(form))[0] == moment


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1862-03", "1862-03-01"),
        ("March 1862", "1862-03-01"),
        ("12th of March, 1862", "1862-03-12"),
        ("  Sept 3,  1799 ", "1799-09-03"),
        ("1862-3-12", "1862-03-12"),
        ("Wed, 12 Mar 1862 10:00:00 +0100", "1862-03-12 09:00Z"),
        ("2020-01-01T10:00:00+05:30", "2020-01-01 04:30Z"),
        ("2020-01-01 10:00 UTC", "2020-01-01 10:00Z"),
        ("1609459200", "2021-01-01 00:00Z"),
        (1609459200.0, "2021-01-01 00:00Z"),
        (-1609459200000, "1919-01-01 00:00Z"),
        (datetime.date(1640, 5, 1), "1640-05-01"),
        (pd.Timestamp("1862-03-12 10:00"), "1862-03-12 10:00"),
    ],
)
def test_other_forms(written, meant):
    assert column(written)[0] == pd.Timestamp(meant)


def test_bare_years_stay_numbers_unless_dates_stand_beside_them():
    assert column("1862", 1863, "1864.0").tolist() == [1862, 1863, 1864]
    mixed = column("1862", "12 March 1863")
    assert mixed.tolist() == [pd.Timestamp("1862-01-01"), pd.Timestamp("1863-03-12")]


def test_columns_are_covariates_as_they_are():
    assert covariates(column("1600", "2199")).kind == "number"
    dates = covariates(column("1 May 1600", "1 May 2199"))
    assert dates.kind == "date"
    assert list(dates.labels()) == [pd.Timestamp("1600-05-01"), pd.Timestamp("2199-05-01")]
    assert covariates(column("2020-01-01T00:00Z", "2020-01-01T00:00-08:00")).kind == "date+utc"


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (["1862-02-31"], "'1862-02-31' is not a date; write it as 1862-03-12"),
        (["31 Febuary 1862"], "is not a date"),
        (["03/04/1862"], "could be two: write 1862-03-12, or say which .* date_format="),
        ([""], "the date is missing"),
        ([None], "the date is missing"),
        ([float("nan")], "the date is missing"),
        ([pd.NaT], "the date is missing"),
        ([True], "True is not a date"),
        ([["1862"]], "is not a date"),
        (["25:00 12 March 1862"], "is not a date"),
        (["March 12, 1862 13:00 pm"], "is not a date"),
        (["٢٠٢٠"], "is not a date"),
        (["0001-01-01T00:00+14:00"], "too far away"),
        (["1862-03-12", "1862-03-12T00:00Z"], "has a time zone and those before have none"),
        (["1862-03-12T00:00Z", "1862"], "has no time zone and those before have some"),
    ],
)
def test_what_is_no_date_says_why(values, why):
    with pytest.raises(ValueError, match=why):
        column(*values)


def test_a_format_settles_what_could_be_two():
    assert column("03/04/1862", form="%d/%m/%Y")[0] == pd.Timestamp("1862-04-03")
    assert column("1862", form="%Y")[0] == 1862
    with pytest.raises(ValueError, match=r"does not have the date format '%d/%m/%Y'"):
        column("1862-04-03", form="%d/%m/%Y")
    with pytest.raises(ValueError, match="does not have the date format"):
        column("1862", form="%Q(")


@given(st.one_of(st.text(max_size=30), st.integers(), st.floats(), st.dates(), st.binary()))
def test_whatever_comes_is_a_date_or_a_reason(value):
    dates = DateColumn()
    try:
        dates.read(value)
    except ValueError:
        return
    assert covariates(dates.series("when")).rows.shape == (1, 1)


@pytest.mark.parametrize(
    ("name", "date"),
    [
        ("1862-03-12_Lincoln.txt", "1862-03-12"),
        ("speech.18620312.txt", "1862-03-12"),
        ("1862_03.txt", "1862-03"),
        ("Lincoln 1862 (draft 2).txt", "1862"),
    ],
)
def test_dates_in_names(name, date):
    assert date_in_name(name) == date


def test_a_name_without_a_date():
    with pytest.raises(ValueError, match="the name holds no date"):
        date_in_name("draft12345.txt")
