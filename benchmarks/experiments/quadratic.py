"""Bends: the figures of Cortild and Cartis (2026), where data matter, and other private regressions beside them.

Figure 2: the empirical risk of a private lasso against the box that it must lie in. Labels are xᵀθ* exactly, so that θ*
minimises the loss of every record. The risk J is a sum over the rows plus ω‖θ‖₁. Minima are exact here, where the paper
takes 1000 steps of a splitting method. As in the paper no output noise is added although the anchor is off by about
√10: what is called a bend there is not private as it is run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.experiments.experiment import Experiment, Makers
from objpert_core._validation import FloatArray, nonnegative_integer, positive, positive_integer
from objpert_core.accounting import calibrate_gaussian, calibrate_quadratic_perturbation, linear_objective_noise
from objpert_core.accounting.mechanisms.base import ADD_REMOVE
from objpert_core.accounting.quadratic.published_calibration import published_scale
from objpert_core.estimators import ObjPertRegressor, QOPLasso
from objpert_core.exceptions import ConvergenceError
from objpert_core.experiments.quadratic import figure1
from objpert_core.experiments.quadratic.stored import FAMILY, Excess, NewError, Risk
from objpert_core.learning.quadratic.wishart import wishart
from objpert_core.learning.solvers.lasso import BoxedLasso, solve_lasso

ROWS, DIMENSION, LARGEST_ENTRY, PENALTY, CLIP = 300, 100, 5.0, 1.0, 1e4
DEGREES = 2 * DIMENSION
SMOOTHNESS = DIMENSION * LARGEST_ENTRY**2
WEIGHT = 0.02
"""ω where data matter, as a share of n."""
NOISE, FAILURE = 0.1, 0.05
_SLOPE = 1e-11  # of the residual at the end, relative to the longest slope at hand


def box_lasso(gram: FloatArray, linear: FloatArray, penalty: float, bound: float = math.inf) -> FloatArray:
    """The minimiser of ½·θᵀBθ − cᵀθ + ω‖θ‖₁ over |θⱼ| <= κ, with B positive definite; `ConvergenceError` if the descent
    does not end.

    >>> box_lasso(np.diag([2.0, 1.0]), np.array([3.0, 0.5]), penalty=1.0).tolist()
    [1.0, 0.0]
    """
    one = np.ones(len(linear))
    problem = BoxedLasso(gram, -linear, 0 * one, penalty * one, -bound * one, bound * one)
    found = solve_lasso(problem, tau=_SLOPE * (float(np.linalg.norm(linear)) + penalty))
    if not found.converged:
        raise ConvergenceError(f"the residual is still {found.gradient_norm:.3g} after {found.iterations:,} checks")
    return found.theta


# --- Figure 2 ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Problem:
    """One draw of data, anchor and perturbations, in the order in which they are drawn."""

    X: FloatArray
    theta: FloatArray
    anchor: FloatArray
    wishart: FloatArray
    tilt: FloatArray

    @classmethod
    def draw(cls, seed: int) -> Problem:
        """The problem of a seed."""
        generator = np.random.default_rng(nonnegative_integer("seed", seed))
        X = generator.standard_normal((ROWS, DIMENSION))
        X *= LARGEST_ENTRY / np.abs(X).max()
        theta = generator.standard_normal(DIMENSION)
        anchor = theta + math.sqrt(0.1) * generator.standard_normal(DIMENSION)
        factor = generator.standard_normal((DIMENSION, DEGREES))
        return cls(X, theta, anchor, factor @ factor.T, generator.standard_normal(DIMENSION))

    def risk(self, theta: FloatArray) -> float:
        """J(θ)."""
        residuals = self.X @ (theta - self.theta)
        return float(residuals @ residuals / 2 + PENALTY * np.abs(theta).sum())

    def gradient_bound(self, kappa: float) -> float:
        """ζ: no record's gradient is longer in the box [−κ, κ]^d."""
        longest = LARGEST_ENTRY * math.sqrt(DIMENSION)
        return (2 * kappa * math.sqrt(DIMENSION) * longest + float(np.abs(self.X @ self.theta).max())) * longest


def scales() -> dict[str, float]:
    """σ² of the bends, at 2d degrees of freedom: as published with δ₁ = δ₃ = δ/2, and by the exact theorem."""
    published = published_scale(Risk.EPSILON, Risk.DELTA, DIMENSION, DEGREES, SMOOTHNESS)
    exact = calibrate_quadratic_perturbation(Risk.EPSILON, Risk.DELTA, DIMENSION, SMOOTHNESS, DEGREES)
    return {"qop": published, "qop-tight": exact.scale}


def risks(seed: int, kappas: Iterable[float] = Risk.KAPPAS) -> Iterator[Risk]:
    """The risk of every method on one draw, for every box."""
    problem, bends = Problem.draw(seed), scales()
    gram = problem.X.T @ problem.X
    linear = gram @ problem.theta
    for kappa in kappas:
        zeta = problem.gradient_bound(positive("kappa", kappa))
        for method, bound in (("lop", zeta), ("lop-replace", 2 * zeta), ("lop-clip", min(zeta, CLIP))):
            variance, lam = linear_objective_noise(Risk.EPSILON, Risk.DELTA, bound, SMOOTHNESS)
            tilted = linear - math.sqrt(variance) * problem.tilt
            theta = box_lasso(gram + lam * np.eye(DIMENSION), tilted, PENALTY, kappa)
            yield Risk(kappa, method, seed, problem.risk(theta))
        for method, scale in bends.items():
            bent = scale * problem.wishart
            theta = box_lasso(gram + bent, linear + bent @ problem.anchor, PENALTY, kappa)
            yield Risk(kappa, method, seed, problem.risk(theta))
        yield Risk(kappa, "anchor", seed, problem.risk(np.clip(problem.anchor, -kappa, kappa)))
        yield Risk(kappa, "no-privacy", seed, problem.risk(box_lasso(gram, linear, PENALTY, kappa)))


# --- where data matter -------------------------------------------------------------------------------------------


def bends() -> dict[str, float]:
    """σ² by each proof, at 2d degrees of freedom."""
    return {
        bound: calibrate_quadratic_perturbation(
            Excess.EPSILON, Excess.DELTA, Excess.DIMENSION, 1.0, 2 * Excess.DIMENSION, bound=bound
        ).scale
        for bound in Excess.LABELS
        if bound != "anchor"
    }


def excesses(seed: int, rows: Iterable[int] = Excess.ROWS) -> Iterator[Excess]:
    """What every method loses on one draw, for every number of rows; θ* and W are the same for all of them."""
    shared, found = np.random.default_rng([nonnegative_integer("seed", seed), 0]), bends()
    theta_star, W = shared.standard_normal(Excess.DIMENSION), wishart(shared, Excess.DIMENSION, 2 * Excess.DIMENSION)
    for n in rows:
        X = np.random.default_rng([seed, positive_integer("rows", n)]).standard_normal((n, Excess.DIMENSION))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        gram, omega = X.T @ X, WEIGHT * n
        # all minima are looked for as displacements of the least one: J differs far less than its own size
        best = box_lasso(gram, gram @ theta_star, omega)
        slope = gram @ (best - theta_star)
        for method in Excess.LABELS:
            if method == "anchor":
                theta = theta_star
            else:
                bent = gram + found[method] * W
                theta = box_lasso(bent, bent @ theta_star, omega)
            moved = theta - best
            lost = slope @ moved + moved @ gram @ moved / 2 + omega * (np.abs(theta) - np.abs(best)).sum()
            yield Excess(n, method, seed, float(lost))


# --- beside other regressions ------------------------------------------------------------------------------------

Solve = Callable[[FloatArray, FloatArray, np.random.Generator], FloatArray]


def bend_and_tilt(epsilon: float, *, centred: bool = False) -> Solve:
    """The minimum of the bent and tilted objective, theorem T34: `QOPLasso` without a penalty."""
    positive("epsilon", epsilon)

    def solve(X: FloatArray, y: FloatArray, generator: np.random.Generator) -> FloatArray:
        seed = int(generator.integers(2**31))
        told: dict[str, Any] = {"adjacency": ADD_REMOVE, "debias": centred, "random_state": seed}
        return np.asarray(QOPLasso(epsilon, NewError.DELTA, alpha=0.0, **told).fit(X, y).coef_)

    return solve


def adassp(epsilon: float, *, tight: bool = False) -> Solve:
    """AdaSSP (Wang 2018, Algorithm 2): a third of the budget each for λ_min, XᵀX and Xᵀy, then a ridge by λ_min."""
    positive("epsilon", epsilon)
    if tight:
        noise = math.sqrt(3) * calibrate_gaussian(epsilon, NewError.DELTA).sigma
        margin = 2 * noise
    else:
        noise = math.sqrt(math.log(6 / NewError.DELTA)) / (epsilon / 3)
        margin = math.log(6 / NewError.DELTA) / (epsilon / 3)

    def solve(X: FloatArray, y: FloatArray, generator: np.random.Generator) -> FloatArray:
        d = X.shape[1]
        gram = X.T @ X
        least = max(float(np.linalg.eigvalsh(gram)[0]) + noise * generator.standard_normal() - margin, 0.0)
        ridge = max(noise * math.sqrt(d * math.log(2 * d * d / FAILURE)) - least, 0.0)
        square = np.triu(generator.standard_normal((d, d)))
        symmetric = square + np.triu(square, 1).T
        linear = X.T @ y + noise * generator.standard_normal(d)
        return np.asarray(np.linalg.solve(gram + noise * symmetric + ridge * np.eye(d), linear))

    return solve


def objective(epsilon: float) -> Solve:
    """This project's `ObjPertRegressor` without an intercept, other parameters at their defaults."""
    positive("epsilon", epsilon)

    def solve(X: FloatArray, y: FloatArray, generator: np.random.Generator) -> FloatArray:
        seed = int(generator.integers(2**31))
        model = ObjPertRegressor(epsilon=epsilon, delta=NewError.DELTA, fit_intercept=False, random_state=seed)
        return np.asarray(model.fit(X, y).coef_)

    return solve


def solvers(epsilon: float) -> dict[str, Solve]:
    """How each method learns, by its key of `NewError.LABELS`."""
    return {
        "bend-tilt": bend_and_tilt(epsilon),
        "centred": bend_and_tilt(epsilon, centred=True),
        "adassp": adassp(epsilon),
        "adassp-tight": adassp(epsilon, tight=True),
        "objective": objective(epsilon),
        "zero": lambda X, y, generator: np.zeros(X.shape[1]),
    }


def draw(n: int, d: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows, clipped targets and θ of a seed."""
    generator = np.random.default_rng([nonnegative_integer("seed", seed), n, d])
    X = generator.standard_normal((positive_integer("n", n), positive_integer("d", d)))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    theta = generator.standard_normal(d)
    theta /= np.linalg.norm(theta)
    return X, np.clip(X @ theta + NOISE * generator.standard_normal(n), -1.0, 1.0), theta


def new_errors(seed: int, cases: Iterable[tuple[int, int, float]] = NewError.CASES) -> Iterator[NewError]:
    """What every method loses on one draw, for every (n, d, ε)."""
    for n, d, epsilon in cases:
        X, y, theta = draw(n, d, seed)
        for place, (method, solve) in enumerate(solvers(epsilon).items()):
            found = solve(X, y, np.random.default_rng([seed, n, d, place, round(1e6 * epsilon)]))
            yield NewError(n, d, epsilon, method, seed, float(np.square(found - theta).sum() / d))


MAKERS = Makers(
    FAMILY,
    "the figures of Cortild and Cartis (2026), and where data matter",
    {
        "figure1": Experiment(
            figure1.Cell,
            "the least bound on the excess risk over (ε, δ), by three proofs",
            tuple(
                (panel, proof, epsilon, delta)
                for panel, proofs in figure1.PANELS.items()
                for proof in proofs
                for epsilon in figure1.EPSILONS
                for delta in figure1.DELTAS
            ),
            lambda *named: [figure1.cell(*named)],
            seeds="none: nothing is random",
        ),
        "figure2": Experiment(
            Risk,
            "the risk of a private lasso against its box, tilted and bent",
            tuple((seed,) for seed in Risk.SEEDS),
            risks,
            by=("seed",),
        ),
        "matter": Experiment(
            Excess,
            "the excess risk of a bent lasso against the number of rows",
            tuple((seed,) for seed in Excess.SEEDS),
            excesses,
            by=("seed",),
        ),
        "regression": Experiment(
            NewError,
            "the excess test error of bend and tilt beside other private regressions",
            tuple((seed,) for seed in NewError.SEEDS),
            new_errors,
            by=("seed",),
        ),
    },
)
