"""The tables of stored results: docs/results.md as a whole, and in the README the blocks that have markers there.

    python -m benchmarks.tables             # writes both

docs/results.in.md has the text of the page, with {{name}} where a table or a number belongs. In the README a block
stands between ``<!-- name -->`` and ``<!-- /name -->``; `BLOCKS` has the names. Nothing is fitted or timed here.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks import additive_tables, claim_tables, research_tables, shared, solvers
from benchmarks import learners as peers
from benchmarks.claim_tables import TARGETS, fight, load, verdict
from benchmarks.shared import accuracy_text, crossed, each, markdown, methods, per_cent
from objpert_core import _provenance
from objpert_core.experiments import paper, results
from objpert_core.experiments.learners import (
    DPSGD_AGAIN,
    LEARNERS,
    NON_PRIVATE,
    NON_PRIVATE_C,
    PUBLISHED,
    TIGHT,
    TIGHT_CENTRED,
    TIGHT_DISHONEST,
)
from objpert_core.experiments.methods import EVERY, Parameters
from objpert_core.experiments.population import stored as risks
from objpert_core.experiments.studies import solver_costs
from objpert_core.experiments.tables import summary

ROOT = Path(__file__).parents[1]
README, SOURCE, PAGE = (ROOT / name for name in ("README.md", "docs/results.in.md", "docs/results.md"))
NAMES = {"adult": "Adult", "synthetic-l": "Synthetic-L"}
SHOWN = [method for method in EVERY if method not in (TIGHT_CENTRED, TIGHT_DISHONEST, DPSGD_AGAIN)]


def stored(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a file in data/results."""
    return _provenance.read_table(results.folder() / f"{name}.csv").rows


RECIPE = f"σ = {paper.NOISE_RATIO:g} σ_Gauss, Rényi, τ = {paper.TAU:g}, σ_out = {paper.SIGMA_OUT:g}"
ADULT = {
    TIGHT: "our defaults",
    PUBLISHED: f"published recipe ({RECIPE}), with the constant {Parameters().intercept_scaling:g} of all methods",
    "printed": f"the paper's Algorithm 1, for comparison ({paper.TABLES['adult']})",
    NON_PRIVATE: f"without privacy (scikit-learn, C = {NON_PRIVATE_C:g})",
}


def adult(labels: Mapping[str, str] = ADULT) -> str:
    """Accuracy on Adult over five splits: ours, the published recipe, the paper's number, no privacy."""
    found = {(row["method"], float(row["epsilon"])): row for row in stored("adult_accuracy")}

    def cell(method: str, epsilon: float) -> str:
        if method == "printed":
            return f"{100 * paper.printed('adult', PUBLISHED)[epsilon]:.2f}"
        row = found[method, epsilon]
        return per_cent(float(row["accuracy"]), float(row["half_width_95"]))

    return crossed("", methods(labels), each("ε = {:g}", "epsilon", TARGETS), cell)


def figure2() -> str:
    """Every method on the two data sets of the paper's tables."""
    points = {(name, p.method, p.epsilon): p for name in NAMES for p in summary(load(name))}

    def cell(method: str, dataset: str, epsilon: float, seconds: bool = False) -> str:
        point = points.get((dataset, method, epsilon if LEARNERS[method].private else math.inf))
        if seconds:
            return "–" if point is None else f"{point.seconds.median:.2g}"
        printed = paper.printed(dataset, method).get(epsilon)
        own = "–" if point is None else accuracy_text(point.accuracy)
        return own + ("" if printed is None else f" (paper {100 * printed:.2f})")

    columns: dict[str, Mapping[str, Any]] = {
        f"{label}, ε = {target:g}": {"dataset": name, "epsilon": target}
        for name, label in NAMES.items()
        for target in TARGETS
    }
    columns["seconds"] = {"dataset": "adult", "epsilon": 1.0, "seconds": True}
    labels = {method: LEARNERS[method].full_label for method in SHOWN}
    return crossed("", methods(labels | {TIGHT: f"**{labels[TIGHT]}**"}), columns, cell)


def learners(*datasets: str) -> str:
    """Other libraries beside ours: one table a data set, Adult's unless asked otherwise."""
    return peers.markdown([row for row in stored("learners") if row["dataset"] in (datasets or ("adult",))])


QUESTIONS = {  # label: the benchmark's case, and how the calls of the libraries that were asked in several ways begin
    "255 Rényi orders of DP-SGD, q = 0.0071, σ = 1: time": ("q = 0.0071, σ = 1, 255 whole orders 2–256", {}),
    "18 fractional orders, the same: error": ("q = 0.0071, σ = 1, 18 fractional orders", {}),
    "8,520 DP-SGD steps, the same: width, time": (
        "q = 0.0071, 8520 steps, noise multiplier 1",
        {"objpert": "DPSGD(…).epsilon_bounds(δ)", "dp-accounting": "from_gaussian"},
    ),
    "1,000 fits, logistic, σ = 300, λ = 1000: width, time": (
        "1000 fits, bound 'logistic', σ = 300, λ = 1000, β = 0.25",
        {"objpert": "repeat(m, k).epsilon_bounds(δ)", "dp-accounting": "the same at interval"},
    ),
}
LIBRARIES = {"objpert": "objpert", "dp-accounting": "dp-accounting 0.6", "prv-accountant": "prv-accountant 0.2"}
LIBRARIES |= {"autodp": "autodp 0.2.3"}


def accounting() -> str:
    """The accounting beside other libraries'."""
    rows = stored("accounting")

    def cell(label: str, library: str) -> str:
        case, calls = QUESTIONS[label]
        asked = [row for row in rows if (row["case"], row["library"]) == (case, library)]
        asked = [row for row in asked if row["call"].startswith(calls.get(library, ""))]
        fine = [row for row in asked if "eps_error=0.01" in row["call"]]  # prv-accountant's, with a narrow interval
        if not (fine or asked):
            return "–"
        row = (fine or asked)[0]
        time = f"{1000 * float(row['seconds']):.1f} ms" if library == "objpert" else f"{float(row['ratio']):.1f} ×"
        if label.endswith(": time"):
            return time
        if label.endswith(": error"):
            return f"{float(row['error']):.1e}" + ("" if row["valid"] == "True" else ", too small")
        return f"{float(row['width']):.1e}, {time}" if row["width"] else "–"

    libraries = {label: {"library": name} for name, label in LIBRARIES.items()}
    return crossed("", each("{}", "label", QUESTIONS), libraries, cell)


def journey() -> str:
    """A stranger's tables."""
    rows = stored("journey")
    heads = [head for head in rows[0] if head != "metric"]
    lines = [[f"{row[head]} ({row['metric']})" if head == "table" else row[head] for head in heads] for row in rows]
    return markdown([*heads[:-1], "commands that failed"], lines)


def files() -> str:
    """What made each file, and at which commits."""
    rows = []
    for path in sorted(results.folder().glob("*.csv")):
        if (dataset := path.stem.removeprefix("figure2_")) in results.stored():
            sessions = results.read(path).sessions
            command = f"python -m benchmarks.experiments figure2 --dataset {dataset}"
            commits = [session["commit"] for session in sessions]
        elif (population := path.stem.removeprefix("population_")) in risks.names():
            command = f"python -m benchmarks.experiments population {population}"
            commits = [session["commit"] for session in risks.load(population).results.sessions]
        else:
            found = _provenance.read_table(path)
            command = (found.notes.get("command") or found.rows[0]["command"]).partition(" --")[0]
            command = command.replace("objpert_core.experiments", "benchmarks.experiments")  # its name today
            command = command.replace("experiments promises", "experiments population promises")
            noted = found.notes.get("commit") or found.notes.get("version", "").partition("commit: ")[2]
            commits = [noted] if noted else [row["commit"] for row in found.rows]
        rows.append([f"`{path.name}`", f"`{command}`", ", ".join(dict.fromkeys(commits))])
    return markdown(["file", "made by", "at commit"], rows)


def _solvers() -> str:
    found = solver_costs.load()
    return "\n\n".join(
        f"### {columns.capitalize()} columns\n\n{solvers.growth_table([r for r in found.runs if r.columns == columns])}"
        for columns in found.cells("columns")
    )


BLOCKS: Mapping[str, Callable[[], str]] = {
    "adult": adult,
    "figure2": figure2,
    "fight": fight,
    "verdict": verdict,
    "learners": learners,
    "accounting": accounting,
}
"""Marker's name → what stands between the markers."""


def filled(text: str) -> str:
    """`text` with every block that has markers in it computed anew.

    Raises
    ------
    ValueError
        If `text` has no block, or one twice.
    """
    present = re.findall(rf"<!-- ({'|'.join(BLOCKS)}) -->", text)
    if not present or len(set(present)) < len(present):
        raise ValueError(f"the text must hold one or more of {', '.join(BLOCKS)}, each once, got {present!r}")
    for name in present:
        block = BLOCKS[name]()
        pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
        text = re.sub(pattern, lambda found, b=block: f"{found[1]}{b}\n{found[2]}", text, flags=re.DOTALL)
    return text


def values() -> Iterator[tuple[str, str]]:
    """Name in docs/results.in.md → table or number."""
    for block in (files, adult, figure2, verdict, journey, accounting):
        yield block.__name__, block()
    yield "learners", learners("adult", "synthetic-l")
    yield "methods", "\n".join(f"* **{LEARNERS[name].full_label}** (`{name}`): {EVERY[name]}." for name in EVERY)
    yield "solvers", _solvers()
    yield from claim_tables.values()
    yield from research_tables.values()
    yield from additive_tables.values()


def page() -> str:
    """docs/results.md."""
    text = shared.filled(SOURCE.read_text(encoding="utf-8"), dict(values()))
    return "\n\n".join(map(_flowed, text.strip().split("\n\n"))) + "\n"


def _flowed(block: str) -> str:
    """A paragraph, or the points of a list, broken anew at 120 columns."""
    if block.startswith(("|", "#", "`" * 3)):
        return block
    points = re.split(r"\n(?=\* )", block)
    indent = "  " * block.startswith("* ")
    how: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False, "subsequent_indent": indent}
    return "\n".join(textwrap.fill(" ".join(point.split()), 120, **how) for point in points)


def main() -> None:
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
