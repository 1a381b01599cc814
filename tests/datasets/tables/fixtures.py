"""CSV files as other programs write them, and bad ones with the sentence that each must get."""

from pathlib import Path
from typing import NamedTuple

from objpert_core.datasets import Categories, Dialect, Number, NumericTarget, TableSchema, TwoValues

FILES = Path(__file__).parent / "files"


class GoodFile(NamedTuple):
    """What the owner types in for a file."""

    schema: TableSchema
    dialect: Dialect = Dialect()


class BadFile(NamedTuple):
    """A file, and what its sentence must say."""

    content: bytes
    row: int | None
    column: str | None
    sentence: str


def schema(false: str = "FALSE", true: str = "TRUE", cafe: str = "café", numeric: bool = False) -> TableSchema:
    return TableSchema(
        columns={
            "age": Number(18, 80),
            "weekly hours": Number(0, 48, missing=38),
            "job": Categories(["office", cafe, "workshop"]),
            "member": Categories([false, true]),
        },
        target=NumericTarget("rent", 300, 1500) if numeric else TwoValues("moved", negative="no", positive="yes"),
    )


SCHEMA = schema()
NUMERIC = schema(numeric=True)
GOOD = {
    "excel_german_utf8.csv": GoodFile(schema("FALSCH", "WAHR")),
    "excel_german_windows.csv": GoodFile(schema("FALSCH", "WAHR")),
    "excel_german_sep_line.csv": GoodFile(schema("FALSCH", "WAHR")),
    "excel_unicode_text.txt": GoodFile(SCHEMA),
    "excel_macintosh.csv": GoodFile(schema(cafe="cafe")),
    "libreoffice_all_quoted.csv": GoodFile(SCHEMA),
    "r_write_csv.csv": GoodFile(SCHEMA),
    "r_write_csv2.csv": GoodFile(SCHEMA),
    "pandas_to_csv.csv": GoodFile(schema("False", "True")),
    "google_sheets.csv": GoodFile(SCHEMA),
    "google_sheets_german.csv": GoodFile(SCHEMA),
    "mysql_outfile.tsv": GoodFile(schema("0", "1")),
}

HEADER = "age,weekly hours,job,member,rent,moved\n"
FIRST = "38,15.4,café,FALSE,365.19,no\n"
LAST = "52,9.6,office,TRUE,1118.73,yes\n"


def table(row: str, header: str = HEADER) -> bytes:
    """A small file with `row` as its row 3."""
    return f"{header}{FIRST}{row}\n{LAST}".encode()


def cells(**changed: str) -> bytes:
    """A small file whose row 3 has these cells."""
    row = {"age": "44", "hours": "20", "job": "office", "member": "TRUE", "rent": "700", "moved": "yes"} | changed
    return table(",".join(row.values()))


BAD = {
    "no bytes": BadFile(b"", None, None, "must hold a table, and it is empty"),
    "blank lines": BadFile(b"\xef\xbb\xbf\r\n \r\n", None, None, "must hold a table, and it is empty"),
    "a header only": BadFile(HEADER.encode(), 1, None, "must have rows after the header"),
    "a workbook": BadFile(b"PK\x03\x04" + bytes(60), None, None, "got a workbook (xlsx, ods) or a zip archive"),
    "an old workbook": BadFile(b"\xd0\xcf\x11\xe0\xa1\xb1", None, None, "got a workbook (xls)"),
    "an archive": BadFile(b"\x1f\x8b\x08" + bytes(60), None, None, "got a gzip archive"),
    "JSON": BadFile(b'[{"age": 38}]\n', 1, None, "got JSON"),
    "a web page": BadFile(b"\n<!DOCTYPE html><html>", 1, None, "got a web page"),
    "NUL bytes": BadFile(cells(age="4\0"), 3, None, "holds a NUL byte"),
    "UTF-16 without a mark": BadFile((HEADER + FIRST).encode("utf-16-le"), 1, None, "holds a NUL byte"),
    "an escape sequence": BadFile(cells(job="\x1b[2J"), 3, None, "holds a control character"),
    "two encodings": BadFile(
        (HEADER + FIRST).encode() + FIRST.encode("latin-1"), 3, None, "neither UTF-8 nor surely Windows-1252"
    ),
    "a byte of no letter": BadFile(cells(age="x").replace(b"x", b"\x81"), 3, None, "neither UTF-8"),
    "no names": BadFile(b";;\n1;2;3\n", 1, None, "must hold the names of the columns"),
    "half a letter": BadFile("age\tjob\n1\t2".encode("utf-16")[:-1], 2, None, "not utf-16"),
    "no delimiter": BadFile(b"age job moved\n38 office no\n", 1, None, "at least two columns with a comma"),
    "two delimiters": BadFile(b"age;weekly,hours;moved\n", 1, None, "commas and semicolons"),
    "a column without a name": BadFile(table(LAST, HEADER.replace("job", "")), 1, None, "column C has no name"),
    "a name twice": BadFile(table(LAST, HEADER.replace("rent", "age")), 1, "age", "two columns “age”, A and E"),
    "a long name": BadFile(table(LAST, HEADER.replace("rent", "r" * 101)), 1, None, "at most 100 characters"),
    "a column is absent": BadFile(b"age,moved\n38,no\n", 1, "weekly hours", "must name the column “weekly hours”"),
    "a short row": BadFile(table("44,20,office"), 3, None, "has 3 cells, but row 1 names 6 columns"),
    "a decimal comma unquoted": BadFile(table("44,20,5,office,TRUE,700,yes"), 3, None, "needs quotation marks"),
    "a blank row": BadFile(table(""), 3, None, "is empty, but other rows follow: delete the empty row"),
    "no closing quotation mark": BadFile(cells(job='"office'), 3, "job", "begins with a quotation mark, and none"),
    "behind a quotation mark": BadFile(cells(job='"office"s'), 3, "job", "must be doubled"),
    "nothing there": BadFile(cells(age=""), 3, "age", "is empty, and no value is given that replaces a missing one"),
    "not available": BadFile(cells(job="NA"), 3, "job", "holds “NA”, a missing value"),
    "no target": BadFile(cells(moved=""), 3, "moved", "must hold one of “no”, “yes”, and it is empty"),
    "another target": BadFile(cells(moved="maybe"), 3, "moved", "one of “no”, “yes”, got “maybe”"),
    "another category": BadFile(cells(job="Office"), 3, "job", "“workshop”, got “Office”"),
    "a word": BadFile(cells(age="old"), 3, "age", "must hold a number, got “old”"),
    "a formula": BadFile(cells(age="=SUM(A2:A9)"), 3, "age", "a number and no formula, got “=SUM(A2∶A9)”"),
    "a hidden formula": BadFile(cells(job="@SUM(1)"), 3, "job", "a value and no formula"),
    "thousands": BadFile(cells(age='"1,234.5"'), 3, "age", "name the separator of thousands"),
    "per cent": BadFile(cells(age="44 %"), 3, "age", "without a percent sign"),
    "a date": BadFile(cells(age="1980-05-17"), 3, "age", "no date or time"),
    "beyond the doubles": BadFile(cells(age="1e400"), 3, "age", "must hold a finite number"),
    "infinity": BadFile(cells(age="-inf"), 3, "age", "must hold a finite number"),
    "not a number": BadFile(cells(age="NaN"), 3, "age", "a missing value"),
    "many digits": BadFile(cells(age="1" * 101), 3, "age", "at most 100 characters"),
    "one class": BadFile((HEADER + FIRST + FIRST).encode(), None, "moved", "must hold both values"),
    "no decimal mark": BadFile(b"age;weekly hours;job;member;moved\n1.234;5;office;TRUE;no\n", None, None, ". or ,"),
    "a million columns": BadFile(b"a," * 10**6 + b"b\n", 1, None, "at most 1,000 columns, got 1,000,001"),
    "a long row": BadFile((HEADER + "1," * 300_000).encode(), 2, None, "at most 500,000 characters"),
    "a long cell": BadFile(cells(job="x" * 140_000), 3, "job", "at most 131,072 characters"),
}
