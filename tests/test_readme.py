"""The README's Python runs, and the numbers it states are the package's."""

import csv
import math
import re
from pathlib import Path

import pytest

from benchmarks import readme_tables
from objpert_core.accounting import Gaussian, ObjectivePerturbation, repeat, symmetrised, via_rdp

README = Path(__file__).parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(), flags=re.DOTALL | re.MULTILINE)


def test_the_python_block_runs_and_its_comments_state_the_value() -> None:
    code = blocks("python")[0]
    namespace: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), namespace)
    claims = re.findall(r"^(\S.*\))  # (\d\.\d+)$", code, flags=re.MULTILINE)
    assert len(claims) == 2
    for expression, value in claims:
        assert round(eval(expression, namespace), 4) == float(value)


def test_five_minutes_states_the_bounds_as_they_are() -> None:
    text = " ".join(README.read_text().split())
    shape = {"sigma": 10.0, "lam": 5.0, "smoothness": 1.0}
    kifer = ObjectivePerturbation(**shape, bound="kifer2012").epsilon(1e-5)
    glm = ObjectivePerturbation(**shape, bound="glm")
    tight = ObjectivePerturbation(10.0, 5.0)
    own = ObjectivePerturbation(10.0, 5.0, bound="glm").epsilon(1e-5)
    assert f"the 2012 theorem certifies ε = {kifer:.2f}, the 2023 theorem ε = {glm.epsilon(1e-5):.2f} " in text
    assert f"({via_rdp(glm).epsilon(1e-5):.2f} through Rényi)" in text
    assert f"the 2023 theorem certifies ε = {own:.2f}, ours ε = {tight.epsilon(1e-5):.2f}" in text
    assert f"no proof can certify less than {tight.gaussian.epsilon(1e-5):.2f}" in text
    at_one = {"sigma": 10.0, "lam": 1.0, "smoothness": 1.0}
    assert ObjectivePerturbation(**at_one, bound="glm").explain() is not None
    assert ObjectivePerturbation(**at_one, bound="kifer2012").epsilon(1e-5) == 2
    assert f"ε = 2, ours with {math.ceil(100 * ObjectivePerturbation(10.0, 1.0).epsilon(1e-5)) / 100:.2f}" in text


def test_the_table_of_many_fits_is_computed() -> None:
    exec(compile(blocks("python")[1], "README.md", "exec"), {})
    glm, tight = (ObjectivePerturbation(8.0, 10.0, bound=bound) for bound in ("glm", "logistic"))
    upper = {"published pair": glm, "T, composed": tight, "**symmetric pair": symmetrised(tight)}
    for label, fit in upper.items():  # bounds are rounded up, the truth they are compared with down
        (line,) = [line for line in README.read_text().splitlines() if line.startswith(f"| {label}")]
        for cell, k in zip(line.strip("|").split("|")[1:], (1, 10, 100, 1000), strict=True):
            value = cell.strip(" *")
            digit = 10.0 ** -len(value.partition(".")[2])
            assert 0 <= float(value) - repeat(fit, k).epsilon(1e-5) < digit, (label, k)
    (line,) = [line for line in README.read_text().splitlines() if line.startswith("| k Gaussian")]
    for cell, k in zip(line.strip("|").split("|")[1:], (1, 10, 100, 1000), strict=True):
        digit = 10.0 ** -len(cell.strip().partition(".")[2])
        assert 0 <= Gaussian(8 / k**0.5).epsilon(1e-5) - float(cell) < digit


QUESTIONS = {  # label: case, then library: what its call starts with
    "255 Rényi orders": ("q = 0.0071, σ = 1, 255 whole orders 2–256", {"objpert": "", "dp-accounting": ""}),
    "18 fractional orders": ("q = 0.0071, σ = 1, 18 fractional orders", {"objpert": "", "dp-accounting": ""}),
    "8,520 DP-SGD steps": (
        "q = 0.0071, 8520 steps, noise multiplier 1",
        {"objpert": "DPSGD(…).epsilon_bounds(δ)", "dp-accounting": "from_gaussian"},
    ),
    "1,000 fits": (
        "1000 fits, bound 'logistic', σ = 300, λ = 1000, β = 0.25",
        {"objpert": "repeat(m, k).epsilon_bounds(δ)", "dp-accounting": "the same at interval"},
    ),
}
OTHERS = {"prv-accountant": ("PRVAccountant", "eps_error=0.01"), "autodp": ("",)}


def test_the_accounting_table_quotes_the_stored_benchmark() -> None:
    with (README.parent / "data/results/accounting.csv").open() as file:
        stored = list(csv.DictReader(file))
    assert all(row["command"] and row["versions"] and row["commit"] for row in stored)
    for label, (case, calls) in QUESTIONS.items():
        (line,) = [line for line in README.read_text().splitlines() if line.startswith(f"| {label}")]
        cells = [cell.strip() for cell in line.strip("|").split("|")[1:]]
        for cell, library in zip(cells, ["objpert", "dp-accounting", "prv-accountant", "autodp"], strict=True):
            if cell == "–":
                continue
            rows = [row for row in stored if row["case"] == case and row["library"] == library]
            if library in calls:
                rows = [row for row in rows if row["call"].startswith(calls[library])]
            elif rows[0]["part"] != "renyi":
                rows = [row for row in rows if all(part in row["call"] for part in OTHERS[library])]
            assert cell == accounting_cell(label, library, rows[0]), (label, library)


def accounting_cell(label: str, library: str, row: dict[str, str]) -> str:
    time = f"{1000 * float(row['seconds']):.1f} ms" if library == "objpert" else f"{float(row['ratio']):.1f} ×"
    if label.startswith("255"):
        return time
    if label.startswith("18"):
        return f"{float(row['error']):.1e}" + ("" if row["valid"] == "True" else ", too small")
    return f"{float(row['width']):.1e}, {time}"


def test_the_test_command_is_where_ci_looks_for_it() -> None:
    assert re.search(r"<!-- test command -->\n```bash\n\S.*\n```", README.read_text())


@pytest.mark.parametrize("name", ["app.py", "requirements.txt", "tests/requirements.txt", "LICENSE", ".ci/run"])
def test_what_the_readme_names_exists(name: str) -> None:
    assert (README.parent / name).exists()


def test_the_picture_exists() -> None:
    for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README.read_text()):
        assert (README.parent / path).is_file(), path


def test_the_results_table_quotes_the_stored_results() -> None:
    with (README.parent / "data/results/adult_accuracy.csv").open() as file:
        stored = list(csv.DictReader(file))
    text = README.read_text()
    for method, label in (
        ("tight", "our defaults"),
        ("published", "published recipe ("),
        ("non-private", "without privacy"),
    ):
        cells = [
            f"{100 * float(row['accuracy']):.2f} ± {100 * float(row['half_width_95']):.2f}"
            for row in stored
            if row["method"] == method
        ]
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {label}")]
        assert [cell.strip() for cell in line.strip("|").split("|")[1:]] == cells
    assert all(row["command"] and row["seeds"] and row["commit"] for row in stored)


def test_the_blocks_between_markers_quote_the_stored_results() -> None:
    text = README.read_text()
    assert readme_tables.filled(text) == text


def test_a_text_without_a_block_or_with_one_twice_is_refused() -> None:
    block = "<!-- adult -->\nold\n<!-- /adult -->\n"
    assert "our defaults" in readme_tables.filled(block)
    for text in ("nothing", 2 * block):
        with pytest.raises(ValueError, match="each once"):
            readme_tables.filled(text)


def test_the_page_of_results_is_what_the_stored_results_give() -> None:
    page = (README.parent / "docs" / "results.md").read_text(encoding="utf-8")
    assert page == readme_tables.page(), "python -m benchmarks.readme_tables --write docs/results.md"
    for path in (README.parent / "data" / "results").glob("*.csv"):
        assert f"`{path.name}`" in page
