"""The words of the Solvers page: pure functions from numbers to sentences and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from objpert_core.experiments.studies import solver_costs as sc
from pages.solvers import numbers as sr
from ui import bounds as proofs
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
    """What reaching τ costs the cheapest and the dearest of those that got there, in visits to each row."""
    if not runs:
        return "Pick a solver to see what it costs."
    arrived = sorted((run.total, solver) for solver, run in runs.items() if run.converged)
    late = len(runs) - len(arrived)
    if not arrived:
        return f"None of these solvers reaches ‖∇J‖ ≤ {sentences.scientific(setting.tau)} within the page’s limits."
    (first, cheapest), (last, dearest) = arrived[0], arrived[-1]
    told = f"{_INSIDE[cheapest]} visits each row {_times(first / setting.n)} times"
    told += f", {_INSIDE[dearest]} {_times(last / setting.n)}" if dearest != cheapest else ""
    end = f"; {sentences.count(late, 'solver')} {'stops' if late == 1 else 'stop'} unfinished" if late else ""
    return f"{told[0].upper()}{told[1:]}{end}."


def promise(setting: sr.Setting) -> str:
    """The promise of a fit with this σ and λ on rows of norm 1, whichever solver made it."""
    mechanism = proofs.Setting(setting.sigma, setting.lam, 0.25, 1.0)
    return sentences.promise(proofs.epsilon_at("logistic", mechanism, DELTA), DELTA, f"{sentences.TIGHT} at τ = 0")


def moved(before: sr.Setting, now: sr.Setting, then: Mapping[str, sr.Run], runs: Mapping[str, sr.Run]) -> str:
    """What was changed since `before`, and what it did to the solver that the setting matters most to.

    Empty where nothing was changed, or no solver has reached τ both times.
    """
    changes = sentences.changed(before, now, _NAMES)
    costs = {
        solver: (then[solver].total / before.n, run.total / now.n)
        for solver, run in runs.items()
        if run.converged and then[solver].converged
    }
    if not changes or not costs:
        return ""
    solver = max(costs, key=lambda name: abs(math.log(costs[name][1] / costs[name][0])))
    old, new = costs[solver]
    shift, harder, name = sentences.shift(changes), new > old, changes[0][0]
    if max(old / new, new / old) < HARDLY:
        return f"{shift}: the number of visits hardly moves."
    course = (
        f"{shift}: {_INSIDE[solver]} needs {'more' if harder else 'fewer'} visits, {_times(old)} → {_times(new)} a row"
    )
    expected = len(changes) == 1 and name in _REASONS and harder == _harder(*changes[0])
    return f"{course}: {_REASONS[name]}." if expected else f"{course}."


def _harder(name: str, old: Any, new: Any) -> bool:
    """Whether theory expects more visits after this change."""
    return bool(new == "redundant" if name == "columns" else (new > old) == (name in ("n", "σ")))


HARDLY = 1.05
"""Times as many visits, below which they have hardly moved."""
_NAMES = {"lam": "λ", "n": "n", "tau": "τ", "columns": "columns", "sigma": "σ", "seed": "seed"}
_REASONS = {
    "λ": "where the data are flat, only λ curves",
    "n": "rows add curvature to some directions, others have only λ’s",
    "τ": "every digit of the gradient costs about the same",
    "σ": "where the data are flat, a wide tilt moves the solution far",
    "columns": "redundant ones leave directions that only λ curves",
}


DELTA = 1e-5
PRIVACY = (
    "The solver has no part in the privacy proof: the gradient is evaluated once more before θ is released. "
    "What a run cost depends on the data; do not publish it for private ones."
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
