"""The house style of charts: one look, built in one call, readable in the light and in the dark theme.

    traces = [series("Rényi", eps, delta, "rdp"), series("Rényi, before", eps, old, "rdp", ghost=True)]
    chart = figure(traces, axis("ε", (0, 1)), axis("δ", (1e-9, 1), log=True))

* `series` gives one curve the colour *and* the dash (and, with markers, the symbol) of its role, so that no two roles
  differ by colour alone. Colours are Okabe and Ito's, shifted where needed to a contrast of at least 3 : 1 on both of
  Streamlit's backgrounds.
* `figure` makes the whole `plotly.graph_objects.Figure` from one dictionary, which is not validated (`ui.chart`).
  Adding traces or updating layouts afterwards would validate everything; do not.
* Grid and hover colours are left to Streamlit's theme, which follows the reader's light or dark setting; `ui.page`
  gives a chart's text the colour of the page's.
* Axis ranges are always given, from a "view" control: Streamlit resets a zoom whenever the figure changes.
* plotly has no MathJax here: write ε, σ, δ in Unicode; pass numpy arrays.

`ui.page.chart` shows a figure with its alt text, `ui.printed` makes one for a file.
"""

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from plotly.graph_objects import Figure

from objpert_core._validation import FloatArray
from ui.chart import Chart

T = TypeVar("T")

ORANGE, GREEN, BLUE, VERMILION, PURPLE, GREY = "#b97f00", "#009e73", "#1a80c4", "#d55e00", "#c0649a", "#7f7f7f"
OLIVE, TEAL, BROWN = "#7d8a1f", "#1295a0", "#9a6b4f"  # only where one chart has more curves than the six above
VIOLET, PLUM, HEATHER = "#8a70dc", "#b04fb8", "#6f5f8c"  # beside PURPLE, for charts with several kinds of DP-SGD
AMETHYST, ROSE = "#8a4fd0", "#cf5f8f"  # those on standardised rows
FLAME = "#e0701f"  # ours with something left out

GHOST_OPACITY = 0.35
_FEW = 16


@dataclass(frozen=True)
class Role:
    """How one kind of curve looks everywhere: vermilion is ours, purples are DP-SGD, grey is without privacy."""

    color: str
    dash: str
    symbol: str
    width: float = 2.0
    marked: bool = False  # lines carry a few markers, which show even on top of another line


ROLES: Mapping[str, Role] = {
    # bounds (accounting)
    "logistic": Role(VERMILION, "solid", "circle", 4.5),
    "glm": Role(BLUE, "dash", "square"),
    "rdp": Role(GREEN, "dashdot", "diamond"),
    "kifer2012": Role(BROWN, "longdash", "triangle-up"),
    "monotone": Role(ORANGE, "longdashdot", "x"),
    "two-signed": Role(TEAL, "4px,3px", "star"),
    "lower": Role(GREY, "dot", "cross", marked=True),  # lies on the logistic curve where that is tight
    "dpsgd": Role(PURPLE, "longdashdot", "triangle-up", 3.0),
    "allocation": Role(VIOLET, "longdash", "diamond"),
    # training
    "non-private": Role(GREY, "dot", "cross"),
    "published": Role(BLUE, "dash", "square"),
    "tight": Role(VERMILION, "solid", "circle", 2.5),
    # the learners of Figure 2, beside the three above
    "dpsgd-dishonest-rdp": Role(PURPLE, "longdashdot", "triangle-up"),
    "dpsgd-dishonest-pld": Role(VIOLET, "longdash", "diamond"),
    "dpsgd-dishonest-large": Role(PLUM, "dashdot", "x"),
    "dpsgd-honest": Role(HEATHER, "dash", "diamond"),
    "dpsgd-standardised": Role(AMETHYST, "solid", "square", 2.5),
    "dpsgd-standardised-honest": Role(ROSE, "4px,3px", "star"),
    "tight-raw": Role(FLAME, "longdash", "circle"),
    "tight-centred": Role(FLAME, "dashdot", "triangle-up"),
    "tight-dishonest": Role(VERMILION, "dot", "triangle-up"),
    "tight-no-margin": Role(VERMILION, "dash", "x"),
    "dpsgd-again": Role(VIOLET, "dot", "square"),
    "dpsgd-margin": Role(PLUM, "solid", "diamond"),
    "output": Role(TEAL, "longdash", "square"),
    "classical": Role(BROWN, "dashdot", "circle"),  # the learner kifer2012; the bound of that name is above
    "svc": Role(GREEN, "longdashdot", "triangle-up"),
    "svc-rounded": Role(OLIVE, "dot", "x"),
    # methods for the population risk; without privacy as above
    "risk-sgd": Role(BLUE, "dash", "square"),
    "risk-objective": Role(OLIVE, "longdash", "triangle-up"),
    "risk-gd": Role(GREEN, "dashdot", "diamond"),
    "risk-phased": Role(ORANGE, "longdashdot", "x"),
    "risk-objective-bound": Role(TEAL, "4px,3px", "star"),
    "risk-objective-least": Role(BROWN, "12px,4px,3px,4px,3px,4px", "diamond"),
    "risk-objective-tight": Role(VERMILION, "solid", "circle", 3.0),
    "risk-zero": Role(GREY, "longdash", "cross", 2.5),
    # tilting and bending the objective; without privacy as above
    "bend-published": Role(BLUE, "dash", "square", 2.5),
    "bend-sharpened": Role(ORANGE, "longdashdot", "diamond", 2.5),
    "bend-exact": Role(VERMILION, "solid", "circle", 3.0),
    "tilt": Role(GREEN, "dashdot", "triangle-up", 2.5),
    "tilt-replace": Role(TEAL, "4px,3px", "star"),
    "tilt-clipped": Role(OLIVE, "longdash", "x", 2.5),
    "anchor": Role(BROWN, "12px,4px,3px,4px,3px,4px", "diamond", 2.5),
    # asking the data first; without privacy as above
    "worst": Role(ORANGE, "longdashdot", "diamond", 2.5),
    "classic": Role(BLUE, "dash", "square", 2.5),
    "asked": Role(VERMILION, "solid", "circle", 3.0),
    "secret": Role(GREY, "dot", "cross", 2.5),
    "own": Role(GREEN, "dashdot", "triangle-up", 2.5),
    "smooth": Role(TEAL, "longdash", "x", 2.5),
    "floor": Role(BROWN, "12px,4px,3px,4px,3px,4px", "diamond", 2.5),
    "public": Role(OLIVE, "8px,2px", "triangle-down", 2.5),
    # two neighbouring data sets
    "without": Role(BROWN, "dash", "square"),
    "with": Role(TEAL, "solid", "circle", 3.0),
    "noise": Role(GREEN, "dashdot", "diamond"),
    # ways to account for tuning
    "free": Role(GREY, "dot", "cross"),
    "composed": Role(BLUE, "dash", "square"),
    "liu_talwar": Role(OLIVE, "longdash", "triangle-up"),
    "selection": Role(GREEN, "solid", "circle", 3.0),
    # solvers
    "newton": Role(VERMILION, "solid", "circle", 3.0),
    "newton-cg": Role(ORANGE, "longdash", "diamond"),
    "lbfgs": Role(BROWN, "longdashdot", "x"),
    "gradient-descent": Role(GREY, "dot", "cross", 2.5),
    "accelerated": Role(BLUE, "dash", "square", 2.5),
    "sag": Role(GREEN, "dashdot", "triangle-up", 2.5),
    "svrg": Role(TEAL, "longdash", "diamond", 2.5),
    "guide": Role(GREY, "solid", "cross", 1.0),
}


def look(role: str) -> Role:
    """The look of a role; one that `ROLES` does not know, a new bound's for instance, gets a spare one."""
    return ROLES.get(role) or _SPARE[zlib.crc32(role.encode()) % len(_SPARE)]


_SPARE = (Role(OLIVE, "12px,4px,3px,4px,3px,4px", "star"), Role(BROWN, "2px,6px", "star"))


def of_learner(name: str) -> str:
    """The role of a learner, by its name in `objpert_core.experiments.learners`."""
    return {"kifer2012": "classical"}.get(name, name)


def series(
    name: str,
    x: ArrayLike,
    y: ArrayLike,
    role: str,
    *,
    ghost: bool = False,
    mode: str = "lines",
    hover: str | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """One curve in the look of its role, as a plotly trace; NaN breaks the line.

    A `ghost` is the faint trace of the previous setting: thin, no legend entry, no hover. `hover` is plotly's template
    for one point, without the name; `extra` are further attributes of the trace.
    """
    style = look(role)
    trace: dict[str, Any] = {
        "type": "scatter",
        "name": name,
        "x": np.asarray(x),
        "y": np.asarray(y),
        "mode": mode,
        "line": {"color": style.color, "dash": style.dash, "width": 1.5 if ghost else style.width, "simplify": False},
        "meta": {"role": role, "ghost": ghost},
    }
    if style.marked and mode == "lines" and not ghost:
        trace["mode"] = "lines+markers"
        trace["marker"] = {"color": style.color, "symbol": style.symbol, "size": 9, "maxdisplayed": _FEW}
    elif "markers" in mode:
        trace["marker"] = {"color": style.color, "symbol": style.symbol, "size": 8}
    if ghost:
        trace |= {"opacity": GHOST_OPACITY, "showlegend": False, "hoverinfo": "skip"}
    elif hover is not None:
        trace["hovertemplate"] = hover + "<extra>" + name + "</extra>"
    return trace | extra


def marks(
    name: str,
    x: ArrayLike,
    y: ArrayLike,
    role: str,
    size: float = 8,
    *,
    hover: str | None = None,
    look: Mapping[str, Any] | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """Marks without a line, in the look of their role as far as `look` says nothing else; the rest as for `series`."""
    trace = series(name, x, y, role, mode="markers", hover=hover, **extra)
    return trace | {"marker": trace["marker"] | {"size": size} | (look or {})}


def ticks(values: ArrayLike, texts: Any, **extra: Any) -> dict[str, Any]:
    """For `axis`: a tick at each value, with its text."""
    return {"tickmode": "array", "tickvals": values, "ticktext": texts, **extra}


def curves(
    names: Mapping[str, str],
    x: ArrayLike,
    of: Callable[[str, T], ArrayLike],
    now: T,
    previous: T | None,
    *,
    between: Sequence[dict[str, Any]] = (),
    role: Callable[[str, T], str] = lambda key, setting: key,
    hover: str,
) -> list[dict[str, Any]]:
    """The curves of one setting over those of the previous one, if there is one, which are ghosts.

    `of` and `role` say the heights and the look of a key's curve at a setting; infinite heights are not drawn. What is
    `between` lies over the ghosts and under the curves.
    """

    def drawn(setting: T, then: str, **look: Any) -> list[dict[str, Any]]:
        every = names.items()
        return [series(name + then, x, finite(of(key, setting)), role(key, setting), **look) for key, name in every]

    ghosts = [] if previous is None else drawn(previous, ", before", ghost=True)
    return [*ghosts, *between, *drawn(now, "", hover=hover)]


def band(x: ArrayLike, low: ArrayLike, high: ArrayLike, role: str, *, name: str = "") -> dict[str, Any]:
    """A translucent band between `low` and `high`, for an interval around a curve of the same role."""
    xs, lows, highs = np.asarray(x), np.asarray(low), np.asarray(high)
    return {
        "type": "scatter",
        "name": name,
        "x": np.concatenate([xs, xs[::-1]]),
        "y": np.concatenate([highs, lows[::-1]]),
        "mode": "lines",
        "line": {"width": 0, "color": look(role).color},
        "fill": "toself",
        "fillcolor": translucent(look(role).color, 0.2),
        "showlegend": False,
        "hoverinfo": "skip",
        "meta": {"role": role, "ghost": False, "band": True},
    }


def bars(low: FloatArray, values: FloatArray, high: FloatArray, role: str, **style: Any) -> dict[str, Any]:
    """Error bars from `low` to `high` around values, in the colour of a role."""
    ends = {"symmetric": False, "array": high - values, "arrayminus": values - low}
    return {**ends, "color": look(role).color, **style}


def heat(
    name: str,
    x: ArrayLike,
    y: ArrayLike,
    z: ArrayLike,
    text: ArrayLike,
    /,
    *,
    scale: Sequence[Sequence[Any]],
    ends: tuple[float, float],
    ticks: Mapping[float, str],
    **place: Any,
) -> dict[str, Any]:
    """A map in colours of a `scale` between its `ends`, over a bar with `ticks` that lies at its `place`."""
    bar = {"orientation": "h", **place, "thickness": 14, "len": 1.0, "outlinewidth": 1}
    bar |= {"tickvals": list(ticks), "ticktext": list(ticks.values()), "tickangle": 0, "ticks": ""}
    trace = {"type": "heatmap", "name": name, "x": x, "y": y, "z": z, "text": text}
    shown = {"hovertemplate": "%{text}<extra></extra>", "zmin": ends[0], "zmax": ends[1]}
    return {**trace, **shown, "colorscale": scale, "colorbar": bar}


def guide(x: Sequence[float], y: Sequence[float], *, name: str = "") -> dict[str, Any]:
    """A thin helper line, for instance at the ε or δ that is being read off."""
    return series(name, np.asarray(x, float), np.asarray(y, float), "guide", showlegend=False, hoverinfo="skip")


def before(label: str, place: float, mean: float, role: str) -> dict[str, Any]:
    """The mean of the run before: hollow, so that it is not taken for one of the draws, and with its name on hover."""
    name = f"{label}, before"
    ghost = series(name, [place], [mean], role, ghost=True, mode="markers")
    hollow = {"symbol": f"{look(role).symbol}-open", "size": 10, "line": {"width": 2}}
    return ghost | {
        "marker": ghost["marker"] | hollow,
        "hoverinfo": None,
        "hovertemplate": f"before: %{{y:.2%}}<extra>{label}</extra>",
    }


def translucent(color: str, opacity: float) -> str:
    """A ``#rrggbb`` colour as plotly's ``rgba(...)``."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def axis(title: str, view: tuple[float, float], *, log: bool = False, **extra: Any) -> dict[str, Any]:
    """One axis with its title and its explicit range, in data units also where it is logarithmic."""
    low, high = (math.log10(v) for v in view) if log else view
    result: dict[str, Any] = {
        "title": {"text": title},
        "range": [low, high],
        "type": "log" if log else "linear",
        "automargin": True,
        "zeroline": False,
    }
    if log:
        decades = abs(high - low)
        result |= {"exponentformat": "power", "dtick": max(1, math.ceil(decades / 8))}
    return result | extra


def finite(values: ArrayLike) -> FloatArray:
    """The values with NaN where nothing is proved, so that no curve is drawn there."""
    numbers = np.asarray(values, dtype=float)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def above(values: ArrayLike, floor: float) -> FloatArray:
    """The values with NaN below the floor of a logarithmic axis."""
    return np.where(np.asarray(values) > floor, values, np.nan)


def decades(*curves: ArrayLike) -> tuple[float, float]:
    """Whole powers of ten around the curves, so that an axis stays put while they move a little."""
    values = np.concatenate([np.asarray(curve) for curve in curves])
    values = values[np.isfinite(values) & (values > 0)]
    return 10.0 ** math.floor(math.log10(values.min())), 10.0 ** math.ceil(math.log10(values.max()))


def log_range(values: Sequence[float]) -> tuple[float, float]:
    """An axis that holds all positive values, with a little air."""
    there = [value for value in values if value > 0 and np.isfinite(value)] or [1.0]
    return min(there) / 1.5, max(there) * 1.5


def figure(
    traces: Sequence[dict[str, Any]],
    xaxis: dict[str, Any],
    yaxis: dict[str, Any],
    *,
    height: int = 430,
    legend: bool = True,
    frames: Sequence[dict[str, Any]] = (),
    **layout: Any,
) -> Figure:
    """The whole figure in one call, not validated; the legend sits above the chart and wraps on narrow screens."""
    return Chart(
        {
            "data": list(traces),
            "frames": list(frames) or None,
            "layout": {
                "xaxis": xaxis,
                "yaxis": yaxis,
                "height": height,
                "showlegend": legend,
                "legend": {
                    "orientation": "h",
                    "x": 0,
                    "xanchor": "left",
                    "y": 1.02,
                    "yanchor": "bottom",
                    "tracegroupgap": 0,  # the rows of grouped names lie as close as any others
                },
                "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
                "hovermode": "x unified" if legend else "closest",
                "paper_bgcolor": "rgba(0,0,0,0)",
                "plot_bgcolor": "rgba(0,0,0,0)",
                **layout,
            },
        }
    )


class Small(NamedTuple):
    """A small picture among others: its name, which stands over it, its traces and its axes."""

    name: str
    traces: Sequence[dict[str, Any]]
    xaxis: dict[str, Any]
    yaxis: dict[str, Any]


def multiples(pictures: Sequence[Small], across: int, *, gap: float = 0.3, height: int = 160) -> Figure:
    """Small pictures, `across` of them side by side and each `height` pixels high; `gap` is a share of a row."""
    traces: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    axes: dict[str, dict[str, Any]] = {}
    for number, one in enumerate(pictures, 1):
        place = "" if number == 1 else str(number)
        traces += [trace | {"xaxis": f"x{place}", "yaxis": f"y{place}"} for trace in one.traces]
        axes |= {f"xaxis{place}": one.xaxis, f"yaxis{place}": one.yaxis}
        at = {"x": 0, "y": 1, "xref": f"x{place} domain", "yref": f"y{place} domain", "xanchor": "left"}
        names.append({"text": one.name, "showarrow": False, "yanchor": "bottom", **at})
    down = math.ceil(len(pictures) / across)
    grid = {"rows": down, "columns": across, "pattern": "independent", "xgap": 0.16, "ygap": gap}
    layout: dict[str, Any] = {"annotations": names, "grid": grid, "margin": {"l": 8, "r": 8, "t": 24, "b": 8}} | axes
    return figure(traces, height=height * down, legend=False, **layout)
