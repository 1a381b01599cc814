"""Who wins where: the best private method at every number of rows and parameters."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from objpert_core.experiments.population.methods import LABELS
from pages.population.learning import LEGEND, TIGHT, StoredLearning, role
from ui import figures, sentences

MARKS = {
    "sgd": ("S", "SGD"),
    "objective": ("P", "published"),
    "gd": ("G", "descent"),
    "phased": ("E", "phased"),
    TIGHT: ("T", "tight"),
    "zero": ("0", "θ = 0"),
}
"""What stands for a method in a square, and in the table."""


@dataclass(frozen=True)
class Cell:
    """Who wins at one n and d: a method or "zero", `clear` by more than two standard errors of the next; `ratio` is its
    excess risk over that of θ = 0.
    """

    n: int
    d: int
    winner: str
    clear: bool
    ratio: float

    @property
    def doubt(self) -> str:
        """A question mark where the next is within the error bars."""
        return "" if self.clear else "?"


class Winners(StoredLearning, name="population_map", title="Who wins where", snippet="winners"):
    """The map at one ε, with a ring around the setting."""

    snippet_note = "In the project’s folder these lines print who wins where."

    @cached_property
    def cells(self) -> list[Cell]:
        """The map."""
        results, epsilon = self.results, self.shown.epsilon
        cells = []
        for n in results.rows:
            for d in results.dimensions:
                won = results.winner(n, d, epsilon)
                if won is not None:
                    winner, clear = won
                    point, zero = results.point(n, d, epsilon, winner), results.zero(n, d, epsilon)
                    cells.append(Cell(n, d, winner, clear, 1.0 if point is None else point.excess.mean / zero))
        return cells

    def answer(self) -> str:
        own = sum(cell.winner == TIGHT and cell.clear for cell in self.cells)
        zero = sum(cell.winner == "zero" for cell in self.cells)
        return (
            f"Our objective perturbation clearly wins {own} of {sentences.count(len(self.cells), 'setting')}; in "
            f"{zero} nothing beats θ = 0."
        )

    def note(self) -> str:
        return f"{super().note()} A question mark: the next method is within the error bars."

    def table(self) -> list[dict[str, str]]:
        """Return a row for each d."""
        short = {(cell.n, cell.d): MARKS[cell.winner][1] + cell.doubt for cell in self.cells}
        return [
            {"d": f"{d:,}"} | {f"n = {n:,}": short.get((n, d), "–") for n in self.results.rows}
            for d in self.results.dimensions
        ]

    def numbers(self) -> Any:
        return [vars(cell) for cell in self.cells]

    def shows(self) -> str:
        wins = Counter(cell.winner for cell in self.cells)
        listed = "; ".join(f"{LABELS[name]} {count}" for name, count in wins.most_common())
        return f"The best private method at each number of rows and parameters. Settings won: {listed}."

    def chart(self, before: Self | None) -> figures.Figure:
        """Draw a square with a letter for each setting, paler with a question mark where the lead is not clear."""
        n, d = self.results.rows, self.results.dimensions
        traces = [self._squares(name) for name in dict.fromkeys(cell.winner for cell in self.cells)]
        if self.shown.n in n and self.shown.d in d:
            place = [self.shown.n], [self.shown.d]
            ring = figures.series("this setting", *place, "guide", mode="markers", hoverinfo="skip")
            ring["marker"] = {"symbol": "square-open", "size": 46, "color": figures.GREY, "line": {"width": 3}}
            traces.append(ring | {"showlegend": False})
        xaxis = figures.axis("rows n", (n[0] / 1.8, n[-1] * 1.8), log=True, **_at(n))
        yaxis = figures.axis("parameters d", (d[0] / 1.8, d[-1] * 1.8), log=True, **_at(d))
        return figures.figure(traces, xaxis, yaxis, height=420, hovermode="closest")

    def _squares(self, name: str) -> dict[str, Any]:
        own = [cell for cell in self.cells if cell.winner == name]
        letter, color = MARKS[name][0], figures.look(role(name)).color
        hover = [
            f"n = {cell.n:,}, d = {cell.d}: {LABELS[name]}, {cell.ratio:.3g} of the excess risk of θ = 0"
            + ("" if cell.clear else "; not clearly ahead")
            for cell in own
        ]
        squares = figures.series(
            f"{letter}: {LEGEND[name]}",
            [cell.n for cell in own],
            [cell.d for cell in own],
            role(name),
            mode="markers+text",
            text=[letter + cell.doubt for cell in own],
            textposition="middle center",
            hovertext=hover,
        )
        shades = [figures.translucent(color, 0.55 if cell.clear else 0.2) for cell in own]
        squares["marker"] = {"color": shades, "symbol": "square", "size": 38}
        return squares | {"hovertemplate": "%{hovertext}<extra></extra>"}


def _at(values: Sequence[int]) -> dict[str, Any]:
    """Ticks at these values; 10,000 is "10k" where there is little room."""
    texts = [f"{value // 1000}k" if value >= 10_000 else f"{value}" for value in values]
    return {"tickmode": "array", "tickvals": list(values), "ticktext": texts}
