"""What the solvers cost in gradient evaluations, and how that grows with the number of rows (Appendix F)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from objpert_core._validation import FloatArray, choice, nonnegative, positive, positive_integer
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments import results
from objpert_core.experiments.results import Results, Row
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import Rows

LEVELS = 5  # of each attribute of redundant columns
PROVED: Mapping[str, float] = {"gradient-descent": 2.0, "accelerated": 1.5, "sag": 1.0, "svrg": 1.0}
"""a where Appendix F proves O(n^a log n) gradient evaluations for fixed λ."""


def _redundant(n: int, features: int, random: np.random.Generator) -> FloatArray:
    """Indicators of attributes with five levels of unequal frequency each, as one-hot tables such as Adult have."""
    X = np.zeros((n, features))
    for first in range(0, features, LEVELS):
        width = min(LEVELS, features - first)
        frequencies = random.dirichlet(np.ones(width))
        X[np.arange(n), first + random.choice(width, size=n, p=frequencies)] = 1.0
    return X


def _diverse(n: int, features: int, random: np.random.Generator) -> FloatArray:
    """Independent Gaussian columns: every direction is well seen."""
    return random.standard_normal((n, features))


COLUMNS: Mapping[str, Callable[[int, int, np.random.Generator], FloatArray]] = {
    "redundant": _redundant,
    "diverse": _diverse,
}
"""Kinds of columns. Redundant ones leave directions in which only λ curves J: what Appendix F's bounds allow for."""


@dataclass(frozen=True)
class Case:
    """A synthetic problem: rows of norm 1, labels of a logistic model, no intercept; b has the deviation `sigma`."""

    n: int
    lam: float = 1.0
    sigma: float = 4.0
    features: int = 50
    columns: str = "redundant"
    seed: int = 0

    def objective(self) -> PerturbedObjective:
        """J."""
        n, features = positive_integer("n", self.n), positive_integer("features", self.features)
        choice("columns", self.columns, tuple(COLUMNS))
        random = np.random.default_rng(self.seed)
        rows = Rows(COLUMNS[self.columns](n, features, random), "normalize")
        scores = rows.margins(5.0 * random.standard_normal(features))
        targets = np.where(scores + random.logistic(size=n) > 0, 1.0, -1.0)
        noise = nonnegative("sigma", self.sigma) * random.standard_normal(features)
        return PerturbedObjective(rows, targets, positive("lam", self.lam), noise)


@dataclass(frozen=True)
class Measurement(Row):
    """One solver on one case, counted as `SolverResult` does; `seconds` are processor time, 0 where not taken."""

    KEYS = ("solver", "columns", "n", "seed")
    VALUE = "evaluations"
    DIGITS = 6

    solver: str
    columns: str
    n: int
    features: int
    lam: float
    sigma: float
    seed: int
    tau: float
    iterations: int
    evaluations: int
    gradient_norm: float
    converged: bool
    seconds: float = 0.0


@dataclass(frozen=True)
class Growth:
    """evaluations ≈ factor · n^exponent · log n, with a 95 % interval for the exponent."""

    exponent: float
    low: float
    high: float
    factor: float

    def at(self, n: FloatArray) -> FloatArray:
        """The fitted number of evaluations."""
        return self.factor * n**self.exponent * np.log(n)


def growth(n: Sequence[int], evaluations: Sequence[int]) -> Growth:
    """Least squares for log(evaluations / log n) against log n, with Student's interval for the slope."""
    sizes = np.asarray(n, dtype=np.float64)
    if sizes.size < 3 or np.ptp(sizes) == 0:
        raise ValueError(f"n must hold at least three sizes, not all equal, got {list(n)!r}")
    x = np.log(sizes)
    y = np.log(np.asarray(evaluations, dtype=np.float64) / np.log(sizes))
    centred = x - x.mean()
    spread = float(centred @ centred)
    exponent = float(centred @ y) / spread
    level = float(y.mean() - exponent * x.mean())
    residuals = y - level - exponent * x
    error = float(np.sqrt(residuals @ residuals / (x.size - 2) / spread)) * float(student.ppf(0.975, x.size - 2))
    return Growth(exponent, exponent - error, exponent + error, float(np.exp(level)))


def reached(found: Results[Measurement], solver: str, columns: str) -> tuple[Measurement, ...]:
    """The rows of one solver that reached τ, by n."""
    return tuple(row for row in found.of(solver, columns) if row.converged)


@cache
def load(path: Path | None = None) -> Results[Measurement]:
    """The measurements in a file (by default the stored ones); `DataUnavailableError` if missing or damaged."""
    path = path or results.to_read(results.folder() / "solvers.csv")
    try:
        return results.read(path, Measurement)
    except (OSError, ValueError) as error:
        raise DataUnavailableError(f"{path.name} with the solvers' measured costs cannot be read: {error}") from error


@dataclass(frozen=True)
class Cost:
    """A solver's measured cost at several n; no processor times where none are stored."""

    n: tuple[int, ...]
    evaluations: tuple[int, ...]
    growth: Growth
    seconds: tuple[float, ...] = ()

    def seconds_at(self, n: int) -> float:
        """Mean processor time of the runs on n rows; NaN where none is stored."""
        found = [taken for size, taken in zip(self.n, self.seconds, strict=False) if size == n]
        return sum(found) / len(found) if found else math.nan


@cache
def cost(solver: str, columns: str) -> Cost | None:
    """What is stored of a solver on such columns; None where there is too little for a growth."""
    rows = reached(load(), solver, columns)
    if len({row.n for row in rows}) < 3:
        return None
    sizes, evaluations = tuple(row.n for row in rows), tuple(row.evaluations for row in rows)
    return Cost(sizes, evaluations, growth(sizes, evaluations), tuple(row.seconds for row in rows))


def costs(solvers: Sequence[str], columns: str) -> dict[str, Cost]:
    """`cost` of each solver that has one."""
    found = {solver: cost(solver, columns) for solver in solvers}
    return {solver: known for solver, known in found.items() if known}
