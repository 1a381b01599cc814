"""Coefficients of one fit with their intervals: without privacy, private, and private but forgetting the noise."""

from typing import Any, Self

import numpy as np
import pandas as pd

from objpert_core._validation import FloatArray
from objpert_core.experiments.intervals.coverage import Found
from pages.sure.controls import ADULT, COLUMNS, DATA, DELTA, EPSILON, PEOPLE, SEED
from pages.sure.people import OF_ADULT, OfPeople, adult, found
from ui import bounds, draws, figures, sentences
from ui.view import Course, set_by

ACCOUNTANT = f"{bounds.called('logistic')}, composed with the curvature’s noise"
NAMES = {"public": "without privacy", "interval": "private", "naive": "forgetting the noise"}
LOOKS = {"public": "non-private", "interval": "tight", "naive": "published"}
MOST = 15  # times the widest interval without privacy: longer bars are cut
FEW = 5  # columns whose marks have room on a telephone
_PLACES = {"public": -0.24, "interval": 0.0, "naive": 0.24}


class Coefficients(OfPeople, name="sure", title="Coefficients", snippet="coefficients"):
    """One private fit to people: generated ones, whose coefficients are known, or those of Adult."""

    epsilon: float = set_by(EPSILON, "ε")
    people: int = set_by(PEOPLE, "n")
    shape: str = set_by(DATA)
    columns: int = set_by(COLUMNS, "d", aside=True)
    delta: float = set_by(DELTA, "δ", aside=True)
    seed: int = set_by(SEED, aside=True)

    snippet_note = "These lines print the private intervals."

    @property
    def truth(self) -> FloatArray:
        """The true coefficients; where nobody knows them 0, with which intervals are compared then."""
        truth = self._found[0]
        return np.zeros(self.columns) if truth is None else truth

    @property
    def names(self) -> list[str]:
        """What the columns are called."""
        every = tuple(OF_ADULT.values()) if self.shape == ADULT else [f"x{j + 1}" for j in range(self.columns)]
        return list(every[: self.columns])

    @property
    def methods(self) -> dict[str, Found]:
        """What each method says."""
        return self._found[1]

    @property
    def _found(self) -> tuple[FloatArray | None, dict[str, Found], str]:
        return found(self.epsilon, self.delta, self.shape, self.people, self.columns, self.seed)

    @property
    def wider(self) -> float:
        """The middle ratio of the private widths to those without privacy."""
        return float(np.median(self.methods["interval"].widths / self.methods["public"].widths))

    def missed(self, method: str) -> int:
        """How many intervals do not hold the true coefficient."""
        one = self.methods[method]
        return int(((self.truth < one.low) | (self.truth > one.high)).sum())

    def answer(self) -> str:
        wide = f"{sentences.ratio(self.wider, up=False)} as wide as".removeprefix("1× ")
        if self.shape == ADULT:
            apart = f"{self.missed('interval')} of {self.columns}"
            return f"Private intervals are {wide} without privacy; {apart} coefficients differ from 0."
        misses = f"{self.missed('naive')} of {self.columns}"
        return f"Private intervals are {wide} without privacy; intervals that forget the noise miss {misses}."

    def promise(self) -> str:
        return sentences.promise(self.epsilon, self.delta, ACCOUNTANT)

    def courses(self) -> list[Course]:
        named = "the width divided by the width without privacy"
        return [(named, self.wider, lambda ratio: sentences.ratio(ratio, up=False))]

    def note(self) -> str:
        told = f"{self.whose}, seed {self.seed}; 95 % intervals, each by itself. "
        if caution := self._found[2]:
            told += f"{caution} Bars are cut where they are {MOST} times as long as without privacy. "
        if self.shape == ADULT:
            return (
                f"{told}Nobody knows the true coefficients. Rows were scaled to norm 1 before these columns were "
                "taken, so a coefficient has no units here."
            )
        return (
            f"{told}Of {self.columns} truths the private intervals miss {self.missed('interval')}, the intervals "
            f"without privacy {self.missed('public')}. The line at 0 is the truth, which is known for generated data "
            "only."
        )

    def table(self) -> list[dict[str, str]]:
        return [
            {"Column": name}
            | ({} if self.shape == ADULT else {"True": sentences.fixed(self.truth[j], 2)})
            | {NAMES[key].capitalize(): _written(one, j) for key, one in self.methods.items()}
            for j, name in enumerate(self.names)
        ]

    def numbers(self) -> pd.DataFrame:
        parts = [
            pd.DataFrame(
                {
                    "column": self.names,
                    "method": key,
                    "truth": np.nan if self.shape == ADULT else self.truth,
                    "coefficient": one.coefficients,
                    "low": one.low,
                    "high": one.high,
                }
            )
            for key, one in self.methods.items()
        ]
        return pd.concat(parts, ignore_index=True)

    def shows(self) -> str:
        about = "" if self.shape == ADULT else ", about the true coefficient, which is the line at 0"
        return f"For every column an interval without privacy, a private one, and one that forgets the noise{about}."

    def chart(self, before: Self | None) -> Any:
        traces: list[dict[str, Any]] = []
        rows, edges = np.arange(self.columns), [0.0]
        if before is not None and (before.columns, before.shape) == (self.columns, self.shape):
            traces.append(before._lines())
        for key, one in self.methods.items():
            off, (low, high), places = one.coefficients - self.truth, self._ends(key), rows + _PLACES[key]
            size, width = (8, 4) if self.columns <= FEW else (5, 0)
            bars = figures.bars(low, off, high, LOOKS[key], thickness=2, width=width)
            traces.append(figures.marks(NAMES[key], off, places, LOOKS[key], size, hover="%{x:.2f}", error_x=bars))
            edges += [*low, *high]
        first, last = min(edges), max(edges)
        if self.shape != ADULT:
            last = max(-first, last)
            first = -last
        air = 0.025 * (last - first)
        names, title = self.names, "off the true coefficient by, in log-odds"
        if self.shape == ADULT:
            title = f"coefficient, in log-odds<br>on {adult().label}"
        ends = (self.columns - 0.5, -0.5)
        xaxis = figures.axis(title, (first - air, last + air))
        yaxis = draws.places("", names, ends)
        return figures.figure([figures.guide((0.0, 0.0), ends), *traces], xaxis, yaxis, height=420, hovermode="closest")

    def _ends(self, method: str) -> FloatArray:
        """By how much the intervals' ends are off the truth, shape (2, columns), cut where bars are too long."""
        one, most = self.methods[method], MOST * float(self.methods["public"].widths.max())
        middle = one.coefficients
        return np.array([np.maximum(one.low, middle - most), np.minimum(one.high, middle + most)]) - self.truth

    def _lines(self) -> dict[str, Any]:
        """The private intervals as one faint line with gaps."""
        places, gap = np.arange(self.columns) + 0.1, np.full(self.columns, np.nan)
        x = np.stack([*self._ends("interval"), gap], 1).ravel()
        y = np.stack([places, places, gap], 1).ravel()
        return figures.series(f"{NAMES['interval']}, before", x, y, LOOKS["interval"], ghost=True)


def _written(one: Found, j: int) -> str:
    return f"{sentences.fixed(one.low[j], 2)} to {sentences.fixed(one.high[j], 2)}"
