"""The tables of stored results: docs/results.md as a whole, and in the README the blocks that have markers there.

    python -m benchmarks.readme_tables                             # README.md, between its markers
    python -m benchmarks.readme_tables --write docs/results.md     # the whole page
    python -m benchmarks.readme_tables --latex docs/results.md     # prints the tables of a document as LaTeX

A block stands between ``<!-- name -->`` and ``<!-- /name -->``; `BLOCKS` has the names. Nothing is fitted or timed
here.
"""

from __future__ import annotations

import argparse
import math
import re
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import learners as peers
from benchmarks import solvers
from benchmarks.claim_tables import TARGETS, claim, fight, verdict
from benchmarks.research_tables import asking_first, bending, intervals, population_risk
from benchmarks.shared import markdown
from objpert_core import _provenance
from objpert_core.experiments import paper, results, tables
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
from objpert_core.tables import to_latex

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
NAMES = {"adult": "Adult", "synthetic-l": "Synthetic-L"}
SHOWN = tuple(method for method in EVERY if method not in (TIGHT_CENTRED, TIGHT_DISHONEST, DPSGD_AGAIN))


def adult() -> str:
    """Accuracy on Adult over five splits: ours, the published recipe, the paper's number, no privacy."""
    stored = _provenance.read_table(results.folder() / "adult_accuracy.csv").rows

    def cells(method: str) -> list[str]:
        return [
            f"{100 * float(row['accuracy']):.2f} ± {100 * float(row['half_width_95']):.2f}"
            for row in stored
            if row["method"] == method
        ]

    recipe = f"σ = {paper.NOISE_RATIO:g} σ_Gauss, Rényi, τ = {paper.TAU:g}, σ_out = {paper.SIGMA_OUT:g}"
    printed = [f"{100 * share:.2f}" for share in paper.printed("adult", PUBLISHED).values()]
    return markdown(
        ["", *(f"ε = {epsilon:g}" for epsilon in TARGETS)],
        [
            ["our defaults", *cells(TIGHT)],
            [
                f"published recipe ({recipe}), with the constant {Parameters().intercept_scaling:g} of all methods",
                *cells(PUBLISHED),
            ],
            [f"the paper's Algorithm 1, for comparison ({paper.TABLES['adult']})", *printed],
            [f"without privacy (scikit-learn, C = {NON_PRIVATE_C:g})", *cells(NON_PRIVATE)],
        ],
    )


def figure2() -> str:
    """Every method on the two data sets of the paper's tables."""
    points = {
        (dataset, point.method, point.epsilon): point
        for dataset in NAMES
        for point in tables.summary(results.load(dataset))
    }
    rows = []
    for method in SHOWN:
        cells = []
        for dataset in NAMES:
            printed = paper.printed(dataset, method)
            for target in TARGETS:
                point = points.get((dataset, method, _target(method, target)))
                cell = "–" if point is None else tables.accuracy_text(point.accuracy)
                cells.append(cell + (f" (paper {100 * printed[target]:.2f})" if target in printed else ""))
        timed = points.get(("adult", method, _target(method, 1.0)))
        label = LEARNERS[method].full_label
        seconds = "–" if timed is None else f"{timed.seconds.median:.2g}"
        rows.append([f"**{label}**" if method == TIGHT else label, *cells, seconds])
    heads = [f"{name}, ε = {target:g}" for name in NAMES.values() for target in TARGETS]
    return markdown(["", *heads, "seconds"], rows)


def _target(method: str, epsilon: float) -> float:
    return epsilon if LEARNERS[method].private else math.inf


def learners(*datasets: str) -> str:
    """Other libraries beside ours: one table a data set, Adult's unless asked otherwise."""
    stored = _provenance.read_table(results.folder() / "learners.csv").rows
    return peers.markdown([row for row in stored if row["dataset"] in (datasets or ("adult",))]).strip()


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
    stored = _provenance.read_table(results.folder() / "accounting.csv").rows
    rows = []
    for label, (case, calls) in QUESTIONS.items():
        cells = []
        for library in LIBRARIES:
            asked = [row for row in stored if (row["case"], row["library"]) == (case, library)]
            asked = [row for row in asked if row["call"].startswith(calls.get(library, ""))]
            fine = [row for row in asked if "eps_error=0.01" in row["call"]]  # prv-accountant's, with a narrow interval
            cells.append(_accounting_cell(label, library, (fine or asked or [{}])[0]))
        rows.append([label, *cells])
    return markdown(["", *LIBRARIES.values()], rows)


def _accounting_cell(label: str, library: str, row: Mapping[str, str]) -> str:
    if not row:
        return "–"
    time = f"{1000 * float(row['seconds']):.1f} ms" if library == "objpert" else f"{float(row['ratio']):.1f} ×"
    if label.endswith(": time"):
        return time
    if label.endswith(": error"):
        return f"{float(row['error']):.1e}" + ("" if row["valid"] == "True" else ", too small")
    return f"{float(row['width']):.1e}, {time}" if row["width"] else "–"


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


def page() -> str:
    """docs/results.md."""
    parts = [
        _top(),
        _adult(),
        _fight(),
        claim(),
        _peers(),
        _journey(),
        _accounting(),
        population_risk(),
        bending(),
        asking_first(),
        intervals(),
        _solvers(),
        _DEFAULTS,
    ]
    return "\n\n".join(_flowed(part) for part in parts) + "\n"


def _flowed(text: str) -> str:
    """`text` with its paragraphs and the points of its lists broken anew, at 120 columns."""
    blocks = []
    for block in text.split("\n\n"):
        if block.startswith("* "):
            points = re.split(r"\n(?=\* )", block)
            blocks.append(
                "\n".join(
                    textwrap.fill(" ".join(point.split()), 120, subsequent_indent="  ", **_WHOLE) for point in points
                )
            )
        else:
            blocks.append(block if block.startswith(("|", "#", "`" * 3)) else textwrap.fill(block, 120, **_WHOLE))
    return "\n\n".join(blocks)


_DEFAULTS = """## How the defaults were chosen

On generated rows that are nobody's, and then looked at on real data. The studies and their rows of results are in
commit 8060d10e (`objpert_core/experiments/studies`, `data/results/defaults*.csv` and `standardisation*.csv`). A loss is
against the best candidate in each case, a design and an ε.

* **λ.** More noise for less λ never pays where rows are few, and more λ does, up to a point. The rule loses 1.2 points
  of accuracy in the mean, the least λ 2.3, the published recipe 2.4. Its cap of twice the least λ was never more than a
  point below the best multiple on 2,500 rows of 2,000 mostly uneven columns; four times the λ was up to three. Output
  perturbation has λ = c·(σ²R²n)^⅓, where c = 0.5 loses least.
* **The constant for the intercept.** 0.3 loses least accuracy; by mean loss alone a larger one would be best.
* **The margin of the loss.** No margin loses 2.3 points, the rule 0.6. A margin of 1.5 was taken for its mean loss,
  though 2 and 3 are a little more accurate; it goes to 0 with the noise, so that a fit at a large ε is logistic
  regression. On real data it gains 0.5 (Adult) to 9 points (digits) at ε = 0.1 and loses nothing that can be told from
  noise.
* **Centring and scaling.** Over 23 data sets the rules gain 1.3 to 2.4 points in the mean from ε = 0.1 on. Centring
  does most of that (1.0 to 1.8 alone); scales pay only where rows are centred. The rules' limits hold the worst case at
  the smallest ε to 3.8 points, 14.1 without. Shares of the budget, constant and λ are at a flat optimum.
  `recommended_margin` reads d/n and the norm of the noise in a mean of rows, because three times the margin wins only
  on wide rows with little noise.
* **Tried and left**, against the rules: a second fit drawn towards the first (even on average), the mean of several
  fits (loses always), random or principal directions (lose up to 7 points), a margin so large that the fit is a noisy
  centroid (loses 1.8), rows without their own mean. Where rows are off centre by more than can be learned (500 rows of
  700 columns, ε = 0.25) the rules still lose 4 points: there a margin is worse than none."""
_WHOLE: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}  # how textwrap leaves words alone


def _top() -> str:
    return f"""# Results

All tables here are computed from the files in `data/results`. Do not edit this page: change the files or
`benchmarks/readme_tables.py`, and write the page again.

```bash
python -m benchmarks.readme_tables --write docs/results.md
```

{markdown(["file", "made by", "at commit"], _files())}

Accuracies are test accuracies in per cent with 95 % intervals, at δ = 10⁻⁵. Neighbouring data sets differ by one row
that is added or removed, unless a table says otherwise."""


def _files() -> list[list[str]]:
    rows = []
    for path in sorted(results.folder().glob("*.csv")):
        if path.stem.removeprefix("figure2_") in results.stored():
            sessions = results.read(path).sessions
            command = f"python -m objpert_core.experiments figure2 --dataset {path.stem.removeprefix('figure2_')}"
            commits = [session["commit"] for session in sessions]
        elif (population := path.stem.removeprefix("population_")) in risks.names():
            command = f"python -m objpert_core.experiments population --populations {population}"
            commits = [session["commit"] for session in risks.load(population).results.sessions]
        else:
            found = _provenance.read_table(path)
            command = (found.notes.get("command") or found.rows[0]["command"]).partition(" --")[0]
            noted = found.notes.get("commit") or found.notes.get("version", "").partition("commit: ")[2]
            commits = [noted] if noted else [row["commit"] for row in found.rows]
        rows.append([f"`{path.name}`", f"`{command}`", ", ".join(dict.fromkeys(commits))])
    return rows


def _journey() -> str:
    rows = _provenance.read_table(results.folder() / "journey.csv").rows
    heads = [head for head in rows[0] if head != "metric"]
    lines = [[f"{row[head]} ({row['metric']})" if head == "table" else row[head] for head in heads] for row in rows]
    heads[-1] = "commands that failed"
    return f"""## The journey of a stranger

From a CSV file to a model that others verify and use, by `objpert fit`, `verify` and `predict` alone, at ε = 1 and δ
= 10⁻⁵ (means over draws of the noise; the [script](../benchmarks/journey.py) has every table). Ranges that a stranger
does not know are learned inside the promise. Without privacy, and for DP-SGD at its defaults, ranges are declared,
which helps both. DP-SGD here has two classes only. Minutes are those of the slowest run, from the file to
the predictions. Wine has 124 rows, too few
for private ranges at ε = 1: none are taken, the command says so, and the model is worth nothing until ranges are
declared, one line below. The ten fits of digits share ε on 1,257 rows. With `--epsilon 8` the same script finds
98.1 for raw wine, with private ranges, and 95.3 for digits. The row about text follows
[its guide](how_to/private_text.md), without a file.

{markdown(heads, lines)}"""


def _adult() -> str:
    return f"""## Adult, five splits

The UCI data, split 80/20. Means over five splits with ten noise draws each; the interval is over the splits' means.

{adult()}

σ_Gauss is the noise of the Gaussian mechanism at the same (ε, δ), τ the gradient norm at which the solver stops, and
σ_out the output noise ([T6](theorems.md#t6-an-approximate-minimiser-with-output-noise))."""


def _fight() -> str:
    names = "\n".join(f"* **{LEARNERS[method].full_label}** (`{method}`): {EVERY[method]}." for method in EVERY)
    return f"""## Figure 2 and Tables 1 and 2 of the paper

Every method has the same features, the same row norm and the same constant. There are ten splits; an accuracy without
an interval is from one split. The learning rate of an unpaid DP-SGD is chosen by *test* accuracy, as in the paper,
and its ε does not cover that choice. The choice
flatters DP-SGD. The time is the median of a fit on Adult at ε = 1 with its tuning, on one core.

{figure2()}

What the names mean:

{names}

`python -m objpert_core.experiments table1` and `table2` print every interval beside the paper's numbers."""


def _peers() -> str:
    both = learners("adult", "synthetic-l")
    return f"""## Next to other libraries

There are five splits. All learners have the same features, rows of norm 1 and the constant 0.3. Times are processor
times. diffprivlib promises more than the others: pure ε under replacing a row. Choices "by test accuracy" are not
paid for. The docstring of `benchmarks/learners.py` says how to set up the other libraries.

{both}"""


def _accounting() -> str:
    return f"""## The accounting next to other libraries

One process, one thread. Times are relative to ours. The error is the largest relative error against values of 50
digits. The width is (upper − lower)/upper of a numerically validated interval for ε. No other library has the
mechanism of the last row; the others were given the law of its privacy loss. dp-accounting is faster where its
default grid is enough and no certificate is asked for.

{accounting()}"""


def _solvers() -> str:
    parts = [
        f"### {columns.capitalize()} columns\n\n{solvers.growth_table([r for r in found.runs if r.columns == columns])}"
        for found in [solver_costs.load()]
        for columns in found.cells("columns")
    ]
    return """## Gradient evaluations of the solvers

The evaluations of one row's gradient are fitted by c · n^a · log n, over the runs that reached τ = 1/n. Appendix F of
the paper proves some of the a.

""" + "\n\n".join(parts)


def latex(document: str) -> str:
    """Every table of a document in Markdown as LaTeX, under the document's last heading above it.

    Raises
    ------
    ValueError
        If two columns of a table have one name.
    """
    found, heading = [], ""
    for block in re.findall(r"^#+ .*|^\|.*\n\|[-:| ]+\n(?:\|.*\n?)*", document, re.MULTILINE):
        if block.startswith("#"):
            heading = _plain(block.lstrip("# "))
            continue
        heads, _, *rows = ([_plain(cell) for cell in _CELL.split(line.strip()[1:-1])] for line in block.splitlines())
        if len(set(heads)) < len(heads):
            raise ValueError(f"columns must have different names, got {heads}")
        found.append(to_latex([dict(zip(heads, row, strict=True)) for row in rows], caption=heading))
    return "\n".join(found)


_CELL = re.compile(r"(?<!\\)\|")


def _plain(text: str) -> str:
    """Text without Markdown's emphasis, code marks, links and escapes."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\\([^\w\s])", r"\1", re.sub(r"\*\*|`", "", text)).strip()


def main() -> None:
    """The command line; see the top of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the whole page there")
    parser.add_argument("--latex", type=Path, metavar="FILE", help="print the tables of this document as LaTeX")
    options = parser.parse_args()
    if options.latex:
        print(latex(options.latex.read_text(encoding="utf-8")))
    elif options.write:
        options.write.write_text(page(), encoding="utf-8")
    else:
        README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
