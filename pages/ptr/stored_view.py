"""What pictures of stored results share on this page: looks, one place that is read off, a row for each method."""

import math
from collections.abc import Mapping
from typing import Any

from objpert_core.experiments.ptr import stored
from objpert_core.experiments.summary import Interval
from ui import sentences
from ui.stored_view import Against, nearest

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
_WHOLE = ("n", "gap")


class PtrResults(Against, snippet="means"):
    """Stored means of this page, read off at the place next to the one asked for."""

    wanted: float
    load = staticmethod(stored.load)
    roles = ROLES
    percent = False  # whether heights are shares

    @property
    def at(self) -> float:
        return nearest(self.places, self.wanted)

    @property
    def means(self) -> dict[str, float]:
        """The means at this place, by method."""
        return {curve.method: curve.mean(self.at) for curve in self.curves}

    @property
    def intervals(self) -> dict[str, Interval]:
        """What was measured at this place, by method."""
        return {curve.method: interval for curve in self.curves if (interval := curve.at(self.at)) is not None}

    def blanks(self) -> dict[str, Any]:
        at = int(self.at) if self.column in _WHOLE else self.at
        return {
            "experiment": self.experiment,
            "setting": dict(self.cells) | {self.column: at},
            "methods": tuple(curve.method for curve in self.curves if not curve.free),
            "free": tuple(curve.method for curve in self.curves if curve.free),
            "column": self.column,
            "over": self.over,
        }

    def heights(self) -> list[float]:
        """Return the ends of all intervals, also of methods that are not drawn."""
        heights: list[float] = []
        for curve in self.curves:
            above, below = curve.reach(log=self.log_y)
            heights += [*curve.means, *(curve.means + above), *(curve.means - below)]
        return heights

    def shows(self) -> str:
        return f"{self.axes[1]}: {', '.join(curve.label for curve in self.curves)}."

    def table(self) -> list[dict[str, str]]:
        """Return every method at this place, with its interval where draws have one; ε is rounded up."""
        title = self.axes[1]
        privacy = title.startswith("ε")
        head = title if privacy else f"{title[0].upper()}{title[1:]}"
        scale, unit = (100, " %") if self.percent else (1, "")
        rows = []
        for curve in self.curves:
            if (interval := curve.at(self.at)) is not None:
                half = scale * interval.half_width if interval.known else 0.0
                value = at_most(interval.mean) if privacy else f"{written(scale * interval.mean)}{unit}"
                rows.append({"Method": curve.label, head: value, "± (95 %)": written(half) if half > 0 else "–"})
        spread = any(row["± (95 %)"] != "–" for row in rows)
        return rows if spread else [{"Method": row["Method"], head: row[head]} for row in rows]

    def numbers(self) -> Any:
        return [
            {self.column: x, "method": curve.method, "mean": interval.mean, "low": interval.low, "high": interval.high}
            for curve in self.curves
            for x, interval in curve.points
        ]


def promise(epsilon: float, delta: float) -> str:
    """The promise in one line."""
    return sentences.promise(epsilon, delta, "each method’s own proof")


def promise_in_chart(delta: float, neighbours: str) -> str:
    """The promise where each method has an ε of its own."""
    return (
        f"Worst case over all people and data: ε as in the chart, with slack δ = {sentences.delta(delta)}; "
        f"{neighbours}; accounted by each method’s own proof."
    )


def at_most(epsilon: float) -> str:
    """ε rounded up; ∞ where nothing is proved."""
    return sentences.epsilon(epsilon) if math.isfinite(epsilon) else "∞"


def written(value: float) -> str:
    """A mean or half an interval, as a power of ten where it is tiny."""
    if not math.isfinite(value):
        return "∞"
    return sentences.number(value) if abs(value) >= 1e-3 or value == 0 else sentences.scientific(value, 3)
