"""The Planner's two pictures: the frontier of λ against f, and the excess loss along it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from objpert_core.experiments.studies.noise_ratios import PUBLISHED, Estimate, Point
from pages.planner import numbers as pc
from ui import bounds as bound_curves
from ui import figures, sentences
from ui.controls import log_values

CHANCE = math.log(2)  # nats per row lost by always answering 50 : 50
_HALO, _MARK = 24, 12
_DECADES = 4.0  # at most, on either vertical axis
_FEW_DECADES = 2.5


def frontiers(
    setting: pc.Setting, bounds: Sequence[str], *, f_max: float, ghost: pc.Setting | None = None
) -> go.Figure:
    """λ against f under each bound, with the marked recipes, Kifer's point and the setting's own."""
    curves = {b: pc.frontier(setting, b) for b in bounds}
    traces = _ghosts(ghost, bounds, "lam")
    view = _view([s.lam for spots in curves.values() for s in spots if s.ratio <= f_max], pc.closed_form(setting).lam)
    ends = np.array([1.0, f_max])
    traces += [
        figures.guide((setting.ratio, setting.ratio), view),
        figures.series(
            "λ that Theorem H.1 would like",
            ends,
            [pc.wanted(setting, f) for f in ends],
            "guide",
            hover="λ = %{y:.3g}",
            line={"color": figures.GREY, "dash": "dot", "width": 1.5},
        ),
    ]
    traces += [_line(bound_curves.NAMES[b], curves[b], b, "lam", "λ = %{y:.3g}") for b in bounds]
    traces += _marks(setting, bounds, "lam", "λ = %{y:.4g}")
    return figures.figure(
        traces,
        xaxis=figures.axis("noise ratio f = σ / σ of the Gaussian mechanism", _across(f_max), hoverformat=".4g"),
        yaxis=_log_axis("regularisation λ", view),
        height=470,
    )


def excess_losses(
    setting: pc.Setting,
    bounds: Sequence[str],
    *,
    f_max: float,
    ghost: pc.Setting | None = None,
    estimate: Estimate | None = None,
) -> go.Figure:
    """What Theorem H.1 allows per row against f, and the sampled fits of `estimate` with their intervals."""
    curves = {b: pc.frontier(setting, b) for b in bounds}
    values = [CHANCE, *(s.excess for spots in curves.values() for s in spots if s.ratio <= f_max)]
    measured = _measured(estimate)
    values += [point.mean_excess.mean for point in measured]
    view = _view(values, pc.closed_form(setting).excess)
    traces = _ghosts(ghost, bounds, "excess")
    traces += [
        figures.guide((setting.ratio, setting.ratio), view),
        figures.guide((1.0, f_max), (CHANCE, CHANCE)),
    ]
    traces += [_line(bound_curves.NAMES[b], curves[b], b, "excess", "at most %{y:.3g}") for b in bounds]
    if estimate is not None and measured:
        traces += _sampled(setting, estimate)
    traces += _marks(setting, bounds, "excess", "at most %{y:.3g}")
    return figures.figure(
        traces,
        xaxis=figures.axis("noise ratio f = σ / σ of the Gaussian mechanism", _across(f_max), hoverformat=".4g"),
        yaxis=_log_axis("excess training loss, nats per row", view),
        height=470,
    )


def _measured(estimate: Estimate | None) -> list[Point]:
    """The sampled points that a log axis can show."""
    if estimate is None:
        return []
    shown = [*estimate.along(), *(p for r in (PUBLISHED, estimate.plan.ours) if (p := estimate.of(r)))]
    return [p for p in dict.fromkeys(shown) if p.mean_excess.mean > 0]


def _sampled(setting: pc.Setting, estimate: Estimate) -> list[dict[str, Any]]:
    """Markers with 95 % intervals, one colour a bound, and the theorem's line for the sampled rows."""
    line = pc.sampled_bound(setting, estimate.rows, estimate.dimension, estimate.reference_norm)
    look = figures.ROLES[setting.bound]
    traces = [
        figures.series(
            "Theorem H.1 for the sampled rows",
            [f for f, _ in line],
            [value for _, value in line],
            setting.bound,
            hover="at most %{y:.3g}",
            line={"color": look.color, "dash": "dot", "width": 1.5},
        )
    ]
    for bound in dict.fromkeys((setting.bound, PUBLISHED.bound, estimate.plan.ours.bound)):
        points = [p for p in _measured(estimate) if p.recipe.bound == bound]
        if not points:
            continue
        intervals = [p.mean_excess for p in points]
        means = np.array([i.mean for i in intervals])
        half = np.array([i.half_width if i.known else 0.0 for i in intervals])
        traces.append(
            figures.series(
                f"sampled, {bound_curves.NAMES[bound]}",
                [p.recipe.noise_ratio for p in points],
                means,
                bound,
                mode="markers",
                hover="sampled %{y:.3g}",
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": half,
                    "arrayminus": np.minimum(half, 0.95 * means),  # a log axis has no 0
                    "color": figures.ROLES[bound].color,
                    "thickness": 1.5,
                    "width": 4,
                },
            )
        )
    return traces


def _line(name: str, spots: Sequence[pc.Spot], role: str, what: str, hover: str) -> dict[str, Any]:
    return figures.series(name, [s.ratio for s in spots], [getattr(s, what) for s in spots], role, hover=hover)


def _marks(setting: pc.Setting, bounds: Sequence[str], what: str, hover: str) -> list[dict[str, Any]]:
    """The setting's point as a halo under the marked recipes, without those that are out of reach or not shown."""
    default = setting.default_ratio
    here = pc.spot(setting, setting.bound, setting.ratio)
    marked = [
        (f"your point, f = {setting.ratio:g}", here, setting.bound, _HALO, 0.45),
        (f"the paper’s f = {PUBLISHED.noise_ratio:g}", pc.spot(setting, "rdp", PUBLISHED.noise_ratio), "rdp", _MARK, 1),
        (f"our default f = {default:g}", pc.spot(setting, "logistic", default), "logistic", _MARK, 1),
        ("closed form, f = 1", pc.closed_form(setting), "lower", _MARK, 1),
        (bound_curves.NAMES["kifer2012"], pc.kifer(setting), "kifer2012", _MARK, 1),
    ]
    traces = []
    for name, spot, role, size, opacity in marked:
        if spot is None or (role in pc.NAMES and role not in bounds):
            continue
        look = figures.ROLES[role]
        at = ([spot.ratio], [getattr(spot, what)])
        marker = {"color": look.color, "symbol": look.symbol, "size": size}
        traces.append(figures.series(name, *at, role, mode="markers", hover=hover, opacity=opacity, marker=marker))
    return traces


def _ghosts(ghost: pc.Setting | None, bounds: Sequence[str], what: str) -> list[dict[str, Any]]:
    if ghost is None:
        return []
    traces = []
    for bound in bounds:
        spots = pc.frontier(ghost, bound)
        name = f"{bound_curves.NAMES[bound]}, before"
        x, y = [s.ratio for s in spots], [getattr(s, what) for s in spots]
        traces.append(figures.series(name, x, y, bound, ghost=True))
    if here := pc.spot(ghost, ghost.bound, ghost.ratio):
        marker = {"color": figures.ROLES[ghost.bound].color, "symbol": "circle", "size": _HALO}
        at = ([here.ratio], [getattr(here, what)])
        traces.append(figures.series("your point, before", *at, ghost.bound, ghost=True, mode="markers", marker=marker))
    return traces


def _across(f_max: float) -> tuple[float, float]:
    margin = 0.02 * (f_max - 1)
    return 1 - margin, f_max + margin


def _log_axis(title: str, view: tuple[float, float]) -> dict[str, Any]:
    """A log axis with ticks at 1, 2 and 5 where powers of ten alone would be too few."""
    if math.log10(view[1] / view[0]) > _FEW_DECADES:
        return figures.axis(title, view, log=True)
    ticks = [v for v in log_values(*view, steps=(1, 2, 5)) if view[0] <= v <= view[1]]
    return figures.axis(title, view, log=True, tickvals=ticks, ticktext=[sentences.scientific(v) for v in ticks])


def _view(values: Sequence[float], around: float) -> tuple[float, float]:
    """A range on a log axis that shows `values`, and not more than `_DECADES` of them from their middle or `around`."""
    low, high = min([*values, around]), max([*values, around])
    middle = math.log10(around)
    low = max(low / 1.6, 10 ** (middle - _DECADES / 2))
    high = min(high * 1.6, 10 ** (middle + _DECADES / 2))
    return low, high
