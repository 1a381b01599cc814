"""Tables of any size: the same rows as from a small file, wherever they are cut; errors that say where."""

import numpy as np
import pandas as pd
import pytest

from objpert_core.datasets import (
    Categories,
    Dialect,
    Number,
    NumericTarget,
    TableError,
    TableSchema,
    TwoValues,
    open_table,
    read_table,
)
from objpert_core.datasets.tables import walking

pytest.importorskip("pyarrow")
SCHEMA = TableSchema(
    {
        "age": Number(17, 90, missing_indicator=True),
        "job": Categories(["office", "café"], other=True, missing="office"),
        "hours": Number(0, 60),
    },
    TwoValues("moved", negative="no", positive="yes"),
)


def people(rows=50, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "age": np.where(rng.random(rows) < 0.2, np.nan, rng.integers(10, 99, rows).astype(float)),
            "moved": rng.choice(["no", "yes"], rows),
            "job": rng.choice(["office", "café", "farm", None], rows),
            "hours": rng.integers(0, 70, rows),
        }
    )


def together(blocks):
    X, y = zip(*blocks, strict=True)
    return np.concatenate(X), np.concatenate(y)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(walking, "_NUMBERS", 1)
    monkeypatch.setattr(walking, "_LEAST_ROWS", 7)
    monkeypatch.setattr(walking, "_CSV_BYTES", 200)


def test_files_of_both_kinds_hold_the_rows_of_the_small_file(tmp_path, small_blocks):
    frame = people()
    content = frame.to_csv(index=False).encode()
    expected = read_table(content, SCHEMA)
    (tmp_path / "people.csv").write_bytes(content)
    frame.to_parquet(tmp_path / "people.parquet")
    frame.astype({"job": "category", "moved": "category"}).to_parquet(tmp_path / "dictionaries.parquet")
    for name in ("people.csv", "people.parquet", "dictionaries.parquet"):
        blocks = open_table(tmp_path / name, SCHEMA)
        assert len(list(blocks)) > 2
        for _ in range(2):  # walked as often as one likes
            X, y = together(blocks)
            np.testing.assert_array_equal(X, expected.X)
            np.testing.assert_array_equal(y, expected.y)
        assert blocks.feature_names == expected.feature_names


def test_a_folder_is_its_files_in_order_and_rows_to_predict_have_no_target(tmp_path):
    frame = people()
    for place in range(2):
        frame[25 * place : 25 * (place + 1)].to_parquet(tmp_path / f"part-{place}.parquet")
    (tmp_path / "notes.md").write_text("no table")
    expected = together(open_table(sorted(tmp_path.glob("*.parquet")), SCHEMA))
    for one, other in zip(together(open_table(tmp_path, SCHEMA)), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    frame.drop(columns="moved").to_parquet(tmp_path / "new.parquet")
    (block,) = open_table(tmp_path / "new.parquet", SCHEMA, targets=False)
    np.testing.assert_array_equal(block[0], expected[0])
    assert block[1] is None


def test_a_number_to_predict_is_clipped_to_its_range(tmp_path):
    schema = TableSchema({"age": Number(17, 90, missing=20)}, NumericTarget("hours", 0, 40))
    people().to_parquet(tmp_path / "people.parquet")
    people().to_csv(tmp_path / "people.tsv", index=False, sep="\t")
    for name in ("people.parquet", "people.tsv"):
        _, y = together(open_table(tmp_path / name, schema))
        np.testing.assert_array_equal(y, people()["hours"].clip(0, 40))


BAD = [
    ({"hours": {33: np.nan}}, "row 34, column “hours” is empty, and no value is given that replaces"),
    ({"hours": {40: np.inf}}, "row 41, column “hours” must hold a finite number"),
    ({"moved": {20: "maybe"}}, "row 21, column “moved” must hold one of “no” or “yes”, got “maybe”"),
    ({"job": {9: "=1+1"}}, "row 10, column “job” must hold a value and no formula"),
]


@pytest.mark.parametrize(("changes", "sentence"), BAD)
def test_a_bad_cell_is_named_by_file_row_and_column(changes, sentence, tmp_path, small_blocks):
    frame = people().astype({"hours": float})
    for name, cells in changes.items():
        for row, value in cells.items():
            frame.loc[row, name] = value
    frame.to_parquet(tmp_path / "people.parquet")
    with pytest.raises(TableError) as caught:
        list(open_table(tmp_path / "people.parquet", SCHEMA))
    assert str(caught.value).startswith("people.parquet: " + sentence[:40])
    assert caught.value.column in changes


def test_in_a_csv_file_the_header_is_row_1_and_a_ragged_row_is_not_quoted(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age;job;hours;moved\n20,5;office;x;no\n")
    with pytest.raises(TableError, match=r"^people.csv: row 2, column “hours”"):
        list(open_table(path, SCHEMA, Dialect(delimiter=";", decimal=",")))
    path.write_text("age,job,hours,moved\n20,secret\n")
    with pytest.raises(TableError) as caught:
        list(open_table(path, SCHEMA))
    assert "secret" not in str(caught.value)
    path.write_text("age,job,hours,hours\n20,office,1,1\n")
    with pytest.raises(TableError, match="row 1 names two columns “hours”, C and D"):
        list(open_table(path, SCHEMA))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("none.csv", "source must be a file or a folder"),
        ("empty", "a folder with Parquet or CSV"),
        ("a.xlsx", "end in"),
    ],
)
def test_what_is_no_table_is_refused_before_it_is_read(name, sentence, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    with pytest.raises(ValueError, match=sentence):
        open_table(tmp_path / name, SCHEMA)
    with pytest.raises(ValueError, match="at least one file"):
        open_table([], SCHEMA)


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install '/path/to/checkout\[tables\]'"):
        open_table(tmp_path, SCHEMA)
