"""A raw table becomes one number a cell: by that cell, the types of its columns and what was declared, and no more."""

import datetime
import pickle
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from objpert_core.datasets import Categories, Date, Number, NumericTarget, Percent, TableSchema
from objpert_core.estimators.tables import KnownTable
from objpert_core.learning.steps.pieces import Column

NAN = np.nan
JOBS = Categories(["cook", "smith", "1", "?"])
DAY = Date("2020-01-01", "2021-01-01", format="%Y-%m-%d")
DECLARED = {"age": Number(0, 99), "job": JOBS, "rooms": Categories(["0", "1", "2"])}
WHOLE = st.one_of(st.none(), st.integers(-9, 9))
ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.floats()),
        st.sampled_from(
            [None, "cook", " cook ", "Cook", "1", "1.0", "-1", "NA", "n/a", "?", "Unknown", "=1+1", "x" * 300]
        ),
        WHOLE,
        st.one_of(st.none(), st.booleans()),
    ),
    min_size=1,
    max_size=8,
)
NAMES = ["age", "job", "rooms", "owner"]
POLARS = {"age": pl.Float64, "job": pl.String, "rooms": pl.Int64, "owner": pl.Boolean}
PANDAS = {"age": "Float64", "job": "string", "rooms": "Int64", "owner": "boolean"}


def numbers(table, declared=None, words=(), **options):
    found = pickle.loads(pickle.dumps(KnownTable.of(table, declared, words))).numbers(table, **options)
    assert found.flags.c_contiguous
    assert found.dtype == np.float64
    return found


def numbered(declared):
    return {NAMES.index(name): known for name, known in declared.items()}


@pytest.mark.thorough
@given(ROWS)
def test_every_kind_of_table_has_the_numbers_of_its_rows(rows):
    words = ["unknown", "-9"]
    frame = pl.DataFrame(rows, schema=POLARS, orient="row")
    plain = pd.DataFrame(dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True)), dtype=object)
    typed = plain.astype(PANDAS)
    twins = [
        typed,
        typed.astype({"job": "category", "age": "float64"}),
        frame.with_columns(pl.col("job").cast(pl.Categorical)),
        frame.with_columns(pl.col("job").cast(pl.Enum(sorted({row[1] for row in rows} - {None})))),
        pd.DataFrame(
            {
                name: pd.Series(frame[name].to_arrow(), dtype=pd.ArrowDtype(frame[name].to_arrow().type))
                for name in NAMES
            }
        ),
    ]
    expected = numbers(frame, DECLARED, words)
    for twin in twins:
        np.testing.assert_array_equal(numbers(twin, DECLARED, words), expected)
    for of_objects in (rows, plain.to_numpy()):
        np.testing.assert_array_equal(numbers(of_objects, numbered(DECLARED), words), expected)


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text("1.0 acknov-", max_size=4),
    st.sampled_from(
        [
            *(np.bool_(True), np.float32(0.1), np.int8(1), np.float64(1), np.str_("cook"), np.datetime64("NaT"), pd.NA),
            *(pd.NaT, np.ma.masked, Decimal("1.0"), Decimal("1.00"), Decimal("NaN"), Fraction(1, 2), 1 + 2j, 10**5000),
            *([1], [], {}, {1}, b"1", object(), datetime.date(2020, 1, 1), pd.Timestamp("2020-01-01"), np.zeros(2)),
        ]
    ),
)


@pytest.mark.thorough
@given(st.lists(st.tuples(ANYTHING, ANYTHING, ANYTHING, ANYTHING), min_size=1, max_size=6), st.randoms())
def test_where_nothing_may_be_told_no_cell_raises_or_warns_and_none_moves_another_one(rows, random):
    declared = {0: Number(0, 1), 1: Categories(["1", "True", "cook", "0.1"]), 2: DAY}
    known = KnownTable.of(rows, declared)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = np.vstack([known.numbers([row], judged=True) for row in rows])
        np.testing.assert_array_equal(known.numbers(rows, judged=True), alone)
        order = random.sample(range(len(rows)), len(rows))
        cells = np.empty((len(rows), 4), dtype=object)
        for place, row in enumerate(rows):
            for column, cell in enumerate(row):
                cells[place, column] = cell
        np.testing.assert_array_equal(known.numbers(cells[order], judged=True), alone[order])
        frame = pd.DataFrame(cells, index=order, dtype=object)
        np.testing.assert_array_equal(known.numbers(frame, judged=True), alone)


def raising(kind, *names):
    """A subclass of a type of cells, of which some methods raise."""

    def raises(*_):
        raise RuntimeError("a cell was looked at too closely")

    return type("Stranger", (kind,), dict.fromkeys(names, raises))


STRANGERS = [
    raising(object, "__float__", "__str__", "__eq__", "__hash__", "__bool__", "__array__", "__len__", "__iter__")(),
    *(raising(float, "__float__")(1.0), raising(float, "__hash__")(2.0), raising(int, "__float__", "__index__")(3)),
    *(raising(str, "__hash__")("cook"), raising(str, "__eq__", "__hash__")("cook"), Decimal("sNaN")),
]


@pytest.mark.parametrize("place", range(len(STRANGERS)))  # pytest looks at what it names
@pytest.mark.parametrize(
    "others", [["cook", "1"], [1, 2], [0.5, None], [True, False], [Decimal(1), "cook"], [None] * 2]
)
def test_what_a_stranger_is_does_not_depend_on_the_other_rows(place, others):
    stranger = STRANGERS[place]
    known = KnownTable.of([[stranger] * 3], {0: Number(0, 1), 1: Categories(["1", "3", "cook"]), 2: DAY})
    alone, before = (known.numbers([[one] * 3 for one in rows], judged=True) for rows in ([stranger], others))
    for rows, expected in (([stranger, *others], [*alone, *before]), ([*others, stranger], [*before, *alone])):
        np.testing.assert_array_equal(known.numbers([[one] * 3 for one in rows], judged=True), expected)


def test_a_category_that_is_no_number_is_missing_where_numbers_are_declared():
    objects = pd.Index([raising(float, "__float__")(1.0), 2.0], dtype=object)
    frame = pd.DataFrame({"a": pd.Categorical.from_codes([0, 1], objects)})
    np.testing.assert_array_equal(numbers(frame, {"a": Number(0, 9)}, judged=True).ravel(), [NAN, 2.0])


CELLS = [
    (
        Number(0, 9),
        [0.1, "0.1", 12, True, "−3", 10**400, -(10**400), float("inf")],
        [0.1, 0.1, 12, 1, -3, np.inf, -np.inf, np.inf],
    ),
    (Number(0, 9), [None, NAN, pd.NA, pd.NaT, "", " NA ", "Nan", "?", "Gone", "99", 99], [NAN] * 11),
    (JOBS, ["cook", "Cook", 1, 1.0, "1.0", " 1 ", True, "?", "gone", "", -0.5], [0, 4, 2, 2, 2, 2, 4, 3, NAN, NAN, 4]),
    (JOBS, [np.datetime64("NaT"), np.ma.masked, pd.NaT, Decimal("NaN"), "1"], [NAN, NAN, NAN, NAN, 2]),
    (Categories(["gone", "99"]), ["gone", "99.0", 99, "GONE"], [0, 1, 1, NAN]),
    (Percent(0, 100), ["5 %", "NA"], [5, NAN]),
    (
        DAY,
        ["2020-01-01", datetime.date(2020, 1, 2), pd.Timestamp("2020-01-03 12:00"), None],
        [737424, 737425, 737426, NAN],
    ),
]


@pytest.mark.parametrize(("known", "cells", "expected"), CELLS)
def test_what_a_cell_is(known, cells, expected):
    table = [[cell] for cell in cells]
    np.testing.assert_array_equal(numbers(table, {0: known}, ["gone", "99"]).ravel(), expected)


def test_masked_entries_are_missing_and_pictures_of_numbers_are_not_read_alike():
    masked = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    np.testing.assert_array_equal(numbers(masked), [[1, NAN], [3, 4]])
    large = pl.DataFrame({"a": [2**53 + 1, 2**53, None]})  # one double, two categories
    assert numbers(large, {"a": Categories([str(2**53 + 1)])}).ravel().tolist()[:2] == [0, 1]


@pytest.mark.parametrize(
    "kind", ["int8", "uint64", "float16", "longdouble", "Int64", "Float32", "Sparse[float64]", "bool"]
)
def test_types_of_numbers_need_no_declaration(kind):
    frame = pd.DataFrame({"a": pd.Series([1, 0]).astype(kind)})
    np.testing.assert_array_equal(numbers(frame), [[1], [0]])
    listed = numbers(frame, {"a": Categories(["0", "False"])}).ravel()
    np.testing.assert_array_equal(listed, [2, 0 if kind != "bool" else 1])


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt64, pl.Int128, pl.Float32, pl.Decimal(5, 0), pl.Boolean])
def test_polars_types_of_numbers_need_no_declaration(kind):
    frame = pl.DataFrame({"a": pl.Series([1, None, 0]).cast(kind)})
    np.testing.assert_array_equal(numbers(frame), [[1], [NAN], [0]])
    listed = numbers(frame, {"a": Categories(["0", "False"])}).ravel()
    np.testing.assert_array_equal(listed, [2, NAN, 0 if kind != pl.Boolean else 1])


NESTED = [
    pd.Series([[1], [2]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
    pd.Series(pd.interval_range(0, 2)),
    pl.Series([[1], [2]]),
    pl.Series([{"a": 1}, {"a": 2}]),
    pl.Series([b"1", b"2"]),
]


@pytest.mark.parametrize("column", NESTED, ids=lambda column: str(column.dtype))
def test_what_nobody_lists_is_another_category_and_no_number(column):
    table = (pd if isinstance(column, pd.Series) else pl).DataFrame({"a": column})
    np.testing.assert_array_equal(numbers(table, {"a": Categories(["x"])}), [[1], [1]])
    np.testing.assert_array_equal(numbers(table, {"a": Number(0, 1)}, judged=True), [[NAN], [NAN]])


WEEK = pd.date_range("2020-01-01", periods=3)
DATES = [
    pd.DataFrame({"day": WEEK}),
    pd.DataFrame({"day": pd.Series(WEEK).astype("date32[day][pyarrow]")}),
    pd.DataFrame({"day": WEEK.to_period("D")}),
    pl.DataFrame({"day": WEEK.to_pydatetime().tolist()}),
    pl.DataFrame({"day": WEEK.date.tolist()}),
    pd.DataFrame({"day": WEEK.astype(str)}),
]


@pytest.mark.parametrize("frame", DATES, ids=lambda frame: str(frame.dtypes))
def test_declared_dates_are_days(frame):
    assert numbers(frame, {"day": DAY}).ravel().tolist() == [737424, 737425, 737426]


REFUSED = [
    (DATES[0], {}, r"X must have numbers in place of dates, .*'day' of type datetime64.*\{'day': Date\("),
    (DATES[4], {}, r"X must have numbers in place of dates, .*'day' of type Date.*\{'day': Date\("),
    (DATES[0], {"day": Number(0, 1)}, "got Number for column 'day' of type datetime64"),
    (
        pd.DataFrame({"job": ["secret"]}),
        {},
        r"got column 'job' of type (str|object): columns=\{'job': Categories\(\[\.\.\.\]\)\}",
    ),
    (pd.DataFrame({"job": [1]}, dtype=object), {}, "got column 'job' of type object"),
    (
        pd.DataFrame({"job": ["secret"]}, dtype="category"),
        {},
        r"'job' of type category, whose own are read off the data",
    ),
    (pl.DataFrame({"job": pl.Series(["secret"], dtype=pl.Enum(["secret"]))}), {}, "'job' of type Enum, whose own are"),
    (np.array([["secret"]]), {}, r"got column 0 of type str.*\{0: Categories"),
    (pd.DataFrame({"a": [1]}), {"b": JOBS}, "^columns must name columns of X, got 'b': it has 'a'$"),
    (np.ones((2, 12)), {12: JOBS}, r"^columns must name columns of X, got 12: it has 0, .*9, …$"),
    (pd.DataFrame({"a": [1]}), {"a": ["x"]}, "^columns must hold Number, Categories or Date for 'a', got list$"),
    (pd.DataFrame({"a": [1]}), ["a"], "^columns must be None or a mapping .* got list$"),
    (pd.DataFrame({"a": [1]}), {"a": Percent(0, 1)}, "got Percent for column 'a' of type int64"),
    (pd.DataFrame({"a": [True]}), {"a": DAY}, "got Date for column 'a' of type bool"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "got 'a' more than once"),
    (pl.LazyFrame({"a": [1]}), {}, "call collect"),
    (np.ones(3), {}, "two dimensions.*got 1"),
    ([1, 2], {}, "two dimensions.*got 1"),
    ([{"a": 1}], {}, "two dimensions.*got 1"),
    (["ab"], {}, "two dimensions.*got 1"),
    ([[1], [1, 2]], {}, "rows of one length, got 1 and 2 cells"),
    (np.array([[1j]]), {}, "real numbers, got a column of type complex128"),
]


@pytest.mark.parametrize(("table", "declared", "message"), REFUSED)
def test_tables_and_declarations_are_refused_by_type_in_one_sentence(table, declared, message):
    with pytest.raises(ValueError, match=message) as refused:
        numbers(table, declared, judged=True)
    assert "secret" not in str(refused.value)


def test_sparse_rows_and_wrong_words_are_refused():
    with pytest.raises(TypeError, match="sparse matrix"):
        KnownTable.of(sp.eye_array(2))
    with pytest.raises(ValueError, match=r"^missing_words must be a list"):
        KnownTable.of(np.ones((1, 1)), None, "none")


BAD = [
    (
        pd.DataFrame({"a": ["1", "secret"]}),
        {"a": Number(0, 1)},
        r"numbers in column 'a', .*row 1: declare columns=\{'a'",
    ),
    ([[1], [2], ["secret"]], {}, r"numbers in column 0, .*row 2: declare columns=\{0: Categories"),
    (pl.DataFrame({"a": ["secret"]}), {"a": DAY}, "dates of the form %Y-%m-%d in column 'a', .*row 0: name it"),
]


@pytest.mark.parametrize(("table", "declared", "message"), BAD)
def test_a_text_that_spells_no_number_is_named_by_column_and_row_or_missing(table, declared, message):
    with pytest.raises(ValueError, match=message) as refused:
        numbers(table, declared)
    assert "secret" not in str(refused.value)
    assert np.isnan(numbers(table, declared, judged=True)).any()
    assert not np.isnan(numbers(table, declared, judged=True)).all() or len(table) == 1


def test_a_text_that_no_row_holds_refuses_nothing():
    frame = pd.DataFrame({"a": pd.Categorical(["1"], categories=["1", "secret"])})
    assert numbers(frame, {"a": Number(0, 1)}).tolist() == [[1]]
    assert numbers(pl.DataFrame({"a": pl.Series(["1"], dtype=pl.Enum(["secret", "1"]))}), {"a": JOBS}).tolist() == [[2]]


def test_other_tables_have_the_columns_of_the_first():
    known = KnownTable.of(pd.DataFrame({"a": [1], "b": [2]}))
    others = [pd.DataFrame({"b": [1], "a": [2]}), pl.DataFrame({"a": [1], "c": [2]})]
    for other, got in zip(others, ("'b' in place of 'a'", "'c' in place of 'b'"), strict=True):
        with pytest.raises(ValueError, match=f"columns of the fit in their order, got {got}"):
            known.numbers(other, judged=True)
    with pytest.raises(ValueError, match="the 2 columns of the fit, got 3"):
        known.numbers(np.ones((1, 3)))
    with pytest.raises(ValueError, match="got Number for column 'a' of type datetime64"):
        known.numbers(pd.DataFrame({"a": WEEK, "b": 1}), judged=True)
    assert known.numbers(np.ones((1, 2))).tolist() == [[1, 1]]
    assert known.numbers(pl.DataFrame({"a": [None], "b": [2]})).tolist()[0][1] == 2


def test_a_table_without_rows_is_one():
    for table in (pd.DataFrame({"a": []}), pl.DataFrame({"a": []}, schema={"a": pl.Int8}), np.empty((0, 1))):
        assert numbers(table).shape == (0, 1)
    assert numbers(pl.DataFrame({"a": []}, schema={"a": pl.String}), {"a": JOBS}).shape == (0, 1)


def test_long_tables_are_written_whole():
    table = np.random.default_rng(0).normal(size=(10_001, 3))
    np.testing.assert_array_equal(numbers(table), table)
    np.testing.assert_array_equal(numbers(np.asfortranarray(table)), table)


def test_what_pieces_are_made_of():
    declared = {0: Number(0, 9, pieces=[3, 5]), 1: JOBS, 2: DAY, 4: Number("private", "private", pieces=[1])}
    assert KnownTable.of(np.ones((1, 5), dtype=object), declared).kinds == (
        Column(low=0.0, high=9.0, ends=(3.0, 5.0)),
        Column(categories=4),
        Column(low=737424.0, high=737790.0),
        Column(),
        Column(ends=(1.0,)),
    )


def test_a_schema_knows_frames_and_its_raw_form_knows_matrices():
    schema = TableSchema(
        {"a": Number(0, 9), "job": JOBS, "day": DAY}, NumericTarget("t", 0, 1), missing_words=["-", "2"]
    )
    frame = pd.DataFrame({"a": [3, 2], "job": ["smith", "-"], "day": ["2020-01-01", "-"]})
    known, raw = KnownTable.of_schema(schema), KnownTable.of_schema(schema.raw())
    found = known.numbers(frame)
    np.testing.assert_array_equal(found, [[3, 1, 737424], [NAN, NAN, NAN]])
    np.testing.assert_array_equal(raw.numbers(np.array([[2.0, 2, 1]])), [[2, 2, 1]])  # no word, no text
    np.testing.assert_array_equal(schema.raw().encode(frame), found)
    assert known.kinds == raw.kinds
    with pytest.raises(ValueError, match="got Raw for column 'a' of type object"):
        raw.numbers(frame.astype(object), judged=True)
