"""docs/own_data.md: its code runs on a file that a spreadsheet wrote, and its models keep their promise."""

from pathlib import Path

import numpy as np
import pytest

from objpert_core.datasets import tables
from tests.blocks import blocks, run_python
from tests.datasets.tables.fixtures import FILES

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
