"""Both pictures of "Choose σ and λ": numbers of frontiers against f, with marked recipes and the setting before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from objpert_core.experiments.studies.noise_ratios import PUBLISHED
from pages.planner import numbers
from pages.planner.numbers import Setting, Spot
from ui import figures, sentences
from ui.bounds import NAMES
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
) -> go.Figure:
    """`what` of the frontiers against f: `under` and `over` are drawn below and above them, `values` are in view."""
    curves = {bound: numbers.frontier(setting, bound) for bound in bounds}
    heights = [getattr(spot, what) for spots in curves.values() for spot in spots if spot.ratio <= f_max]
    view = _view([*values, *heights], getattr(numbers.closed_form(setting), what))
    traces = [*_ghosts(ghost, bounds, what), figures.guide((setting.ratio, setting.ratio), view), *under]
    traces += [_line(NAMES[bound], spots, bound, what, hover=hovers[0]) for bound, spots in curves.items()]
    traces += [*over, *_marks(setting, bounds, what, hovers[1])]
    margin = 0.04 * (f_max - 1)  # a slide's halo is whole
    across = (1 - margin, f_max + margin)
    xaxis = figures.axis("noise ratio f = σ / σ of the Gaussian mechanism", across, hoverformat=".4g")
    return figures.figure(traces, xaxis=xaxis, yaxis=_log_axis(title, view), height=470)


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
        (NAMES["kifer2012"], numbers.kifer(setting), "kifer2012", "2012", "bottom center"),
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
    traces = [_line(f"{NAMES[b]}, before", numbers.frontier(ghost, b), b, what, ghost=True) for b in bounds]
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
