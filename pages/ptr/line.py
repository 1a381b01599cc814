"""A few points, their median, and the test in front of it; below, three ε as bars and the law of the test."""

import math
from collections import Counter
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import streamlit as st

from objpert_core.experiments.ptr.points import MIDDLE, Outcome, Points
from pages.ptr.controls import (
    BETA,
    DELTA,
    EPSILON,
    FALLBACK,
    MOVER,
    PEOPLE,
    POINTS,
    PUBLISH,
    PUBLISHED,
    SEED,
    parse,
    write,
)
from pages.ptr.parts import bars, chance, further, quantities, share, small, without_dust
from ui import figures, page, sentences
from ui.controls import Control, Toggle, previous
from ui.view import Course, View, set_by

Trace = dict[str, Any]
_TOP = 1.25
_GRID = 241


class Line(View, name="ptr", title="Twelve points on a line", snippet="line"):
    """The values, a proposal for their median or for its side of ½, and one run; `epsilon` is of test and release."""

    published: str = set_by(PUBLISH)
    bound: float = set_by(BETA, "β")
    epsilon: float = set_by(EPSILON, "ε")
    people: int = set_by(PEOPLE, "people")
    delta: float = set_by(DELTA, "δ", aside=True)
    fallback: bool = set_by(FALLBACK, aside=True)
    seed: int = set_by(SEED, aside=True)
    text: str = set_by(POINTS, aside=True)

    redrawn = SEED

    @classmethod
    def in_view(cls, ghost: Toggle | None) -> tuple[Control, ...]:
        return (*super().in_view(ghost), MOVER)

    @cached_property
    def points(self) -> Points:
        """The values and the proposal; half of ε is for the test, half for what follows it."""
        return Points(parse(self.text), self.people, self.bound, self.epsilon / 2, self.delta, self.published)

    @property
    def values(self) -> tuple[float, ...]:
        """The values, rising."""
        return self.points.values

    @cached_property
    def outcome(self) -> Outcome:
        """The run."""
        return self.points.run(self.seed, self.fallback)

    def before(self) -> Self | None:
        """The setting before: a new draw keeps the ghost."""
        return previous("ptr_line", replace(self, seed=0, text=write(self.values)))

    def blanks(self) -> dict[str, Any]:
        return {**super().blanks(), "values": self.values, "epsilon": self.points.epsilon}

    def answer(self) -> str:
        points = self.points
        if self.published == "side":
            joined = "but" if points.own_epsilon < points.local_epsilon else "and"
            return (
                f"Secret: local sensitivity needs ε = {small(points.local_epsilon)}, {joined} publishing “above ½ or "
                f"not” needs {small(points.own_epsilon)}. Allowed: {small(points.epsilon)}."
            )
        moved = sentences.number(points.local_sensitivity)
        moved = f"{moved}, over β" if points.distance == 0 else f"at most {moved}"
        return f"Secret: one person moves this median by {moved}, and the test passes {share(points.pass_probability)}."

    def promise(self) -> str:
        accountant, adjacency = "the test and the release, half of ε each", "one person’s value replaced"
        return sentences.promise(without_dust(self.epsilon), self.delta, accountant, adjacency=adjacency)

    def changes(self, before: Self) -> str:
        return ", ".join(
            [
                *filter(None, [super().changes(before)]),
                *(["other values"] if before.values != self.values else []),
                *([f"published: {PUBLISHED[self.published]}"] if before.published != self.published else []),
            ]
        )

    def courses(self) -> list[Course]:
        return [
            ("D (secret)", self.points.distance, lambda value: f"{value:g}".replace("inf", "∞")),
            ("the threshold", self.points.threshold, "{:g}".format),
        ]

    def note(self) -> str:
        """The run in one sentence."""
        points, outcome, what = self.points, self.outcome, self.released()
        if outcome.passed:
            return f"This run passes and publishes {what} with noise of scale {sentences.number(points.scale)}."
        if outcome.value is None:
            return "This run fails and publishes ⊥, no answer."
        scale = sentences.number(1 / points.epsilon)
        return f"This run fails and publishes {what} with noise of scale {scale}, enough for any data."

    def released(self) -> str:
        """What leaves."""
        value = self.outcome.value
        if value is None:
            return "⊥"
        if self.published == "side":
            return "“above ½”" if value else "“not above ½”"
        return sentences.fixed(value) + (f" (cut off at {value:g})" if value in (0.0, 1.0) else "")

    def table(self) -> list[dict[str, str]]:
        points, outcome = self.points, self.outcome
        secret, public = "secret", "public"
        return quantities(
            (
                ("ε of this noise for the worst data", small(points.global_epsilon), public),
                ("ε by local sensitivity", small(points.local_epsilon), secret),
                ("data-dependent ε of what is published", small(points.own_epsilon), secret),
                ("Distance D to data that contradict β", _distance(points.distance), secret),
                (
                    "Noisy D of this run",
                    _distance(outcome.noisy_distance),
                    "nobody; people only see whether the test passes",
                ),
                ("Threshold of the test", sentences.number(points.threshold), public),
                ("Probability to pass", chance(points.pass_probability), secret),
                ("Published in this run", self.released(), public),
            )
        )

    def numbers(self) -> dict[str, Any]:
        points, outcome = self.points, self.outcome
        numbers = {
            "median": points.median,
            "local_sensitivity": points.local_sensitivity,
            "global_epsilon": points.global_epsilon,
            "local_epsilon": points.local_epsilon,
            "own_epsilon": points.own_epsilon,
            "distance": points.distance,
            "noisy_distance": outcome.noisy_distance,
            "threshold": points.threshold,
            "pass_probability": points.pass_probability,
            "passed": float(outcome.passed),
            "published": math.nan if outcome.value is None else outcome.value,
        }
        return {"quantity": list(numbers), "value": list(numbers.values())}

    def shows(self) -> str:
        return (
            f"{len(self.values)} points on a line from 0 to 1, {self.people} people each, their median "
            f"{self.points.median:g} (secret), and the two noises: narrow where the test passes, wide where it fails."
        )

    def chart(self, before: Self | None) -> figures.Figure:
        """Draw the values as dots, their median, the two noises around it, and what this run publishes."""
        met: Counter[float] = Counter()
        heights = []
        for value in self.values:
            met[value] += 1
            heights.append(0.06 + 0.09 * (met[value] - 1))
        traces = [] if before is None else before._noises(ghost=True)
        traces += self._noises()
        if self.published == "side":
            traces.append(figures.guide((MIDDLE, MIDDLE), (0, _TOP)))
        median = (self.points.median, self.points.median), (0, 1.08)
        traces.append(figures.series("median (secret)", *median, "secret", hoverinfo="skip"))
        look = {"symbol": "circle", "line": {"width": 1, "color": "#ffffff"}}
        dots = figures.marks("points (secret)", self.values, heights, "without", 12, hover="%{x}", look=look)
        xaxis = figures.axis("value", (-0.02, 1.02))
        yaxis = figures.axis("noise", (0.0, _TOP), showticklabels=False, showgrid=False)
        return figures.figure([*traces, dots, *self._release()], xaxis, yaxis, height=380, hovermode="closest")

    def _noises(self, *, ghost: bool = False) -> list[Trace]:
        points = self.points
        noises = [("noise, passed", points.scale, "asked"), ("noise, failed", 1 / points.epsilon, "worst")]
        x = np.union1d(np.linspace(0, 1, _GRID), [points.median])
        traces = []
        for name, scale, role in noises if self.fallback else noises[:1]:
            y = np.exp(-np.abs(x - points.median) / scale) * min(1.0, points.scale / scale)
            label = f"{name}, before" if ghost else name
            traces.append(figures.series(label, x, y, role, ghost=ghost, hoverinfo="skip"))
        return traces

    def _release(self) -> list[Trace]:
        """A star for a number; for a side all of the half that is told."""
        value = self.outcome.value
        if value is None:
            return []
        if self.published == "number":
            look = {"symbol": "star"}
            return [figures.marks("published", [value], [1.16], "asked", 14, hover="%{x:.3f}", look=look)]
        side, told = ((MIDDLE, 1.0), "above ½") if value else ((0.0, MIDDLE), "not above ½")
        half = figures.series(f"published: {told}", side, (1.16, 1.16), "asked", hoverinfo="skip")
        half["line"] |= {"width": 10}
        return [half]

    def below(self, before: Self | None) -> None:
        left, right = st.columns(2, gap="medium")
        with left:
            further("ptr_epsilons", self.epsilons())
        with right:
            if math.isinf(self.points.distance):
                st.info("No data contradicts the proposal, so the test always passes.", icon=":material/info:")
            else:
                further("ptr_test", self.test())

    # --- ε of the noise that the proposal asks for: for all data, for these, and for what is published of them ---

    def epsilons(self) -> page.Picture:
        """Three bars."""
        points = self.points
        values = worst, local, own, allowed = (
            points.global_epsilon,
            points.local_epsilon,
            points.own_epsilon,
            points.epsilon,
        )
        named = (
            ("worst data", worst, "worst"),
            ("local sensitivity<br>(secret)", local, "secret"),
            ("data-dependent<br>(secret)", own, "asked"),
        )
        alt = (
            f"Three bars: ε of this noise is {small(worst)} for the worst data, {small(local)} by local sensitivity, "
            f"{small(own)} as the data-dependent ε of what is published, both secret; allowed is {small(allowed)}."
        )
        chart = bars(named, "ε of the proposed noise<br>(thin line: allowed)", allowed)
        frame = {"of": ["worst", "local", "own", "allowed"], "epsilon": values}
        return page.Picture(chart, alt, lambda: frame)

    # --- the law of the noisy distance, and the threshold, where something contradicts the proposal ---

    def test(self) -> page.Picture:
        """Probabilities as bars, those that pass in colour."""
        points, outcome = self.points, self.outcome
        places, chances = points.test_law()
        top = 1.15 * float(chances.max())
        colors = [figures.look("asked" if passes else "guide").color for passes in places >= points.threshold]
        law: Trace = {"type": "bar", "name": "noisy D, passing in colour", "x": places, "y": chances}
        law |= {"marker": {"color": colors}, "hovertemplate": "noisy D = %{x}: %{y:.3g}<extra></extra>"}
        edge, passing = points.threshold - 0.5, f"from {points.threshold} on the test passes"
        threshold = figures.series(passing, (edge, edge), (0, top), "tight", hoverinfo="skip")
        own = figures.marks("D (secret)", [points.distance], [0.97 * top], "secret", 12, hover="D = %{x}")
        noisy, hover = ([outcome.noisy_distance], [0.85 * top]), "noisy D = %{x}"
        star = {"symbol": "star", "line": {"width": 1, "color": "#ffffff"}}
        run = figures.marks("this run (secret)", *noisy, "without", 14, hover=hover, look=star)
        seen = [*places, points.threshold, outcome.noisy_distance]
        xaxis = figures.axis("noisy distance D, in people", (min(seen) - 1, max(seen) + 1))
        yaxis = figures.axis("probability", (0.0, top))
        chart = figures.figure([law, threshold, own, run], xaxis, yaxis, height=280, hovermode="closest")
        alt = (
            f"Probabilities of the noisy distance around D = {points.distance:g} (secret), and the threshold "
            f"{sentences.number(points.threshold)}; the test passes {share(points.pass_probability)}."
        )
        return page.Picture(chart, alt, lambda: {"noisy_distance": places, "probability": chances})


def _distance(value: float) -> str:
    return "no data contradicts β" if math.isinf(value) else f"{value:g}"
