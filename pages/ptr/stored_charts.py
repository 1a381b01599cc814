"""The chart of stored results: a curve for each method, with its intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pages.ptr.stored_numbers import Curve, Look, places
from ui import figures

ROLES: Mapping[str, str] = {
    # votes
    "noise": "worst",
    "pure": "secret",
    "here": "own",
    "from-here": "asked",
    "printed": "classic",
    "classic": "classic",
    "mean": "smooth",
    "passing": "asked",
    "laplace": "worst",
    "optimal": "floor",
    # teachers
    "independent": "classic",
    "exact": "worst",
    "known": "secret",
    "smooth": "smooth",
    "distance": "own",
    "distance-tight": "asked",
    # logistic regression and first directions
    "objective": "classic",
    "ptr": "asked",
    "output": "worst",
    "worst": "worst",
    "free": "secret",
    "gram": "classic",
    # regressions
    "balanced": "smooth",
    "ada-split": "tilt-replace",
    "ada-tight": "own",
    "ptr-split": "classic",
    "ptr-tight": "asked",
    "adassp": "floor",
    "ridge": "secret",
    "judges": "public",
    "zero": "guide",
}
"""The look of every stored method; another one gets a spare look."""
ASIDE: Mapping[str, frozenset[str]] = {
    "regression": frozenset({"output", "balanced", "ada-split", "ptr-split", "zero"}),
}
"""By experiment, the methods that are drawn only where all are asked for."""


def lines(shown: Sequence[Curve], at: float, look: Look, *, every: bool = False) -> Any:
    """Means against a column, with intervals where there are some; a guide where it is read off.

    The axes hold all means and intervals, also those of the methods in `ASIDE`, which are drawn with `every`.
    """
    traces: list[dict[str, Any]] = []
    heights: list[float] = []
    aside = frozenset() if every else ASIDE.get(look.name, frozenset())
    for curve in shown:
        where = np.array([place for place, _ in curve.points])
        means = figures.finite([interval.mean for _, interval in curve.points])
        role = ROLES.get(curve.method, curve.method)
        extra: dict[str, Any] = {}
        heights += [float(mean) for mean in means]
        if any(interval.known and interval.half_width > 0 for _, interval in curve.points):
            half = np.nan_to_num([interval.half_width for _, interval in curve.points])
            less = np.minimum(half, 0.9 * means) if look.log_y else half
            color = figures.look(role).color
            heights += [*(means + half), *(means - less)]
            extra["error_y"] = {"symmetric": False, "array": half, "arrayminus": less, "color": color}
        hover = "%{y:.1%}" if look.percent else "%{y:.3g}"
        if curve.method not in aside:
            traces.append(figures.series(curve.label, where, means, role, mode="lines+markers", hover=hover, **extra))
    heights = [height for height in heights if np.isfinite(height) and (height > 0 or not look.log_y)] or [1.0]
    if look.log_y:
        view = min(heights) / 1.5, max(heights) * 1.5
    else:
        air = 0.06 * (max(heights) - min(heights)) or 0.1
        view = min(heights) - air, max(heights) + air
    there = places(shown)
    ends = (there[0] / 1.1, there[-1] * 1.1) if look.log_x else (there[0], there[-1])
    return figures.figure(
        [figures.guide((at, at), view), *traces],
        xaxis=figures.axis(look.x, ends, log=look.log_x),
        yaxis=figures.axis(look.y, view, log=look.log_y, **({"tickformat": ".0%"} if look.percent else {})),
        height=420,
        hovermode="closest",
    )
