"""What the choice costs: the excess loss that Theorem H.1 allows along the frontiers, and fits sampled beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from objpert_core.experiments.studies.noise_ratios import PUBLISHED, Estimate, Point
from pages.planner import numbers
from pages.planner.along import along
from pages.planner.controls import SAMPLE
from pages.planner.numbers import NAMES, Setting, lam, nats, written
from pages.planner.sampling import RUNS, sampled, sampling
from ui import bounds as proofs
from ui import figures, page, words

CHANCE = math.log(2)  # nats per row lost by always answering 50 : 50


def draw(setting: Setting, bounds: Sequence[str], f_max: float, before: Setting | None) -> None:
    """Draw the theorem's curve, and fits on synthetic rows beside it."""
    st.header("What the choice costs", anchor=False)
    values = []
    for place, control in zip(st.columns(len(SAMPLE), gap="medium", vertical_alignment="bottom"), SAMPLE, strict=True):
        with place:
            values.append(control.show())
    plan = setting.plan(*values)
    seen = RUNS.seen()
    estimate = seen.latest if seen and seen.run.request == plan else None
    losses = page.Picture(
        chart(setting, bounds, f_max=f_max, ghost=before, estimate=estimate),
        alt(setting, estimate, bounds),
        partial(frame, setting, estimate),
        f"Excess training loss against f, {setting.target}",
    )
    RUNS.follow(sampling, plan, estimate)
    page.show(losses, key="planner_excess")
    st.caption(caveats(setting))
    page.evidence(losses, name="planner_excess")


def chart(
    setting: Setting,
    bounds: Sequence[str],
    *,
    f_max: float,
    ghost: Setting | None = None,
    estimate: Estimate | None = None,
) -> go.Figure:
    """What Theorem H.1 allows per row against f, and the sampled fits of `estimate` with their intervals."""
    measured = _measured(estimate)
    return along(
        setting,
        bounds,
        "excess",
        f_max,
        ghost,
        title="excess training loss, nats per row",
        hovers=("at most %{y:.3g}",) * 2,
        values=[CHANCE, *(point.mean_excess.mean for point in measured)],
        under=[figures.guide((1.0, f_max), (CHANCE, CHANCE))],
        over=_sampled(setting, estimate, measured) if estimate is not None and measured else (),
    )


def _measured(estimate: Estimate | None) -> list[Point]:
    """The sampled points that a log axis can show."""
    if estimate is None:
        return []
    shown = [*estimate.along(), *(p for r in (PUBLISHED, estimate.plan.ours) if (p := estimate.of(r)))]
    return [p for p in dict.fromkeys(shown) if p.mean_excess.mean > 0]


def _sampled(setting: Setting, estimate: Estimate, measured: Sequence[Point]) -> list[dict[str, Any]]:
    """Markers with 95 % intervals, one colour a bound, and the theorem's line for the sampled rows."""
    theorem = numbers.sampled_bound(setting, estimate.rows, estimate.dimension, estimate.reference_norm)
    x, y = zip(*theorem, strict=True)
    line = {"color": figures.look(setting.bound).color, "dash": "dot", "width": 1.5}
    name = "Theorem H.1 for the sampled rows"
    traces = [figures.series(name, x, y, setting.bound, hover="at most %{y:.3g}", line=line)]
    for bound in dict.fromkeys((setting.bound, PUBLISHED.bound, estimate.plan.ours.bound)):
        points = [p for p in measured if p.recipe.bound == bound]
        if not points:
            continue
        ratios, intervals = [p.recipe.noise_ratio for p in points], [p.mean_excess for p in points]
        means = np.array([i.mean for i in intervals])
        half = np.array([i.half_width if i.count >= words.FEWEST else 0.0 for i in intervals])
        bars = {"type": "data", "symmetric": False, "array": half, "color": figures.look(bound).color}
        bars |= {"arrayminus": np.minimum(half, 0.95 * means), "thickness": 1.5, "width": 4}  # a log axis has no 0
        name, hover = f"sampled, {proofs.NAMES[bound]}", "sampled %{y:.3g}"
        traces.append(figures.series(name, ratios, means, bound, mode="markers", hover=hover, error_y=bars))
    return traces


def caveats(setting: Setting) -> str:
    """How to read the theorem's curve: what it is of, where it says nothing, where a larger λ is allowed."""
    lines = (
        "The curves show how far the training loss per row can exceed that of θ₀, on average over the noise. Always "
        "predicting "
        "50 : 50 costs log 2 = 0.69 nats (thin line), so a bound above this line says nothing."
    )
    if more := numbers.raised(setting):
        lines += f" With a larger λ = {lam(more)} the theorem allows {nats(more.excess)} nats at this f."
    return lines


def alt(setting: Setting, estimate: Estimate | None, bounds: Sequence[str] = tuple(NAMES)) -> str:
    """Alt text of the excess loss."""
    lows = {b: numbers.least(numbers.frontier(setting, b)) for b in bounds}
    found = [f"{NAMES[b]} {nats(s.excess)} at f = {written(s.ratio)}" for b, s in lows.items() if s]
    text = f"Excess training loss per row that Theorem H.1 allows, against f. Least: {', '.join(found)}."
    return f"{text} {sampled(estimate)}" if estimate is not None and estimate.best() else text


def frame(setting: Setting, estimate: Estimate | None = None) -> pd.DataFrame:
    """Every number of the excess loss's chart: what the theorem allows, corrected and as printed, and sampled fits."""
    rows: list[dict[str, str | float]] = [
        {"kind": kind, "bound": b, "noise_ratio": s.ratio, "excess_loss_per_row": value}
        for b, s in numbers.all_spots(setting)
        for kind, value in (("theorem", s.excess), ("theorem as printed", s.published))
    ]
    for point in estimate.points if estimate else ():
        if point.measured:
            mean, recipe = point.mean_excess, point.recipe
            found: dict[str, str | float] = {
                "kind": "sampled",
                "bound": recipe.bound,
                "noise_ratio": recipe.noise_ratio,
            }
            found |= {"excess_loss_per_row": mean.mean, "low": mean.low, "high": mean.high, "draws": mean.count}
            rows.append(found | {"test_accuracy": point.mean_accuracy.mean})
    return pd.DataFrame(rows)
