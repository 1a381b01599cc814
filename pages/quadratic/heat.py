"""Figure 1: the least bound on the risk over (ε, δ), in colours of its logarithm; a ring around one cell."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import streamlit as st

from objpert_core._validation import FloatArray
from objpert_core.experiments.quadratic import figure1
from pages.quadratic.controls import DELTA, EPSILON, PANEL, PROOF
from pages.quadratic.numbers import AGREEING, EXACT, PANELS
from pages.quadratic.stored_view import StoredView
from ui import figures, sentences
from ui.stored_view import nearest
from ui.view import set_by

# Viridis from dark to light, so that a small bound is dark
_SCALE = [[0.0, "#440154"], [0.25, "#3b528b"], [0.5, "#21918c"], [0.75, "#5ec962"], [1.0, "#fde725"]]
NO_TIGHT = "The exact theorem needs an anchor without error, so the map shows the sharpened bound."
_WHOSE = {"published": "the published proof", "sharpened": "the sharpened proof", "tight": EXACT}


class Heat(StoredView, name="quadratic_heat", title="Bounds on the risk (Figure 1)", snippet="heat"):
    """A panel of the figure, and one cell; `chosen` is the bound asked for, which not every panel has."""

    epsilon: float = set_by(EPSILON)
    delta: float = set_by(DELTA)
    panel: str = set_by(PANEL)
    chosen: str = set_by(PROOF)

    experiment = "figure1"
    snippet_note = "These lines compute the marked cell again."

    @property
    def proof(self) -> str:
        """The bound shown."""
        return self.chosen if self.chosen in figure1.PANELS[self.panel] else "sharpened"

    @property
    def cell(self) -> tuple[float, float]:
        """The stored (ε, δ) next to the one asked for."""
        return nearest(figure1.EPSILONS, self.epsilon), nearest(figure1.DELTAS, self.delta)

    def blanks(self) -> dict[str, Any]:
        epsilon, delta = self.cell
        return {"panel": self.panel, "proof": self.proof, "epsilon": epsilon, "delta": delta}

    def bound(self, proof: str) -> float:
        """The stored bound of the cell."""
        epsilon, delta = self.cell
        return self.results.values(panel=self.panel, proof=proof, epsilon=repr(epsilon), delta=repr(delta))[0]

    def grid(self) -> tuple[list[float], list[float], FloatArray, FloatArray]:
        """Return every ε, every δ, the least bounds and their m; arrays of shape (number of δ, number of ε)."""
        rows = [row for row in self.results.rows if (row["panel"], row["proof"]) == (self.panel, self.proof)]
        epsilons = sorted({float(row["epsilon"]) for row in rows})
        deltas = sorted({float(row["delta"]) for row in rows})
        values, degrees_of = np.full((2, len(deltas), len(epsilons)), np.nan)
        for row in rows:
            place = deltas.index(float(row["delta"])), epsilons.index(float(row["epsilon"]))
            values[place], degrees_of[place] = float(row["value"]), float(row["degrees_of_freedom"])
        return epsilons, deltas, values, degrees_of

    def answer(self) -> str:
        told = f"The bound on the risk is {_up(self.bound(self.proof))}"
        if self.proof != "published":
            told += f" (published: {_up(self.bound('published'))})"
        return f"{told}; θ* alone, without data, loses at most {figure1.WITHOUT_DATA:g}."

    def promise(self) -> str:
        return sentences.promise(*self.cell, _WHOSE[self.proof], adjacency=AGREEING)

    def remarks(self) -> list[str]:
        asked = self.epsilon, self.delta
        if asked == self.cell:
            return []
        marked = "marked: ε = {:g}, δ = {:g}".format(*self.cell)
        return [f"Not stored for ε = {asked[0]:g}, δ = {asked[1]:g}; {marked}."]

    def note(self) -> str:
        return f"{PANELS[self.panel].capitalize()}, d = 12, n = 10, L = ρ = G = D = 1, best m in every cell."

    def table(self) -> list[dict[str, str]]:
        """Return a row for each δ, round values of ε."""
        epsilons, deltas, values, degrees = self.grid()
        shown = [place for place, epsilon in enumerate(epsilons) if epsilon in (0.1, 0.3, 1.0, 3.0, 10.0)]
        return [
            {"δ": sentences.delta(delta)}
            | {f"ε = {epsilons[place]:g}": f"{_up(row[place])} (m = {row_m[place]:.0f})" for place in shown}
            for delta, row, row_m in zip(deltas, values, degrees, strict=True)
        ]

    def shows(self) -> str:
        _, _, values, _ = self.grid()
        return (
            f"A map over ε and δ of the least bound on the excess risk, {figure1.PROOFS[self.proof]}: from "
            f"{_up(float(np.nanmin(values)))} to {_up(float(np.nanmax(values)))}, falling as ε or δ grows."
        )

    def show(self, left: Any, *, ghost: bool = True) -> None:
        """Say first which bound is shown in place of one that the panel has not."""
        if self.proof != self.chosen:
            st.info(NO_TIGHT, icon=":material/info:")
        super().show(left, ghost=ghost)

    def stored(self) -> bool:
        epsilon, delta = self.cell
        return super().stored() and bool(
            self.results.values(panel=self.panel, proof=self.proof, epsilon=epsilon, delta=delta)
        )

    def chart(self, before: Self | None) -> Any:
        epsilons, deltas, values, degrees = self.grid()
        texts = np.array(
            [
                [
                    f"ε = {epsilon:g}, δ = {sentences.delta(delta)}<br>at most {_up(value)}<br>m = {m:.0f}"
                    for epsilon, value, m in zip(epsilons, row, row_m, strict=True)
                ]
                for delta, row, row_m in zip(deltas, values, degrees, strict=True)
            ]
        )
        x, y = _edges(epsilons), _edges(deltas)
        name, ticks = f"least bound, {figure1.PROOFS[self.proof]}", {power: f"{10**power:,}" for power in range(5)}
        bar: dict[str, Any] = {"scale": _SCALE, "ends": (0.0, 4.3), "ticks": ticks}
        bar |= {"yref": "container", "y": 0.0, "yanchor": "bottom"}
        heat = figures.heat(name, x, y, np.log10(values), texts, **bar)
        epsilon, delta = self.cell
        square = {"symbol": "square-open", "size": 24, "color": "#ffffff", "line": {"width": 3}}
        look: dict[str, Any] = {"hoverinfo": "skip", "marker": square, "showlegend": False}
        ring = figures.series("this (ε, δ)", [epsilon], [delta], "guide", mode="markers", **look)
        xaxis = figures.axis("privacy budget ε", (x[0], x[-1]), log=True, showgrid=False)
        yaxis = figures.axis("slack δ", (y[0], y[-1]), log=True, showgrid=False)
        return figures.figure([heat, ring], xaxis, yaxis, height=430, legend=False)


def _up(value: float) -> str:
    return sentences.number(value, 3, up=True)


def _edges(values: Sequence[float]) -> Any:
    """Between the values, half way on a logarithmic scale."""
    logs = np.log(values)
    middle = (logs[1:] + logs[:-1]) / 2
    return np.exp(np.concatenate([[2 * logs[0] - middle[0]], middle, [2 * logs[-1] - middle[-1]]]))
