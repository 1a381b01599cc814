"""What is typed becomes the schema, letter by letter; what lacks is asked for, column by column."""

import re
from dataclasses import asdict, replace

import pytest

from objpert_core import datasets as data
from pages.own import form
from pages.own.example import EXAMPLES
from pages.own.form import CATEGORIES, DATE, LEFT_OUT, MONEY, NUMBER, PERCENT, TARGET_NUMBER, TARGET_TWO, Line

PAID = Line("paid", TARGET_TWO, categories="no, yes")
AGE = Line("age", NUMBER, "17", "90")


def test_lines_start_empty():
    assert form.lines_for(["age", "paid"], {}) == (Line("age", LEFT_OUT), Line("paid", LEFT_OUT))
    texts = dict.fromkeys(["low", "high", "categories", "missing", "written"], "")
    assert asdict(Line("age")) == {"column": "age", "role": LEFT_OUT, **texts, "mark": False, "other": False}


def test_what_was_typed_is_found_again_by_the_columns_name():
    found = form.lines_for(["paid", "age", "new"], {"age": AGE, "paid": PAID, "gone": replace(AGE, column="gone")})
    assert found == (PAID, AGE, Line("new"))
    assert form.typed(["paid", "age", "new"], list(map(asdict, found))) == found


def test_what_a_browser_tells_is_taken_as_texts_switches_and_known_roles():
    told = {"column": 1, "role": "admin", "low": " 0 ", "high": 5, "mark": "yes", "other": True}
    (line,) = form.typed(["age"], [told])
    assert line == Line("age", LEFT_OUT, low="0", other=True)


def test_the_schema_says_what_was_typed():
    lines = (
        Line("id"),
        replace(AGE, missing="40", mark=True),
        Line("pay", NUMBER, "−1,5", "1e6"),
        Line("job", CATEGORIES, categories=" a, b ; c;", other=True),
        Line("sex", CATEGORIES, categories="f, m", missing="f"),
        Line("rent", NUMBER, form.LEARNED, missing="900"),
        Line("joined", DATE, "1.1.2000", "31.12.2020", written="%d.%m.%Y"),
        Line("share", PERCENT, "0", "100"),
        Line("bonus", MONEY, form.LEARNED, written="€"),
        PAID,
    )
    columns = {
        "age": data.Number(17, 90, missing=40, missing_indicator=True),
        "pay": data.Number(-1.5, 1e6),
        "job": data.Categories(["a, b", "c"], other=True),
        "sex": data.Categories(["f", "m"], missing="f"),
        "rent": data.Number("private", "private", missing=900),
        "joined": data.Date("1.1.2000", "31.12.2020", format="%d.%m.%Y"),
        "share": data.Percent(0, 100),
        "bonus": data.Money("private", "private", sign="€", thousands=","),
    }
    made = data.TableSchema(columns, data.TwoValues("paid", negative="no", positive="yes"))
    assert form.schema(lines) == made
    assert form.schema(list(form.of_schema(made).values())) == made


@pytest.mark.parametrize(
    "schema",
    [
        *(form.schema(example.lines) for example in EXAMPLES.values()),
        data.TableSchema(
            {
                "x": data.Number(-1 / 3, 1e300, missing=0.1),
                "y": data.Categories(["a, b"], missing="a, b", missing_indicator=True),
            },
            data.NumericTarget("z", low=0, high=12345678.9),
        ),
        data.TableSchema(
            {"x": data.Categories(["a, b", "c"], other=True)}, data.TwoValues("z", negative="0", positive="1, 2")
        ),
        data.TableSchema({"x": data.Number(0, 9)}, data.SeveralValues("z", ["low", "middle", "high"])),
    ],
)
def test_a_schema_that_is_loaded_makes_itself_again(schema):
    lines = form.of_schema(schema)
    assert form.schema([lines[name] for name in (*schema.columns, schema.target.column)]) == schema


def test_what_has_no_line_is_said():
    schema = data.TableSchema({"x": data.Money(0, 9, sign="$")}, data.TwoValues("z", negative="0", positive="1"))
    with pytest.raises(ValueError, match="column “x” has marks of its own"):
        form.of_schema(schema)
    pieces = data.TableSchema({"x": data.Number(0, 9, pieces=[5])}, schema.target)
    with pytest.raises(ValueError, match="the schema has pieces of its own"):
        form.of_schema(pieces)


def test_columns_that_are_left_out_with_entries_are_named():
    lines = Line("a"), Line("b", low="0"), Line("c", categories="x; y"), Line("d", other=True), AGE
    assert form.idle(lines) == ("“b”", "“c”", "“d”")


def test_a_category_that_cannot_be_typed_is_said():
    schema = data.TableSchema({"x": data.Categories(["a;b", "c"])}, data.TwoValues("z", negative="0", positive="1"))
    with pytest.raises(ValueError, match="column “x” has a category with a semicolon"):
        form.of_schema(schema)


@pytest.mark.parametrize(
    ("lines", "asked"),
    [
        ((AGE,), "give exactly one column the role “target”: the model predicts this column"),
        ((PAID, replace(PAID, column="b")), "so far 2 columns have this role"),
        ((PAID, Line("age")), "give at least one column the role “number” or “categories”"),
        ((PAID, Line("age", NUMBER)), "column “age”: type its lowest value"),
        ((PAID, Line("age", NUMBER, "0")), "column “age”: type its highest value"),
        ((PAID, replace(AGE, high="very old")), "column “age”: the highest value must be a number such as"),
        ((PAID, replace(AGE, high="1,000")), "got “1,000”"),
        ((PAID, replace(AGE, high="=2+2")), "got “=2+2”"),
        ((PAID, replace(AGE, high="inf")), "got “inf”"),
        ((PAID, replace(AGE, high="17")), "column “age”: low must be below high"),
        ((PAID, replace(AGE, missing="200")), "column “age”: missing must be a number from 17 to 90"),
        ((PAID, Line("job", CATEGORIES)), "column “job”: type its categories"),
        ((PAID, Line("job", CATEGORIES, categories="a;a")), "column “job”: categories must differ"),
        ((AGE, replace(PAID, categories="yes")), "column “paid”: a target of two values needs exactly two categories"),
        ((AGE, replace(PAID, categories="yes; yes")), "column “paid”: positive must differ"),
        ((PAID, Line("day", DATE, "1.1.2000", "2.1.2000")), "column “day”: type how its dates are written"),
        ((PAID, Line("pay", MONEY, "0", "9")), "column “pay”: type its currency symbol"),
        ((PAID, replace(AGE, low="private")), "such as 0, −1.5 or 1e6, or “learn privately”, got “private”"),
        ((PAID, replace(AGE, low=form.LEARNED, high="", mark=True)), "missing must be a number where the range"),
        ((AGE, Line("pay", TARGET_NUMBER, "0")), "column “pay”: type its highest value"),
    ],
)
def test_what_lacks_or_is_wrong_is_one_sentence(lines, asked):
    with pytest.raises(ValueError, match=f"^[^\n]*{re.escape(asked)}[^\n]*$"):
        form.schema(lines)


def test_a_strangers_column_name_does_no_harm():
    with pytest.raises(ValueError, match=r"^[^]<]*: type its lowest value$"):
        form.schema([PAID, Line("[x](http://a.example) <b>", NUMBER)])
