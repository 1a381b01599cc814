"""Solvers for a quadratic with absolute values over a box, held against scikit-learn and SciPy."""

import math

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize
from sklearn.linear_model import Lasso

from objpert_core.learning.solvers.lasso import LASSO_SOLVERS, BoxedLasso, solve_lasso

WIDE = np.inf


def problem(seed, d=6, penalty=3.0, low=-WIDE, high=WIDE, spread=0.0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(d + 4, d)) * 10.0 ** rng.uniform(-spread, spread, size=d)
    whole = {"penalty": penalty, "low": low, "high": high}
    whole = {name: np.broadcast_to(np.asarray(value, float), d).copy() for name, value in whole.items()}
    return BoxedLasso(rows.T @ rows, 5 * rng.normal(size=d), rng.normal(size=d), **whole)


def as_rows(one):
    """Rows and targets whose squared residuals, halved, are the quadratic but for a constant."""
    root = np.linalg.cholesky(one.curvature)
    return root.T, root.T @ one.centre - np.linalg.solve(root, one.slope)


@pytest.mark.parametrize("solver", LASSO_SOLVERS)
@pytest.mark.parametrize(("seed", "low"), [*((seed, -WIDE) for seed in range(4)), (5, 0.0)])
def test_without_a_box_or_with_one_from_zero_on_it_is_scikit_learns_lasso(solver, seed, low):
    one = problem(seed, low=low)
    rows, targets = as_rows(one)
    lasso = Lasso(alpha=3.0 / len(rows), fit_intercept=False, positive=low == 0, tol=1e-14, max_iter=100_000)
    result, other = solve_lasso(one, solver=solver), lasso.fit(rows, targets)
    assert result.converged
    np.testing.assert_allclose(result.theta, other.coef_, atol=1e-8)
    assert ((result.theta == 0) == (other.coef_ == 0)).all()


@pytest.mark.parametrize("solver", LASSO_SOLVERS)
@pytest.mark.parametrize("seed", range(3))
def test_without_a_penalty_it_is_least_squares_in_a_box(solver, seed):
    low, high = np.array([-0.1, 0.2, -WIDE, -5.0, 0.0, 1.0]), np.array([0.1, 0.2, 0.0, WIDE, 0.3, 2.0])
    one = problem(seed, penalty=0.0, low=low, high=high)
    keep = low < high  # SciPy's ends must differ
    rows, targets = as_rows(one)
    fixed = np.where(keep, 0.0, low)
    other = lsq_linear(rows[:, keep], targets - rows @ fixed, (low[keep], high[keep]), method="bvls", tol=1e-14)
    found = solve_lasso(one, solver=solver).theta
    np.testing.assert_allclose(found[keep], other.x, atol=1e-7)
    assert found[~keep].tolist() == [0.2]


@pytest.mark.parametrize("seed", range(40))
def test_coordinate_descent_arrives_whatever_the_scales(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 30))
    width = 10.0 ** rng.uniform(-2, 2, size=d)
    one = problem(
        seed,
        d,
        penalty=10.0 ** rng.uniform(-3, 3, size=d) * rng.integers(0, 2, size=d),
        low=np.where(rng.random(d) < 0.3, -WIDE, -width),
        high=np.where(rng.random(d) < 0.3, WIDE, width * rng.uniform(0, 1, size=d)),
        spread=2.0,
    )
    result = solve_lasso(one)
    assert result.converged
    assert result.iterations < 100
    assert ((one.low <= result.theta) & (result.theta <= one.high)).all()
    best = one.value(result.theta)
    near = result.theta + 1e-3 * rng.normal(size=(20, d))
    assert all(one.value(np.clip(theta, one.low, one.high)) >= best - 1e-9 * abs(best) for theta in near)


def test_the_residual_bounds_the_gap_and_the_bound_is_nearly_reached():
    rng = np.random.default_rng(0)
    for seed in range(20):
        one = problem(seed, penalty=0.3, low=-1.0, high=1.0)
        least, mu = one.value(solve_lasso(one).theta), np.linalg.eigvalsh(one.curvature)[0]
        for theta in np.clip(rng.normal(size=(50, 6)), -1, 1):
            gap = one.value(theta) - least
            assert one.residual(theta) >= math.sqrt(2 * gap * mu) * (1 - 1e-9)
    plain = problem(1, penalty=0.0)
    vectors = np.linalg.eigh(plain.curvature)[1]
    least = solve_lasso(plain).theta
    theta = least + vectors[:, 0]
    gap, mu = plain.value(theta) - plain.value(least), np.linalg.eigvalsh(plain.curvature)[0]
    assert math.sqrt(2 * gap * mu) == pytest.approx(plain.residual(theta), rel=1e-9)


def test_the_residual_is_the_distance_to_the_subgradients_and_normals():
    one = problem(2, d=4, penalty=2.0, low=-1.0, high=1.0)
    for theta in ([1.0, -1.0, 0.0, 0.3], [0.0, 0.0, 1.0, -1.0], [-0.5, 1.0, 1.0, 0.0]):
        theta = np.array(theta)
        slope = one.gradient(theta)

        def length(z, theta=theta, slope=slope):
            sign = np.where(theta == 0, z[:4], np.sign(theta))
            normal = np.where(np.abs(theta) == 1.0, theta * z[4:], 0.0)
            return float(np.sum((slope + 2.0 * sign + normal) ** 2))

        found = minimize(length, np.full(8, 0.1), bounds=[(-1, 1)] * 4 + [(0, None)] * 4, options={"ftol": 1e-15})
        assert one.residual(theta) ** 2 == pytest.approx(found.fun, abs=1e-6)


def test_a_start_next_to_the_solution_saves_steps_and_where_no_coefficient_is_free_sweeps_are_enough():
    one = problem(3, d=20)
    first = solve_lasso(one)
    again = solve_lasso(one, start=first.theta)
    assert again.iterations == 0
    np.testing.assert_array_equal(again.theta, first.theta)
    result = solve_lasso(problem(4, penalty=1e-3, low=-1e-6, high=1e-6), start=np.full(6, 1e-6))
    assert result.converged
    assert (np.abs(result.theta) == 1e-6).all()


def test_few_iterations_are_reported_as_not_enough():
    heard = []
    result = solve_lasso(problem(0), max_iter=1, tau=1e-300, callback=lambda *told: heard.append(told))
    assert (result.converged, result.exhausted, result.iterations) == (False, True, 1)
    assert [step for step, _ in heard] == [0, 1]
    assert [norm for _, norm in heard] == list(result.gradient_norms)
    loose = solve_lasso(problem(0), tau=1e6)
    assert (loose.converged, loose.iterations) == (True, 0)


NO_PROBLEMS = [
    ({"curvature": np.eye(2)}, r"curvature must have shape \(3, 3\) for a slope of 3 numbers, got \(2, 2\)"),
    ({"penalty": np.ones(2)}, r"penalty must have shape \(3,\), got \(2,\)"),
    ({"penalty": np.array([1.0, -2.0, 0.0])}, "penalty must be numbers >= 0, got -2.0"),
    ({"low": np.array([0.0, 2.0, 0.0])}, "low must be at most high, got 2.0 and 1.0"),
    ({"solver": "newton"}, "solver must be one of 'coordinate-descent', 'davis-yin', got 'newton'"),
    ({"tau": -1.0}, "tau must be a finite number >= 0, got -1.0"),
    ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
]


@pytest.mark.parametrize(("changes", "message"), NO_PROBLEMS)
def test_what_is_no_problem_is_refused(changes, message):
    vectors = dict.fromkeys(("slope", "centre", "penalty", "high"), np.ones(3))
    whole = {"curvature": np.eye(3), "low": np.zeros(3), **vectors}
    options = {name: changes[name] for name in ("solver", "tau", "max_iter") if name in changes}
    with pytest.raises(ValueError, match=message):
        solve_lasso(BoxedLasso(**(whole | changes)) if not options else problem(0), **options)
