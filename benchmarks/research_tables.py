"""The tables of what the pages under "Research" show, and of intervals: from the stored experiments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.shared import markdown
from objpert_core.accounting.objective.intervals import SHARE as CURVATURE_SHARE
from objpert_core.experiments import results
from objpert_core.experiments.intervals import coverage
from objpert_core.experiments.intervals import regression as sums
from objpert_core.experiments.intervals import stored as covered
from objpert_core.experiments.population import stored as risks
from objpert_core.experiments.population.methods import LABELS, POPULATIONS
from objpert_core.experiments.ptr import glm, pate, pca, voting
from objpert_core.experiments.ptr import regression as draws
from objpert_core.experiments.ptr import stored as asked
from objpert_core.experiments.ptr import tables as sets
from objpert_core.experiments.quadratic import figure1, matter, regression
from objpert_core.experiments.quadratic import figure2 as boxes
from objpert_core.experiments.quadratic import stored as bends
from objpert_core.experiments.summary import Interval


def population_risk() -> str:
    blocks = "\n\n".join(population(name) for name in risks.names())
    return f"""## Population risk

Excess population risk × 10⁴ with its standard error, δ = 1/n², where one row is replaced: means over draws of rows and
noise (page "Population risk"). p is the exponent of n^p, fitted from n = 1,000 on. The two published methods have
the noise that the paper prints, whether or not it is private. Λ is the factor of ‖θ‖²/2 in objective perturbation: the
best for the risk bound, or the least that privacy allows. "Ours" takes Λ by a
public rule (`recommended_ball_lam` for the logistic loss), where rows are many often the least.

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
            f"Leaving out Noisy SGD where it takes a single step, our objective perturbation {told}.",
        ]
    )


def _risk(mean: float, error: float) -> str:
    return f"{1e4 * mean:.3g} ± {1e4 * error:.1g}"


def bending() -> str:
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

The anchor is a public guess of the coefficients. Returning the anchor, which needs no data, loses at most
{figure1.WITHOUT_DATA:g} here. Every cell is larger.

{markdown(heads, rows)}

### Figure 2: the risk against the box

Mean of J, the sum of all losses and a penalty ω‖θ‖₁, over ten draws at ε = {boxes.EPSILON:g}, δ = {boxes.DELTA:g};
every coefficient lies between −κ and κ. No bend in this table is private as it was run, nor is the
paper's, because the anchor does not fit every record. ζ bounds the gradient of a record in the box; the published
tilt is for a record that is added or removed, and a replaced one moves the gradient by 2ζ.

{_means_table("figure2", boxes.LABELS, "kappa", (0.01, 0.1, 1.0, 10.0, 1000.0), "κ")}

### Where data matter

Mean excess of J over ten draws at ε = {matter.EPSILON:g}, δ = 10⁻⁵, with the anchor at θ*, which fits every row.

{_means_table("matter", matter.LABELS, "n", matter.ROWS, "n")}

### Beside other private regressions

Excess mean squared error on new rows × 10⁴, δ = 10⁻⁵, where one row is added or removed. Bend and tilt is one release
for every regulariser and constraint, and not the most accurate method. The noise on XᵀX has a mean.
Bend and tilt takes this mean off as far as the eigenvalues allow; "noise's mean kept" does not.

{markdown(["method", *cases], errors)}"""


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


def asking_first() -> str:
    return f"""## Ask the data first

Generalised propose-test-release (Redberg, Zhu and Wang 2023), corrected. A statistic of the data is released privately,
and what follows is as private as the statistic says. One row or voter is added or removed; with teachers, one
teacher changes all its votes.

### Figure 3: votes between two

Each cell is the ε of a method at δ = 10⁻⁵ and a gap of {voting.GAP} votes. The method errs as seldom as Laplace noise
of the scale at the head of the column. The mean is over what the test may find. A promise has to be
made before the test, and the test then passes 19 times in 20.

{_votes()}

### Figure 2: labels by teachers

ε at δ = 10⁻⁵ of {pate.QUERIES} labels by noisy majority. Orders, budgets and test parameters are the best for these
votes, and nobody pays for this choice. A distance test pays where teachers agree. Where they do not, an exact
analysis that knows nothing about the votes costs less.

{_teachers()}

### Figure 1: linear regression

Mean squared error on test rows × 10⁴ with 95 % intervals, δ = 10⁻⁶, where one row is added or removed. AdaOPS
releases one posterior draw, OPS-PTR the best of several, and AdaSSP noisy sums (`AdaOPSRegressor`, `OPSPTRRegressor`
and `AdaSSPRegressor` in [the API](api/estimators.md)). OPS-PTR judges its runs by validation rows, a tenth of the
data, which count as public: a ridge on these rows alone is as good as
most private methods. With shares of ε a run of OPS-PTR may refuse; accounted as a whole it never does. OPS-Balanced
has the largest precision γ of the posterior draw that exact accounting allows.

{_regressions()}

### Logistic regression

Test accuracy in per cent on {glm.DATASET}, δ = 10⁻⁵, at the λ that is best by test accuracy; only objective
perturbation does without this choice. Asking for the curvature does not pay: even a curvature that is known for free
leads to no model ahead of objective perturbation.

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


def intervals() -> str:
    corner: dict[str, Any] = {"shape": "even", "n": 10_000, "d": 10, "epsilon": 1.0, "method": "interval"}
    width = covered.load("coverage").interval("width", **corner)
    assert width is not None
    return f"""## Intervals for private coefficients

The share of coefficients in per cent that intervals of 95 % cover, with 95 % intervals for that share, and in
brackets the median width, divided by the median width without privacy; δ = 10⁻⁶. Generated rows:
{coverage.BLOCK * len(coverage.CORNER_SEEDS):,} data sets in the first {len(coverage.CORNERS)} lines,
{coverage.BLOCK * len(coverage.SEEDS)} in the others. "public" is without privacy, "interval" and "sandwich" are ours,
"naive" forgets the noise, the others are rivals; `objpert_core/experiments/intervals` explains methods and shapes.
"bent" has a wrong model, for which the sandwich is meant; "steep" has scores of deviation 9, "half-steep" half of it.
At 10,000 rows, ten columns and ε = 1 intervals are
{100 * (width.mean - 1):.0f} % wider than without privacy.

{_covered()}

The curvature takes a share of μ², the squared ratio of sensitivity to noise that a Gaussian mechanism may have at
(ε, δ) ([T50](theorems.md#t50-intervals-what-follows-a-fit)). The table has the median width, divided by the median
width without privacy, for
several shares. 0.15 was chosen on the first four lines. On the other lines the width at 0.15 is {_unseen_shares()}.

{_shares()}

### A linear regression from noisy sums

The same table for the coefficients of a linear regression that are computed from Σxxᵀ, Σxy and Σy² with noise.

{_sums()}"""


def _covered() -> str:
    return _by_cells("coverage", (*coverage.CORNERS, *coverage.GRID), coverage.METHODS, _covered_cell)


def _sums() -> str:
    return _by_cells("regression", sums.GRID, sums.METHODS, _covered_cell)


def _shares() -> str:
    names = [f"{coverage.SHARE}{share:g}" for share in coverage.SHARES]
    return _by_cells("share", coverage.SHARES_AT, names, lambda _, width: f"{width.mean:.2f}")


def _unseen_shares() -> str:
    """The width at the share that was chosen, and the least width, where the choice did not look."""
    found, told = covered.load("share"), []
    for shape, n, d, epsilon in coverage.SHARES_AT[coverage.CHOSEN_ON :]:
        at: dict[str, Any] = {"shape": shape, "n": n, "d": d, "epsilon": epsilon}
        every = {s: found.interval("width", **at, method=f"{coverage.SHARE}{s:g}") for s in coverage.SHARES}
        widths = {share: width.mean for share, width in every.items() if width is not None}
        best = min(widths, key=lambda share: widths[share])
        least = "the least" if best == CURVATURE_SHARE else f"least {widths[best]:.2f} at {best:g}"
        told.append(f"{widths[CURVATURE_SHARE]:.2f} for {shape} ({least})")
    return ", ".join(told)


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
