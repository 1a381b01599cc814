"""A schema's raw form makes of any file the numbers that an additive model reads, one a cell, and refuses no gap."""

import numpy as np
import pandas as pd
import pytest

from objpert_core.datasets import (
    Categories,
    Date,
    Dialect,
    Money,
    Number,
    Percent,
    Person,
    TableError,
    TableSchema,
    TwoValues,
    open_table,
    read_features,
    read_table,
)
from objpert_core.estimators.tables import KnownTable

COLUMNS = {
    "age": Number(17, 90, missing=40, missing_indicator=True),
    "gain": Number("private", "private", pieces=[1, 5000]),
    "job": Categories(["cook", "smith", "1"], missing="cook", missing_indicator=True),
    "sex": Categories(["f", "m"], reference="f"),
    "day": Date("2020-01-01", "2021-01-01", format="%Y-%m-%d"),
    "share": Percent(0, 100),
    "rent": Money(0, 900, sign="$"),
}
SCHEMA = TableSchema(COLUMNS, TwoValues("y", "no", "yes"), missing_words=["unknown"])
HEAD = "age,gain,job,sex,day,share,rent,y"
CELLS = ["120,-7.5,smith,m,2020-01-01,50 %,$5,no", "17,0,1.0,x,2020-01-02,1%,7 $,yes", "NA,unknown,?,,,null,n/a,no"]
CONTENT = "\n".join([HEAD, *CELLS, "20,1e3,=1+1,f,1900-01-01,500 %,-$1,yes", ""]).encode()
NAN = np.nan
NUMBERS = np.array(
    [
        [120, -7.5, 1, 1, 737424, 50, 5],
        [17, 0, 2, 2, 737425, 1, 7],
        [NAN] * 7,
        [20, 1000, 3, 0, 693595, 500, -1],
    ]
)


def test_numbers_and_places_of_a_file_are_those_of_a_frame(tmp_path) -> None:
    raw = SCHEMA.raw()
    table = read_table(CONTENT, raw)
    np.testing.assert_array_equal(table.X, NUMBERS)
    assert table.y.tolist() == [0, 1, 0, 1]
    assert table.feature_names == tuple(COLUMNS)
    np.testing.assert_array_equal(read_features(CONTENT, raw), NUMBERS)
    (tmp_path / "rows.csv").write_bytes(CONTENT)
    texts = pd.read_csv(tmp_path / "rows.csv", dtype=str, keep_default_na=False)
    texts.to_parquet(tmp_path / "texts.parquet")
    typed = texts.assign(
        age=[120, 17, None, 20],
        gain=[-7.5, 0, None, 1e3],
        day=pd.to_datetime(["2020-01-01", "2020-01-02", None, "1900-01-01"]),
        sex=texts.sex.astype("category"),
    )
    typed.to_parquet(tmp_path / "typed.parquet")
    for name in ("rows.csv", "texts.parquet", "typed.parquet"):
        ((X, _),) = open_table(tmp_path / name, raw)
        np.testing.assert_array_equal(X, NUMBERS)
    known = KnownTable.of_schema(SCHEMA)
    for frame in (texts, typed):
        np.testing.assert_array_equal(raw.encode(frame), NUMBERS)
        np.testing.assert_array_equal(known.numbers(frame[list(COLUMNS)]), NUMBERS)


def test_what_is_endless_in_a_file_with_types_is_a_number(tmp_path) -> None:
    schema = TableSchema({"age": Number(0, 9)}, SCHEMA.target).raw()
    pd.DataFrame({"age": [np.inf, -np.inf, NAN], "y": ["no", "yes", "yes"]}).to_parquet(tmp_path / "rows.parquet")
    ((X, _),) = open_table(tmp_path / "rows.parquet", schema)
    np.testing.assert_array_equal(X.ravel(), [np.inf, -np.inf, NAN])


def test_the_owner_is_told_of_gaps_and_others_and_nothing_is_replaced_or_clipped() -> None:
    notes = read_table(CONTENT, SCHEMA.raw()).notes
    assert "column “age”: 1 of 4 values was missing" in notes
    assert "column “sex”: 1 of 4 values was none of the categories" in notes
    assert not any("replaced" in note or "clipped" in note for note in notes)


def test_a_raw_schema_keeps_its_rules_and_its_text() -> None:
    rules = TableSchema(COLUMNS, SCHEMA.target, drop_missing_target=True, person=Person("id"))
    raw = rules.raw()
    assert raw.rows_used == rules.rows_used
    assert raw.to_json() == rules.to_json()
    assert raw.raw() == raw
    assert (raw.n_features, raw.largest_norm) == (len(COLUMNS), 1.0)
    assert np.isnan(raw.feature_ranges).all()


def test_a_cell_that_must_hold_a_number_and_holds_none_is_refused() -> None:
    for cells in ("x,0,cook,f,,1 %,$1,no", "1,0,cook,f,1.1.2020,1 %,$1,no", "1,0,cook,f,,1,$1,no", "inf,0,,,,,,no"):
        with pytest.raises(TableError, match=r"^row 2, column “.*” must hold"):
            read_table(f"{HEAD}\n{cells}\n".encode(), SCHEMA.raw())
    with pytest.raises(TableError, match="decimal mark") as asked:
        read_table(b"age;y\n1.234;no\n", TableSchema({"age": Number(0, 9)}, SCHEMA.target).raw())
    assert asked.value.asks == "decimal"
    german = read_table(b"age;y\n1,5;no\n2;yes\n", TableSchema({"age": Number(0, 9)}, SCHEMA.target).raw(), Dialect())
    assert german.X.ravel().tolist() == [1.5, 2.0]
