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
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import learners as peers
from benchmarks import solvers
from objpert_core import _provenance
from objpert_core.experiments import paper, results, tables
from objpert_core.experiments.intervals import coverage
from objpert_core.experiments.intervals import regression as sums
from objpert_core.experiments.intervals import stored as covered
from objpert_core.experiments.learners import (
    DPSGD_AGAIN,
    HONEST,
    LEARNERS,
    NON_PRIVATE,
    NON_PRIVATE_C,
    PUBLISHED,
    TIGHT,
    TIGHT_CENTRED,
    TIGHT_DISHONEST,
    UNPAID,
    UNPAID_STANDARDISED,
)
from objpert_core.experiments.methods import EVERY, Parameters
from objpert_core.experiments.population import stored as risks
from objpert_core.experiments.population.methods import LABELS, POPULATIONS
from objpert_core.experiments.ptr import glm, pate, pca, voting
from objpert_core.experiments.ptr import regression as draws
from objpert_core.experiments.ptr import stored as asked
from objpert_core.experiments.ptr import tables as sets
from objpert_core.experiments.quadratic import figure1, matter, regression
from objpert_core.experiments.quadratic import figure2 as boxes
from objpert_core.experiments.quadratic import stored as bends
from objpert_core.experiments.studies import solver_costs
from objpert_core.experiments.summary import Interval
from objpert_core.tables import to_latex

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
NAMES, TARGETS = {"adult": "Adult", "synthetic-l": "Synthetic-L"}, (0.1, 1.0, 8.0)
SHOWN = tuple(method for method in EVERY if method not in (TIGHT_CENTRED, TIGHT_DISHONEST, DPSGD_AGAIN))
MANY_ROWS, WIDE, SMALL = (
    ("adult", "adult-synthetic", "synthetic-l"),
    ("gisette-like", "synthetic-h"),
    ("breast-cancer", "digits-4-9"),
)
_VERDICTS = ("ahead", "even", "behind")
_TRIALS = 10  # of a sweep that is complete
GOALS = {"adult-synthetic": (0.840, 0.852, 0.857), "adult": (0.833, 0.843, 0.849)}
"""Mean accuracies at `TARGETS` that were set as a goal before they were measured."""


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join(
        ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|", *("| " + " | ".join(row) + " |" for row in rows)]
    ).replace("|  |", "| |")


# --- the blocks --------------------------------------------------------------------------------------------------


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
                f"published recipe ({recipe}), with the constant {Parameters().intercept_scaling:g} that all have here",
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


def fight() -> str:
    """The claim on every data set in brief: accuracies at three ε, and how often who is ahead at nine."""
    targets = " / ".join(f"{target:g}" for target in TARGETS)
    heads = ["data set", f"ours, % at ε = {targets}", "the best unpaid DP-SGD", "the same, standardised as ours"]
    heads += ["ours more accurate / not told apart / less accurate", "beside the standardised", "its time ÷ ours"]
    rows = []
    for dataset in (*MANY_ROWS, *WIDE, *SMALL):
        stored = results.load(dataset)
        points = {(point.method, point.epsilon): point.accuracy.mean for point in tables.summary(stored)}
        shares = [
            [max(points.get((method, target), math.nan) for method in methods) for target in TARGETS]
            for methods in ((TIGHT,), UNPAID, (UNPAID_STANDARDISED,))
        ]
        found = _claims(dataset)
        ratios = [claim.speedup.median for claim in found]
        rows.append(
            [
                dataset,
                *(" / ".join("–" if math.isnan(share) else f"{100 * share:.1f}" for share in own) for own in shares),
                _counts(found),
                _counts(tables.claims(stored, TIGHT, (UNPAID_STANDARDISED,))),
                f"{min(ratios):.2g} to {max(ratios):.2g}",
            ]
        )
    return markdown(heads, rows)


def verdict() -> str:
    """The claim on every data set, and the same with a rival that is standardised, too."""
    heads = ["data set", "trials", "ours more accurate", "not told apart", "less accurate", "its time ÷ ours"]
    head, *_ = tables.VARIANTS
    rows = []
    for dataset in results.stored():
        if not (found := _claims(dataset)):
            continue
        ratios = [claim.speedup.median for claim in found]
        cells = [dataset, str(_least_trials(found)), *(_at(found, verdict) for verdict in _VERDICTS)]
        cells.append(f"{min(ratios):.2g} to {max(ratios):.2g}")
        rows.append([*cells, _counts(tables.variant(results.load(dataset), head))])
    return markdown([*heads, head], rows)


def _parts() -> str:
    """What the claim's differences are made of, on every data set."""
    _, *variants = tables.VARIANTS
    rows = []
    for dataset in results.stored():
        stored = results.load(dataset)
        rows.append([dataset, *(_counts(tables.variant(stored, words)) for words in variants)])
    return markdown(["data set", *variants], rows)


def _counts(found: Sequence[tables.Claim]) -> str:
    """More accurate / not told apart / less accurate, with the trials where they are few."""
    if not found:
        return "–"
    trials = _least_trials(found)
    few = "" if trials == _TRIALS else f" ({trials} trials)"
    return " / ".join(str(_count(found, verdict)) for verdict in _VERDICTS) + few


def _least_trials(found: Sequence[tables.Claim]) -> int:
    return min(claim.difference.count for claim in found)


def _is(claim: tables.Claim, verdict: str) -> bool:
    return verdict == {"unclear": "even"}.get(claim.verdict, claim.verdict)  # here a wide interval counts as any other


def _count(found: Sequence[tables.Claim], verdict: str) -> int:
    return sum(_is(claim, verdict) for claim in found)


def _at(found: Sequence[tables.Claim], verdict: str) -> str:
    targets = ", ".join(f"{claim.epsilon:g}" for claim in found if claim.verdict == verdict)
    return f"{_count(found, verdict)} of {len(found)}" + (f" (ε = {targets})" if verdict != "even" and targets else "")


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


# --- the whole page ----------------------------------------------------------------------------------------------


def page() -> str:
    """docs/results.md."""
    parts = [
        _top(),
        _adult(),
        _fight(),
        _claim(),
        _peers(),
        _journey(),
        _accounting(),
        _population(),
        _bends(),
        _asked(),
        _intervals(),
        _solvers(),
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
    heads[-1] = "places where one stops"
    return f"""## The journey of a stranger

From a CSV file to a model that others verify and use, by `objpert fit`, `verify` and `predict` alone, at ε = 1 and δ
= 10⁻⁵ (means over draws of the noise; the [script](../benchmarks/journey.py) has every table). Ranges that a stranger
does not know are learned inside the promise. Without privacy, and for DP-SGD at its defaults, ranges are declared,
which helps both. DP-SGD here has two classes only. Minutes are those of the whole road. Wine has 124 rows, too few
for private ranges at ε = 1: none are taken, the command says so, and the model is worth nothing until ranges are
declared, one line below. The ten fits of digits share ε on 1,257 rows. With `--epsilon 8` the same script finds
98.1 for raw wine, with private ranges, and 95.3 for digits. Text goes by [its guide](how_to/private_text.md), without a
file.

{markdown(heads, lines)}"""


def _population() -> str:
    blocks = "\n\n".join(population(name) for name in risks.names())
    return f"""## Population risk

Excess population risk × 10⁴ with its standard error, δ = 1/n², where one row is replaced: means over draws of rows and
noise (page "Will it generalise?"). p is the exponent of n^p, fitted from n = 1,000 on. The two published methods have
the noise that the paper prints, whether or not it is private.

{blocks}"""


def population(name: str) -> str:
    """Excess risks of one population: a table for each d and ε."""
    found = risks.load(name)
    sizes = [n for n in found.rows if n in (100, 1000, 10_000, 100_000)]
    tables_of: list[str] = []
    for d in found.dimensions:
        for epsilon in found.epsilons:
            rows = []
            for method in found.methods:
                points = [found.point(n, d, epsilon, method) for n in sizes]
                cells = ["" if one is None else _risk(one.excess.mean, one.error) for one in points]
                slope = found.slope(d, epsilon, method)
                own = f"**{LABELS[method]}**" if method == "objective-tight" else LABELS[method]
                rows.append([own, *cells, "" if math.isnan(slope) else f"{slope:.2f}".replace("-", "−")])
            rows.append([LABELS["zero"], *(f"{1e4 * found.zero(n, d, epsilon):.3g}" for n in sizes), ""])
            heads = [f"d = {d}, ε = {epsilon:g}", *(f"n = {n:,}" for n in sizes), "p"]
            tables_of.append(markdown(heads, rows))
    behind = found.behind()
    margin = "by more than two standard errors of the difference"
    told = (
        f"is behind a published method {margin} at {'; '.join(behind)}"
        if behind
        else (f"is never behind a published method {margin}")
    )
    return "\n\n".join(
        [
            f"### {POPULATIONS[name]}",
            *tables_of,
            f"Tight objective perturbation {told}.",
        ]
    )


def _bends() -> str:
    cells = bends.load("figure1")
    rows = []
    for panel, proofs in figure1.PANELS.items():
        for proof in proofs:
            row = [f"{panel} minima, {figure1.PROOFS[proof]}"]
            for epsilon, delta in ((0.1, 1e-6), (0.1, 1e-2), (1.0, 1e-2), (10.0, 1e-6)):
                (value,) = cells.values(panel=panel, proof=proof, epsilon=epsilon, delta=delta)
                row.append(_four(value))
            rows.append(row)
    heads = ["least bound at (ε, δ)", "(0.1, 10⁻⁶)", "(0.1, 10⁻²)", "(1, 10⁻²)", "(10, 10⁻⁶)"]
    errors = [
        [label, *(_mean(bends.load("regression"), method=method, n=n, d=d, epsilon=e) for n, d, e in regression.CASES)]
        for method, label in regression.LABELS.items()
    ]
    cases = [f"n = {n:,}, d = {d}, ε = {e:g}" for n, d, e in regression.CASES]
    return f"""## Bending the objective

Quadratic objective perturbation (page "Tilt or bend?"; Cortild and Cartis 2026), where one row is replaced.

### Figure 1: bounds on the excess risk

Returning the anchor, which needs no data, loses at most {figure1.WITHOUT_DATA:g} here. Every cell is larger.

{markdown(heads, rows)}

### Figure 2: the risk against the box

Mean of J over ten draws at ε = {boxes.EPSILON:g}, δ = {boxes.DELTA:g}. Neither the paper's bends nor these are
private as run, because their anchor is off.

{_means_table("figure2", boxes.LABELS, "kappa", (0.01, 0.1, 1.0, 10.0, 1000.0), "κ")}

### Where data matter

Mean excess of J over ten draws at ε = {matter.EPSILON:g}, δ = 10⁻⁵, with the anchor at θ*.

{_means_table("matter", matter.LABELS, "n", matter.ROWS, "n")}

### Beside other private regressions

Excess mean squared error on new rows × 10⁴, δ = 10⁻⁵, where one row is added or removed. Bend and tilt is one release
for every regulariser and constraint; it is not the most accurate.

{markdown(["method", *cases], errors)}"""


def _asked() -> str:
    return f"""## Ask the data first

Generalised propose-test-release (Redberg, Zhu and Wang 2023), corrected. A statistic of the data is released privately,
and what follows is as private as the statistic says. One row or voter is added or removed; with teachers, one
teacher changes all its votes.

### Figure 3: votes between two

ε at δ = 10⁻⁵ and a gap of {voting.GAP} votes, where a method errs as seldom as Laplace noise of scale 1/ε. The mean
is over what the test may find. A promise has to be made before the test, and the test then passes 19 times in 20.

{_votes()}

### Figure 2: labels by teachers

ε at δ = 10⁻⁵ of {pate.QUERIES} labels by noisy majority. Orders, budgets and test parameters are the best for these
votes, and nobody pays for this choice. A distance test pays where teachers agree. Where they do not, an exact
analysis that knows nothing about the votes costs less.

{_teachers()}

### Figure 1: linear regression

Mean squared error on test rows × 10⁴ with 95 % intervals, δ = 10⁻⁶, where one row is added or removed. OPS-PTR judges
its runs by validation rows, a tenth of the data, which count as public: a ridge on these rows alone is as good as
most private methods. With shares of ε a run of OPS-PTR may refuse; accounted as a whole it never does.

{_regressions()}

### Logistic regression

Test accuracy in per cent on {glm.DATASET}, δ = 10⁻⁵, at the λ that is best by test accuracy; only objective
perturbation does without this choice. Asking for the curvature does not pay: even for free it is never ahead of
objective perturbation.

{_curvatures()}

### The first principal direction

Squared sine of the angle to the data's own direction × 10⁴, ε = {pca.EPSILON:g}, δ = 10⁻⁵, {pca.DIMENSION} columns.
Asking for the gap between the two largest eigenvalues pays from a gap of about 300 on.

{_directions()}"""


def _votes() -> str:
    found, epsilons = asked.load("voting"), (0.1, 0.2, 0.3, 0.4, 0.5, 1.0)
    rows = [
        [label, *(f"{found.values(panel='b', epsilon=epsilon, method=method)[0]:.4f}" for epsilon in epsilons)]
        for method, label in voting.LABELS["b"].items()
    ]
    return markdown(["method", *(f"scale 1/{epsilon:g}" for epsilon in epsilons)], rows)


def _teachers() -> str:
    found, rows = asked.load("pate"), []
    for source, label in pate.SOURCES.items():
        for sigma in (5.0, 10.0) if source == "digits" else (10.0, 20.0, 60.0):
            at: dict[str, Any] = {"source": source, "sigma": sigma}
            cells = [f"{found.values(method=method, **at)[0]:.3g}" for method in pate.LABELS]
            right = found.values("right", **at)[0]
            rows.append([f"{label}, σ = {sigma:g}", *cells, f"{100 * right:.0f} %"])
    return markdown(["teachers", *pate.LABELS.values(), "labels right"], rows)


def _regressions() -> str:
    found, parts = asked.load("regression"), []
    for dataset in found.cells("dataset"):
        rows = []
        for method, label in draws.LABELS.items():
            epsilons = (draws.FREE,) * len(draws.EPSILONS) if method in draws.UNPAID else draws.EPSILONS
            at: dict[str, Any] = {"dataset": dataset, "method": method}
            rows.append([label, *(_with_interval(found.interval(epsilon=epsilon, **at)) for epsilon in epsilons)])
        refusing = [found.interval("refused", dataset=dataset, method="ptr-split", epsilon=e) for e in draws.EPSILONS]
        rows.append(["OPS-PTR, shares of ε: runs refused", *(f"{100 * one.mean:.0f} %" for one in refusing if one)])
        parts.append(markdown([sets.TABLES[dataset].label, *(f"ε = {e:g}" for e in draws.EPSILONS)], rows))
    return "\n\n".join(parts)


def _with_interval(found: Interval | None) -> str:
    """A mean × 10⁴ with its interval, without exponents."""
    if found is None:
        return ""
    mean, half_width = (
        float(f"{1e4 * value:.{digits}g}") for value, digits in ((found.mean, 3), (found.half_width, 1))
    )
    return f"{mean:,g} ± {half_width:,g}"


def _curvatures() -> str:
    found, rows = asked.load("glm"), []
    for method, label in glm.LABELS.items():
        cells = []
        for epsilon in glm.EPSILONS:
            every = [found.interval(epsilon=epsilon, method=method, lam=lam) for lam in (glm.ALONE, *glm.LAMS)]
            best = max((one for one in every if one), key=lambda one: one.mean)
            cells.append(f"{100 * best.mean:.2f} ± {100 * best.half_width:.2f}")
        rows.append([label, *cells])
    return markdown(["method", *(f"ε = {epsilon:g}" for epsilon in glm.EPSILONS)], rows)


def _directions() -> str:
    found, rows = asked.load("pca"), []
    for spread in (1.5, 3.0):
        for n in pca.ROWS:
            at: dict[str, Any] = {"n": n, "spread": spread}
            gap = found.interval("gap", method="gram", **at)
            cells = [_with_interval(found.interval(method=method, **at)) for method in pca.LABELS]
            rows.append([f"{n:,}", f"{spread:g}", "" if gap is None else f"{gap.mean:,.0f}", *cells])
    return markdown(["n", "spread", "gap", *pca.LABELS.values()], rows)


def _intervals() -> str:
    corner: dict[str, Any] = {"shape": "even", "n": 10_000, "d": 10, "epsilon": 1.0, "method": "interval"}
    width = covered.load("coverage").interval("width", **corner)
    assert width is not None
    return f"""## Intervals for private coefficients

The share of coefficients in per cent that intervals of 95 % cover, with 95 % intervals for that share, and in
brackets the median width over that without privacy; δ = 10⁻⁶. Generated rows:
{coverage.BLOCK * len(coverage.CORNER_SEEDS):,} data sets in the first {len(coverage.CORNERS)} lines,
{coverage.BLOCK * len(coverage.SEEDS)} in the others. `objpert_core/experiments/intervals` says what shapes and methods
are; "bent" has a wrong model, for which the sandwich is meant. At 10,000 rows, ten columns and ε = 1 intervals are
{100 * (width.mean - 1):.0f} % wider than without privacy.

{_covered()}

The share of μ² that the curvature takes: the median width over that without privacy, by shares. 0.15 was chosen on the
first four lines; the others confirm it.

{_shares()}

### A linear regression from noisy sums

The same for the coefficients of a linear regression that are computed from Σxxᵀ, Σxy and Σy² with noise.

{_sums()}"""


def _covered() -> str:
    return _by_cells("coverage", (*coverage.CORNERS, *coverage.GRID), coverage.METHODS, _covered_cell)


def _sums() -> str:
    return _by_cells("regression", sums.GRID, sums.METHODS, _covered_cell)


def _shares() -> str:
    names = [f"{coverage.SHARE}{share:g}" for share in coverage.SHARES]
    return _by_cells("share", coverage.SHARES_AT, names, lambda _, width: f"{width.mean:.2f}")


def _covered_cell(share: Interval, width: Interval) -> str:
    return f"{100 * share.mean:.1f} ± {100 * share.half_width:.1f} ({width.mean:.2f})"


def _by_cells(
    name: str,
    cells: Iterable[tuple[str, int, int, float]],
    methods: Iterable[str],
    cell: Callable[[Interval, Interval], str],
) -> str:
    found, rows, columns = covered.load(name), [], list(methods)
    for shape, n, d, epsilon in cells:
        texts = []
        for method in columns:
            at: dict[str, Any] = {"shape": shape, "n": n, "d": d, "epsilon": epsilon, "method": method}
            share, width = found.interval(**at), found.interval("width", **at)
            assert share is not None
            assert width is not None
            texts.append(cell(share, width))
        rows.append([f"{shape}, {n:,}, {d}, {epsilon:g}", *texts])
    return markdown(["shape, n, d, ε", *(method.removeprefix(coverage.SHARE) for method in columns)], rows)


def _four(value: float) -> str:
    """Four digits, without an exponent."""
    return f"{float(f'{value:.4g}'):,.12g}"


def _mean(found: results.Results, **wanted: object) -> str:
    """A mean × 10⁴."""
    interval = found.interval(**wanted)
    return "" if interval is None else f"{float(f'{1e4 * interval.mean:.3g}'):,g}"


def _means_table(name: str, labels: Mapping[str, str], column: str, places: Sequence[float], symbol: str) -> str:
    """Stored means of every method at some places of a column."""
    found = bends.load(name)
    rows = []
    for method, label in labels.items():
        intervals = [found.interval(method=method, **{column: place}) for place in places]
        rows.append([label, *("" if one is None else _four(one.mean) for one in intervals)])
    return markdown(["method", *(f"{symbol} = {place:,g}" for place in places)], rows)


def _risk(mean: float, error: float) -> str:
    return f"{1e4 * mean:.3g} ± {1e4 * error:.1g}"


def _adult() -> str:
    return f"""## Adult, five splits

The UCI data, split 80/20. Means over five splits with ten noise draws each; the interval is over the splits' means.

{adult()}"""


def _fight() -> str:
    names = "\n".join(f"* **{LEARNERS[method].full_label}** (`{method}`): {EVERY[method]}." for method in EVERY)
    return f"""## Figure 2 and Tables 1 and 2 of the paper

Every method has the same features, the same row norm and the same constant. There are ten splits. The learning rate of
an unpaid DP-SGD is chosen by *test* accuracy, as in the paper, and its ε does not cover that choice. This flatters it.
The time is the median of a fit on Adult at ε = 1 with its tuning, on one core.

{figure2()}

What the names mean:

{names}

`python -m objpert_core.experiments table1` and `table2` print every interval beside the paper's numbers."""


def _claim() -> str:
    many, wide, small = ([c for name in names for c in _claims(name)] for names in (MANY_ROWS, WIDE, SMALL))
    head, *_ = tables.VARIANTS
    both = [claim for name in (*MANY_ROWS, *WIDE, *SMALL) for claim in tables.variant(results.load(name), head)]
    paid = [claim for name in MANY_ROWS for claim in tables.claims(results.load(name), TIGHT, (HONEST,))]
    gains = [100 * claim.difference.mean for claim in paid]
    ratios = [claim.speedup.median for claim in wide]
    lucky = [c for name in results.stored() for c in tables.claims(results.load(name), TIGHT_DISHONEST)]
    draws, rates = len(Parameters().learning_rates), len(Parameters().fine_learning_rates)
    return f"""## Does the claim hold?

The claim: Algorithm 1 with our bound is never less accurate than DP-SGD whose tuning is not paid for, and it takes a
tenth of the time. The rival is the best of the three unpaid DP-SGDs at each ε, on the rows that everybody gets. In
the last column, DP-SGD with our centre and scales is a fourth rival. Differences are paired by split.

{verdict()}

The last column counts "more accurate / not told apart / less accurate". An interval too wide to tell counts as "not
told apart".

* **Many rows for each column** ({", ".join(MANY_ROWS)}): {_holds(many)}
* **Wide sets** ({", ".join(WIDE)}; 5,001 coefficients and fewer rows): {_holds(wide)} It takes
  1/{max(ratios):.2g} to 1/{min(ratios):.2g} of the time.
* **A few hundred rows** ({", ".join(SMALL)}): {_holds(small)}
* **With the same centre and scales for DP-SGD**: {_holds(both)} Like ours it learns on the mapped rows, with the ε that
  is left; its learning rate is still chosen by test accuracy and not paid for.
* **Against DP-SGD that pays for its tuning**, ours is more accurate at {_count(paid, "ahead")} of {len(paid)} targets
  on the first three sets, by {min(gains):.1f} to {max(gains):.1f} points.

{_goals()}

### What the difference is made of

{_parts()}

* Centre and scales. On raw rows, ours is behind at most targets of the wide and the small sets.
* The margin. Without it ours is behind at the smallest ε. DP-SGD gains from it, too.
* Luck. A choice by test accuracy among {rates} learning rates is a choice among {rates} noises, and on few test rows
  that is worth much. With the luckiest of {draws} draws ours is more accurate at {_count(lucky, "ahead")} of
  {len(lucky)} targets and less accurate at {_count(lucky, "behind")}."""


def _goals() -> str:
    """What was set as a goal, and whether it is met."""
    every = {name: _claims(name) for name in (*MANY_ROWS, *WIDE, *SMALL)}

    def behind(least: float) -> dict[str, list[str]]:
        found = {
            name: [f"{claim.epsilon:g}" for claim in claims if claim.epsilon >= least and claim.verdict == "behind"]
            for name, claims in every.items()
        }
        return {name: targets for name, targets in found.items() if targets}

    most, all_sets = behind(0.1), behind(0.5)
    quick = [claim.tenfold for name in (*MANY_ROWS, *SMALL) for claim in every[name]]
    rows = []
    for dataset, goals in GOALS.items():
        points = {(point.method, point.epsilon): point.accuracy for point in tables.summary(results.load(dataset))}
        cells = []
        for target, goal in zip(TARGETS, goals, strict=True):
            reached = points[(TIGHT, target)]
            cells.append(f"{tables.accuracy_text(reached)} ({_met(reached.mean >= goal)}: {100 * goal:.1f})")
        rows.append([dataset, *cells])
    return f"""We set the goals before these runs. Never less accurate at ε ≥ 0.1 on six sets of seven:
{_met(len(most) <= 1)} {_where(most)}. Never less accurate at ε ≥ 0.5 on all:
{_met(not all_sets)} {_where(all_sets)}. At most a tenth of its time where there are more rows than columns:
{_met(all(quick))} (so it is at {sum(quick)} of {len(quick)} targets). And mean accuracies:

{markdown(["", *(f"ε = {epsilon:g}" for epsilon in TARGETS)], rows)}"""


def _met(reached: bool) -> str:
    return "met" if reached else "not met"


def _where(behind: Mapping[str, Sequence[str]]) -> str:
    told = "; ".join(f"{name} at ε = {', '.join(targets)}" for name, targets in behind.items())
    return f"(less accurate: {told or 'nowhere'})"


def _claims(dataset: str) -> tuple[tables.Claim, ...]:
    return tables.claims(results.load(dataset), rivals=UNPAID)


def _holds(found: Sequence[tables.Claim]) -> str:
    more, less = _count(found, "ahead"), _count(found, "behind")
    word = "no." if less else "yes, as far as the trials can tell."
    return f"{word} Ours is more accurate at {more} of {len(found)} targets and less accurate at {less}."


def _peers() -> str:
    both = learners("adult", "synthetic-l")
    return f"""## Next to other libraries

There are five splits. All have the same features, rows of norm 1 and the constant 0.3. Times are processor times.
diffprivlib promises more than the others: pure ε under replacing a row. Choices "by test accuracy" are not paid for.
The docstring of `benchmarks/learners.py` says how to set up the other libraries.

{both}"""


def _accounting() -> str:
    return f"""## The accounting next to other libraries

One process, one thread. Times are relative to ours. The error is the largest relative one against 50 digits. The width
is (upper − lower)/upper of a numerically validated interval for ε. No library but this has the mechanism of the last
row; the others were given its law. dp-accounting is faster where its default grid is enough and no certificate is asked
for.

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
