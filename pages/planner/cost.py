"""What the choice costs: the excess loss that Theorem H.1 allows along the frontiers, and fits sampled beside it."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from objpert_core.experiments.studies.noise_ratios import PUBLISHED, Estimate, Point
from pages.planner import numbers
from pages.planner.controls import SAMPLE
from pages.planner.numbers import NAMES, Setting, Spot, lam, nats, written
from pages.planner.sampling import RUNS, sampled, sampling
from ui import bounds as proofs
from ui import figures, page, sentences, words
from ui.controls import log_values

_HALO, _MARK = 24, 12
_DECADES = 4.0  # at most, on either vertical axis
_FEW_DECADES = 2.5


def along(
    setting: Setting,
    bounds: Sequence[str],
    what: str,
    f_max: float,
    ghost: Setting | None,
    *,
    title: str,
    hovers: tuple[str, str],
    values: Sequence[float] = (),
    under: Sequence[dict[str, Any]] = (),
    over: Sequence[dict[str, Any]] = (),
) -> figures.Figure:
    """`what` of the frontiers against f: `under` and `over` are drawn below and above them, `values` are in view."""
    curves = {bound: numbers.frontier(setting, bound) for bound in bounds}
    heights = [getattr(spot, what) for spots in curves.values() for spot in spots if spot.ratio <= f_max]
    view = _view([*values, *heights], getattr(numbers.closed_form(setting), what))
    traces = [*_ghosts(ghost, bounds, what), figures.guide((setting.ratio, setting.ratio), view), *under]
    traces += [_line(proofs.NAMES[bound], spots, bound, what, hover=hovers[0]) for bound, spots in curves.items()]
    traces += [*over, *_marks(setting, bounds, what, hovers[1])]
    margin = 0.04 * (f_max - 1)  # a slide's halo is whole
    across = (1 - margin, f_max + margin)
    xaxis = figures.axis("noise ratio f = σ / σ of the Gaussian mechanism", across, hoverformat=".4g")
    return figures.figure(traces, xaxis, _log_axis(title, view), height=470)


def _line(name: str, spots: Sequence[Spot], role: str, what: str, **look: Any) -> dict[str, Any]:
    return figures.series(name, [s.ratio for s in spots], [getattr(s, what) for s in spots], role, **look)


def _marks(setting: Setting, bounds: Sequence[str], what: str, hover: str) -> list[dict[str, Any]]:
    """The setting's point as a halo under the marked recipes, without those that are out of reach or not shown.

    The recipes say on the picture what they are: the legend is long enough without them. Only f = 1 has no name there,
    beside the default's: its place on the axis and the caption tell it.
    """
    paper, ours = PUBLISHED.noise_ratio, setting.default_ratio
    here = numbers.spot(setting, setting.bound, setting.ratio)
    beside = "top right" if what == "lam" else "bottom right"  # clear of the line of the best λ
    marked = [
        (f"your point, f = {setting.ratio:g}", here, setting.bound, "", ""),
        (f"the paper’s f = {paper:g}", numbers.spot(setting, "rdp", paper), "rdp", "paper", "top right"),
        (f"our default f = {ours:g}", numbers.spot(setting, "logistic", ours), "logistic", "default", beside),
        ("closed form, f = 1", numbers.closed_form(setting), "lower", "", "top right"),
        (proofs.NAMES["kifer2012"], numbers.kifer(setting), "kifer2012", "2012", "bottom center"),
    ]
    traces = []
    for name, spot, role, label, place in marked:
        if spot is None or (role in numbers.NAMES and role not in bounds):
            continue
        style = figures.look(role)
        marker = {"color": style.color, "symbol": style.symbol, "size": _MARK if place else _HALO}
        shown = {"mode": "markers+text", "text": [label], "textposition": place, "showlegend": False}
        shown = shown if place else {"mode": "markers", "opacity": 0.45}
        traces.append(_line(name, [spot], role, what, hover=hover, marker=marker, **shown))
    return traces


def _ghosts(ghost: Setting | None, bounds: Sequence[str], what: str) -> list[dict[str, Any]]:
    if ghost is None:
        return []
    traces = [_line(f"{proofs.NAMES[b]}, before", numbers.frontier(ghost, b), b, what, ghost=True) for b in bounds]
    if here := numbers.spot(ghost, ghost.bound, ghost.ratio):
        marker = {"color": figures.look(ghost.bound).color, "symbol": "circle", "size": _HALO}
        look = {"ghost": True, "mode": "markers", "marker": marker}
        traces.append(_line("your point, before", [here], ghost.bound, what, **look))
    return traces


def _log_axis(title: str, view: tuple[float, float]) -> dict[str, Any]:
    """A log axis with ticks at 1, 2 and 5 where powers of ten alone would be too few."""
    if math.log10(view[1] / view[0]) > _FEW_DECADES:
        return figures.axis(title, view, log=True)
    ticks = [v for v in log_values(*view, steps=(1, 2, 5)) if view[0] <= v <= view[1]]
    return figures.axis(title, view, log=True, tickvals=ticks, ticktext=[sentences.scientific(v) for v in ticks])


def _view(values: Sequence[float], around: float) -> tuple[float, float]:
    """A range on a log axis that shows `values` and `around`, and not more than `_DECADES` about the latter."""
    reach = 10 ** (_DECADES / 2)
    return max(min(*values, around) / 1.6, around / reach), min(max(*values, around) * 1.6, around * reach)


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
) -> figures.Figure:
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
