"""A file's size, or one row more, may get a damaged file refused, and never gives another row another code; a table of
any size has the rows of the small one, wherever it is cut, and errors that say where.

A CSV file goes through `csv` or through pyarrow, a frame or a Parquet file through columns with types. No number of
rows and no cell of another row may change what a cell is taken for.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from objpert_core.datasets import (
    Categories,
    Date,
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
        "age": Number(0, 100, missing_indicator=True),
        "job": Categories(["office", "café", "a\nb", "a,b", "1", 'the "top"'], other=True, missing_indicator=True),
    },
    TwoValues("moved", negative="no", positive="yes"),
)
NAMES = ("note", "age", "job", "moved")
FIRST, LAST = ("", "10", "office", "no"), ("", "90", "office", "yes")
Rows = tuple[tuple[str, ...], ...]
Codes = np.ndarray | None


@pytest.fixture(scope="module")
def read_both(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Codes, Codes]]:
    """Rows with their targets by both readers; None where one refuses the file."""
    path = tmp_path_factory.mktemp("readers") / "people.csv"

    def both(content: bytes, dialect: Dialect) -> tuple[Codes, Codes]:
        path.write_bytes(content)
        return accepted(small, content, dialect), accepted(walked, path, dialect)

    return both


def small(content: bytes, dialect: Dialect) -> np.ndarray:
    table = read_table(content, SCHEMA, dialect)
    return np.column_stack([table.X, table.y])


def walked(path: Path, dialect: Dialect) -> np.ndarray:
    X, y = zip(*open_table(path, SCHEMA, dialect), strict=True)
    return np.column_stack([np.concatenate(X), np.concatenate(y)])


def accepted(read: Callable[..., np.ndarray], *file: object) -> Codes:
    try:
        return read(*file)
    except TableError:
        return None


def text_of(rows: Rows, delimiter: str = ",", end: str = "\n") -> str:
    return "".join(delimiter.join(row) + end for row in (NAMES, FIRST, *rows, LAST))


TABS = b"age\t,\tjob\t,x,\tmoved\n1\t,\t2\t,x,\tno\n"  # a table for those who see tabs, and for those who see commas
GERMAN = Dialect(delimiter=";", decimal=",", encoding="windows-1252")
ROWS = {  # the row in the file's midst, and whether the small and the walked file are read
    "blank before a quotation mark": (' , 34, "office", yes', False, False),
    "the same in a column of no role": (' "x",34,office,yes', True, True),
    "separator behind such a mark": ('x,34, "a,b",yes', False, False),
    "line end behind such a mark": ('x,34, "a\nb",yes', False, False),
    "tab before a quotation mark": ('x,34,\t"office",yes', False, False),
    "quoted blanks": ('x,34," office ",yes', True, True),
    "doubled quotes": ('x,34,"the ""top""",yes', True, True),
    "doubled quotes in front": ('x,34,"""office""",yes', False, False),
    "quotes within": ('x,34,the "top",yes', True, True),
    "an inch": ('x,34,7" or so,yes', True, True),
    "behind a closing mark": ('x,34,"office"s,yes', False, True),
    "blank behind a closing mark": ('x,34,"office" ,yes', False, True),
    "two marks in front": ('x,34,""office",yes', False, True),
    "quoted separator": ('x,34,"a,b",yes', True, True),
    "quoted line feed": ('x,34,"a\nb",yes', True, True),
    "quoted line ends": ('"p\r\n\rq",34,"a\r\nb",yes', True, True),
    "quoted carriage return": ('x,34,"a\rb",yes', True, True),
    "an empty quotation": ('x,"","",yes', True, True),
    "nothing": (",,,yes", True, True),
    "nothing at all": (",,,", False, False),
    "blanks": (" ,  , \t,yes ", True, True),
    "an empty line": ("", False, True),
    "NUL": ("x,34,o\0,yes", False, False),
    "a control character": ("x,34,o\x01,yes", False, False),
    "a line that is none": ("x,34,o\u2028\x0b\x85,yes", True, True),
    "wide blanks": ("x,34,\u00a0office\u3000,yes", True, True),
    "decimal comma": ('x,"3,5",office,yes', True, True),
    "a mark within": ("\ufeffx,34,\ufeffoffice,yes", True, True),
    "a short row": ("x,34,office", False, False),
    "a long row": ("x,34,office,yes,", False, False),
}
FILES = {  # whole files
    "BOM": (text_of(()).encode("utf-8-sig"), Dialect(), True, True),
    "BOM and quotes": ('"note",age,job,moved\n,1,café,no\n,2,x,yes'.encode("utf-8-sig"), Dialect(), True, True),
    "blank before a quoted name": (b'note, "age",job,moved\n,1,office,no\n,2,office,yes\n', Dialect(), False, False),
    "no closing mark": (text_of((("x", "3", '"office', "yes"),)).encode(), Dialect(), False, False),
    "no closing mark, nothing behind": (text_of(()).encode() + b'"x,1,office,yes', Dialect(), False, False),
    "a last cell without an end": (b'note,age,moved,job\n,1,no,x\n,2,yes,"office', Dialect(), False, True),
    "semicolons": (text_of((), ";").encode(), Dialect(), True, True),
    "semicolons, named": (text_of((("", "3,5", "café", "no"),), ";").encode("windows-1252"), GERMAN, True, True),
    "Windows-1252": (text_of((("", "3", "café", "no"),)).encode("windows-1252"), Dialect(), True, True),
    "a letter of its own kind": (text_of((("é", "3", "x", "no"),)).encode("windows-1252"), Dialect(), True, True),
    "UTF-16": (text_of((("", "3", "café", "no"),)).encode("utf-16"), Dialect(encoding="utf-16"), True, True),
    "UTF-16, unnamed": (text_of(()).encode("utf-16"), Dialect(), True, True),
    "carriage returns": (text_of((), end="\r").encode(), Dialect(), True, True),
    "both line ends": (text_of((), end="\r\n").encode(), Dialect(), True, True),
    "carriage returns before line ends": (text_of((), end="\r\r\n").encode(), Dialect(), False, True),
    "tabs and commas": (TABS + b"3\t,y\toffice\t,x,\tyes\n", Dialect(), True, True),
    "a spreadsheet's hint": (b"sep=,\n" + text_of(()).encode(), Dialect(), True, True),
    "empty lines at the end": (text_of(()).encode() + b"\n\r\n\n", Dialect(), True, True),
}  # fmt: skip
HEADER, FIRST_ROW, LAST_ROW = text_of(()).splitlines(keepends=True)
ALL = FILES | {
    name: (f"{HEADER}{FIRST_ROW}{row}\n{LAST_ROW}".encode(), Dialect(), *read) for name, (row, *read) in ROWS.items()
}


@pytest.mark.parametrize("name", ALL)
def test_both_readers_read_every_row_the_same_or_one_refuses_the_file(name, read_both) -> None:
    content, dialect, *expected = ALL[name]
    one, other = read_both(content, dialect)
    assert [one is not None, other is not None] == expected
    if all(expected):
        np.testing.assert_array_equal(one, other)


WHOLE = [
    "", " ", "office", " office ", "café", "Farm", "1", "1.0", "1,5", "1.234", "-3e1", "NA", "?", "=1+1", "yes", "no",
    '"office"', '"off""ice"', '""', '"a,b"', '"a;b"', '"a\nb"', '"a\r\nb"', '"a\rb"', '" office"', '"""x"""',
    ' "office"', ' "', 'x"y', 'x"y"', 'x "y" z', '\t"1"', '"1"', '"1" ', '"1"x', "\u00a0 1",
    "\x0b", "\x85", "\u2028x", "'1'", "−1",
]  # fmt: skip
"""Cells that end where they should, or are refused."""
BROKEN = ['"', '"x', ' "a', '""x"', "\r", "\n", ",", ";", "\0", "\ufeff", '"\r', '"\n"']
delimiters, ends = st.sampled_from(",;"), st.sampled_from(["\n", "\r\n", "\r"])
encodings = st.sampled_from(["utf-8", "utf-8-sig", "windows-1252", "utf-16"])


def rows_of(cells: list[str]) -> st.SearchStrategy[Rows]:
    one = st.sampled_from(cells)
    ages, targets = st.one_of(st.sampled_from(["3", "44", ""]), one), st.sampled_from(["yes", "no", *cells[:9]])
    row = st.tuples(one, ages, one, targets)
    return st.lists(row, min_size=1, max_size=4).map(tuple)


@pytest.mark.slow
@given(rows_of(WHOLE), delimiters, ends, encodings, st.booleans())
def test_a_row_has_one_code_whoever_reads_it_and_whoever_else_is_there(
    read_both, rows, delimiter, end, encoding, told
) -> None:
    said = Dialect(delimiter, None, encoding=encoding.removesuffix("-sig")) if told else Dialect()

    def read(*some: tuple[str, ...]) -> list[np.ndarray]:
        found = read_both(text_of(some, delimiter, end).encode(encoding, errors="ignore"), said)
        return [codes[1:-1] for codes in found if codes is not None]

    for codes in read(*rows):
        assert len(codes) == len(rows)
        for row, code in zip(rows, codes, strict=True):
            for alone in read(row):
                np.testing.assert_array_equal(alone, [code])


@pytest.mark.slow
@given(rows_of(WHOLE + BROKEN), delimiters, ends, encodings, st.integers(0, 3))
def test_a_broken_file_is_the_same_to_both_readers_or_refused(read_both, rows, delimiter, end, encoding, cut) -> None:
    content = text_of(rows, delimiter, end).encode(encoding, errors="ignore")
    said = Dialect(delimiter, encoding=encoding.removesuffix("-sig"))
    one, other = read_both(content[: len(content) - cut], said)
    if one is not None and other is not None:
        np.testing.assert_array_equal(one, other)


CODES = TableSchema(
    {
        "age": Number(0, 100, missing_indicator=True),
        "code": Categories(["1", "2", "3", "True", "False", "0.5"], other=True, missing_indicator=True),
    },
    TwoValues("moved", negative="0", positive="1"),
)
KINDS = ["int64", "int8", "float32", "float64", "object", "Int64", "Float64", "boolean", "bool"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
def test_to_remove_a_row_removes_its_line_from_frame_and_parquet(kind, gap, tmp_path) -> None:
    whole = pd.DataFrame({"age": [30, 40, 50], "code": [1, 2, 3], "moved": [1, 0, 1]})
    whole["code"] = (whole["code"] == 1 if "bool" in kind else whole["code"]).astype(kind)
    gapped = pd.DataFrame({name: [*whole[name].tolist(), gap] for name in whole}).assign(moved=[1, 0, 1, 0])
    mixed = pd.concat([whole, pd.DataFrame({"age": [60], "code": [0.5], "moved": [0]})])
    texts = ["True", "False", "False"] if "bool" in kind else ["1", "2", "3"]
    expected = CODES.encode(pd.DataFrame({"age": ["30", "40", "50"], "code": texts}))
    assert expected[:, 2:].any(axis=1).all()  # no code is another category
    for number, frame in enumerate((whole, gapped, mixed)):
        np.testing.assert_array_equal(CODES.encode(frame)[:3], expected)
        if frame is mixed and "bool" in kind:  # such a column has no type in Parquet
            continue
        frame.to_parquet(path := tmp_path / f"{number}.parquet")
        ((X, y),) = open_table(path, CODES)
        np.testing.assert_array_equal(X, CODES.encode(frame))
        np.testing.assert_array_equal(y[:3], [1, 0, 1])


def test_codes_of_polars_in_parquet_keep_their_text(tmp_path) -> None:
    polars = pytest.importorskip("polars")
    path, found = tmp_path / "people.parquet", []
    for codes in ([1, 2, 3], [1, 2, 3, None], [1.0, 2.0, 3.0, None], ["1", "2", "3", None]):
        polars.DataFrame({"age": 30, "code": codes, "moved": 1.0}).write_parquet(path)
        ((X, _),) = open_table(path, CODES)
        found.append(X[:3])
    for X in found:
        np.testing.assert_array_equal(X, found[0])
    assert found[0][:, 2:5].any(axis=1).all()


def test_a_date_has_the_form_of_its_column_whatever_type_a_file_gives_it(tmp_path) -> None:
    schema = TableSchema(
        {"day": Date("2000-01-01", "2030-12-31", format="%Y-%m-%d", missing_indicator=True)}, CODES.target
    )
    days = pd.DataFrame({"day": pd.to_datetime(["2020-02-29", "2021-12-31", None]), "moved": [0, 1, 1]})
    (tmp_path / "rows.csv").write_text(days.to_csv(index=False))
    expected = read_table((tmp_path / "rows.csv").read_bytes(), schema).X
    days.to_parquet(tmp_path / "times.parquet")
    days.assign(day=days.day.dt.date).to_parquet(tmp_path / "days.parquet")
    np.testing.assert_array_equal(schema.encode(days), expected)
    for name in ("rows.csv", "times.parquet", "days.parquet"):
        ((X, _),) = open_table(tmp_path / name, schema)
        np.testing.assert_array_equal(X, expected)


def test_only_a_whole_number_loses_its_point() -> None:
    whole = [1, 1.0, np.float16(1), np.float32(1), np.float64(1), np.int8(1), "1", " 1\n"]
    assert {walking.as_text(value) for value in whole} == {"1"}
    others = [True, np.bool_(False), 0.5, 2.0**53, 2**60 + 1, 1e300, -np.inf, np.float32(np.nan), "1.0"]
    assert [walking.as_text(value) for value in others] == [
        "True", "False", "0.5", "9007199254740992.0", "1152921504606846977", "1e+300", "-inf", "", "1.0",
    ]  # fmt: skip


# Walked a block at a time


WALKED = TableSchema(
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
    expected = read_table(content, WALKED)
    (tmp_path / "people.csv").write_bytes(content)
    frame.to_parquet(tmp_path / "people.parquet")
    frame.astype({"job": "category", "moved": "category"}).to_parquet(tmp_path / "dictionaries.parquet")
    for name in ("people.csv", "people.parquet", "dictionaries.parquet"):
        blocks = open_table(tmp_path / name, WALKED)
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
    expected = together(open_table(sorted(tmp_path.glob("*.parquet")), WALKED))
    for one, other in zip(together(open_table(tmp_path, WALKED)), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    frame.drop(columns="moved").to_parquet(tmp_path / "new.parquet")
    (block,) = open_table(tmp_path / "new.parquet", WALKED, targets=False)
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
        list(open_table(tmp_path / "people.parquet", WALKED))
    assert str(caught.value).startswith("people.parquet: " + sentence[:40])
    assert caught.value.column in changes


def test_in_a_csv_file_the_header_is_row_1_and_a_ragged_row_is_not_quoted(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age;job;hours;moved\n20,5;office;x;no\n")
    with pytest.raises(TableError, match=r"^people.csv: row 2, column “hours”"):
        list(open_table(path, WALKED, Dialect(delimiter=";", decimal=",")))
    path.write_text("age,job,hours,moved\n20,secret\n")
    with pytest.raises(TableError) as caught:
        list(open_table(path, WALKED))
    assert "secret" not in str(caught.value)
    path.write_text("age,job,hours,hours\n20,office,1,1\n")
    with pytest.raises(TableError, match="row 1 names two columns “hours”, C and D"):
        list(open_table(path, WALKED))


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
        open_table(tmp_path / name, WALKED)
    with pytest.raises(ValueError, match="at least one file"):
        open_table([], WALKED)


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install '/path/to/checkout\[tables\]'"):
        open_table(tmp_path, WALKED)
