"""The accuracy page's numbers: tables under the charts, CSV, and the Python that gives the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from objpert_core.experiments.figure2 import Piece
from objpert_core.experiments.indexed import Stored
from objpert_core.experiments.learners import (
    HONEST,
    LEARNERS,
    NON_PRIVATE,
    PUBLISHED,
    TIGHT,
    UNPAID_STANDARDISED,
)
from objpert_core.experiments.paper import printed
from objpert_core.experiments.results import Run
from objpert_core.experiments.studies.subsampling import LearningCurve, Plan
from objpert_core.experiments.summary import Interval
from pages.accuracy.words import LABELS, covers, seconds, share_between
from ui import sentences
from ui.words import FEWEST, accuracy, ends, signed


def methods(stored: Stored, shown: Sequence[str], epsilon: float) -> list[dict[str, str]]:
    """Every shown method and the rival at one ε as a row: difference, accuracy, the paper's number, time, promise."""
    rows = []
    with_paper = any(epsilon in printed(stored.dataset, method) for method in shown)
    for method in stored.with_rival(shown, epsilon):
        point, share = stored.point(method, epsilon), printed(stored.dataset, method).get(epsilon)
        if point is None:
            continue
        difference = stored.difference(TIGHT, method, epsilon) if method != TIGHT else None
        row = {
            "Method": LABELS[method],
            "Tight minus it, points": _difference(difference),
            "Accuracy": accuracy(point.accuracy.mean),
            "95 % interval": share_between(point.accuracy),
            **({"Paper": "–" if share is None else accuracy(share)} if with_paper else {}),
            "Processor time, median": seconds(point.seconds.median),
            "ε is a promise about": covers(method),
        }
        rows.append({column: _whole(cell) for column, cell in row.items()})
        rows[-1]["Method"] += " (the\u00a0rival)" if method == stored.rival(epsilon) else ""
    return rows


def _difference(difference: Interval | None) -> str:
    if difference is None:
        return "–"
    inside = f" ({ends(difference)})" if difference.known else ""
    return _whole(f"{signed(difference.mean)}{inside}")


def _whole(cell: str) -> str:
    """A cell that is not broken across lines: a telephone scrolls the table instead."""
    return cell.replace(" ", "\u00a0").replace("-", "\u2011")


def every_epsilon(stored: Stored) -> list[dict[str, str]]:
    """Tight against the best unpaid DP-SGD at every ε, as rows, with the published and the honest beside."""
    rows = []
    for epsilon in stored.epsilons:
        claim = stored.claims.get(epsilon)
        shown = {LABELS[method]: method for method in (TIGHT, PUBLISHED, HONEST)}
        shown |= {"Best unpaid DP-SGD": claim.rival if claim else ""}
        points = {column: stored.point(method, epsilon) for column, method in shown.items()}
        rows.append(
            {
                "ε": sentences.epsilon(epsilon),
                "Tight minus best unpaid, points": _difference(claim.difference if claim else None),
                **{column: accuracy(point.accuracy.mean) if point else "–" for column, point in points.items()},
                "which": f"({LEARNERS[claim.rival].variant})" if claim else "–",
                "Tight minus unpaid on standardised rows": _difference(
                    stored.difference(TIGHT, UNPAID_STANDARDISED, epsilon)
                ),
                "Its time / tight’s": f"{sentences.number(claim.speedup.median, 2)}×" if claim else "–",
            }
        )
    return rows


def frame(stored: Stored, shown: Sequence[str]) -> pd.DataFrame:
    """The plotted numbers of the shown methods at every ε, with all digits, and the paper's."""
    rows: list[dict[str, Any]] = []
    for method in shown:
        private = LEARNERS[method].private
        for epsilon in stored.epsilons if private else stored.epsilons[:1]:  # the same at every ε
            point = stored.point(method, epsilon)
            if point is None:
                continue
            difference = stored.difference(TIGHT, method, epsilon) if private else None
            ends = {"": "mean", "_low": "low", "_high": "high"}
            rows.append(
                {
                    "data_set": stored.label,
                    "method": method,
                    "epsilon": epsilon if private else None,
                    "delta": stored.delta if private else None,
                    "trials": point.accuracy.count,
                    "accuracy": point.accuracy.mean,
                    "low": point.accuracy.low,
                    "high": point.accuracy.high,
                    "median_seconds": point.seconds.median,
                    **{f"tight_minus_it{end}": getattr(difference, field, None) for end, field in ends.items()},
                    "paper": printed(stored.dataset, method).get(epsilon),
                }
            )
    return pd.DataFrame(rows)


def snippet(stored: Stored, epsilon: float) -> str:
    """Python that prints the accuracies at one ε and the claim there; defines ``stored``, ``points``, ``claims``."""
    return f"""from objpert_core.experiments import results, tables

stored = results.load({stored.key!r})
points = [point for point in tables.summary(stored) if point.epsilon in ({epsilon!r}, float("inf"))]
for point in points:
    print(point.method, point.accuracy, point.seconds.median)

claims = {{claim.epsilon: claim for claim in tables.claims(stored)}}
print(claims.get({epsilon!r}))
print(tables.verdict(claims.values()))
"""


def waterfall_snippet(stored: Stored, epsilon: float) -> str:
    """Python that prints what each step changes at one ε; defines ``found``."""
    return f"""from objpert_core.experiments import indexed, waterfall

found = waterfall.of_stored(indexed.load({stored.key!r}), {epsilon!r})
for step in found.steps:
    print(step.name, step.accuracy.mean, step.gain)
print("in all", found.total)
"""


def point_snippet(point: Piece, key: str) -> str:
    """Python that runs one stored point again; defines ``again`` and ``before``."""
    target = 'float("inf")' if point.method == NON_PRIVATE else repr(point.epsilon)
    return f"""from objpert_core.datasets import load
from objpert_core.experiments import results
from objpert_core.experiments.methods import Parameters, fit

stored = results.load({key!r})
parameters = Parameters.from_configuration(stored.configuration)
method, epsilon, trial = {point.method!r}, {target}, {point.trial!r}
before = stored.of(method, epsilon)
before = next((run for run in before if run.trial == trial), None)
again = fit(load({point.dataset!r}, split_seed=trial), method, epsilon, trial, {point.seed!r}, parameters)
print(before)
print(again)
"""


def again(run: Run, before: Run | None) -> list[dict[str, str]]:
    """The run made now beside the stored one, one quantity a row."""

    def cells(one: Run) -> dict[str, str]:
        noise = {"learning rate": one.learning_rate, "σ": one.sigma, "λ": one.lam}
        noise |= {"noise multiplier": one.noise_multiplier, "margin k": one.margin}
        noise |= {"σ of the centre": one.center_noise, "σ of the scales": one.scale_noise}
        return {
            "test accuracy": f"{100 * one.accuracy:.3f} %",
            "processor time": seconds(one.seconds),
            "models trained": f"{one.runs}",
            **{name: "–" if value is None else sentences.scientific(value, 6) for name, value in noise.items()},
            "noise seed": "none" if one.seed is None else f"{one.seed}",
            "split seed": f"{one.split_seed}",
        }

    columns = {"made now": cells(run)} | ({"stored": cells(before)} if before else {})
    rows = [{"": name} | {head: column[name] for head, column in columns.items()} for name in columns["made now"]]
    return [row for row in rows if any(row[head] != "–" for head in columns)]


def row_sizes(curve: LearningCurve) -> list[dict[str, str]]:
    """Every number of rows as a row: both accuracies and what privacy costs."""
    rows = []
    for size in curve.sizes:
        private, reference, cost = curve.private(size), curve.reference(size), curve.cost(size)
        if private is None or reference is None or cost is None:
            continue
        rows.append(
            {
                "Training rows": f"{size:,}",
                f"ε = {sentences.epsilon(curve.plan.epsilon)}": accuracy(private.mean),
                "No privacy": accuracy(reference.mean),
                "Privacy changes it by, points": signed(-cost.mean),
                "95 % interval": _whole(f"{signed(-cost.high)} to {signed(-cost.low)}") if cost.known else "–",
            }
        )
    return rows


def rows_frame(curve: LearningCurve) -> pd.DataFrame:
    """Every pair of fits as one row, with all digits."""
    shared = {"data_set": curve.label, "epsilon": curve.plan.epsilon, "delta": curve.plan.delta}
    return pd.DataFrame(
        [
            {
                **shared,
                "rows_seed": curve.plan.seed + fit.draw,
                "noise_seed": curve.plan.noise_seed(fit.draw, fit.rows),
                "training_rows": fit.rows,
                "accuracy_private": fit.private,
                "accuracy_without_privacy": fit.reference,
                "accuracy_majority_class": fit.baseline,
            }
            for fit in curve.fits
        ]
    )


def rows_snippet(plan: Plan) -> str:
    """Python that prints what privacy costs on each number of rows, with its interval from five draws on; defines
    ``curve``."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in vars(plan).items())
    ends = ", cost.low, cost.high" if plan.draws >= FEWEST else ""
    return f"""from objpert_core.experiments.studies.subsampling import Plan, learning_curve

*_, curve = learning_curve(Plan({arguments}))
for rows in curve.sizes:
    cost = curve.cost(rows)
    print(rows, curve.private(rows).mean, curve.reference(rows).mean, cost.mean{ends})
"""
