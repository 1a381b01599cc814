"""Files as other programs write them give one matrix, and bad ones get one sentence with row and column."""

import pickle
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from objpert_core.datasets import Categories, Dialect, Number, TableError, TableSchema, TwoValues, look_at, read_table
from objpert_core.datasets.tables import MOST_BYTES, MOST_CELLS, reading
from objpert_core.datasets.tables.reading import open_content
from tests.datasets.tables.fixtures import BAD, FILES, GOOD, HEADER, LAST, NUMERIC, SCHEMA, cells
from tests.learning.taking import peak_of


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """The table by another reader."""
    return pd.read_csv(FILES / "pandas_to_csv.csv", index_col=0)


@pytest.mark.parametrize("name", GOOD)
def test_every_program_writes_the_same_table(name: str, people: pd.DataFrame) -> None:
    content, (schema, dialect) = (FILES / name).read_bytes(), GOOD[name]
    sketch = look_at(content, dialect)
    assert sketch.names == tuple(people.columns)
    assert sketch.rows == len(people) == 40
    table = read_table(content, schema, sketch.dialect)
    hours = people["weekly hours"].fillna(38).clip(0, 48)
    jobs = [people.job == job for job in ("office", "café", "workshop")]
    columns = [(people.age - 49) / 31, hours / 24 - 1, *jobs, ~people.member, people.member]
    expected = np.column_stack(columns).astype(float)
    np.testing.assert_allclose(table.X, expected / 2, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(table.y, people.moved == "yes")
    outside = int((people["weekly hours"] > 48).sum())
    assert table.notes == (
        f"column “weekly hours”: {outside} of 40 values outside 0 to 48 were clipped",
        "column “weekly hours”: 1 of 40 values was missing and replaced",
    )
    assert table.much_clipped == table.notes[:1]
    assert all(name in GOOD for name in (path.name for path in FILES.iterdir()) if name.endswith(("csv", "txt", "tsv")))


def test_a_numeric_target_keeps_its_units_and_is_clipped(people: pd.DataFrame) -> None:
    table = read_table((FILES / "google_sheets.csv").read_bytes(), NUMERIC)
    np.testing.assert_array_equal(table.y, people.rent.clip(300, 1500))
    assert (NUMERIC.target.offset, NUMERIC.target.scale) == (900, 600)


def first_look_then_read(content: bytes) -> None:
    look_at(content)
    read_table(content, SCHEMA)


ASKED = {  # by a file's fault: what its owner could say to mend it
    "NUL bytes": "encoding",
    "UTF-16 without a mark": "encoding",
    "two encodings": "encoding",
    "a byte of no letter": "encoding",
    "half a letter": "encoding",
    "no delimiter": "delimiter",
    "two delimiters": "delimiter",
    "no decimal mark": "decimal",
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gets_one_sentence(name: str) -> None:
    content, row, column, sentence = BAD[name]
    with pytest.raises(TableError) as caught:
        first_look_then_read(content)
    message = str(caught.value)
    assert sentence in message
    assert (caught.value.row, caught.value.column, caught.value.asks) == (row, column, ASKED.get(name))
    assert message.isprintable()
    assert len(message) < 150
    assert not set(message) & set("<>[]`*$|\\")
    assert row in (None, 1) or message.startswith(f"row {row}")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.row, again.column, again.asks) == (message, row, column, caught.value.asks)


def wide(columns: int) -> str:
    return ",".join(map(str, range(columns))) + "\n" + ",".join("1" * columns)


ENDS = {  # a file that just fits, as one size gives it, and the row and the sentence of the next larger one
    "columns": (wide, 1_000, 1, "at most 1,000 columns, got 1,001"),
    "a name": (lambda size: "a," + "b" * size + "\n1,2", 100, 1, "a name of at most 100 characters"),
    "a cell": (lambda size: "a,b\n1," + "2" * size, 131_072, 2, "column “b” must have at most 131,072 characters"),
    "a row": (lambda size: "a,b,c,d,e\n" + ("1" * 99_999 + ",") * 4 + "1" * (size - 400_000), 500_000, 2, "500,000"),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_file_may_be_as_large_as_its_sentence_says_and_not_larger(name: str) -> None:
    made, size, row, sentence = ENDS[name]
    look_at(made(size).encode())
    with pytest.raises(TableError, match=sentence) as caught:
        look_at(made(size + 1).encode())
    assert caught.value.row == row


PIECES = [
    b'"', b'""', b";", b"\t", b"\r", b"\n", b"\0", b"\xff\xfe", b"\xe9", b"=", b"1,5", b"1e999", b"sep=;\n", b"{",
    b"\x0b",
]  # fmt: skip


@pytest.mark.thorough
@given(
    st.sampled_from(sorted(GOOD)),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 3), st.sampled_from(PIECES)), min_size=1, max_size=5),
)
def test_a_damaged_file_is_read_or_refused_and_nothing_else(name: str, damages: list[tuple[int, int, bytes]]) -> None:
    content = bytearray((FILES / name).read_bytes()[:400])
    for start, length, piece in damages:
        content[start : start + length] = piece
    with suppress(TableError):
        first_look_then_read(bytes(content))


UNTOLD = [
    (b"age;weekly,hours;moved\n1;2;no\n3;4;yes\n", "delimiter", Dialect(delimiter=";")),
    (b"age;moved\n1.234;no\n2.345;yes\n", "decimal", Dialect(decimal=",", thousands=".")),
    ("age,moved\n1,no\n2,yes\n".encode("utf-16-be"), "encoding", Dialect(encoding="utf-16")),
]


@pytest.mark.parametrize(("content", "asks", "said"), UNTOLD)
def test_what_a_file_does_not_tell_its_owner_can_say(content: bytes, asks: str, said: Dialect) -> None:
    schema = TableSchema({"age": Number(0, 5000)}, TwoValues("moved", "no", "yes"))
    with pytest.raises(TableError) as caught:
        read_table(content, schema)
    assert caught.value.asks == asks
    if asks != "encoding":
        assert read_table(content, schema, said).rows == 2
    else:  # without a mark, the machine's own order of bytes is taken
        assert read_table(content[:0] + "age,moved\n1,no\n2,yes\n".encode("utf-16-le"), schema, said).rows == 2


def test_what_the_owner_says_is_held_against_the_file() -> None:
    for content, said, sentence, row, asks in (
        ("a,b\n1,2\n".encode("utf-8-sig"), Dialect(encoding="windows-1252"), "says that it is utf-8", 1, "encoding"),
        ("a,b\n1,é\n".encode("latin-1"), Dialect(encoding="utf-8"), "row 2 holds letters that are", 2, "encoding"),
        (b"a,b\n1,2\n", Dialect(delimiter=";"), "there are no semicolons in it", 1, "delimiter"),
    ):
        with pytest.raises(TableError, match=sentence) as caught:
            look_at(content, said)
        assert (caught.value.row, caught.value.column, caught.value.asks) == (row, None, asks)
    with pytest.raises(TypeError, match="content must be bytes, got str"):
        look_at("a,b\n1,2\n")


def test_rows_count_as_a_spreadsheet_counts_them() -> None:
    content = cells(job='"off\nice"').replace(b"TRUE,1118", b"perhaps,1118")
    schema = TableSchema({"member": Categories(["FALSE", "TRUE"])}, TwoValues("moved", "no", "yes"))
    with pytest.raises(TableError, match="row 4, column “member”"):
        read_table(content, schema)


def test_the_first_wrong_row_is_named_whatever_its_column() -> None:
    content = cells(moved="perhaps").replace(b"52,", b"old,")
    with pytest.raises(TableError, match="row 3, column “moved”"):
        read_table(content, SCHEMA)
    with pytest.raises(TableError, match="row 2, column “age”"):
        read_table(content.replace(b"38,", b"young,"), SCHEMA)


def test_the_first_bad_cells_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    two = cells(moved="perhaps", age="old").replace(b"52,9.6,office", b"52,9.6,attic")
    with pytest.raises(TableError) as caught:
        read_table(two, SCHEMA)
    assert str(caught.value).splitlines() == [
        "3 cells cannot be read:",
        "- row 3, column “moved” must hold one of “no”, “yes”, got “perhaps”",
        "- row 3, column “age” must hold a number, got “old”",
        "- row 4, column “job” must hold one of “office”, “café”, “workshop”, got “attic”",
    ]
    assert (caught.value.row, caught.value.column) == (3, "moved")
    assert pickle.loads(pickle.dumps(caught.value)).cells == caught.value.cells
    names = "abcdefg"
    schema = TableSchema({name: Number(0, 1) for name in names}, TwoValues("t", "0", "1"))
    rows = [("0",) * 7, *[tuple("0" if i > row + 1 else "x" for i in range(7)) for row in range(9)]]
    content = "\n".join(",".join(row) for row in [(*names, "t"), *((*row, "0") for row in rows)]).encode()
    expected = [
        (row, name)
        for row, texts in enumerate(rows, 2)
        for name, text in zip(names[:5], texts[:5], strict=True)
        if text == "x"
    ]
    for chunk in (reading._CHUNK, 1):  # all rows at once, and one after the other
        monkeypatch.setattr(reading, "_CHUNK", chunk)
        with pytest.raises(TableError, match=r"^the first 20 cells that cannot be read:") as caught:
            read_table(content, schema)
        assert [(cell.row, cell.column) for cell in caught.value.cells] == expected[:20]


def test_one_fault_of_many_cells_is_one_sentence() -> None:
    content = cells(job="attic") + 5 * LAST.replace("office", "attic").encode()
    with pytest.raises(TableError) as caught:
        read_table(content, SCHEMA)
    assert str(caught.value) == (
        "rows 3, 5, 6 and more, column “job” must hold one of “office”, “café”, “workshop”, got “attic”"
    )
    assert [cell.row for cell in caught.value.cells] == [3, *range(5, 10)]


@pytest.mark.parametrize(("outside", "much"), [(1, 0), (2, 1)])
def test_a_note_about_more_than_a_twentieth_of_a_column_is_told_apart(outside: int, much: int) -> None:
    schema = TableSchema({"age": Number(0, 50)}, TwoValues("moved", "no", "yes"))
    ages = [99] * outside + [30] * (20 - outside)
    rows = [f"{age},{'no' if place % 2 else 'yes'}" for place, age in enumerate(ages)]
    found = read_table("\n".join(["age,moved", *rows]).encode(), schema)
    assert len(found.notes) == 1
    assert found.much_clipped == found.notes[:much]


def test_a_value_cannot_speak_for_the_page() -> None:
    evil = "![x](http://evil.example/p.png) <img src=y> $x$ :red[z] `w` www.evil.example"
    with pytest.raises(TableError) as caught:
        read_table(cells(job=evil), SCHEMA)
    assert not any(part in str(caught.value) for part in ("](", "://", "<", "$", ":red", "`", "www."))
    assert len(str(caught.value)) < 130


def test_a_header_that_looks_like_a_person_is_pointed_out() -> None:
    (caution,) = look_at(b"39, State-gov, 77516, <=50K\n50, Private, 83311, >50K\n").cautions
    assert "2 of them look like numbers" in caution
    assert "39" not in caution
    assert "Windows-1252" in look_at((FILES / "excel_german_windows.csv").read_bytes()).cautions[0]
    assert look_at((FILES / "r_write_csv.csv").read_bytes()).cautions == ()


def test_a_sketch_holds_nothing_of_the_values() -> None:
    first = HEADER.encode() + b"38,15.4,office,FALSE,365.19,no\n"
    assert look_at(first) == look_at(HEADER.encode() + b"79,40.1,workshop,TRUE,999.99,yes\n")


@pytest.mark.slow
def test_a_file_is_read_in_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small one in small pieces: tracing the largest takes twenty seconds and shows 7 times its size."""
    header = ",".join(["t", *(f"c{i}" for i in range(99))])
    content = (header + "\n" + ("0" + ",12" * 99 + "\n1" + "," * 99 + "\n") * 750).encode()
    monkeypatch.setattr(reading, "_CHUNK", reading._CHUNK * len(content) // MOST_BYTES)
    schema = TableSchema({f"c{i}": Number(0, 20, missing=10) for i in range(99)}, TwoValues("t", "0", "1"))
    assert peak_of(lambda: read_table(content, schema)) < 20 * len(content)
    assert read_table(content, schema).X.shape == (1500, 99)


@pytest.mark.thorough
def test_a_table_whose_matrix_is_large_is_walked_in_pieces() -> None:
    content = b"job,moved\n" + b"a,no\nb,yes\n" * 5_000
    schema = TableSchema(
        {"job": Categories([*"ab", *map(str, range(1_000))])}, TwoValues("moved", negative="no", positive="yes")
    )
    blocks = open_content(content, schema)
    sizes = [X.shape for X, _ in blocks]
    assert sum(rows for rows, _ in sizes) == 10_000
    assert max(rows * columns for rows, columns in sizes) < 2**21 < MOST_CELLS < 10_000 * schema.n_features
