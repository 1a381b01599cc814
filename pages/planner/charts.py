"""The Planner's two pictures: the frontier of λ against f, and the excess loss along it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from objpert_core.experiments.studies.noise_ratios import PUBLISHED, Estimate, Point
from pages.planner import numbers as pc
from ui import figures, sentences, words
from ui.bounds import NAMES
from ui.controls import log_values

CHANCE = math.log(2)  # nats per row lost by always answering 50 : 50
_HALO, _MARK = 24, 12
_DECADES = 4.0  # at most, on either vertical axis
_FEW_DECADES = 2.5


def frontiers(
    setting: pc.Setting, bounds: Sequence[str], *, f_max: float, ghost: pc.Setting | None = None
) -> go.Figure:
    """λ against f under each bound, with the marked recipes, Kifer's point and the setting's own."""
    look = {"color": figures.GREY, "dash": "dot", "width": 1.5}
    ends, hover = (1.0, f_max), "λ = %{y:.3g}"
    liked = [pc.wanted(setting, f) for f in ends]
    wanted = figures.series("best λ for learning", ends, liked, "guide", hover=hover, line=look)
    hovers = (hover, "λ = %{y:.4g}")
    return _along(setting, bounds, "lam", f_max, ghost, title="regularisation λ", hovers=hovers, under=[wanted])


def excess_losses(
    setting: pc.Setting,
    bounds: Sequence[str],
    *,
    f_max: float,
    ghost: pc.Setting | None = None,
    estimate: Estimate | None = None,
) -> go.Figure:
    """What Theorem H.1 allows per row against f, and the sampled fits of `estimate` with their intervals."""
    measured = _measured(estimate)
    return _along(
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


def _along(
    setting: pc.Setting,
    bounds: Sequence[str],
    what: str,
    f_max: float,
    ghost: pc.Setting | None,
    *,
    title: str,
    hovers: tuple[str, str],
    values: Sequence[float] = (),
    under: Sequence[dict[str, Any]] = (),
    over: Sequence[dict[str, Any]] = (),
) -> go.Figure:
    """`what` of the frontiers against f: `under` and `over` are drawn below and above them, `values` are in view."""
    curves = {bound: pc.frontier(setting, bound) for bound in bounds}
    heights = [getattr(spot, what) for spots in curves.values() for spot in spots if spot.ratio <= f_max]
    view = _view([*values, *heights], getattr(pc.closed_form(setting), what))
    traces = [*_ghosts(ghost, bounds, what), figures.guide((setting.ratio, setting.ratio), view), *under]
    traces += [_line(NAMES[bound], spots, bound, what, hover=hovers[0]) for bound, spots in curves.items()]
    traces += [*over, *_marks(setting, bounds, what, hovers[1])]
    margin = 0.02 * (f_max - 1)
    across = (1 - margin, f_max + margin)
    xaxis = figures.axis("noise ratio f = σ / σ of the Gaussian mechanism", across, hoverformat=".4g")
    return figures.figure(traces, xaxis=xaxis, yaxis=_log_axis(title, view), height=470)


def _measured(estimate: Estimate | None) -> list[Point]:
    """The sampled points that a log axis can show."""
    if estimate is None:
        return []
    shown = [*estimate.along(), *(p for r in (PUBLISHED, estimate.plan.ours) if (p := estimate.of(r)))]
    return [p for p in dict.fromkeys(shown) if p.mean_excess.mean > 0]


def _sampled(setting: pc.Setting, estimate: Estimate, measured: Sequence[Point]) -> list[dict[str, Any]]:
    """Markers with 95 % intervals, one colour a bound, and the theorem's line for the sampled rows."""
    theorem = pc.sampled_bound(setting, estimate.rows, estimate.dimension, estimate.reference_norm)
    x, y = zip(*theorem, strict=True)
    look = {"color": figures.look(setting.bound).color, "dash": "dot", "width": 1.5}
    name = "Theorem H.1 for the sampled rows"
    traces = [figures.series(name, x, y, setting.bound, hover="at most %{y:.3g}", line=look)]
    for bound in dict.fromkeys((setting.bound, PUBLISHED.bound, estimate.plan.ours.bound)):
        points = [p for p in measured if p.recipe.bound == bound]
        if not points:
            continue
        ratios, intervals = [p.recipe.noise_ratio for p in points], [p.mean_excess for p in points]
        means = np.array([i.mean for i in intervals])
        half = np.array([i.half_width if i.count >= words.FEWEST else 0.0 for i in intervals])
        bars = {"type": "data", "symmetric": False, "array": half, "color": figures.look(bound).color}
        bars |= {"arrayminus": np.minimum(half, 0.95 * means), "thickness": 1.5, "width": 4}  # a log axis has no 0
        name, hover = f"sampled, {NAMES[bound]}", "sampled %{y:.3g}"
        traces.append(figures.series(name, ratios, means, bound, mode="markers", hover=hover, error_y=bars))
    return traces


def _line(name: str, spots: Sequence[pc.Spot], role: str, what: str, **look: Any) -> dict[str, Any]:
    return figures.series(name, [s.ratio for s in spots], [getattr(s, what) for s in spots], role, **look)


def _marks(setting: pc.Setting, bounds: Sequence[str], what: str, hover: str) -> list[dict[str, Any]]:
    """The setting's point as a halo under the marked recipes, without those that are out of reach or not shown.

    The recipes say on the picture what they are: the legend is long enough without them.
    """
    paper, ours = PUBLISHED.noise_ratio, setting.default_ratio
    here = pc.spot(setting, setting.bound, setting.ratio)
    beside = "middle right" if what == "lam" else "bottom right"
    marked = [
        (f"your point, f = {setting.ratio:g}", here, setting.bound, "", ""),
        (f"the paper’s f = {paper:g}", pc.spot(setting, "rdp", paper), "rdp", "paper", "top right"),
        (f"our default f = {ours:g}", pc.spot(setting, "logistic", ours), "logistic", "default", beside),
        ("closed form, f = 1", pc.closed_form(setting), "lower", "f = 1", "top right"),
        (NAMES["kifer2012"], pc.kifer(setting), "kifer2012", "Kifer", "bottom center"),
    ]
    traces = []
    for name, spot, role, label, place in marked:
        if spot is None or (role in pc.NAMES and role not in bounds):
            continue
        style = figures.look(role)
        marker = {"color": style.color, "symbol": style.symbol, "size": _MARK if label else _HALO}
        shown = {"mode": "markers+text", "text": [label], "textposition": place, "showlegend": False}
        shown = shown if label else {"mode": "markers", "opacity": 0.45}
        traces.append(_line(name, [spot], role, what, hover=hover, marker=marker, **shown))
    return traces


def _ghosts(ghost: pc.Setting | None, bounds: Sequence[str], what: str) -> list[dict[str, Any]]:
    if ghost is None:
        return []
    traces = [_line(f"{NAMES[b]}, before", pc.frontier(ghost, b), b, what, ghost=True) for b in bounds]
    if here := pc.spot(ghost, ghost.bound, ghost.ratio):
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
