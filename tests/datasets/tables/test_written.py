"""Dates, percentages and money are read in the form that was typed, and in no other."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from objpert_core.datasets import Date, Money, Percent, TableError, TableSchema, TwoValues, read_table, tables
from tests.blocks import blocks, run_python
from tests.datasets.tables.fixtures import FILES

DAY = Date("2020-01-01", "2020-01-11", format="%Y-%m-%d")
EUROS = Money(0, 4000, sign="€", decimal=",", thousands=".")
CASES = [
    (DAY, "2020-01-06", 0.0),
    (DAY, "2031-01-01", 1.0),
    (DAY, "06.01.2020", None),
    (DAY, "2020-02-30", None),
    (Percent(0, 100), "75 %", 0.5),
    (Percent(0, 100), "75%", 0.5),
    (Percent(0, 100), "75", None),
    (Percent(0, 100), "7,5 %", None),
    (Percent(0, 100, decimal=","), "62,5 %", 0.25),
    (EUROS, "1.000,00 €", -0.5),
    (EUROS, "-€5", -1.0),
    (EUROS, "1,000.00 €", None),
    (EUROS, "1000", None),
    (EUROS, "1€000", None),
]


@pytest.mark.parametrize(("column", "cell", "code"), CASES)
def test_a_cell_has_the_typed_form_or_is_refused(column: object, cell: str, code: float | None) -> None:
    schema = TableSchema({"a": column}, TwoValues("t", "0", "1"))
    assert TableSchema.from_json(schema.to_json()) == schema
    content = f"a;t\n{cell};0\n{cell};1\n".encode()
    if code is None:
        with pytest.raises(TableError, match="rows 2, 3, column “a” must hold"):
            read_table(content, schema)
    else:
        np.testing.assert_allclose(read_table(content, schema).X, code, atol=1e-12)
        np.testing.assert_allclose(schema.encode(pd.DataFrame({"a": [cell]})), code, atol=1e-12)


def test_what_is_typed_wrong_is_refused() -> None:
    for form in ("%d.%m.", "%Y-%B", "%Y %Y", "%x", "%Y-%d", 7):
        with pytest.raises(ValueError, match="format must have a year"):
            Date("2020", "2021", format=form)
    for low, sentence in (("2021-01-01", "low must be before high"), ("1.1.2020", "low must hold a date of the form")):
        with pytest.raises(ValueError, match=sentence):
            Date(low, "2020-06-01", format="%Y-%m-%d")
    for sign in ("", "1", "-", ".", "=", "x" * 11):
        with pytest.raises(ValueError, match="sign must be"):
            Money(0, 1, sign=sign)
    assert math.isclose(Date("2020", "2022", "2021", True, format="%Y").largest_square, 1, abs_tol=0.01)


# docs/own_data.md: its code runs on a file that a spreadsheet wrote, and its models keep their promise


PATH = Path(__file__).parents[3] / "docs" / "own_data.md"
PAGE = PATH.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_bytes((FILES / "google_sheets.csv").read_bytes())
    monkeypatch.chdir(tmp_path)
    found: dict[str, object] = {}
    for block in blocks(PATH):
        run_python(block.code, f"own_data.md, line {block.line}", found)
        found.setdefault("first", found["model"])
    for model in (found["published"], found["model"]):
        assert model.privacy_.verify(model)
        assert model.privacy_.epsilon == 1.0
        assert not model.privacy_.reproducible
    table = found["table"]
    np.testing.assert_array_equal(found["published"].predict(table.X), found["first"].predict(table.X))
    assert table.y.max() == found["schema"].target.high == 1500  # some rents are above


def test_the_limits_on_the_page_are_those_of_the_code() -> None:
    limits = " ".join(PAGE.partition("## Limits")[2].split())
    for number in (tables.MOST_COLUMNS, tables.MOST_FEATURES, tables.MOST_CELLS):
        assert f"{number:,} " in limits
    assert f"{tables.MOST_BYTES // 10**6} MB" in limits
