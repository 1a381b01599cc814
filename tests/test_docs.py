"""The pages of docs/ are true: links lead somewhere, tables are computed, theorems have code and a test."""

import ast
import csv
import re
from pathlib import Path

import pytest

from benchmarks import tables
from objpert_core.accounting import Gaussian, ObjectivePerturbation, repeat, symmetrised

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RESULTS = (DOCS / "results.md").read_text(encoding="utf-8")
THEOREMS = (DOCS / "theorems.md").read_text(encoding="utf-8")
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts),
]
INDEX = [line.strip("|").split("|") for line in THEOREMS.splitlines() if re.match(r"\| \[T\d", line)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https:)([^)#\s]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("row", INDEX, ids=lambda row: row[0].strip()[1:4])
def test_every_theorem_has_its_statement_its_code_and_its_test(row):
    number, anchor = re.search(r"\[(T\d+)\]\(#([^)]+)\)", row[0]).groups()
    heading = re.search(rf"^## ({number}\. .*)$", THEOREMS, flags=re.MULTILINE).group(1)
    assert re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") == anchor
    code, test = (re.search(r"`([^`]+)`", cell).group(1) for cell in row[-2:])
    assert (ROOT / code).is_file()
    file, _, name = test.partition("::")
    assert name in {node.name for node in ast.walk(ast.parse((ROOT / file).read_text())) if hasattr(node, "name")}


def test_every_theorem_is_in_the_index():
    assert re.findall(r"^## (T\d+)\.", THEOREMS, flags=re.MULTILINE) == [
        row[0].strip()[1:].split("]")[0] for row in INDEX
    ]


@pytest.mark.slow
def test_the_table_of_many_fits_is_computed() -> None:
    glm, tight = (ObjectivePerturbation(8.0, 10.0, bound=bound) for bound in ("glm", "logistic"))
    upper = {"published pair": glm, "T, composed": tight, "**symmetric pair": symmetrised(tight)}
    for label, fit in upper.items():  # bounds are rounded up, the truth they are compared with down
        (line,) = [line for line in THEOREMS.splitlines() if line.startswith(f"| {label}")]
        for cell, k in zip(line.strip("|").split("|")[1:], (1, 10, 100, 1000), strict=True):
            value = cell.strip(" *")
            digit = 10.0 ** -len(value.partition(".")[2])
            assert 0 <= float(value) - repeat(fit, k).epsilon(1e-5) < digit, (label, k)
    (line,) = [line for line in THEOREMS.splitlines() if line.startswith("| k Gaussian")]
    for cell, k in zip(line.strip("|").split("|")[1:], (1, 10, 100, 1000), strict=True):
        digit = 10.0 ** -len(cell.strip().partition(".")[2])
        assert 0 <= Gaussian(8 / k**0.5).epsilon(1e-5) - float(cell) < digit


def test_the_results_table_quotes_the_stored_results() -> None:
    with (ROOT / "data/results/adult_accuracy.csv").open() as file:
        stored = list(csv.DictReader(file))
    labels = {"tight": "our defaults", "published": "published recipe (", "non-private": "without privacy"}
    for method, label in labels.items():
        cells = [
            f"{100 * float(row['accuracy']):.2f} ± {100 * float(row['half_width_95']):.2f}"
            for row in stored
            if row["method"] == method
        ]
        (line,) = [line for line in RESULTS.splitlines() if line.startswith(f"| {label}")]
        assert [cell.strip() for cell in line.strip("|").split("|")[1:]] == cells
    assert all(row["command"] and row["seeds"] and row["commit"] for row in stored)


@pytest.mark.thorough
def test_the_page_of_results_is_what_the_stored_results_give() -> None:
    assert tables.page() == RESULTS, "python -m benchmarks.tables"
    for path in (ROOT / "data" / "results").glob("*.csv"):
        assert f"`{path.name}`" in RESULTS
