"""The words of the Solvers page: pure functions from numbers to sentences and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from objpert_core.experiments.studies import solver_costs as sc
from pages.solvers import numbers as sr
from ui import sentences

_INSIDE = {
    "newton": "Newton’s method",
    "newton-cg": "Newton-CG",
    "lbfgs": "L‑BFGS",  # does not break across lines
    "gradient-descent": "gradient descent",
    "accelerated": "accelerated descent",
    "sag": "SAG",
    "svrg": "SVRG",
}


def _reached(run: sr.Run) -> str:
    return sentences.scientific(run.reached, up=True)


def _times(value: float) -> str:
    return f"{round(value):,}" if value >= 10 else sentences.number(value, 2)


def answer(setting: sr.Setting, runs: Mapping[str, sr.Run]) -> str:
    """What reaching τ costs each solver that got there, cheapest first."""
    tau = sentences.scientific(setting.tau)
    arrived = sorted((run.total, solver) for solver, run in runs.items() if run.converged)
    if not runs:
        return "Pick a solver to see what it costs."
    if not arrived:
        return f"On {setting.n:,} rows none of these reaches ‖∇J‖ ≤ {tau} within the page’s limits."
    (first, cheapest), *others = arrived
    told = [f"{_INSIDE[cheapest]} visits every row {_times(first / setting.n)} times"]
    told += [f"{_INSIDE[solver]} {_times(total / setting.n)}" for total, solver in others]
    return f"To reach ‖∇J‖ ≤ {tau} on {setting.n:,} rows, {sentences.listing(told)}."


def unfinished(setting: sr.Setting, runs: Mapping[str, sr.Run]) -> str | None:
    """Which solvers stopped at the page's limit, and how far they got."""
    late = [
        f"{_INSIDE[solver]} is at {_reached(run)} after {_times(run.total / setting.n)} visits"
        for solver, run in runs.items()
        if not run.converged
    ]
    return f"Stopped at this page’s limit: {'; '.join(late)}." if late else None


PRIVACY = (
    "The solver has no part in the privacy proof: any θ with ‖∇J‖ ≤ τ will do, and the gradient is evaluated once more "
    "before anything is released. What a run cost depends on the data; do not publish it for private ones."
)


def growths(costs: Mapping[str, sc.Cost]) -> str:
    """The measured exponents of those with a proved one, next to it."""
    told = [
        f"{_power(f'{cost.growth.exponent:.2f}')} for {_INSIDE[solver]} (up to n = {max(cost.n):,}; 95 %: "
        f"{cost.growth.low:.2f} to {cost.growth.high:.2f}; proved: at most {_power(f'{sc.PROVED[solver]:g}')})"
        for solver, cost in costs.items()
        if solver in sc.PROVED
    ]
    if not told:
        return "No solver with a proved growth is shown."
    smallest = min(min(cost.n) for cost in costs.values())
    said = f"Measured from n = {smallest:,} on, the cost grows as {sentences.listing(told)}."
    return said.replace(" = ", "\u00a0=\u00a0").replace(" %", "\u00a0%")


def _power(exponent: str) -> str:
    """n^a log n as KaTeX."""
    return f"$n{'' if exponent == '1' else f'^{{{exponent}}}'}\\log n$"


def hessians() -> str:
    """Why a visit of Newton's method is not one of the others', and why its iterations may be cheap in visits."""
    return (
        f"A visit for a Hessian is about d = {sr.DIMENSION} times the arithmetic of a visit for a gradient. Newton’s "
        "method keeps a Hessian for as long as it serves, so that an iteration may cost a single visit, and while far "
        "away from a solution on many rows it estimates the Hessian from a sample of them."
    )


def seconds(costs: Mapping[str, sc.Cost]) -> str | None:
    """The processor time of everybody at the largest n that all of them have; None where no time is stored."""
    shared = set.intersection(*(set(cost.n) for cost in costs.values()))
    n = max(shared, default=0)
    taken = sorted((cost.seconds_at(n), solver) for solver, cost in costs.items())
    if not n or not all(time > 0 for time, _ in taken):
        return None
    told = "; ".join(f"{sr.NAMES[solver]} {sentences.number(time, 2)} s" for time, solver in taken)
    return f"Visits are not seconds. Processor time of the stored runs on {n:,} rows: {told}."


def made_by(provenance: Mapping[str, str]) -> str:
    """How the stored costs were made."""
    return (
        f"Stored results of `{provenance.get('command', 'unknown')}`, commit {provenance.get('commit', 'unknown')}, "
        f"{provenance.get('versions', 'versions unknown')}; seeds {provenance.get('seeds', 'unknown')}; d = 50, λ = 1, "
        "σ = 4, τ = 1/n. Lines: c·nᵃ·log n fitted to the points."
    )


def table_rows(setting: sr.Setting, runs: Mapping[str, sr.Run]) -> list[dict[str, str]]:
    """The runs as texts, one row a solver."""
    return [
        {
            "Solver": sr.NAMES[solver],
            "Gradient evaluations": f"{run.total:,}",
            "Visits per row": _times(run.total / setting.n),
            "Iterations": f"{run.iterations:,}",
            "‖∇J‖ reached": _reached(run) + ("" if run.converged else " (above τ)"),
        }
        for solver, run in runs.items()
    ]


def growth_rows(costs: Mapping[str, sc.Cost]) -> list[dict[str, str]]:
    """The measured growths as texts, one row a solver."""
    return [
        {
            "Solver": sr.NAMES[solver],
            "Exponent a of c·nᵃ·log n": f"{cost.growth.exponent:.3f}",
            "95\u00a0% interval": f"{cost.growth.low:.3f} to {cost.growth.high:.3f}",
            "Proved (Appendix F)": f"at most {sc.PROVED[solver]:g}" if solver in sc.PROVED else "–",
            "Largest n": f"{max(cost.n):,}",
            "Visits per row there": _times(cost.evaluations[-1] / cost.n[-1]),
        }
        for solver, cost in costs.items()
    ]


def alt(setting: sr.Setting, runs: Mapping[str, sr.Run]) -> str:
    """Alt text of the first chart."""
    order = sorted(runs.items(), key=lambda item: item[1].total if item[1].converged else math.inf)
    told = [
        f"{sr.NAMES[solver]} {f'{run.total:,}' if run.converged else 'not within the limit'}" for solver, run in order
    ]
    return (
        f"Gradient norm against gradient evaluations, both logarithmic, on {setting.n:,} rows. Evaluations to reach "
        f"τ = {sentences.scientific(setting.tau)}: {'; '.join(told)}."
    )


def growth_alt(costs: Mapping[str, sc.Cost], *, relative: bool = False) -> str:
    """Alt text of the second chart."""
    what = "Gradient evaluations divided by n log n" if relative else "Gradient evaluations"
    told = [f"{sr.NAMES[solver]} n^{cost.growth.exponent:.2f} log n" for solver, cost in costs.items()]
    return f"{what} against the number of rows, both logarithmic. Evaluations grow as follows: {'; '.join(told)}."


def snippet(setting: sr.Setting, solvers: Sequence[str]) -> str:
    """Every solver's count on this problem; defines the dictionary ``results``."""
    limits = {solver: sr.limit(solver, setting.n) for solver in solvers}
    problem = f"n={setting.n}, lam={setting.lam!r}, sigma={setting.sigma!r}, columns={setting.columns!r}"
    return f"""from objpert_core.experiments.studies.solver_costs import Case
from objpert_core.learning import solve

case = Case({problem}, seed={setting.seed})
objective = case.objective()
limits = {limits!r}
results = {{name: solve(objective, tau={setting.tau!r}, solver=name, max_iter=limit) for name, limit in limits.items()}}
for name, result in results.items():
    print(name, result.gradient_evaluations, result.gradient_norm, result.converged)
"""
