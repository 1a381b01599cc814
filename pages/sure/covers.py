"""How often intervals cover: stored simulations, forgetting the noise and not, coverage against width."""

from typing import Any, Self

import numpy as np

from objpert_core.experiments.intervals import coverage, stored
from objpert_core.experiments.summary import Interval
from pages.sure.coefficients import ACCOUNTANT
from pages.sure.controls import CASE, CASES, case_name
from ui import figures, sentences
from ui.stored_view import StoredView
from ui.view import set_by

LABELS = {
    "naive": "forgetting the noise",
    "interval": "ours",
    "wang2019": "Wang, Kifer, Lee 2019",
    "sandwich": "ours, sandwich",
    "public": "without privacy",
}
LOOKS = {
    "naive": "published",
    "interval": "tight",
    "wang2019": "noise",
    "sandwich": "monotone",
    "public": "non-private",
}
WIDTHS = np.array([1.0, 2.0, 5.0, 10.0, 20.0, 50.0])


class Covers(StoredView, name="sure_covers", title="How often intervals cover", snippet="covers"):
    """Every method on one kind of data, among all kinds."""

    case: tuple[str, int, int, float] = set_by(CASE)

    experiment = "coverage"
    load = staticmethod(stored.load)

    def missing(self) -> str:
        return "This picture needs stored results: python -m benchmarks.experiments intervals coverage"

    def blanks(self) -> dict[str, Any]:
        return {**_cells(self.case), "rows": self.case[1], "columns": self.case[2], "methods": tuple(LABELS)}

    def covered(self, method: str, case: tuple[str, int, int, float] | None = None) -> Interval:
        """The share of coefficients that a method covers, with its interval."""
        found = self.results.interval(method=method, **_cells(case or self.case))
        assert found is not None
        return found

    def width(self, method: str, case: tuple[str, int, int, float] | None = None) -> float:
        """How many times as wide as without privacy."""
        return float(np.median(self.results.values("width", method=method, **_cells(case or self.case))))

    def answer(self) -> str:
        naive, ours = (sentences.percent(self.covered(method).mean) for method in ("naive", "interval"))
        return f"Intervals that forget the noise hold the truth {naive} of the time, ours {ours} (promised: 95 %)."

    def promise(self) -> str:
        return sentences.promise(self.case[3], coverage.DELTA, ACCOUNTANT)

    def note(self) -> str:
        wide = sentences.ratio(self.width("interval"), up=False)
        sets = coverage.BLOCK * self.results.interval(method="public", **_cells(self.case)).count
        return (
            f"Our intervals are {wide} as wide as without privacy. Large marks: {case_name(self.case)}, {sets:,} "
            "generated data sets, bars are 95 % intervals. Small marks: the other kinds of data, from 1,000 people to "
            "100,000 and from ε = 0.1 to 8."
        )

    def table(self) -> list[dict[str, str]]:
        return [
            {
                "Intervals": label,
                "Cover": sentences.percent(one.mean),
                "± (95 %)": sentences.percent(one.half_width),
                "Width / without privacy": sentences.ratio(self.width(method), up=False),
            }
            for method, label in LABELS.items()
            for one in (self.covered(method),)
        ]

    def numbers(self) -> Any:
        return list(self.results.rows)

    def shows(self) -> str:
        listed = "; ".join(f"{row['Intervals']} {row['Cover']}" for row in self.table())
        return f"Share of coefficients covered, against the width divided by the width without privacy: {listed}."

    def chart(self, before: Self | None) -> Any:
        traces: list[dict[str, Any]] = [figures.guide((0.3, 70.0), (0.95, 0.95))]
        others = [case for case in CASES if case != self.case]
        for method, label in LABELS.items():
            role = LOOKS[method]
            widths = np.array([self.width(method, case) for case in others])
            means = np.array([self.covered(method, case).mean for case in others])
            small: dict[str, Any] = {"opacity": 0.45, "showlegend": False}
            traces.append(figures.marks(label, widths, means, role, 7, hover="covers %{y:.1%}", **small))
            one = self.covered(method)
            bars = {"array": [one.half_width], "color": figures.look(role).color, "thickness": 2}
            here = [self.width(method)], [one.mean]
            traces.append(figures.marks(label, *here, role, 13, hover="covers %{y:.1%}", error_y=bars))
        ticks = figures.ticks(WIDTHS, [f"{width:g}×" for width in WIDTHS])
        xaxis = figures.axis("width / width without privacy", (0.4, 60.0), log=True, **ticks)
        yaxis = figures.axis("share covered, 95 % promised", (0.15, 1.02), tickformat=".0%")
        return figures.figure(traces, xaxis, yaxis, height=420, hovermode="closest")


def _cells(case: tuple[str, int, int, float]) -> dict[str, Any]:
    """A case, as the results' columns name it."""
    return dict(zip(("shape", "n", "d", "epsilon"), case, strict=True))
