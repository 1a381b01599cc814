"""How the gradient shrinks: its norm as the evaluations of every solver add up, on a small synthetic problem.

Runs are remembered with `lru_cache` and shared by everybody. Every solver has a limit, so that no setting of the page
takes long; a solver that stops at its limit is shown as far as it got.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
import pandas as pd
import streamlit as st

from objpert_core._validation import FloatArray
from objpert_core.experiments.studies.solver_costs import Case
from objpert_core.learning import PerturbedObjective, solve
from pages.solvers import growth
from pages.solvers.controls import COST, INSIDE, KIND, LAM, NAMES, RELATIVE, ROWS, SEED, SIGMA, SOLVERS, TAU
from ui import bounds as proofs
from ui import figures, page, sentences
from ui.sentences import times
from ui.view import View, set_by

DESCENT = ("gradient-descent", "accelerated")
FINITE_SUM = ("sag", "svrg")
POINTS = 250  # of one curve
DELTA = 1e-5
HARDLY = 1.05
"""Times as many visits, below which they have hardly moved."""
PRIVACY = (
    "The privacy proof does not depend on the solver: before the package releases θ, it checks the gradient itself. "
    "The cost of a run depends on the data, so do not publish the cost for private data."
)
_REASONS = {
    "λ": "in directions that the data do not cover, only λ curves the objective",
    "n": "rows add curvature to some directions, and only λ curves the others",
    "τ": "every digit of the gradient costs about the same",
    "σ": "in directions that the data do not cover, a wide tilt moves the solution far",
    "columns": "redundant columns leave directions that only λ curves",
}


@dataclass(frozen=True, eq=False)
class Run:
    """One solver on one problem: its checks, and what it cost in all (the last check included)."""

    evaluations: FloatArray
    norms: FloatArray
    total: int
    iterations: int
    reached: float
    converged: bool

    def curve(self) -> tuple[FloatArray, FloatArray]:
        """The checks, thinned to about `POINTS` evenly on the logarithmic axis, ends kept."""
        if len(self.norms) <= POINTS:
            return self.evaluations, self.norms
        places = np.unique(np.geomspace(1, len(self.norms), POINTS).astype(int)) - 1
        return self.evaluations[places], self.norms[places]


def limit(solver: str, rows: int) -> int:
    """The page's `max_iter`: 1,000 gradients for the descent methods, passes over 45,000 rows for SAG and SVRG."""
    if solver in FINITE_SUM:
        return 45_000 // rows
    return 10 if solver in DESCENT else 300


@lru_cache(maxsize=8)
def _objective(case: Case) -> PerturbedObjective:
    return case.objective()


@lru_cache(maxsize=400)
def run(solver: str, case: Case, tau: float) -> Run:
    """A solver on a problem, from θ = 0 to ‖∇J‖ ≤ τ or to its limit."""
    result = solve(_objective(case), tau=tau, solver=solver, max_iter=limit(solver, case.n))
    trace = np.array(result.trace, dtype=np.float64).T
    trace.setflags(write=False)
    evaluations, norms = trace
    return Run(
        evaluations, norms, result.gradient_evaluations, result.iterations, result.gradient_norm, result.converged
    )


class Descent(View, name="solvers", title="Gradient norm against evaluations", snippet="solvers"):
    """Solvers on one problem, and the gradient norm to reach; which solvers are shown is no part of the setting."""

    lam: float = set_by(LAM, "λ")
    rows: int = set_by(ROWS, "n")
    tau: float = set_by(TAU, "τ")
    columns: str = set_by(KIND, "columns")
    sigma: float = set_by(SIGMA, "σ")
    solvers: tuple[str, ...] = set_by(SOLVERS, aside=True, compare=False)
    seed: int = set_by(SEED, "seed", aside=True)
    cost: str = set_by(COST, aside=True, compare=False)

    answers_in_alt = False

    def runs(self) -> dict[str, Run]:
        """Every solver's run."""
        case = Case(self.rows, self.lam, self.sigma, columns=self.columns, seed=self.seed)
        return {solver: run(solver, case, self.tau) for solver in self.solvers}

    def answer(self) -> str:
        runs = self.runs()
        if not runs:
            return "Pick a solver to see what it costs."
        arrived = sorted((run.total, solver) for solver, run in runs.items() if run.converged)
        late = len(runs) - len(arrived)
        if not arrived:
            return f"None of these solvers reaches ‖∇J‖ ≤ {sentences.scientific(self.tau)} within the page’s limits."
        (first, cheapest), (last, dearest) = arrived[0], arrived[-1]
        visits = f"{INSIDE[cheapest]} visits each row {times(first / self.rows)} times"
        visits += f", {INSIDE[dearest]} {times(last / self.rows)}" if dearest != cheapest else ""
        end = f"; {sentences.count(late, 'solver')} {'stops' if late == 1 else 'stop'} unfinished" if late else ""
        return f"{sentences.capital(visits)}{end}."

    def promise(self) -> str:
        mechanism = proofs.Setting(self.sigma, self.lam, 0.25, 1.0)
        return sentences.promise(proofs.epsilon_at("logistic", mechanism, DELTA), DELTA, f"{sentences.TIGHT} at τ = 0")

    def moved(self, before: Self | None) -> str:
        """What the change did to the solver that it matters most to; empty where none has reached τ both times."""
        if before is None or not (changes := sentences.changed(before, self, self.named)):
            return ""
        then = replace(before, solvers=self.solvers).runs()
        costs = {
            solver: (then[solver].total / before.rows, run.total / self.rows)
            for solver, run in self.runs().items()
            if run.converged and then[solver].converged
        }
        if not costs:
            return ""
        solver = max(costs, key=lambda name: abs(math.log(costs[name][1] / costs[name][0])))
        old, new = costs[solver]
        shift, harder, name = sentences.shift(changes), new > old, changes[0][0]
        if max(old / new, new / old) < HARDLY:
            return f"{shift}: the number of visits hardly moves."
        course = f"{INSIDE[solver]} needs {'more' if harder else 'fewer'} visits, {times(old)} → {times(new)} a row"
        expected = len(changes) == 1 and name in _REASONS and harder == _harder(*changes[0])
        return f"{shift}: {course}: {_REASONS[name]}." if expected else f"{shift}: {course}."

    def shows(self) -> str:
        order = sorted(self.runs().items(), key=lambda item: item[1].total if item[1].converged else math.inf)
        totals = [
            f"{NAMES[solver]} {f'{run.total:,}' if run.converged else 'not within the limit'}" for solver, run in order
        ]
        return (
            f"Gradient norm against gradient evaluations, both logarithmic, on {self.rows:,} rows. Evaluations to "
            f"reach τ = {sentences.scientific(self.tau)}: {'; '.join(totals)}."
        )

    def svg_title(self) -> str:
        size = f"n = {self.rows:,}, d = {Case.features}"
        problem = f"λ = {self.lam:g}, σ = {self.sigma:g}, {self.columns} columns, seed {self.seed}"
        return f"Gradient norm against gradient evaluations, {size}, {problem}"

    def table(self) -> list[dict[str, str]]:
        return [
            {
                "Solver": NAMES[solver],
                "Gradient evaluations": f"{run.total:,}",
                "Visits per row": times(run.total / self.rows),
                "Iterations": f"{run.iterations:,}",
                "‖∇J‖ reached": sentences.scientific(run.reached, up=True) + ("" if run.converged else " (above τ)"),
            }
            for solver, run in self.runs().items()
        ]

    def numbers(self) -> pd.DataFrame:
        """Every check of every solver: one row each."""
        runs = self.runs().items()
        checks = [(solver, *check) for solver, run in runs for check in zip(run.evaluations, run.norms, strict=True)]
        return pd.DataFrame(checks, columns=["solver", "gradient_evaluations", "gradient_norm"])

    def blanks(self) -> dict[str, Any]:
        return {**super().blanks(), "limits": {solver: limit(solver, self.rows) for solver in self.solvers}}

    def chart(self, before: Self | None) -> Any:
        runs, tau = self.runs(), self.tau
        (_, right), (_, top) = (
            figures.decades([self.rows, 10 * self.rows], *(run.evaluations for run in runs.values())),
            figures.decades([10 * tau], *(run.norms for run in runs.values())),
        )
        left, traces = 0.8 * self.rows, []
        if before is not None:
            for solver, ghost in replace(before, solvers=self.solvers).runs().items():
                traces.append(figures.series(f"{NAMES[solver]}, before", *ghost.curve(), solver, ghost=True))
        traces.append(figures.guide((left, right), (tau, tau), name="τ"))
        hover = "‖∇J‖ = %{y:.2g} after %{x:,.0f}"
        traces += [figures.series(NAMES[solver], *run.curve(), solver, hover=hover) for solver, run in runs.items()]
        label = {"text": "τ", "x": np.log10(right), "y": np.log10(tau), "showarrow": False}
        across = figures.axis("gradient evaluations, single rows", (left, right), log=True)
        up = figures.axis("gradient norm ‖∇J‖", (tau / 30, top), log=True)
        labels = [label | {"xanchor": "right", "yanchor": "bottom"}]
        return figures.figure(traces, across, up, height=480, hovermode="closest", annotations=labels)

    def evidence(self, picture: page.Picture) -> None:
        if rows := self.table():
            page.table(rows, alt=picture.alt)
            st.caption(PRIVACY)
            page.evidence(picture, shown=rows, name=self.name, code=self.code())

    def below(self, before: Self | None) -> None:
        growth.draw(self.solvers, self.columns, relative=self.cost == RELATIVE)


def _harder(name: str, old: Any, new: Any) -> bool:
    """Whether theory expects more visits after this change."""
    return bool(new == "redundant" if name == "columns" else (new > old) == (name in ("n", "σ")))
