"""Two records that disagree: the true δ of a bend, alone and with a tilt, against how far a label is off."""

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
from scipy.optimize import brentq

from objpert_core._validation import FloatArray
from objpert_core.accounting import TiltAndBend, calibrate_tilt_and_bend
from objpert_core.experiments.quadratic.disagreement import Disagreement, tilted_delta
from pages.quadratic.controls import DELTA, EPSILON, OFF, ROWS, TILT
from pages.quadratic.numbers import AGREEING, EXACT, REPLACED, calibrated, count, tiny
from ui import figures, sentences
from ui.view import Course, View, set_by

PENALTY = 10.0
"""ω of the data that disagree."""
OFFS = np.concatenate([np.geomspace(1e-4, 1.0, 61), [1.5, 2.0]])
"""By how much the labels are off."""
_FLOOR = 1e-16  # δ below is not drawn


@lru_cache(maxsize=128)
def both(epsilon: float, delta: float) -> TiltAndBend:
    """A bend and a tilt of (ε, δ) in one dimension, for residuals of at most 1."""
    return calibrate_tilt_and_bend(epsilon, delta, 1, 1.0)


class Labels(View, name="quadratic_labels", title="Two records disagree"):
    """Two data sets that disagree in one label, which is `off` up or down, and a release of (ε, δ)."""

    off: float = set_by(OFF, "off by")
    tilted: bool = set_by(TILT, "tilt")
    epsilon: float = set_by(EPSILON, "ε")
    rows: int = set_by(ROWS, "n")
    delta: float = set_by(DELTA, "δ", aside=True)

    @property
    def snippet(self) -> str:  # type: ignore[override]
        """Another file where a tilt is added."""
        return "labels_tilted" if self.tilted else "labels"

    def blanks(self) -> dict[str, Any]:
        return {**super().blanks(), "penalty": PENALTY}

    @property
    def data(self) -> Disagreement:
        """The data under the calibrated bend."""
        bend = calibrated(self.epsilon, self.delta, 1)
        return Disagreement(bend.scale, bend.degrees_of_freedom, self.rows, PENALTY)

    def true_delta(self, off: float) -> float:
        """The true δ where the labels are off by so much."""
        if not self.tilted:
            return self.data.delta(off, self.epsilon)
        return tilted_delta(off, self.epsilon, 1.0, both(self.epsilon, self.delta).sigma)

    def answer(self) -> str:
        promised = sentences.delta(self.delta)
        if self.tilted:
            most = float(true_deltas(self).max())
            return f"With the tilt, δ is at most {tiny(most)} for any labels: the promise of {promised} holds."
        edge = breaks_at(self)
        told = f"The true δ is {tiny(self.true_delta(self.off))}, promised {promised}"
        if not math.isfinite(edge):
            return f"{told}."
        return f"{told}; the promise breaks once the label is off by {count(edge)}."

    def promise(self) -> str:
        """The promise, of the bend alone only where the labels agree."""
        return sentences.promise(self.epsilon, self.delta, EXACT, adjacency=REPLACED if self.tilted else AGREEING)

    def note(self) -> str:
        if self.tilted:
            release = both(self.epsilon, self.delta)
            bend, tilt = release.bend, f", σ of the tilt {count(release.sigma)}, residuals clipped to 1"
            computed = "the true δ is computed exactly, for everything that the solver sees"
        else:
            bend, tilt = calibrated(self.epsilon, self.delta, 1), ""
            computed = "the true δ is computed exactly"
        return (
            f"d = 1, n = {self.rows:,}, weight of the regulariser ω = {PENALTY:g}, m = {bend.degrees_of_freedom}, σ² = "
            f"{count(bend.scale)}{tilt}. One label is off, upwards or downwards, and {computed}."
        )

    def courses(self) -> list[Course]:
        return [("the true δ", self.true_delta(self.off), tiny)]

    def table(self) -> list[dict[str, str]]:
        rows = []
        for off in sorted({0.001, 0.01, 0.1, 1.0, self.off}):
            delta = self.true_delta(off)
            rows.append(
                {
                    "Label off by": sentences.number(off),
                    "True δ": "0" if delta == 0 else tiny(delta),
                    "Over the promise": f"{count(delta / self.delta)}×",
                    "Holds": "yes" if delta <= self.delta else "no",
                }
            )
        return rows

    def numbers(self) -> dict[str, Any]:
        return {"off": OFFS, "true_delta": true_deltas(self), "promised": self.delta}

    def shows(self) -> str:
        return (
            "The true δ against how far one label is off the interpolation, both logarithmic, and the promised "
            "δ as a level line."
        )

    def chart(self, before: Self | None) -> Any:
        deltas = true_deltas(self)
        low, high = max(min(self.delta / 100, float(deltas[-1]) / 1e6), _FLOOR), 1.6
        traces = []
        if before is not None:
            role = "tilt" if before.tilted else "bend-exact"
            y = figures.above(true_deltas(before), low / 10)
            traces.append(figures.series("true δ, before", OFFS, y, role, ghost=True))
        if self.tilted:
            alone = figures.above(true_deltas(replace(self, tilted=False)), low / 10)
            traces.append(figures.series("true δ, bend alone", OFFS, alone, "bend-exact", hover="δ = %{y:.3g}"))
        role = "tilt" if self.tilted else "bend-exact"
        name = "true δ, bend and tilt" if self.tilted else "true δ, bend alone"
        ends = OFFS[0], OFFS[-1]
        if self.off > 0:
            traces.append(figures.guide((self.off, self.off), (low, high)))
        promised = figures.series("promised δ", ends, (self.delta, self.delta), "non-private", hoverinfo="skip")
        traces += [promised, figures.series(name, OFFS, figures.above(deltas, low / 10), role, hover="δ = %{y:.3g}")]
        if self.off > 0 and (here := self.true_delta(self.off)) > low:
            look: dict[str, Any] = {"hover": "δ = %{y:.3g}", "showlegend": False}
            traces.append(figures.marks("this label", [self.off], [here], role, 13, **look))
        xaxis = figures.axis("the label is off by", (float(ends[0]), float(ends[1])), log=True)
        yaxis = figures.axis("δ", (low, high), log=True)
        return figures.figure(traces, xaxis, yaxis, height=420, hovermode="closest")


@lru_cache(maxsize=64)
def true_deltas(labels: Labels) -> FloatArray:
    """The true δ at `OFFS`."""
    return np.array([labels.true_delta(float(off)) for off in OFFS])


@lru_cache(maxsize=64)
def breaks_at(labels: Labels) -> float:
    """The least displacement at which the true δ passes the promise; infinite where none does."""
    if true_deltas(labels)[-1] <= labels.delta:
        return math.inf

    def over(log_off: float) -> float:
        return math.log(max(labels.true_delta(math.exp(log_off)), 1e-300) / labels.delta)

    low = math.log(1e-12)
    return 0.0 if over(low) > 0 else math.exp(brentq(over, low, math.log(OFFS[-1]), xtol=1e-9))
