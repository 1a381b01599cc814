"""Eigenvalues of the random curvature: what is drawn beside what the published proof needs."""

from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
import pandas as pd

from objpert_core._validation import FloatArray
from objpert_core.experiments.quadratic import spectrum
from pages.quadratic.controls import DEGREES, DELTA, EPSILON, SEED, SIZE
from pages.quadratic.numbers import calibrated, count, degrees, promise_of_bend, times
from ui import figures, sentences
from ui.view import Course, View, set_by

eigenvalues = lru_cache(maxsize=64)(spectrum.Spectrum.eigenvalues)


def histogram(draws: spectrum.Spectrum, bins: int = 40) -> tuple[FloatArray, FloatArray]:
    """Edges, evenly spread on a logarithmic scale, and the share of all eigenvalues between them."""
    values = eigenvalues(draws).ravel()
    edges = np.geomspace(values.min() / 1.0001, values.max() * 1.0001, bins + 1)
    return edges, np.histogram(values, edges)[0] / values.size


class Spectrum(View, name="quadratic_spectrum", title="Eigenvalues of W", snippet="spectrum"):
    """Draws of the Wishart matrix of the bend that meets (ε, δ)."""

    epsilon: float = set_by(EPSILON)
    delta: float = set_by(DELTA, aside=True)
    size: int = set_by(SIZE)
    ratio: float = set_by(DEGREES)
    seed: int = set_by(SEED, aside=True)

    redrawn = SEED
    named = {"dimension": "d", "degrees_of_freedom": "m", "delta": "δ"}

    @cached_property
    def draws(self) -> spectrum.Spectrum:
        """The draws, α and β."""
        bend = calibrated(self.epsilon, self.delta, self.size, degrees(self.size, self.ratio))
        return spectrum.Spectrum(self.size, bend.degrees_of_freedom, self.delta, seed=self.seed)

    @property
    def dimension(self) -> int:
        """What tables call d."""
        return self.draws.dimension

    @property
    def degrees_of_freedom(self) -> int:
        """What tables call m."""
        return self.draws.degrees_of_freedom

    def blanks(self) -> dict[str, Any]:
        return {"size": self.size, "degrees": self.degrees_of_freedom, "delta": self.delta, "seed": self.seed}

    def answer(self) -> str:
        draws = self.draws
        least = float(eigenvalues(draws).min())
        if draws.alpha <= 0:
            return f"The published proof has no α here; the smallest of {draws.draws} draws is {count(least)}."
        told = (
            f"The published proof needs eigenvalues ≥ α = {count(draws.alpha)}; the smallest of {draws.draws} draws is "
            f"{count(least)}"
        )
        return f"{told}, {times(least / draws.alpha)} times as much."

    def promise(self) -> str:
        return promise_of_bend(self.epsilon, self.delta, "exact")

    def note(self) -> str:
        share = sentences.delta(self.delta / 4)
        return (
            f"d = {self.dimension}, m = {self.degrees_of_freedom}. Lemma D.4: λ\u2098ᵢₙ < α and λ\u2098ₐₓ > β have "
            f"a probability of at most δ/4 = {share} each."
        )

    def courses(self) -> list[Course]:
        return [("α", self.draws.alpha, sentences.number)]

    def table(self) -> list[dict[str, str]]:
        values = eigenvalues(self.draws)
        ends = (("smallest", values[:, 0], "≥", self.draws.alpha), ("largest", values[:, -1], "≤", self.draws.beta))
        return [
            {
                "Eigenvalue": name,
                "Smallest drawn": count(float(drawn.min())),
                "Median": count(float(np.median(drawn))),
                "Largest drawn": count(float(drawn.max())),
                "The proof needs": f"{sign} {count(end)}",
            }
            for name, drawn, sign, end in ends
        ]

    def numbers(self) -> pd.DataFrame:
        values = eigenvalues(self.draws)
        return pd.DataFrame(values, columns=[f"eigenvalue_{place + 1}" for place in range(values.shape[1])])

    def shows(self) -> str:
        return (
            f"Histogram of all eigenvalues of {self.draws.draws} Wishart matrices with d = {self.dimension} and m = "
            f"{self.degrees_of_freedom}, on a logarithmic axis, between α and β = {count(self.draws.beta)}."
        )

    def chart(self, before: Self | None) -> Any:
        now = self.draws
        traces = []
        tops = []
        for ghost, view in ((True, before), (False, self)):
            if view is None:
                continue
            edges, shares = histogram(view.draws)
            steps = np.repeat(edges, 2)[1:-1], np.repeat(shares, 2)
            x, y = np.concatenate([edges[:1], steps[0], edges[-1:]]), np.concatenate([[0], steps[1], [0]])
            label = "eigenvalues of W" + (", before" if ghost else "")
            trace = figures.series(label, x, y, "bend-exact", ghost=ghost, hover="%{x:.3g}")
            if not ghost:
                trace |= {"fill": "tozeroy", "fillcolor": figures.translucent(figures.look("bend-exact").color, 0.25)}
            traces.append(trace)
            tops.append(shares.max())
        top = 1.08 * max(tops)
        low, high = (np.square(np.sqrt(now.degrees_of_freedom) + sign * np.sqrt(now.dimension)) for sign in (-1, 1))
        for name, place, role in (("α", now.alpha, "bend-published"), ("β", now.beta, "bend-sharpened")):
            if place > 0:
                label = f"{name} = {sentences.number(place)}"
                traces.append(figures.series(label, (place, place), (0, top), role, hoverinfo="skip"))
        places, heights = (low, low, np.nan, high, high), (0, top, np.nan, 0, top)
        traces.append(figures.series("(√m ± √d)²", places, heights, "non-private", hoverinfo="skip"))
        edges, _ = histogram(now)
        shown = [place for place in (now.alpha, now.beta, edges[0], edges[-1]) if place > 0]
        xaxis = figures.axis("eigenvalue", (min(shown) / 1.5, max(shown) * 1.5), log=True)
        yaxis = figures.axis("share of all", (0.0, top))
        return figures.figure(traces, xaxis, yaxis, height=420, hovermode="closest")
