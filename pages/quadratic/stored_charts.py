"""The charts of stored results: Figures 1 and 2, where data matter, and the comparison of regressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from objpert_core.experiments.quadratic import figure1, figure2, matter, regression
from objpert_core.experiments.results import Results
from pages.quadratic import numbers
from ui import figures, sentences

Trace = dict[str, Any]
ROLES: Mapping[str, str] = {
    "lop": "tilt",
    "lop-replace": "tilt-replace",
    "lop-clip": "tilt-clipped",
    "qop": "bend-published",
    "qop-tight": "bend-exact",
    "anchor": "anchor",
    "no-privacy": "non-private",
    "published": "bend-published",
    "sharpened": "bend-sharpened",
    "exact": "bend-exact",
    "centred": "bend-exact",
    "bend-tilt": "bend-sharpened",
    "adassp": "tilt-clipped",
    "adassp-tight": "tilt-replace",
    "objective": "tilt",
    "zero": "anchor",
}
"""The look of every stored method."""
# Viridis from dark to light, so that a small bound is dark
_SCALE = [[0.0, "#440154"], [0.25, "#3b528b"], [0.5, "#21918c"], [0.75, "#5ec962"], [1.0, "#fde725"]]
SHORT = {
    "The anchor alone, no data": "Anchor alone",
    "Tilt at 2ζ, one row replaced": "Tilt at 2ζ",
    "Bend, sharpened proof": "Bend, sharpened",
    "Bend, exact theorem": "Bend, exact",
}
"""What legends call some methods: two stand in a row on a telephone."""
_DECADES = (0, 1, 2, 3, 4)


def against(found: Results, column: str, labels: Mapping[str, str], at: float, *, x: str, y: str) -> Any:
    """Stored means against a column, both logarithmic, with intervals; a guide where the control is."""
    table = numbers.means(found, column, list(labels))
    traces: list[Trace] = []
    for method, label in labels.items():
        own = table[table["method"] == method]
        if own.empty:
            continue
        color = figures.look(ROLES[method]).color
        bars = {
            "symmetric": False,
            "array": (own["high"] - own["mean"]).to_numpy(),
            "arrayminus": np.minimum((own["mean"] - own["low"]).to_numpy(), 0.9 * own["mean"].to_numpy()),
            "color": color,
        }
        trace = figures.series(
            SHORT.get(label, label),
            own[column].to_numpy(),
            own["mean"].to_numpy(),
            ROLES[method],
            mode="lines+markers",
            hover="%{y:.4g}",
            error_y=bars,
        )
        traces.append(trace)
    view = numbers.log_range(table["mean"].tolist())
    ends = table[column].min() / 1.3, table[column].max() * 1.3
    guide = figures.guide((at, at), view)
    return figures.figure(
        [guide, *traces],
        xaxis=figures.axis(x, ends, log=True),
        yaxis=figures.axis(y, view, log=True),
        height=400,
        hovermode="closest",
    )


def figure_2(found: Results, kappa: float, *, every: bool = False) -> Any:
    """Risk against the box."""
    shown = {name: label for name, label in figure2.LABELS.items() if every or name != "lop-replace"}
    return against(found, "kappa", shown, kappa, x="half side of the box κ", y="empirical risk J")


def where_data_matter(found: Results, n: int) -> Any:
    """Excess risk against the number of rows."""
    return against(found, "n", matter.LABELS, n, x="rows n", y="excess of J over its least")


def regressions(found: Results, case: tuple[int, int, float]) -> Any:
    """Excess test error of every method at one setting: dots with intervals."""
    n, d, epsilon = case
    traces: list[Trace] = []
    names: list[str] = []
    values: list[float] = []
    known = {method: found.interval(n=n, d=d, epsilon=epsilon, method=method) for method in regression.LABELS}
    shown = {method: interval for method, interval in known.items() if interval is not None}
    for method, interval in sorted(shown.items(), key=lambda pair: pair[1].mean):
        label = regression.LABELS[method]
        place, role = len(names), ROLES[method]
        names.append(label)
        dot = figures.series(label, [interval.mean], [place], role, mode="markers", hover="%{x:.3g}")
        if interval.known:
            low = min(interval.mean - interval.low, 0.9 * interval.mean)
            bars = {"symmetric": False, "array": [interval.high - interval.mean], "arrayminus": [low]}
            dot |= {"error_x": bars | {"color": figures.look(role).color, "thickness": 2}}
        dot["marker"] |= {"size": 12}
        traces.append(dot | {"showlegend": False})
        values.append(interval.mean)
    up = (len(names) - 0.4, -0.6)  # the first on top
    texts = [name.replace(", ", ",<br>") for name in names]
    ticks: dict[str, Any] = {
        "tickmode": "array",
        "tickvals": np.arange(len(names)),
        "ticktext": texts,
        "categoryarray": texts,
    }
    return figures.figure(
        traces,
        xaxis=figures.axis("excess test error (mean square)", numbers.log_range(values), log=True),
        yaxis=figures.axis("", up, **ticks, showgrid=False),
        height=430,
        legend=False,
    )


def figure_1(found: Results, panel: str, proof: str, at: tuple[float, float]) -> Any:
    """The least bound over (ε, δ), in colours of its logarithm; a ring around one cell."""
    epsilons, deltas, values, degrees = numbers.grid(found, panel, proof)
    texts = np.array(
        [
            [
                f"ε = {epsilon:g}, δ = {sentences.delta(delta)}<br>at most {sentences.number(value, 3, up=True)}"
                f"<br>m = {m:.0f}"
                for epsilon, value, m in zip(epsilons, row, row_m, strict=True)
            ]
            for delta, row, row_m in zip(deltas, values, degrees, strict=True)
        ]
    )
    heat = {
        "type": "heatmap",
        "name": f"least bound, {figure1.PROOFS[proof]}",
        "x": _edges(epsilons),
        "y": _edges(deltas),
        "z": np.log10(values),
        "text": texts,
        "hovertemplate": "%{text}<extra></extra>",
        "zmin": 0.0,
        "zmax": 4.3,
        "colorscale": _SCALE,
        "colorbar": {
            "orientation": "h",
            "yref": "container",
            "y": 0.0,
            "yanchor": "bottom",
            "thickness": 14,
            "len": 1.0,
            "outlinewidth": 1,
            "tickvals": list(_DECADES),
            "ticktext": [f"{10**power:,}" for power in _DECADES],
            "tickangle": 0,
            "ticks": "",
        },
    }
    ring = figures.series("this (ε, δ)", [at[0]], [at[1]], "guide", mode="markers", hoverinfo="skip")
    ring["marker"] = {"symbol": "square-open", "size": 24, "color": "#ffffff", "line": {"width": 3}}
    edges = _edges(epsilons), _edges(deltas)
    return figures.figure(
        [heat, ring | {"showlegend": False}],
        xaxis=figures.axis("privacy budget ε", (edges[0][0], edges[0][-1]), log=True, showgrid=False),
        yaxis=figures.axis("slack δ", (edges[1][0], edges[1][-1]), log=True, showgrid=False),
        height=430,
        legend=False,
    )


def _edges(values: Sequence[float]) -> Any:
    """Between the values, half way on a logarithmic scale."""
    logs = np.log(values)
    middle = (logs[1:] + logs[:-1]) / 2
    return np.exp(np.concatenate([[2 * logs[0] - middle[0]], middle, [2 * logs[-1] - middle[-1]]]))
