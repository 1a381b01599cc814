"""The short paper says what the package computes, and the PDF is the text."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from statistics import mean

import pytest
from playwright.sync_api import Browser

from benchmarks import claim_tables, paper, paper_numbers
from objpert_core import _provenance
from objpert_core.accounting import ObjectivePerturbation
from objpert_core.experiments import results

ROOT = Path(__file__).parents[2]
SOURCE, TEXT = (path.read_text(encoding="utf-8") for path in (paper.SOURCE, paper.TEXT))


@pytest.mark.slow
def test_the_numbers_of_the_text_are_the_package_s() -> None:
    assert paper_numbers.filled(SOURCE) == TEXT, "python -m benchmarks.paper"


def test_a_number_without_a_source_and_a_source_without_a_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_numbers, "numbers", lambda: {"known": "1.5"})
    assert paper_numbers.filled("at {{known}}") == "at 1.5"
    with pytest.raises(ValueError, match=r"unknown: \['other'\], not used: \['known'\]"):
        paper_numbers.filled("at {{other}}")


def test_no_number_is_typed_in() -> None:
    """But for years, the intervals' 95 % and what counts things of the text itself."""
    body = re.sub(r"\{\{.*?\}\}|\(\.\./\S+\)|T\d+", "", SOURCE.partition("## References")[0])
    assert re.findall(r"\d[.,]\d", body) == []
    typed = {int(number) for number in re.findall(r"\d+", body)}
    years = {2011, 2012, 2016, 2017, 2018, 2019, 2020, 2021, 2022, 2023, 2026}
    assert {number for number in typed if number > 10} <= {95, *years}


def test_the_pdf_is_of_this_text() -> None:
    assert paper.PRINTED.read_bytes().endswith(paper.mark(TEXT)), "python -m benchmarks.paper"


@pytest.mark.slow
@pytest.mark.browser
def test_chromium_prints_it_on_six_to_eight_pages(chromium: Browser) -> None:
    made = paper.as_pdf(TEXT, chromium)
    assert 6 <= len(re.findall(rb"/Type /Page\b(?!s)", made)) <= 8


def test_theorems_code_and_tests_that_are_named_exist() -> None:
    index = (ROOT / "docs" / "theorems.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split("|") for line in TEXT.splitlines() if line.startswith("| Theorem ")]
    rows = [row for row in rows if "test_" in row[-1]]
    assert len(rows) == len(re.findall(r"^\*\*Theorem \d", TEXT, flags=re.MULTILINE))
    for _, numbers, code, test in rows:
        for file in code.split(","):
            assert (ROOT / "objpert_core" / file.strip()).is_file()
        entries = "".join(
            line for line in index.splitlines() if re.match(rf"\| \[({numbers.strip().replace(', ', '|')})\]", line)
        )
        assert f"::{test.strip()}`" in entries
    for target in re.findall(r"\]\(([^)#\s]+)\)", TEXT):
        assert (paper.FOLDER / target).exists()


@pytest.mark.slow
def test_who_is_said_to_be_ahead_is_ahead() -> None:
    found = defaultdict(list)
    for row in _provenance.read_table(results.folder() / "quadratic_regression.csv").rows:
        found[row["n"], row["d"], row["epsilon"], row["method"]].append(float(row["excess"]))
    cases = {key[:3] for key in found}
    assert all(mean(found[*case, "objective"]) < mean(found[*case, "bend-tilt"]) for case in cases)
    counts = {}
    for line in claim_tables.fight().splitlines()[2:]:
        name, *_, ours, _, _ = (cell.strip() for cell in line.strip("|").split("|"))
        counts[name] = [int(count) for count in ours.split(" / ")]
    assert all(counts[name][0] > 5 and counts[name][2] == 0 for name in claim_tables.MANY_ROWS)
    assert all(counts[name][0] < counts[name][2] for name in claim_tables.SMALL)


def test_what_is_said_of_small_lam_is_so() -> None:
    second, third, last = (paper_numbers.SHAPES[i] for i in (1, 2, -1))
    for shape in (second, third, last):
        mechanism, true = ObjectivePerturbation(*shape), paper_numbers.true_epsilon(*shape)
        certified, least = (one.epsilon(paper_numbers.DELTA) for one in (mechanism, mechanism.gaussian))
        assert true <= certified < mechanism.gaussian_from
        assert true - least > 0.5 * (certified - least) if shape == third else true <= least
