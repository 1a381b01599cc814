"""Minima over a ball: against SciPy's constrained minimiser and closed forms; the bound against exact distances."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

import objpert_core.learning as learn
from objpert_core.learning.problem.rounding import gradient_norm_bound
from objpert_core.learning.solvers import onto_sphere, residual_bound, solve_surely
from objpert_core.learning.solvers.first_order import sure_steps


def problem(n=300, d=5, lam=0.5, noise=3.0, loss=None, constant=0.3, seed=0, clip=False):
    rng = np.random.default_rng(seed)
    loss = learn.LogisticLoss() if loss is None else loss
    X = rng.normal(size=(n, d)) * rng.uniform(0.2, 2, size=d)
    score = 3 * X @ rng.normal(size=d) + rng.normal(size=n)
    targets = np.where(score > 0, 1.0, -1.0) if loss.monotone else score
    rows = learn.Rows(X, "clip" if clip else "normalize", constant)
    return learn.PerturbedObjective(rows, targets, lam, noise * rng.normal(size=rows.dimension), loss)


def squares(n=60, d=4, lam=0.7, seed=1):
    return problem(n, d, lam, 1.0, learn.SquaredLoss(), 0.0, seed)


def exact_least_squares(objective, radius):
    """θ and ν for squared loss, from the eigenvalues of the Hessian and a root of ‖θ(ν)‖ = M."""
    design = objective.rows.matrix * objective.rows.factors[:, None]
    values, vectors = np.linalg.eigh(design.T @ design + np.diag(np.full(objective.dimension, objective.lam)))
    image = vectors.T @ (design.T @ objective.targets - objective.linear)

    def length(nu):
        return np.linalg.norm(image / (values + nu))

    nu = 0.0 if length(0.0) <= radius else brentq(lambda nu: length(nu) - radius, 0.0, 1e9, xtol=1e-14, rtol=1e-14)
    return vectors @ (image / (values + nu)), nu


@pytest.mark.parametrize("radius", [1e-3, 0.1, 0.9, 2.0, 50.0])
def test_least_squares_have_a_closed_form(radius):
    objective = squares()
    exact, nu = exact_least_squares(objective, radius)
    result = learn.solve(objective, tau=1e-9, radius=radius)
    assert result.converged
    np.testing.assert_allclose(result.theta, exact, atol=1e-9 / objective.lam + 1e-13)
    assert result.multiplier == pytest.approx(nu, rel=1e-6, abs=1e-8)
    assert (result.multiplier > 0) == (radius < np.linalg.norm(exact_least_squares(objective, math.inf)[0]))


def by_scipy(objective, radius):
    """SciPy's minimum over the ball."""
    ball = {"type": "ineq", "fun": lambda w: radius**2 - w @ w, "jac": lambda w: -2 * w}
    start, options = np.zeros(objective.dimension), {"ftol": 1e-14, "maxiter": 500}
    return minimize(objective.value_gradient, start, jac=True, method="SLSQP", constraints=ball, options=options)


@pytest.mark.parametrize("radius", [0.3, 1.5])
@pytest.mark.parametrize(
    "loss", [learn.LogisticLoss(), learn.HuberLoss(0.5), learn.MoreauEnvelope(learn.PinballLoss(0.3), 0.4)], ids=repr
)
def test_the_minimum_is_the_one_that_scipy_finds(loss, radius):
    objective = problem(loss=loss)
    result = learn.solve(objective, tau=1e-8, radius=radius)
    assert result.converged
    peer = by_scipy(objective, radius)
    np.testing.assert_allclose(result.theta, peer.x, atol=2e-5)
    assert objective.value_gradient(result.theta)[0] <= peer.fun + 1e-8


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 0.5, 0.99, 0.999999])
@pytest.mark.parametrize("lam", [1e-4, 1.0, 100.0])
def test_what_it_says_holds_at_every_size_of_the_ball(scale, lam):
    objective = problem(lam=lam)
    radius = scale * float(np.linalg.norm(learn.solve(objective, tau=1e-7).theta))
    result = learn.solve(objective, tau=1e-7, radius=radius)
    assert result.converged
    assert result.multiplier >= 0
    assert np.linalg.norm(result.theta) == pytest.approx(radius, rel=1e-14)
    assert np.linalg.norm(result.theta) <= radius
    gradient, _ = objective.gradient(result.theta)
    assert np.linalg.norm(gradient + result.multiplier * result.theta) == pytest.approx(result.gradient_norm, rel=1e-9)
    assert result.gradient_norm <= 1e-7


def test_it_takes_few_solves():
    """Secants of 1/‖θ‖: the cost of a ball is a few warm solves, counted in visits to rows."""
    objective = problem(n=2000, lam=0.01, noise=1.0)
    free = learn.solve(objective, tau=1e-8)
    for radius in (0.05, 0.5, 3.0):
        kept = learn.solve(objective, tau=1e-8, radius=radius)
        assert kept.converged
        assert kept.gradient_evaluations < 5 * free.gradient_evaluations


def test_trace_and_callback_tell_one_story_of_all_the_solves():
    heard = []
    result = learn.solve(problem(), tau=1e-8, radius=0.5, callback=lambda *news: heard.append(news))
    assert [norm for _, norm in heard] == list(result.gradient_norms)
    steps = [iteration for iteration, _ in heard]
    assert steps == list(range(len(steps)))
    assert steps[-1] == result.iterations
    visits = [visits for visits, _ in result.trace]
    assert visits == sorted(visits)
    assert result.gradient_evaluations > visits[-1]


def test_too_few_iterations_are_reported_not_hidden():
    result = learn.solve(problem(n=3000, lam=1e-4), tau=1e-10, radius=0.7, max_iter=2)
    assert not result.converged
    assert result.exhausted
    assert np.linalg.norm(result.theta) <= 0.7
    assert result.gradient_norm > 1e-10


@pytest.mark.parametrize("solver", [learn.solve, solve_surely])
def test_a_tau_below_rounding_ends_unconverged_instead_of_looping(solver):
    result = solver(problem(), tau=1e-30, radius=0.5)
    assert not result.converged
    assert result.exhausted or solver is learn.solve
    assert result.gradient_norm < 1e-9


def test_a_matrix_instead_of_a_number_and_no_noise():
    objective = squares()
    matrix = np.diag([0.2, 0.7, 3.0, 9.0])
    shaped = learn.PerturbedObjective(objective.rows, objective.targets, matrix, np.zeros(4), learn.SquaredLoss())
    result = learn.solve(shaped, tau=1e-9, radius=0.4)
    assert result.converged
    gradient, _ = shaped.gradient(result.theta)
    np.testing.assert_allclose(gradient, -result.multiplier * result.theta, atol=1e-9)
    assert residual_bound(shaped, result.theta, result.multiplier, 0.4) < 2e-9


@pytest.mark.parametrize("solver", [learn.solve, solve_surely])
def test_radii_out_of_range_are_named(solver):
    for bad in (0.0, -1.0, math.nan, math.inf, "1", True):
        with pytest.raises(ValueError, match=f"^radius must be a finite number > 0, got {bad!r}"):
            solver(problem(), tau=1e-6, radius=bad)


# What a release can certify


@pytest.mark.parametrize("radius", [0.05, 0.5, 1.5, 30.0])
@pytest.mark.parametrize("off", [0.0, 1e-8, 1e-4, 1e-2, 0.3])
def test_the_bound_on_the_distance_holds(radius, off):
    """Points of the ball, right and wrong by `off`: they are within the bound over λ of the exact minimum."""
    objective = squares()
    exact, _ = exact_least_squares(objective, radius)
    rng = np.random.default_rng(7)
    for _ in range(10):
        theta = exact + off * rng.normal(size=4)
        length = np.linalg.norm(theta)
        theta = theta * min(1.0, (1 - 1e-16) * radius / length)
        gradient, _ = objective.gradient(theta)
        inside = np.linalg.norm(theta) < radius * (1 - 1e-12)
        nu = 0.0 if inside else max(0.0, -gradient @ theta / radius**2)
        bound = residual_bound(objective, theta, nu, radius) / objective.lam
        distance = np.linalg.norm(theta - exact)
        assert distance <= bound + 1e-13  # the closed form has rounding of its own
    if off == 0.0:
        assert bound < 1e-9 / objective.lam


@pytest.mark.parametrize("radius", [0.5, 1.5])
def test_the_bound_on_the_distance_is_nearly_reached(radius):
    """No bound below ‖r‖/(λ + ν) holds: here the losses have no curvature in the direction of the error."""
    rows, target = learn.Rows(np.array([[1.0, 0.0]]), "clip"), np.array([40.0])
    objective = learn.PerturbedObjective(
        rows, target, 0.5, np.zeros(2), learn.SquaredLoss()
    )  # pulls along the first axis
    theta = radius * np.array([math.cos(1e-4), math.sin(1e-4)])
    gradient, _ = objective.gradient(theta)
    nu = -float(gradient @ theta) / radius**2
    distance = np.linalg.norm(theta - radius * np.array([1.0, 0.0]))
    bound = residual_bound(objective, theta, nu, radius) / (objective.lam + nu)
    assert distance == pytest.approx(bound, rel=0.05)


def test_the_bound_is_no_less_than_the_residual_and_close_to_it():
    objective = problem(n=3000)
    result = learn.solve(objective, tau=1e-7, radius=0.5)
    bound = residual_bound(objective, result.theta, result.multiplier, 0.5)
    assert result.gradient_norm < bound < result.gradient_norm + 1e-8


def test_a_ball_far_larger_than_the_model_costs_nothing():
    objective = problem()
    theta = learn.solve(objective, tau=1e-9).theta
    assert residual_bound(objective, theta, 0.0, 1e30) <= gradient_norm_bound(objective, theta) * (1 + 1e-14)
    near = residual_bound(objective, theta, 0.0, float(np.linalg.norm(theta)))
    assert near > gradient_norm_bound(objective, theta)


def test_a_point_off_the_sphere_with_a_multiplier_has_no_good_bound():
    objective = squares()
    result = learn.solve(objective, tau=1e-9, radius=0.4)
    assert residual_bound(objective, result.theta * 0.9, result.multiplier, 0.4) > 0.04
    with pytest.raises(ValueError, match=r"^theta must be of norm 0\.4 at most, got 0\.4"):
        residual_bound(objective, result.theta * 1.001, result.multiplier, 0.4)
    with pytest.raises(ValueError, match=r"^multiplier must be a number >= 0, got -1\.0"):
        residual_bound(objective, result.theta, -1.0, 0.4)


# A solver that is sure to arrive


@pytest.mark.parametrize("radius", [1e-3, 0.5, 2.0, 50.0])
@pytest.mark.parametrize("lam", [0.5, 20.0])
def test_the_sure_solver_arrives_within_its_number_of_steps(radius, lam):
    objective = problem(lam=lam)
    heard = []
    result = solve_surely(objective, tau=1e-8, radius=radius, callback=lambda *news: heard.append(news))
    assert result.converged
    assert np.linalg.norm(result.theta) <= radius
    assert residual_bound(objective, result.theta, result.multiplier, radius) <= 2e-8
    peer = learn.solve(objective, tau=1e-9, radius=radius)
    assert np.linalg.norm(result.theta - peer.theta) <= 1.2e-8 / lam
    start = np.linalg.norm(objective.gradient(np.zeros(objective.dimension))[0])
    assert 1 <= result.iterations < sure_steps(objective.smoothness, lam, start * 8 / 3, 1e-8)
    assert [norm for _, norm in heard] == list(result.gradient_norms)
    assert result.gradient_norm <= heard[-1][1]  # what it stops at is a bound


def test_a_point_on_the_sphere_is_not_beyond_it():
    rng = np.random.default_rng(0)
    for _ in range(200):
        theta, radius = rng.normal(size=7), float(rng.uniform(1e-3, 1e3))
        moved = onto_sphere(theta, radius)
        assert radius * (1 - 1e-15) <= np.linalg.norm(moved) <= radius
    moved = onto_sphere(rng.normal(size=200_000) * 1e-200, 3.0)
    assert abs(math.sqrt(math.fsum(moved**2)) - 3.0) <= 32 * 2.0**-53 * 3.0


def test_a_point_that_is_nearly_on_the_sphere_is_as_near_as_is_said_and_may_be_half_that_far():
    """The minimum over a slightly smaller ball, with the soft direction behind the stiff one: r is 0, all is in e."""
    rows = learn.Rows(np.repeat([[1.0, 0.0]], 4000, axis=0), "normalize")
    curvature, radius, less = np.array([4000 * rows.factors[0] ** 2 + 1, 1.0]), 1.0, 1e-6
    ratios = []
    for turn in np.geomspace(1e-3, 1.0, 40):
        b = -curvature * (radius + less) * np.array([np.cos(turn), np.sin(turn)])
        objective = learn.PerturbedObjective(rows, np.zeros(4000), 1.0, b, learn.SquaredLoss())

        def beyond(nu, length, b=b):
            return np.linalg.norm(b / (curvature + nu)) - length

        nu, best = (brentq(beyond, 0.0, 1e9, args=(length,), xtol=1e-18) for length in (radius - less, radius))
        point = -b / (curvature + nu)
        distance = np.linalg.norm(point + b / (curvature + best))  # λ is 1
        ratios.append(distance / residual_bound(objective, point, nu, radius))
    assert 0.4 < max(ratios) < 1
