"""What the Solvers page compares: runs on a small synthetic problem, and the stored costs against n; no Streamlit.

Runs are remembered with `lru_cache` on frozen settings and shared by everybody. Every solver has a limit, so that no
setting of the page takes long; a solver that stops at its limit is shown as far as it got.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from objpert_core.experiments.studies import solver_costs as sc
from objpert_core.learning import PerturbedObjective, solve

NAMES: Mapping[str, str] = {
    "newton": "Newton",
    "newton-cg": "Newton-CG",
    "lbfgs": "L-BFGS",
    "gradient-descent": "Gradient descent",
    "accelerated": "Accelerated",
    "sag": "SAG",
    "svrg": "SVRG",
}
COLUMNS: Mapping[str, str] = {
    "redundant": "redundant, like a one-hot table",
    "diverse": "diverse, every direction seen",
}
DESCENT = ("gradient-descent", "accelerated")
FINITE_SUM = ("sag", "svrg")
POINTS = 250  # of one curve
DIMENSION = sc.Case.features

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """One problem and the gradient norm to reach."""

    n: int
    lam: float
    sigma: float
    columns: str
    seed: int
    tau: float

    @property
    def case(self) -> sc.Case:
        """The problem without τ."""
        return sc.Case(self.n, self.lam, self.sigma, columns=self.columns, seed=self.seed)

    def __str__(self) -> str:
        size = f"n = {self.n:,}, d = {DIMENSION}"
        return f"{size}, λ = {self.lam:g}, σ = {self.sigma:g}, {self.columns} columns, seed {self.seed}"


@dataclass(frozen=True, eq=False)
class Run:
    """One solver on one setting: its checks, and what it cost in all (the last check included)."""

    evaluations: Array
    norms: Array
    total: int
    iterations: int
    reached: float
    converged: bool


def limit(solver: str, n: int) -> int:
    """The page's `max_iter`: 1,000 gradients for the descent methods, passes over 45,000 rows for SAG and SVRG."""
    if solver in FINITE_SUM:
        return 45_000 // n
    return 10 if solver in DESCENT else 300


@lru_cache(maxsize=8)
def _objective(case: sc.Case) -> PerturbedObjective:
    return case.objective()


@lru_cache(maxsize=400)
def run(solver: str, setting: Setting) -> Run:
    """A solver on a setting, from θ = 0 to ‖∇J‖ ≤ τ or to its limit."""
    result = solve(_objective(setting.case), tau=setting.tau, solver=solver, max_iter=limit(solver, setting.n))
    trace = np.array(result.trace, dtype=np.float64).T
    trace.setflags(write=False)
    evaluations, norms = trace
    return Run(
        evaluations, norms, result.gradient_evaluations, result.iterations, result.gradient_norm, result.converged
    )


def curve(found: Run) -> tuple[Array, Array]:
    """A run's checks, thinned to about `POINTS` evenly on the logarithmic axis, ends kept."""
    if len(found.norms) <= POINTS:
        return found.evaluations, found.norms
    keep = np.unique(np.geomspace(1, len(found.norms), POINTS).astype(int)) - 1
    return found.evaluations[keep], found.norms[keep]


def frame(solvers: Sequence[str], setting: Setting) -> pd.DataFrame:
    """Every check of every solver: one row each."""
    found = [(solver, run(solver, setting)) for solver in solvers]
    checks = [(solver, *check) for solver, one in found for check in zip(one.evaluations, one.norms, strict=True)]
    return pd.DataFrame(checks, columns=["solver", "gradient_evaluations", "gradient_norm"])


def per_row(n: Array, evaluations: Array, relative: bool) -> Array:
    """Evaluations as they are, or divided by n log n."""
    return evaluations / (n * np.log(n)) if relative else evaluations


def stored_frame(solvers: Sequence[str], columns: str) -> pd.DataFrame:
    """The stored rows behind the chart."""
    return pd.DataFrame([asdict(row) for solver in solvers for row in sc.reached(sc.load(), solver, columns)])


def decades(values: Array) -> tuple[float, float]:
    """The powers of ten around positive values."""
    return 10.0 ** math.floor(math.log10(values.min())), 10.0 ** math.ceil(math.log10(values.max()))
