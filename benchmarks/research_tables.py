"""The tables of what the pages under "Research" show, and of intervals: from the stored experiments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.experiments import intervals as coverage
from benchmarks.shared import Labels, crossed, digits, each, markdown, methods, per_cent
from objpert_core.accounting.steps.curvature import SHARE as CURVATURE_SHARE
from objpert_core.experiments.intervals import stored as covered
from objpert_core.experiments.population import stored as risks
from objpert_core.experiments.population.methods import LABELS, POPULATIONS, PUBLISHED
from objpert_core.experiments.population.stored import ExcessRisks
from objpert_core.experiments.ptr import stored as asked
from objpert_core.experiments.ptr.stored import Accuracy, Cost, Error, Lost, Price
from objpert_core.experiments.quadratic import figure1
from objpert_core.experiments.quadratic import stored as bends
from objpert_core.experiments.quadratic.stored import Excess, NewError, Risk
from objpert_core.experiments.summary import Interval

Values = Iterator[tuple[str, str]]


def values() -> Values:
    """Name in docs/results.in.md → table or number."""
    yield "population risk", "\n\n".join(population(name) for name in risks.names())
    yield from _bending()
    yield from _asking_first()
    yield from _intervals()


def population(name: str) -> str:
    """Excess risks of one population: a table for each d and ε."""
    found, parts = risks.load(name), [f"### {POPULATIONS[name]}"]
    sizes = [n for n in found.rows if n in (100, 1000, 10_000, 100_000)]
    labels = {f"**{label}**" if key == "objective-tight" else label: key for key, label in LABELS.items()}
    for d in found.dimensions:
        for epsilon in found.epsilons:

            def cell(method: str, n: int | None = None, d: int = d, epsilon: float = epsilon) -> str:
                if n is None:
                    slope = math.nan if method == "zero" else found.slope(d, epsilon, method)
                    return "" if math.isnan(slope) else f"{slope:.2f}".replace("-", "−")
                if method == "zero":
                    return f"{1e4 * found.zero(n, d, epsilon):.3g}"
                one = found.point(n, d, epsilon, method)
                return "" if one is None else f"{1e4 * one.excess.mean:.3g} ± {1e4 * one.error:.1g}"

            rows = {label: {"method": key} for label, key in labels.items() if key in (*found.methods, "zero")}
            columns = {**each("n = {:,}", "n", sizes), "p": {}}
            parts.append(crossed(f"d = {d}, ε = {epsilon:g}", rows, columns, cell))
    margin = "by more than two standard errors of the difference"
    if told_behind := "; ".join(behind(found)):
        told = f"is behind a published method {margin} at {told_behind}"
    else:
        told = f"is never behind a published method {margin}"
    parts.append(f"Leaving out Noisy SGD where it takes a single step, our objective perturbation {told}.")
    return "\n\n".join(parts)


def behind(risks: ExcessRisks, method: str = "objective-tight", rivals: Sequence[str] = PUBLISHED) -> list[str]:
    """Where a method's mean is above a rival's by more than twice the standard error of the difference."""
    found = []
    for n, d, epsilon, name in risks.points:
        for rival in rivals if name == method else ():
            own, other = risks.points[n, d, epsilon, name], risks.point(n, d, epsilon, rival)
            if other is None or (rival == "sgd" and risks.results.of(n, d, epsilon, rival)[0].steps == 1):
                continue
            mine, theirs = (
                {run.trial: run.excess for run in risks.results.of(n, d, epsilon, one)} for one in (method, rival)
            )
            paired = [mine[trial] - theirs[trial] for trial in mine.keys() & theirs.keys()]
            error = float(np.std(paired, ddof=1)) / math.sqrt(len(paired))
            if own.excess.mean - other.excess.mean > 2 * error:
                found.append(
                    f"n = {n}, d = {d}, ε = {epsilon:g}: {own.excess.mean:.3g} ± {own.error:.2g}, "
                    f"{LABELS[rival]} {other.excess.mean:.3g} ± {other.error:.2g}"
                )
    return found


def _mean(name: str, scale: float, number: int, **at: Any) -> str:
    found = bends.load(name).interval(**at)
    return "" if found is None else digits(scale * found.mean, number)


def _with_interval(found: Interval | None) -> str:
    return "" if found is None else f"{digits(1e4 * found.mean)} ± {digits(1e4 * found.half_width, 1)}"


def _bending() -> Values:
    cells = bends.load("figure1")
    rows = {
        f"{panel} minima, {figure1.PROOFS[proof]}": {"panel": panel, "proof": proof}
        for panel, proofs in figure1.PANELS.items()
        for proof in proofs
    }
    places: Labels = {
        f"({epsilon:g}, {written})": {"epsilon": epsilon, "delta": delta}
        for epsilon, delta, written in (
            (0.1, 1e-6, "10⁻⁶"),
            (0.1, 1e-2, "10⁻²"),
            (1.0, 1e-2, "10⁻²"),
            (10.0, 1e-6, "10⁻⁶"),
        )
    }
    yield "bounds", crossed("least bound at (ε, δ)", rows, places, lambda **at: digits(cells.values(**at)[0], 4))
    yield "without data", f"{figure1.WITHOUT_DATA:g}"
    yield "box ε", f"{Risk.EPSILON:g}"
    yield "box δ", f"{Risk.DELTA:g}"
    yield "matter ε", f"{Excess.EPSILON:g}"
    widths = each("κ = {:,g}", "kappa", (0.01, 0.1, 1.0, 10.0, 1000.0))
    yield "boxes", crossed("method", methods(Risk.LABELS), widths, lambda **at: _mean("figure2", 1, 4, **at))
    rows_of = each("n = {:,g}", "n", Excess.ROWS)
    yield "matter", crossed("method", methods(Excess.LABELS), rows_of, lambda **at: _mean("matter", 1, 4, **at))
    cases = {f"n = {n:,}, d = {d}, ε = {e:g}": {"n": n, "d": d, "epsilon": e} for n, d, e in NewError.CASES}
    labels = methods(NewError.LABELS)
    yield "bent regressions", crossed("method", labels, cases, lambda **at: _mean("regression", 1e4, 3, **at))


def _asking_first() -> Values:
    votes, labelled, angles = asked.load("voting"), asked.load("pate"), asked.load("pca")
    yield "gap", str(Cost.GAP)
    scales = each("scale 1/{:g}", "epsilon", (0.1, 0.2, 0.3, 0.4, 0.5, 1.0))
    rows = methods(Cost.LABELS["b"])
    yield "votes", crossed("method", rows, scales, lambda **at: f"{votes.values(panel='b', **at)[0]:.4f}")
    yield "queries", str(Price.QUERIES)
    noises = {"digits": (5.0, 10.0)}
    teachers = {
        f"{label}, σ = {sigma:g}": {"source": source, "sigma": sigma}
        for source, label in Price.SOURCES.items()
        for sigma in noises.get(source, (10.0, 20.0, 60.0))
    }

    def of_teachers(method: str = "", **at: Any) -> str:
        if method:
            return f"{labelled.values(method=method, **at)[0]:.3g}"
        return f"{100 * labelled.values('right', **at)[0]:.0f} %"

    columns = {**methods(Price.LABELS), "labels right": {}}
    yield "teachers", crossed("teachers", teachers, columns, of_teachers)
    yield "posterior draws", "\n\n".join(map(_regressions, asked.load("regression").cells("dataset")))
    yield "glm data", Accuracy.DATASET
    curved = asked.load("glm")

    def best(**at: Any) -> str:
        every = [curved.interval(lam=lam, **at) for lam in (Accuracy.ALONE, *Accuracy.LAMS)]
        found = max((one for one in every if one), key=lambda one: one.mean)
        return per_cent(found.mean, found.half_width)

    yield (
        "curvatures",
        crossed("method", methods(Accuracy.LABELS), each("ε = {:g}", "epsilon", Accuracy.EPSILONS), best),
    )
    yield "pca ε", f"{Lost.EPSILON:g}"
    yield "pca columns", str(Lost.DIMENSION)
    lines = []
    for spread in (1.5, 3.0):
        for n in Lost.ROWS:
            at: dict[str, Any] = {"n": n, "spread": spread}
            gap = angles.interval("gap", method="gram", **at)
            cells = [_with_interval(angles.interval(method=method, **at)) for method in Lost.LABELS]
            lines.append([f"{n:,}", f"{spread:g}", "" if gap is None else f"{gap.mean:,.0f}", *cells])
    yield "directions", markdown(["n", "spread", "gap", *Lost.LABELS.values()], lines)


def _regressions(dataset: str) -> str:
    found = asked.load("regression")

    def cell(method: str, epsilon: float) -> str:
        if method == "refused":
            refused = found.interval("refused", dataset=dataset, method="ptr-split", epsilon=epsilon)
            assert refused is not None
            return f"{100 * refused.mean:.0f} %"
        epsilon = Error.FREE if method in Error.UNPAID else epsilon
        return _with_interval(found.interval(dataset=dataset, method=method, epsilon=epsilon))

    labels = Error.LABELS | {"refused": "OPS-PTR, shares of ε: runs refused"}
    return crossed(Error.TABLES[dataset], methods(labels), each("ε = {:g}", "epsilon", Error.EPSILONS), cell)


def _intervals() -> Values:
    corner: dict[str, Any] = {"shape": "even", "n": 10_000, "d": 10, "epsilon": 1.0, "method": "interval"}
    width = covered.load("coverage").interval("width", **corner)
    assert width is not None
    yield "wider", f"{100 * (width.mean - 1):.0f}"
    yield "corner sets", f"{coverage.BLOCK * len(coverage.CORNER_SEEDS):,}"
    yield "corners", str(len(coverage.CORNERS))
    yield "grid sets", str(coverage.BLOCK * len(coverage.SEEDS))
    yield "covered", _by_cells("coverage", (*coverage.CORNERS, *coverage.GRID), coverage.METHODS, _covered)
    yield "sums", _by_cells("regression", coverage.SUMS_AT, coverage.SUM_METHODS, _covered)
    yield "shares", _by_cells("share", coverage.SHARES_AT, list(_shares()), lambda _, width: f"{width.mean:.2f}")
    yield "unseen shares", ", ".join(map(_unseen, coverage.SHARES_AT[coverage.CHOSEN_ON :]))


def _covered(share: Interval, width: Interval) -> str:
    return f"{per_cent(share.mean, share.half_width, 1)} ({width.mean:.2f})"


def _shares() -> Mapping[str, float]:
    return {f"{coverage.SHARE}{share:g}": share for share in coverage.SHARES}


def _unseen(cell: tuple[str, int, int, float]) -> str:
    """The width at the share that was chosen, and the least width, where the choice did not look."""
    shape, n, d, epsilon = cell
    at: dict[str, Any] = {"shape": shape, "n": n, "d": d, "epsilon": epsilon}
    every = {s: covered.load("share").interval("width", **at, method=name) for name, s in _shares().items()}
    widths = {share: width.mean for share, width in every.items() if width is not None}
    best = min(widths, key=lambda share: widths[share])
    least = "the least" if best == CURVATURE_SHARE else f"least {widths[best]:.2f} at {best:g}"
    return f"{widths[CURVATURE_SHARE]:.2f} for {shape} ({least})"


def _by_cells(
    name: str,
    cells: Sequence[tuple[str, int, int, float]],
    asked_for: Sequence[str],
    written: Callable[[Interval, Interval], str],
) -> str:
    found = covered.load(name)

    def cell(**at: Any) -> str:
        share, width = found.interval(**at), found.interval("width", **at)
        assert share is not None
        assert width is not None
        return written(share, width)

    rows = {f"{s}, {n:,}, {d}, {e:g}": {"shape": s, "n": n, "d": d, "epsilon": e} for s, n, d, e in cells}
    return crossed("shape, n, d, ε", rows, methods({m: m.removeprefix(coverage.SHARE) for m in asked_for}), cell)
