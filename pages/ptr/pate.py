"""Many teachers: how far their votes are from trouble; below, what the labels cost, and the votes."""

import math
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
import streamlit as st

from objpert_core._validation import FloatArray
from objpert_core.experiments.ptr.teachers import CLASSES, Proposal, Teachers
from pages.ptr.controls import FIRST, LABELS, NUMBER, SECOND, SIGMA, TEST
from pages.ptr.parts import bars, chance, further, quantities, share, small, without_dust
from ui import figures, page, sentences
from ui.view import Course, View, set_by

EPSILONS = np.unique(np.concatenate([np.geomspace(0.1, 10, 17), [0.7]]))


@lru_cache(maxsize=64)
def distances(proposal: Proposal) -> FloatArray:
    """D at every proposal of `EPSILONS`; infinite where all votes suit it."""
    return np.array([replace(proposal, epsilon=float(epsilon)).distance for epsilon in EPSILONS])


class Pate(View, name="ptr_pate", title="Many teachers vote", snippet="pate"):
    """Labels by noisy votes of teachers, the proposal that they cost `epsilon`, and its test."""

    first: float = set_by(FIRST, "first share")
    epsilon: float = set_by(LABELS, "ε′")
    sigma: float = set_by(SIGMA, "σ")
    number: int = set_by(NUMBER, "teachers")
    test_epsilon: float = set_by(TEST, "ε̂")
    second: float = set_by(SECOND, "second share", aside=True)

    @cached_property
    def proposal(self) -> Proposal:
        """The votes, the proposal and its test."""
        return Proposal(Teachers(self.first, self.second, self.number, self.sigma), self.epsilon, self.test_epsilon)

    @property
    def teachers(self) -> Teachers:
        """The votes."""
        return self.proposal.teachers

    def blanks(self) -> dict[str, Any]:
        return {
            **super().blanks(),
            "queries": self.teachers.queries,
            "seed": self.teachers.seed,
            "delta": self.proposal.delta,
        }

    def answer(self) -> str:
        total, any_votes = small(self.proposal.total), self.teachers.any_votes
        if self.proposal.total >= any_votes:
            return (
                f"Do not ask: these labels cost ε = {small(any_votes)} whatever the votes; proposal and test cost "
                f"{total}."
            )
        passes = share(self.proposal.pass_probability)
        return (
            f"Proposal and test cost ε = {total}, against {small(any_votes)} whatever the votes; the test passes "
            f"{passes} (secret)."
        )

    def promise(self) -> str:
        adjacency, total = "one teacher replaced, with all its votes", without_dust(self.proposal.total)
        return sentences.promise(total, self.proposal.delta, "Rényi curves", adjacency=adjacency)

    def note(self) -> str:
        return (
            f"{self.teachers.queries} rows, {self.number:,} teachers, noise σ = {self.sigma:g} on each count. D is "
            f"the number of teachers who must change until the proposal is wrong."
        )

    def courses(self) -> list[Course]:
        return [("ε", self.proposal.total, small), ("D (secret)", self.proposal.distance, _teachers)]

    def table(self) -> list[dict[str, str]]:
        proposal, teachers = self.proposal, self.teachers
        return quantities(
            (
                ("ε of these labels, any votes, exactly", small(teachers.any_votes), "public"),
                ("ε of these labels, these votes", small(teachers.these_votes), "secret"),
                ("ε of proposal and test", small(proposal.total), "public"),
                ("Distance D: teachers until the proposal is wrong", _teachers(proposal.distance), "secret"),
                ("Threshold of the test", f"{proposal.threshold}", "public"),
                ("Probability to pass", chance(proposal.pass_probability), "secret"),
            )
        )

    def numbers(self) -> dict[str, Any]:
        curve = distances(self.proposal)
        return {"epsilon": EPSILONS, "distance": curve, "threshold": self.proposal.threshold}

    def shows(self) -> str:
        distance = self.proposal.distance
        here = "all votes suit this proposal" if math.isinf(distance) else f"D here is {distance:g} (secret)"
        return (
            "The distance D against the proposed ε of the labels, logarithmic, rises from 0; the test’s threshold is "
            f"{self.proposal.threshold} teachers, and {here}."
        )

    def chart(self, before: Self | None) -> figures.Figure:
        """Draw D against the proposal, and the threshold."""
        traces: list[dict[str, Any]] = []
        if before is not None:
            y = figures.finite(distances(before.proposal))
            traces.append(figures.series("distance D, before", EPSILONS, y, "secret", ghost=True))
        curve, here, threshold = distances(self.proposal), self.proposal.distance, self.proposal.threshold
        known = curve[np.isfinite(curve)]
        top = 1.15 * max(float(known.max()) if known.size else 0.0, 1.5 * threshold)
        traces.append(figures.guide((self.epsilon, self.epsilon), (0.0, top)))
        ends, y = EPSILONS[[0, -1]], figures.finite(curve)
        look: dict[str, Any] = {"hover": "%{y:.0f} teachers"}
        traces.append(figures.series(f"threshold {threshold}", ends, (threshold, threshold), "tight", hoverinfo="skip"))
        traces.append(figures.series("distance D (secret)", EPSILONS, y, "secret", mode="lines+markers", **look))
        traces += _beyond(curve, top)
        if math.isfinite(here):
            traces.append(figures.marks("D here (secret)", [self.epsilon], [here], "asked", 13, **look))
        xaxis = figures.axis("proposed ε′ of the labels", (0.1, 10.0), log=True)
        yaxis = figures.axis("teachers to change", (0.0, top))
        return figures.figure(traces, xaxis, yaxis, height=380, hovermode="closest")

    def below(self, before: Self | None) -> None:
        left, right = st.columns(2, gap="medium")
        with left:
            further("ptr_costs", self.costs())
        with right:
            further("ptr_votes", self.votes())

    # --- ε three ways ---

    def costs(self) -> page.Picture:
        """Three bars."""
        values = worst, here, asked = self.teachers.any_votes, self.teachers.these_votes, self.proposal.total
        named = (
            ("any votes", worst, "worst"),
            ("these votes<br>(secret)", here, "secret"),
            ("proposal and test", asked, "asked"),
        )
        alt = (
            f"Three bars: ε of the labels is {small(worst)} for any votes, {small(here)} for these votes, which is "
            f"secret, and {small(asked)} by proposal and test."
        )
        frame = {"of": ["any votes", "these votes", "proposal and test"], "epsilon": values}
        return page.Picture(bars(named, "ε of all labels"), alt, lambda: frame)

    # --- the mean votes ---

    def votes(self) -> page.Picture:
        """The mean votes for each class over the rows as bars, the first in colour."""
        places, means = np.arange(1, CLASSES + 1), self.teachers.counts.mean(axis=0)
        colors = [figures.look("asked" if place == 1 else "guide").color for place in places.tolist()]
        drawn = {"type": "bar", "name": "votes", "x": places, "y": means, "marker": {"color": colors}}
        drawn |= {"hovertemplate": "class %{x}: %{y:.0f} votes<extra></extra>"}
        xaxis = figures.axis("class", (0.4, CLASSES + 0.6), **figures.ticks(places, places.astype(str)))
        yaxis = figures.axis("mean votes (secret)", (0.0, 1.05 * float(means.max())))
        chart = figures.figure([drawn], xaxis, yaxis, height=220, legend=False)
        first, second = np.sort(means)[::-1][:2]
        told = f"{first:.0f} for the first, {second:.0f} for the next"
        alt = f"Votes for ten classes (secret), means over the rows: {told}."
        return page.Picture(chart, alt, lambda: {"class": places, "votes": means})


def _teachers(value: float) -> str:
    return "any votes suit the proposal" if math.isinf(value) else f"{value:g}"


def _beyond(curve: FloatArray, top: float) -> list[dict[str, Any]]:
    """A word where the curve ends: D is infinite from there on."""
    known = np.flatnonzero(np.isfinite(curve))
    if known.size == curve.size:
        return []
    if not known.size:
        place, height, side, text = 1.0, 0.0, "top center", "any votes suit every proposal"
    else:
        last = known[-1]
        place, height = float(EPSILONS[last]), float(curve[last])
        side, text = ("top left" if place > 1 else "top right"), "beyond: any votes suit the proposal"
    note = figures.series(
        text, [place], [height + 0.03 * top], "secret", mode="text", hoverinfo="skip", showlegend=False
    )
    return [note | {"text": [text], "textposition": side}]
