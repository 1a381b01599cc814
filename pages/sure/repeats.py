"""A hundred repetitions: the intervals of one coefficient side by side, those that miss the truth thick."""

from functools import lru_cache
from typing import Any, Self

import numpy as np
import pandas as pd

from objpert_core._validation import FloatArray
from objpert_core.experiments.intervals.coverage import DELTA, Found, repeated
from pages.sure.coefficients import ACCOUNTANT, LOOKS, NAMES
from pages.sure.controls import COLUMNS, EPSILON, REPEATED, SEED, SHAPE, SHAPES
from pages.sure.people import OfPeople
from ui import figures, sentences
from ui.view import Course, set_by

COUNT = 100
_FAINT = 0.35


class Repeats(OfPeople, name="sure_repeats", title="A hundred draws", snippet="repeats"):
    """One coefficient's intervals on a hundred generated data sets."""

    epsilon: float = set_by(EPSILON, "ε")
    people: int = set_by(REPEATED, "n")
    shape: str = set_by(SHAPE)
    columns: int = set_by(COLUMNS, "d", aside=True)
    seed: int = set_by(SEED, aside=True)

    ghosts = False
    snippet_note = "These lines print how many intervals hold the truth."

    @property
    def methods(self) -> dict[str, Found]:
        """By how much the first column's estimates are off, least first, and their intervals, shape (100,) each."""
        return _sorted(self.shape, self.people, self.columns, self.epsilon, self.seed)

    def held(self, method: str) -> np.ndarray:
        """Which intervals hold the truth."""
        one = self.methods[method]
        return np.asarray((one.low <= 0) & (one.high >= 0))

    def _count(self, method: str) -> int:
        return int(self.held(method).sum())

    def answer(self) -> str:
        return (
            f"Of {COUNT} private intervals {self._count('interval')} hold the truth; {self._count('naive')} if they "
            f"forget the noise; {self._count('public')} without privacy."
        )

    def promise(self) -> str:
        return sentences.promise(self.epsilon, DELTA, ACCOUNTANT)

    def blanks(self) -> dict[str, Any]:
        return {**super().blanks(), "count": COUNT}

    def courses(self) -> list[Course]:
        return [("the private intervals that hold the truth", self._count("interval"), sentences.number)]

    def note(self) -> str:
        return (
            f"{COUNT} data sets of {self.people:,} people, {SHAPES[self.shape]}, seed {self.seed}; 95 % intervals of "
            "x1, in the order of the estimates. Thick intervals miss the truth, which is the line. The three "
            "methods share one scale, and wider intervals are cut at its ends."
        )

    def table(self) -> list[dict[str, str]]:
        public = float(np.median(self.methods["public"].widths))
        return [
            {
                "Intervals": NAMES[method],
                "Hold the truth": f"{self._count(method)} of {COUNT}",
                "Width / without privacy": sentences.ratio(float(np.median(one.widths)) / public, up=False),
            }
            for method, one in self.methods.items()
        ]

    def numbers(self) -> pd.DataFrame:
        parts = [
            pd.DataFrame(
                {
                    "method": method,
                    "off": one.coefficients,
                    "low": one.low,
                    "high": one.high,
                    "holds": self.held(method),
                }
            )
            for method, one in self.methods.items()
        ]
        return pd.concat(parts, ignore_index=True)

    def shows(self) -> str:
        listed = "; ".join(f"{NAMES[method]} {self._count(method)}" for method in self.methods)
        return f"{COUNT} intervals of each method about the truth, by estimate. How many hold the truth: {listed}."

    def chart(self, before: Self | None) -> Any:
        most = max(_reach(one) for one in self.methods.values())
        traces: list[dict[str, Any]] = []
        rows, centres = np.arange(COUNT), 2.1 * most * np.arange(len(self.methods))
        for centre, (method, one) in zip(centres, self.methods.items(), strict=True):
            traces.append(figures.guide((centre, centre), (-1, COUNT)))
            held, role = self.held(method), LOOKS[method]
            for which, width, opacity in ((held, 1.5, _FAINT), (~held, 3.5, 1.0)):
                low, high = (centre + np.clip(end[which], -most, most) for end in (one.low, one.high))
                x, y = _stripes(low, high, rows[which])
                line = figures.series(NAMES[method], x, y, role, hoverinfo="skip", opacity=opacity, showlegend=False)
                line["mode"], line["line"] = "lines", {**line["line"], "dash": "solid", "width": width}
                traces.append(line)
        heads = [f"{NAMES[method]}<br>{self._count(method)} hold" for method in self.methods]
        title = f"off the true coefficient, ± {sentences.number(most, 2)} log-odds each"
        xaxis = figures.axis(title, (-most, centres[-1] + most), **figures.ticks(centres, heads, showgrid=False))
        yaxis = figures.axis("", (COUNT, -1), showticklabels=False, showgrid=False)
        return figures.figure(traces, xaxis, yaxis, height=420, legend=False, hovermode="closest")


@lru_cache(maxsize=32)
def _sorted(shape: str, n: int, d: int, epsilon: float, seed: int) -> dict[str, Found]:
    found = {}
    for method, one in repeated(shape, n, d, epsilon, seed, COUNT).items():
        order = np.argsort(one.coefficients[:, 0])
        found[method] = Found(*(part[order, 0] for part in one))
    return found


def _reach(one: Found) -> float:
    """How far from the truth four of five intervals stay: a few may be so wide that the others would be points."""
    return float(np.quantile(np.maximum(-one.low, one.high), 0.8))


def _stripes(low: FloatArray, high: FloatArray, rows: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """Intervals as one line with gaps."""
    gap = np.full(len(rows), np.nan)
    return np.stack([low, high, gap], 1).ravel(), np.stack([rows, rows, gap], 1).ravel()
