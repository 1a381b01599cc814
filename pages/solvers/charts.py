"""The two charts of the Solvers page: ‖∇J‖ as the evaluations add up, and evaluations against n."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pages.solvers import numbers as sr
from ui import figures

EVALUATIONS, RELATIVE = "Gradient evaluations", "Divided by n log n"


def descent(setting: sr.Setting, solvers: Sequence[str], *, ghost: sr.Setting | None = None, height: int = 480) -> Any:
    """The gradient's norm at every check, against the evaluations until then; τ as a line."""
    runs = {solver: sr.run(solver, setting) for solver in solvers}
    counts = np.concatenate([[setting.n, 10 * setting.n], *(found.evaluations for found in runs.values())])
    norms = np.concatenate([[10 * setting.tau], *(found.norms[found.norms > 0] for found in runs.values())])
    right = sr.decades(counts)[1]
    left, top = 0.8 * setting.n, sr.decades(norms)[1]
    bottom = setting.tau / 30
    traces = [
        figures.series(f"{sr.NAMES[solver]}, before", *sr.curve(sr.run(solver, ghost)), solver, ghost=True)
        for solver in (solvers if ghost else ())
    ]
    traces.append(figures.guide((left, right), (setting.tau, setting.tau), name="τ"))
    traces += [
        figures.series(sr.NAMES[solver], *sr.curve(found), solver, hover="‖∇J‖ = %{y:.2g} after %{x:,.0f}")
        for solver, found in runs.items()
    ]
    return figures.figure(
        traces,
        xaxis=figures.axis("gradient evaluations, single rows", (left, right), log=True),
        yaxis=figures.axis("gradient norm ‖∇J‖", (bottom, top), log=True),
        height=height,
        hovermode="closest",
        annotations=[_label("τ", np.log10(right), np.log10(setting.tau))],
    )


def _label(text: str, x: float, y: float) -> dict[str, Any]:
    return {"text": text, "x": x, "y": y, "showarrow": False, "xanchor": "right", "yanchor": "bottom"}


def growth(columns: str, solvers: Sequence[str], *, relative: bool = False, height: int = 460) -> Any:
    """The stored measurements as points, and c·n^a·log n fitted to each solver's."""
    found = sr.costs(solvers, columns)
    traces, heights, sizes = [], [1e3], [1e3, 1e4]
    for solver, cost in found.items():
        n = np.array(cost.n, dtype=np.float64)
        shown = sr.per_row(n, np.array(cost.evaluations, dtype=np.float64), relative)
        line = np.geomspace(n[0], n[-1], 40)
        fitted = sr.per_row(line, cost.growth.at(line), relative)
        traces.append(figures.series(f"{sr.NAMES[solver]}, fitted", line, fitted, solver, ghost=True, opacity=0.7))
        hover = "%{y:.3g} at n = %{x:,.0f}"
        traces.append(figures.series(sr.NAMES[solver], n, shown, solver, mode="markers", hover=hover))
        heights, sizes = [*heights, *shown], [*sizes, *n]
    low, high = sr.decades(np.array(heights[1:] or heights))
    return figures.figure(
        traces,
        xaxis=figures.axis("rows n", (0.7 * min(sizes), 1.4 * max(sizes)), log=True, dtick=1),
        yaxis=figures.axis(
            "gradient evaluations / (n log n)" if relative else "gradient evaluations", (low, high), log=True
        ),
        height=height,
        hovermode="closest",
    )
