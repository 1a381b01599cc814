"""How the cost grows with the number of rows: stored measurements, and c·n^a·log n fitted to each solver's."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from objpert_core._validation import FloatArray
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments.studies import solver_costs
from objpert_core.experiments.studies.solver_costs import PROVED, Cost
from pages.solvers.controls import INSIDE, NAMES
from ui import figures, page, sentences
from ui.sentences import times


@dataclass(frozen=True)
class Growth:
    """What is stored of some solvers' costs on one kind of columns; `relative`: divided by n log n."""

    costs: Mapping[str, Cost]
    columns: str
    relative: bool = False

    @property
    def what(self) -> str:
        """What is plotted against the number of rows."""
        return "Gradient evaluations divided by n log n" if self.relative else "Gradient evaluations"

    def answer(self) -> str:
        """The measured exponents of those with a proved one, next to it."""
        measured = [
            f"{_power(f'{cost.growth.exponent:.2f}')} for {INSIDE[solver]} (up to n = {max(cost.n):,}; 95 %: "
            f"{cost.growth.low:.2f} to {cost.growth.high:.2f}; proved: at most {_power(f'{PROVED[solver]:g}')})"
            for solver, cost in self.costs.items()
            if solver in PROVED
        ]
        if not measured:
            return "No solver with a proved growth is shown."
        smallest = min(min(cost.n) for cost in self.costs.values())
        text = f"Measured from n = {smallest:,} on, the cost grows as {sentences.listing(measured)}."
        return sentences.unbroken(text)

    def seconds(self) -> str:
        """The processor time of everybody at the largest n that all of them have; empty where no time is stored."""
        shared = set.intersection(*(set(cost.n) for cost in self.costs.values()))
        n = max(shared, default=0)
        taken = sorted((cost.seconds_at(n), solver) for solver, cost in self.costs.items())
        if not n or not all(time > 0 for time, _ in taken):
            return ""
        times_taken = "; ".join(f"{NAMES[solver]} {sentences.number(time, 2)} s" for time, solver in taken)
        return f"Visits are not seconds. The stored runs on {n:,} rows took this processor time: {times_taken}."

    def alt(self) -> str:
        powers = [f"{NAMES[solver]} n^{cost.growth.exponent:.2f} log n" for solver, cost in self.costs.items()]
        growing = f"Evaluations grow as follows: {'; '.join(powers)}."
        return f"{self.what} against the number of rows, both logarithmic. {growing}"

    def table(self) -> list[dict[str, str]]:
        """The measured growths as texts, one row a solver."""
        return [
            {
                "Solver": NAMES[solver],
                "Exponent a of c·nᵃ·log n": f"{cost.growth.exponent:.3f}",
                "95\u00a0% interval": f"{cost.growth.low:.3f} to {cost.growth.high:.3f}",
                "Proved (Appendix F)": f"at most {PROVED[solver]:g}" if solver in PROVED else "–",
                "Largest n": f"{max(cost.n):,}",
                "Visits per row there": times(cost.evaluations[-1] / cost.n[-1]),
            }
            for solver, cost in self.costs.items()
        ]

    def frame(self) -> pd.DataFrame:
        """The stored rows behind the chart."""
        stored = solver_costs.load()
        return pd.DataFrame(
            [asdict(row) for solver in self.costs for row in solver_costs.reached(stored, solver, self.columns)]
        )

    def chart(self, height: int = 460) -> Any:
        """The measurements as points, the fits as lines."""
        traces: list[dict[str, Any]] = []
        heights, sizes = [np.empty(0)], [np.array([1e3, 1e4])]
        for solver, cost in self.costs.items():
            n = np.array(cost.n, dtype=np.float64)
            shown = self._shown(n, np.array(cost.evaluations, dtype=np.float64))
            line = np.geomspace(n[0], n[-1], 40)
            fitted, name = self._shown(line, cost.growth.at(line)), NAMES[solver]
            hover = "%{y:.3g} at n = %{x:,.0f}"
            traces.append(figures.series(f"{name}, fitted", line, fitted, solver, ghost=True, opacity=0.7))
            traces.append(figures.series(name, n, shown, solver, mode="markers", hover=hover))
            heights.append(shown)
            sizes.append(n)
        ends = 0.7 * min(map(np.min, sizes)), 1.4 * max(map(np.max, sizes))
        what = "gradient evaluations / (n log n)" if self.relative else "gradient evaluations"
        up = figures.axis(what, figures.decades(*(heights if traces else [[1e3]])), log=True)
        across = figures.axis("rows n", ends, log=True, dtick=1)
        return figures.figure(traces, across, up, height=height, hovermode="closest")

    def _shown(self, n: FloatArray, evaluations: FloatArray) -> FloatArray:
        return evaluations / (n * np.log(n)) if self.relative else evaluations


def stored(solvers: tuple[str, ...], columns: str, *, relative: bool = False) -> Growth | None:
    """What is stored; where nothing is, that is said."""
    try:
        return Growth(solver_costs.costs(solvers, columns), columns, relative)
    except DataUnavailableError as error:
        st.info(str(error), icon=":material/info:")
        return None


def draw(solvers: tuple[str, ...], columns: str, *, relative: bool) -> None:
    """Draw the second chart with what is said about it."""
    st.header("How the cost grows with the number of rows", anchor=False)
    growth = stored(solvers, columns, relative=relative)
    if growth is None:
        return
    if not growth.costs:
        st.caption("Pick a solver to see its growth.")
        return
    st.markdown(growth.answer())
    if seconds := growth.seconds():
        st.markdown(seconds)
    title = f"Gradient evaluations against n, {columns} columns"
    picture = page.Picture(growth.chart(), growth.alt(), growth.frame, title)
    page.show(picture, key="solvers_growth")
    st.caption(made_by(solver_costs.load().notes))
    page.evidence(picture, growth.table(), name="solvers-growth")


def made_by(provenance: Mapping[str, str]) -> str:
    """How the stored costs were made."""
    return (
        f"Stored results of `{provenance.get('command', 'unknown')}`, commit {provenance.get('commit', 'unknown')}, "
        f"{provenance.get('versions', 'versions unknown')}; seeds {provenance.get('seeds', 'unknown')}; d = 50, λ = 1, "
        "σ = 4, τ = 1/n. Lines: c·nᵃ·log n fitted to the points."
    )


def _power(exponent: str) -> str:
    """n^a log n as KaTeX."""
    return f"$n{'' if exponent == '1' else f'^{{{exponent}}}'}\\log n$"
