"""The table of docs/own_data.md is what its command measures."""

from pathlib import Path

import pytest

from benchmarks.rare_class import measured

PAGE = Path(__file__).parents[2] / "docs" / "own_data.md"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_table_of_a_rare_class_is_measured():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for name, numbers in measured(20_000, 4).items():
        (line,) = [line for line in lines if line.startswith(f"| {name} |")]
        told = [float(cell) for cell in line.strip("|").split("|")[1:]]
        for told_number, number, error in zip(told, numbers, (0.01, 3.0, 3.0), strict=True):
            assert told_number == pytest.approx(number, abs=error), name
