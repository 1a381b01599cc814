"""The encoding is a function of a row and the schema alone, and no entry and no row is longer than 1."""

import csv
import io
import json
import math
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from objpert_core.datasets import (
    Categories,
    Dialect,
    Money,
    Number,
    NumericTarget,
    Percent,
    Person,
    SeveralValues,
    TableError,
    TableSchema,
    TwoValues,
    read_table,
)
from objpert_core.datasets.tables.columns import BadCell
from objpert_core.datasets.tables.numerals import MISSING_WORDS, NotANumber, Numerals, decimal_mark
from objpert_core.datasets.tables.reading import open_content
from objpert_core.datasets.tables.sheet import clean_name
from objpert_core.learning.certificates.field_rules import ROWS_USED, rows_of_each_person
from tests.datasets.tables.fixtures import FILES, SCHEMA

WIDEST = 1.7e308
numbers = st.one_of(st.floats(-1e4, 1e4), st.floats(allow_nan=False, allow_infinity=False), st.integers(-200, 200))
gaps = st.sampled_from(sorted(MISSING_WORDS))
rows = st.tuples(
    numbers.map(repr),
    st.one_of(numbers.map(repr), gaps),
    st.one_of(numbers.map(repr), gaps),
    st.sampled_from(["x", "y", "z", "something else"]),
    st.one_of(st.sampled_from(["x", "y"]), gaps),
    numbers.map(repr),
)
WIDE = TableSchema(
    columns={
        "plain": Number(-10, 50),
        "replaced": Number(-WIDEST, WIDEST, missing=7, missing_indicator=True),
        "told": Number(0, 1e-300, missing_indicator=True),
        "kind": Categories(["x", "y", "z"], other=True),
        "sort": Categories(["x", "y"], missing="y", missing_indicator=True),
    },
    target=NumericTarget("t", -5, 5),
)


def written(table: list[tuple[str, ...]], names: tuple[str, ...]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows([names, *table])
    return text.getvalue().encode()


@pytest.mark.slow
@given(st.lists(rows, min_size=2, max_size=12), st.data())
def test_neighbouring_tables_have_neighbouring_matrices(table: list[tuple[str, ...]], data: st.DataObject) -> None:
    names = (*WIDE.columns, "t")
    whole = read_table(written(table, names), WIDE)
    order = data.draw(st.permutations(range(len(table))))
    kept = order[: data.draw(st.integers(1, len(table)))]
    part = read_table(written([table[i] for i in kept], names), WIDE)
    np.testing.assert_array_equal(part.X, whole.X[kept])  # to the last bit
    np.testing.assert_array_equal(part.y, whole.y[kept])
    assert np.abs(whole.X).max() <= 1
    assert np.linalg.norm(whole.X, axis=1).max() <= 1 + 1e-15
    assert np.abs(whole.y).max() <= 5
    columns = data.draw(st.permutations(range(len(names))))
    other = [tuple(row[i] for i in columns) for row in table]
    np.testing.assert_array_equal(read_table(written(other, tuple(names[i] for i in columns)), WIDE).X, whole.X)


@pytest.mark.thorough
@given(st.text("0123456789.,eE+-' ", max_size=9))
def test_a_cell_is_one_number_or_refused_whatever_mark_is_found(text: str) -> None:
    found = set()
    for decimal in ".,":
        with suppress(NotANumber):
            found.add(Numerals(decimal).read(text))
    assert len(found) <= 1


NUMERALS = [
    ("1.5", ".", "", 1.5),
    ("1,5", ",", "", 1.5),
    ("1.234", ".", "", 1.234),
    ("1.234,5", ",", ".", 1234.5),
    ("-1,234,567.25", ".", ",", -1234567.25),
    ("1\u202f234,5", ",", " ", 1234.5),
    ("1'234", ".", "'", 1234),
    ("\u22125", ".", "", -5),
    ("+.5e-3", ".", "", 5e-4),
    ("1e-400", ".", "", 0),
    ("1.23,4", ",", ".", None),
    ("1234,567", ".", ",", None),
    ("1.234", ",", "", None),
    ("1,234", ".", "", None),
    ("0x1f", ".", "", None),
    ("1_000", ".", "", None),
    ("٣", ".", "", None),
    ("1 234", ".", "", None),
    ("£5", ".", "", None),
    ("12:30", ".", "", None),
    ("", ".", "", None),
]


@pytest.mark.parametrize(("text", "decimal", "thousands", "value"), NUMERALS)
def test_numbers_in_text(text: str, decimal: str, thousands: str, value: float | None) -> None:
    numerals = Numerals(decimal, thousands)
    if value is None:
        with pytest.raises(NotANumber):
            numerals.read(text)
    else:
        assert numerals.read(text) == value


MARKS = [
    (["5", "x"], ";", "."),
    (["5", "1.5"], ";", "."),
    (["1,5"], "\t", ","),
    (["1.234.567"], ";", ","),
    (["1.234,5", "1.234"], ";", ","),
    (["1.234"], ";", None),
    (["1.234"], ",", "."),
    (["1,5", "1.5"], ";", None),
    (["0.123"], ";", "."),
    (["1.2.2024", "3,4,5"], ";", "."),
]


@pytest.mark.parametrize(("cells", "delimiter", "mark"), MARKS)
def test_the_decimal_mark_that_numbers_show(cells: list[str], delimiter: str, mark: str | None) -> None:
    assert decimal_mark(cells, delimiter) == mark


def test_missing_values_are_what_the_schema_says() -> None:
    target = TwoValues("t", "0", "1")
    content = b"a,t\n,0\n2,1\n"
    for column, expected in (
        (Number(0, 4, missing=4), [[1.0], [0.0]]),
        (Number(0, 4, missing_indicator=True), [[0.0, 1.0], [0.0, 0.0]]),
        (Number(0, 4, missing=4, missing_indicator=True), [[1.0, 1.0], [0.0, 0.0]]),
        (Categories(["2", "3"], missing="3"), [[0.0, 1.0], [1.0, 0.0]]),
        (Categories(["2", "3"], missing_indicator=True), [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
        (Categories(["2", "3"], missing="3", missing_indicator=True), [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]),
    ):
        schema = TableSchema({"a": column}, target)
        table = read_table(content, schema)
        np.testing.assert_allclose(table.X * schema.largest_norm, expected, atol=1e-15)
        assert len(table.feature_names) == column.width == table.X.shape[1]
        assert np.linalg.norm(table.X, axis=1).max() <= 1 + 1e-15
        assert table.notes == ("column “a”: 1 of 2 values was missing and replaced",)
    listed = TableSchema({"a": Categories(["NA", "SE"])}, target)
    assert read_table(b"a,t\nNA,0\nSE,1\n", listed).X.tolist() == [[1, 0], [0, 1]]


def test_new_rows_are_encoded_as_those_of_the_file() -> None:
    frame = pd.read_csv(FILES / "pandas_to_csv.csv")
    schema = TableSchema(
        dict(SCHEMA.columns) | {"member": Categories(["False", "True"]), "age": Number(18, 80)}, SCHEMA.target
    )
    table = read_table((FILES / "pandas_to_csv.csv").read_bytes(), schema)
    np.testing.assert_array_equal(schema.encode(frame.drop(columns="moved")), table.X)
    np.testing.assert_array_equal(schema.encode(frame.astype(object).iloc[3:5]), table.X[3:5])
    with pytest.raises(TableError, match="row 2, column “age” must hold a number, got “old”"):
        schema.encode(frame.astype(object).assign(age=[20, "old"] + [30] * 38))
    with pytest.raises(TableError, match="column “job” of the schema must stand in the frame once"):
        schema.encode(frame.drop(columns="job"))
    assert schema.encode(frame[:0]).shape == (0, 7)


def test_the_two_values_become_0_and_1_whatever_their_order() -> None:
    for negative, positive in (("no", "yes"), ("yes", "no")):
        schema = TableSchema({"age": Number(0, 1)}, TwoValues("t", negative, positive))
        assert read_table(b"age,t\n0,no\n1,yes\n", schema).y.tolist() == [int(positive == "no"), int(positive == "yes")]
        assert schema.target.classes == [0, 1]


def test_a_schema_survives_its_text() -> None:
    for schema in (WIDE, SCHEMA):
        again = TableSchema.from_json(schema.to_json())
        assert again == schema
        assert list(again.columns) == list(schema.columns)
        assert math.isclose(again.largest_norm, np.sqrt(sum(c.largest_square for c in schema.columns.values())))


def test_public_pieces_survive_their_text_and_change_no_matrix() -> None:
    pieces = {
        "a": Number(0, 9, pieces=np.array([1, 2.5])),
        "b": Number("private", "private", pieces=[-1e9, 1e9]),
        "c": Percent(0, 100, pieces=(50,)),
        "d": Money(0, 9, sign="$", pieces=range(1, 9)),
    }
    schema = TableSchema(pieces, WIDE.target)
    assert schema.columns["a"].pieces == (1.0, 2.5)
    assert TableSchema.from_json(schema.to_json()).columns["a"] == schema.columns["a"]
    assert TableSchema.from_json(schema.to_json()).to_json() == schema.to_json()
    plain = TableSchema({name: replace(column, pieces=None) for name, column in pieces.items()}, WIDE.target)
    assert "pieces" not in plain.to_json()
    table = b"a,b,c,d,t\n1,2,3 %,$4,5\n9,8,7 %,$6,5\n"
    np.testing.assert_array_equal(read_table(table, schema).X, read_table(table, plain).X)


GOOD_TEXT = SCHEMA.to_json()


WRONG_TEXTS = [
    ("{", "complete JSON"),
    (GOOD_TEXT.strip()[:-1] + ', "columns": []}', "names no key twice"),
    ("[" * 100_000, "complete JSON"),
    ("x" * 1_000_001, "at most 1,000,000 characters"),
    ("[]", "“format”"),
    (GOOD_TEXT.replace("schema 1", "schema 2"), "“format”: “objpert table schema 1”"),
    (GOOD_TEXT.replace('"target": {', '"more": 1, "target": {'), "nothing else"),
    (GOOD_TEXT.replace('"weekly hours"', '"age"'), "“name” of its own"),
    (GOOD_TEXT.replace('"kind": "number"', '"kind": "when"', 1), "column “age” must have a “kind”"),
    (GOOD_TEXT.replace('"low": 18.0', '"bottom": 18.0'), "column “age” must have no field “bottom”"),
    (GOOD_TEXT.replace('"low": 18.0,', ""), "column “age” lacks a field"),
    (GOOD_TEXT.replace('"low": 18.0', '"low": NaN'), "column “age”: low must be a finite number"),
    (GOOD_TEXT.replace('"low": 18.0', '"low": 99'), "column “age”: low must be below high, got 99 and 80"),
    (GOOD_TEXT.replace('"low": 18.0', '"low": true'), "column “age”: low must be a finite number"),
    (GOOD_TEXT.replace('"office"', '"\\ud800"'), "complete JSON"),  # half a letter
    (GOOD_TEXT.replace('"office"', "7"), "column “job”: categories must be texts"),
    (GOOD_TEXT.replace('"positive": "yes"', '"positive": "no"'), "the target: positive must differ"),
    (GOOD_TEXT.replace('"column": "moved"', '"column": "age"'), "“age” must be a feature or the target"),
]


@pytest.mark.parametrize(("text", "sentence"), WRONG_TEXTS)
def test_a_wrong_text_of_a_schema_gets_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=r"^(the|every|column)") as caught:
        TableSchema.from_json(text)
    assert sentence in str(caught.value)


WRONGLY_TYPED = [
    (lambda: Number(5, 5), "low must be below high, got 5 and 5"),
    (lambda: Number(0, math.inf), "high must be a finite number"),
    (lambda: Number("0", 1), "low must be a finite number"),
    (lambda: Number(0, 1, missing=2), "missing must be a number from 0 to 1, got 2"),
    (lambda: Number(0, 1, missing_indicator=1), "missing_indicator must be True or False"),
    (lambda: Number(0, 9, pieces=[]), "pieces must be a list of 1 to 255 numbers, got 0 of them"),
    (lambda: Number(0, 999, pieces=np.arange(1, 257)), "pieces must be a list of 1 to 255 numbers, got 256 of them"),
    (lambda: Number(0, 9, pieces="123"), "pieces must be a list of 1 to 255 numbers, got str"),
    (lambda: Number(0, 9, pieces={1, 2}), "pieces must be a list of 1 to 255 numbers, got set"),
    (lambda: Number(0, 9, pieces=[math.nan]), "pieces must be a finite number"),
    (lambda: Number(0, 9, pieces=[0, 1]), "pieces must be numbers between 0 and 9, got 0"),
    (lambda: Number(0, 9, pieces=[1, 9]), "pieces must be numbers between 0 and 9, got 9"),
    (lambda: Number("private", "private", pieces=[1, 2, 2]), "pieces must be rising numbers, got 2 after 2"),
    (lambda: Categories([]), "1 to 2,000 texts, got 0"),
    (lambda: Categories("ab"), "a list of texts, got str"),
    (lambda: Categories(["a", " a"]), "got “a” twice"),
    (lambda: Categories(["a", ""]), "texts of 1 to 200 characters"),
    (lambda: Categories(["a"], missing="b"), "missing must be one of the categories “a”, got “b”"),
    (lambda: Categories(["a"], other="no"), "other must be True or False"),
    (lambda: TwoValues("t", "a", "a "), "positive must differ"),
    (lambda: NumericTarget("t", 3, 2), "low must be below high"),
    (lambda: TableSchema({}, SCHEMA.target), "1 to 999 columns"),
    (lambda: TableSchema({"moved": Number(0, 1)}, SCHEMA.target), "a feature or the target"),
    (lambda: TableSchema({" a": Number(0, 1)}, SCHEMA.target), "a column's name must be"),
    (
        lambda: TableSchema({"a": (0, 1)}, SCHEMA.target),
        "one of Number, Categories, Date, Percent, Money, got tuple",
    ),
    (lambda: TableSchema({"a": Number(0, 1)}, "moved"), "must be TwoValues, SeveralValues or NumericTarget, got str"),
    (lambda: Categories([*map(str, range(2_001))]), "1 to 2,000 texts, got 2,001"),
    (
        lambda: TableSchema({name: Categories([*map(str, range(1_001))]) for name in "ab"}, SCHEMA.target),
        "at most 2,000 features, got 2,002",
    ),
    (lambda: TableSchema({"a": Categories(["b = c"]), "a = b": Categories(["c"])}, SCHEMA.target), "different names"),
    (lambda: Dialect(delimiter=":"), "delimiter must be one of"),
    (lambda: Dialect(thousands=".", decimal="."), "thousands must differ"),
]


@pytest.mark.parametrize(("make", "sentence"), WRONGLY_TYPED)
def test_what_is_typed_wrong_gets_one_sentence(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        make()


@pytest.mark.parametrize("field", ["low", "missing", "missing_indicator"])
def test_a_hostile_schema_puts_no_marks_into_its_message(field: str) -> None:
    text = TableSchema({"a": Number(0, 1)}, SCHEMA.target).to_json()
    hostile = json.loads(text)
    hostile["columns"][0][field] = "![x](http://a.example/<b>)$y$" * 50
    with pytest.raises(ValueError, match=f"column “a”: {field} must be") as refused:
        TableSchema.from_json(json.dumps(hostile))
    assert not set("[]<>$") & set(str(refused.value))
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("listed", ["1", "1.0"])
def test_a_whole_number_is_one_category_with_its_point_and_without(listed: str) -> None:
    column, target = Categories(["0", listed, "2.5"], missing="1.0"), TwoValues("y", "0", listed)
    assert column.missing == listed
    out = np.zeros((5, 3))
    column.write(column.read(["1", "1.0", "1,0", "0.0", "-0.0"], Numerals()), out)
    np.testing.assert_array_equal(out.argmax(axis=1), [1, 1, 1, 0, 0])
    assert target.read(["1.0", "1", "0.0"], Numerals()).tolist() == [1, 1, 0]
    assert SeveralValues("y", ["2", "0", "1.0"]).read(["0", "2.0", "1"], Numerals()).tolist() == [1, 0, 2]
    for text in ("1.00", "01.0", "1.", "+1.0", "1e0", "10"):
        with pytest.raises(BadCell):
            column.read([text], Numerals())
    with pytest.raises(ValueError, match="categories must differ from one another, got “1” twice"):
        Categories(["1", "1.0"])
    with pytest.raises(ValueError, match="positive must differ from negative"):
        TwoValues("y", "1", "1.0")


RULES = TableSchema(
    {"age": Number(0, 100, missing=40), "job": Categories(["office", "-"], other=True)},
    TwoValues("y", "no", "yes"),
    missing_words=["-", "Unknown", "-1"],
    drop_missing_target=True,
    person=Person("id", 2),
)


def test_a_schema_says_its_rules_about_rows_and_is_silent_without() -> None:
    assert TableSchema.from_json(RULES.to_json()) == RULES
    assert RULES.with_references().person == RULES.person
    assert "person" not in SCHEMA.to_json()
    first = "the first 2 rows of each person by column “id”, in the table's order"
    assert RULES.rows_used == f"those without a value of “y” are left out; then {first}"
    assert SCHEMA.rows_used is None
    document = json.loads(RULES.to_json())
    for name, value, told in [
        ("person", {"column": "id"}, None),
        ("person", {"column": "id", "rows": 0}, "rows must be a whole number"),
        ("person", {"column": "age"}, "no feature and not the target"),
        ("person", {"rows": 1}, "lacks a field"),
        ("person", "id", "person must be a Person"),
        ("missing_words", "-", "missing_words must be a list"),
        ("missing_words", [""], "missing_words must be texts"),
        ("drop_missing_target", 1, "drop_missing_target must be"),
        ("people", 1, "nothing else"),
    ]:
        text = json.dumps(document | {name: value})
        if told is None:
            assert TableSchema.from_json(text).person == Person("id")
            continue
        with pytest.raises(ValueError, match=told):
            TableSchema.from_json(text)


def test_a_word_for_a_missing_value_that_is_listed_is_none() -> None:
    table = read_table(b"id,age,job,y\n1,-,-,no\n2,UNKNOWN,office,yes\n2,-1.0,office,yes\n", RULES)
    np.testing.assert_allclose(table.X[:, 0] * RULES.largest_norm, -0.2)
    assert table.X[:, 1:].any(axis=1).all()


@pytest.mark.thorough
@given(st.data())
def test_who_joins_or_leaves_moves_nobody_elses_rows(data: st.DataObject) -> None:
    cells = st.tuples(st.sampled_from("abc"), st.integers(0, 100), st.sampled_from(["no", "yes", "NA"]))
    rows = [("d", 1, "no"), ("d", 2, "yes"), *data.draw(st.lists(cells, max_size=20))]

    def read(some: list[tuple[str, int, str]]) -> dict[str, list[tuple[float, int]]]:
        content = "id,age,job,y\n" + "".join(f"{who},{age},office,{y}\n" for who, age, y in some)
        table = read_table(content.encode(), RULES)
        assert table.people is not None
        walked = list(open_content(content.encode(), RULES).with_people)
        np.testing.assert_array_equal(np.concatenate([X for X, _, _ in walked]), table.X)
        np.testing.assert_array_equal(np.concatenate([people for _, _, people in walked]), table.people)
        found: dict[str, list[tuple[float, int]]] = {}
        for who, x, y in zip(table.people, table.X[:, 0].tolist(), table.y.tolist(), strict=True):
            found.setdefault(who, []).append((x, y))
        return found

    whole, without = read(rows), read([row for row in rows if row[0] != "a"])
    assert all(len(own) <= 2 for own in whole.values())
    whole.pop("a", None)
    assert whole == without


@given(st.text(min_size=1, max_size=90), st.booleans(), st.integers(0, 10**7))
def test_a_certificate_takes_what_a_schema_says_of_rows(name: str, dropped: bool, rows: int) -> None:
    with suppress(ValueError):  # a name that no column has
        target = TwoValues(clean_name(f"{name}y"), "no", "yes")
        person = Person(clean_name(name), rows) if rows else None
        known = TableSchema({"age": Number(0, 1)}, target, drop_missing_target=dropped, person=person)
        assert ROWS_USED.met(known.rows_used) is bool(dropped or rows)
        assert rows_of_each_person(known.rows_used) == (rows or None)
