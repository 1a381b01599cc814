"""The charts of the page "Will it generalise?": methods side by side, against n, parts of a bound, gaps, a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from objpert_core.experiments.population.methods import CONTENDERS, LABELS, Setting
from objpert_core.experiments.population.stored import ExcessRisks
from pages.population import numbers
from pages.population.numbers import Risks
from ui import figures

Trace = dict[str, Any]
LEGEND = {
    "sgd": "SGD, published",
    "objective": "Objective, published",
    "gd": "Gradient descent",
    "phased": "Phased ERM",
    "objective-bound": "Objective, bound’s Λ",
    "objective-least": "Objective, least Λ",
    "objective-tight": "Objective, tight",
    "no-privacy": "Without privacy",
    "zero": "θ = 0",
}
"""What legends and axes call the methods: two stand in a row on a telephone."""
LETTERS = {
    "sgd": "S",
    "objective": "P",
    "gd": "G",
    "phased": "E",
    "objective-bound": "B",
    "objective-least": "L",
    "objective-tight": "T",
    "zero": "0",
}


def role(name: str) -> str:
    """A method's look."""
    return {"no-privacy": "non-private"}.get(name, f"risk-{name}")


def side_by_side(risks: Risks, before: Risks | None = None, *, every: bool = False) -> Any:
    """Excess risk of the private methods, its interval, and its bound; θ = 0 and no privacy as lines.

    With `every` also of the two that differ from the tight one in Λ only.
    """
    names = [name for name in risks.excess if name in CONTENDERS or (every and name != "no-privacy")]
    up = (len(names) - 0.4, -0.6)  # the first on top
    traces: list[Trace] = []
    values = [risks.zero]
    for level, name in ((risks.zero, "zero"), *_without(risks)):
        traces.append(figures.series(f"{LEGEND[name]}: {level:.3g}", (level, level), up, role(name), hoverinfo="skip"))
        values.append(level)
    for place, name in enumerate(names):
        found, proved = risks.excess[name], numbers.bound(name, risks.setting)
        low, high = (found.low, found.high) if found.known else (found.mean, found.mean)
        low = max(low, found.mean / 10)  # an axis of logarithms has no zero
        bars = {"symmetric": False, "array": [high - found.mean], "arrayminus": [found.mean - low]}
        hover = f"{found.mean:.3g} ± {found.half_width:.2g}" if found.known else f"{found.mean:.3g}"
        dot = figures.series(LABELS[name], [found.mean], [place], role(name), mode="markers", hover=hover)
        dot |= {"showlegend": False, "error_x": bars | {"color": figures.look(role(name)).color, "thickness": 2}}
        dot["marker"] |= {"size": 12}
        values += [found.mean, low, high]
        if before is not None and name in before.excess:
            mean = before.excess[name].mean
            hollow = figures.before(LABELS[name], place, mean, role(name))
            hollow |= {"x": hollow["y"], "y": hollow["x"] - 0.22}
            traces.append(hollow | {"hovertemplate": f"before: {mean:.3g}<extra>{LABELS[name]}</extra>"})
            values.append(mean)
        if proved is not None:
            tick = figures.series(
                f"{LABELS[name]}, bound", (proved, proved), (place - 0.3, place + 0.3), role(name), hover="%{x:.3g}"
            )
            tick["line"] = tick["line"] | {"width": 3, "dash": "solid"}
            first = not any(trace.get("legendgroup") == "bounds" for trace in traces)
            tick |= {"name": "proved at most"} if first else {}
            traces.append(tick | {"legendgroup": "bounds", "showlegend": first})
            values.append(proved)
        traces.append(dot)
    ticks: dict[str, Any] = {
        "tickmode": "array",
        "tickvals": np.arange(len(names)),
        "ticktext": [LEGEND[name] for name in names],
    }
    labels = list(ticks["ticktext"])
    return figures.figure(
        traces,
        xaxis=figures.axis("excess population risk", numbers.log_range(values), log=True),
        yaxis=figures.axis("", up, **ticks, categoryarray=labels, showgrid=False),
        height=400,
        hovermode="closest",
    )


def _without(risks: Risks) -> list[tuple[float, str]]:
    found = risks.excess.get("no-privacy")
    return [] if found is None else [(found.mean, "no-privacy")]


def against_rows(
    found: ExcessRisks, setting: Setting, *, what: str = "excess", bounds: bool = False, every: bool = False
) -> Any:
    """Stored means against n, with intervals; `what` is "excess" or "gap", `every` as for `side_by_side`."""
    d, epsilon = setting.d, setting.epsilon
    traces: list[Trace] = []
    values: list[float] = []
    for name in found.methods:
        if not (every or name in CONTENDERS or name == "no-privacy"):
            continue
        n, points = found.curve(d, epsilon, name)
        if not n:
            continue
        intervals = [getattr(point, what) for point in points]
        means = np.array([interval.mean for interval in intervals])
        # an axis of logarithms has no 0; a gap that may be one would only look like a curve
        lows = [interval.low if interval.known else interval.mean for interval in intervals]
        positive = np.where(np.array(lows) > 0 if what == "gap" else means > 0, means, np.nan)
        halves = np.array([interval.half_width if interval.known else 0.0 for interval in intervals])
        bars = {
            "symmetric": False,
            "array": halves,
            "arrayminus": np.minimum(halves, 0.9 * np.where(means > 0, means, 0.0)),
            "color": figures.look(role(name)).color,
        }
        hover, mode = "%{y:.3g} at n = %{x:,}", "markers" if what == "gap" else "lines+markers"
        traces.append(figures.series(LEGEND[name], n, positive, role(name), mode=mode, hover=hover, error_y=bars))
        values += [value for value in positive if np.isfinite(value)]
        if bounds:
            ask = numbers.bound if what == "excess" else numbers.stability
            proved = [ask(name, Setting(setting.population, rows, d, epsilon)) for rows in n]
            if all(one is not None for one in proved):
                line = figures.series(
                    f"{LEGEND[name]}, bound", n, np.array(proved, dtype=float), role(name), ghost=True
                )
                traces.append(line)
                values += [one for one in proved if one is not None]
    if what == "excess":
        zeros = [found.zero(n, d, epsilon) for n in found.rows]
        traces.append(figures.series(LEGEND["zero"], found.rows, zeros, role("zero"), hover="%{y:.3g}"))
        values += zeros
    if setting.n in found.rows:
        low, high = numbers.log_range(values)
        traces.insert(0, figures.guide((setting.n, setting.n), (low, high)))
    title = "excess population risk" if what == "excess" else "risk less training loss"
    return figures.figure(
        traces,
        xaxis=figures.axis("rows n", (found.rows[0] / 1.3, found.rows[-1] * 1.3), log=True),
        yaxis=figures.axis(title, numbers.log_range(values), log=True),
        height=420,
        hovermode="closest",
    )


def passes(setting: Setting, steps: int, before: Setting | None = None) -> Any:
    """The parts of the bound on noisy gradient descent against T."""
    traces: list[Trace] = []
    values: list[float] = []
    names = {
        "optimisation": "too few steps",
        "noise": "noise of privacy",
        "stability": "too many looks",
        "total": "their sum",
    }
    roles = {"optimisation": "without", "noise": "noise", "stability": "risk-phased", "total": "with"}
    for ghost, one in ((True, before), (False, setting)):
        if one is None:
            continue
        table = numbers.parts_frame(one)
        for name, label in names.items():
            trace = figures.series(label, table["T"], table[name], roles[name], ghost=ghost, hover="%{y:.3g}")
            traces.append(trace)
            values += list(table[name])
    low, high = numbers.log_range(values)
    traces.insert(0, figures.guide((steps, steps), (low, high), name="T"))
    return figures.figure(
        traces,
        xaxis=figures.axis("steps T", (numbers.STEPS[0] / 1.2, numbers.STEPS[-1] * 1.2), log=True),
        yaxis=figures.axis("bound on the excess risk", (low, high), log=True),
        height=400,
    )


def winners(found: ExcessRisks, epsilon: float, setting: Setting) -> Any:
    """Who wins at every n and d: a square with a letter; hollow where the next one is within the error bars."""
    cells = numbers.winners(found, epsilon)
    traces: list[Trace] = []
    for name in dict.fromkeys(cell.winner for cell in cells):
        own = [cell for cell in cells if cell.winner == name]
        look = figures.look(role(name))
        texts = [LETTERS[name] + ("" if cell.clear else "?") for cell in own]
        hover = [
            f"n = {cell.n:,}, d = {cell.d}: {LABELS[name]}, {cell.ratio:.3g} of the excess risk of θ = 0"
            + ("" if cell.clear else "; not clearly ahead")
            for cell in own
        ]
        trace = figures.series(
            f"{LETTERS[name]}: {LEGEND[name]}",
            [cell.n for cell in own],
            [cell.d for cell in own],
            role(name),
            mode="markers+text",
            text=texts,
            textposition="middle center",
            hovertext=hover,
        )
        trace["marker"] = {
            "color": [figures.translucent(look.color, 0.55 if cell.clear else 0.2) for cell in own],
            "symbol": "square",
            "size": 38,
        }
        traces.append(trace | {"hovertemplate": "%{hovertext}<extra></extra>"})
    if setting.n in found.rows and setting.d in found.dimensions:
        ring = figures.series("this setting", [setting.n], [setting.d], "guide", mode="markers", hoverinfo="skip")
        ring["marker"] = {"symbol": "square-open", "size": 46, "color": figures.GREY, "line": {"width": 3}}
        traces.append(ring | {"showlegend": False})
    return figures.figure(
        traces,
        xaxis=figures.axis("rows n", (found.rows[0] / 1.8, found.rows[-1] * 1.8), log=True, **_at(found.rows)),
        yaxis=figures.axis(
            "parameters d",
            (found.dimensions[0] / 1.8, found.dimensions[-1] * 1.8),
            log=True,
            **_at(found.dimensions),
        ),
        height=420,
        hovermode="closest",
    )


def _at(values: Sequence[int]) -> dict[str, Any]:
    """Ticks at these values; 10,000 is "10k" where there is little room."""
    texts = [f"{value // 1000}k" if value >= 10_000 else f"{value}" for value in values]
    return {"tickmode": "array", "tickvals": list(values), "ticktext": texts}


def leak(setting: Setting) -> Any:
    """δ of one published step over its target, against n."""
    table = numbers.leak_frame(setting.d, setting.epsilon)
    values = [1.0, *table["attained"], *table["proved"]]
    low, high = numbers.log_range(values)
    ends = (table["n"].min() / 1.3, table["n"].max() * 1.3)
    hover = "%{y:.3g} times its target at n = %{x:,}"
    traces = [
        figures.guide((setting.n, setting.n), (low, high)),
        figures.series("claimed", ends, (1.0, 1.0), "guide", hoverinfo="skip"),
        figures.series(
            "exactly, on data made for it", table["n"], table["attained"], "with", mode="lines+markers", hover=hover
        ),
        figures.series(
            "proved for all data", table["n"], table["proved"], "without", mode="lines+markers", hover=hover
        ),
    ]
    return figures.figure(
        traces,
        xaxis=figures.axis("rows n", ends, log=True),
        yaxis=figures.axis("δ over what is claimed", (low, high), log=True),
        height=430,
        hovermode="closest",
    )
