"""The two charts of the Solvers page: ‖∇J‖ as the evaluations add up, and evaluations against n."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from objpert_core.experiments.studies import solver_costs as sc
from pages.solvers import numbers as sr
from ui import figures

EVALUATIONS, RELATIVE = "Gradient evaluations", "Divided by n log n"


def descent(setting: sr.Setting, solvers: Sequence[str], *, ghost: sr.Setting | None = None, height: int = 480) -> Any:
    """The gradient's norm at every check, against the evaluations until then; τ as a line."""
    runs = {solver: sr.run(solver, setting) for solver in solvers}
    counts = np.concatenate([[setting.n, 10 * setting.n], *(found.evaluations for found in runs.values())])
    norms = np.concatenate([[10 * setting.tau], *(found.norms[found.norms > 0] for found in runs.values())])
    (_, right), (_, top), tau = sr.decades(counts), sr.decades(norms), setting.tau
    left, traces = 0.8 * setting.n, []
    if ghost:
        for solver in solvers:
            before = sr.curve(sr.run(solver, ghost))
            traces.append(figures.series(f"{sr.NAMES[solver]}, before", *before, solver, ghost=True))
    traces.append(figures.guide((left, right), (tau, tau), name="τ"))
    hover = "‖∇J‖ = %{y:.2g} after %{x:,.0f}"
    traces += [figures.series(sr.NAMES[solver], *sr.curve(run), solver, hover=hover) for solver, run in runs.items()]
    label = {"text": "τ", "x": np.log10(right), "y": np.log10(tau), "showarrow": False}
    across = figures.axis("gradient evaluations, single rows", (left, right), log=True)
    up = figures.axis("gradient norm ‖∇J‖", (tau / 30, top), log=True)
    labels = [label | {"xanchor": "right", "yanchor": "bottom"}]
    return figures.figure(traces, xaxis=across, yaxis=up, height=height, hovermode="closest", annotations=labels)


def growth(columns: str, solvers: Sequence[str], *, relative: bool = False, height: int = 460) -> Any:
    """The stored measurements as points, and c·n^a·log n fitted to each solver's."""
    traces: list[dict[str, Any]] = []
    heights: list[float] = []
    sizes, hover = [1e3, 1e4], "%{y:.3g} at n = %{x:,.0f}"
    for solver, cost in sc.costs(solvers, columns).items():
        n, name = np.array(cost.n, dtype=np.float64), sr.NAMES[solver]
        shown = sr.per_row(n, np.array(cost.evaluations, dtype=np.float64), relative)
        line = np.geomspace(n[0], n[-1], 40)
        fitted = sr.per_row(line, cost.growth.at(line), relative)
        traces.append(figures.series(f"{name}, fitted", line, fitted, solver, ghost=True, opacity=0.7))
        traces.append(figures.series(name, n, shown, solver, mode="markers", hover=hover))
        heights, sizes = [*heights, *shown], [*sizes, *n]
    what = "gradient evaluations / (n log n)" if relative else "gradient evaluations"
    across = figures.axis("rows n", (0.7 * min(sizes), 1.4 * max(sizes)), log=True, dtick=1)
    up = figures.axis(what, sr.decades(np.array(heights or [1e3])), log=True)
    return figures.figure(traces, xaxis=across, yaxis=up, height=height, hovermode="closest")
