"""Newton's method on objectives whose Hessian jumps: from everywhere, for every clipping, also where λ is tiny."""

import numpy as np
import pytest

from objpert_core.learning import ClippedLoss, PerturbedObjective, Rows, solve
from objpert_core.learning.problem import losses


def random_problem(seed, least_lam):
    """1 to 1,000 rows of 1 to 30 features; outliers, ties, separable classes, heavy clipping, λ up to 100."""
    rng = np.random.default_rng(seed)
    n, d = int(10 ** rng.uniform(0, 3)), int(10 ** rng.uniform(0, 1.5))
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-2, 1)
    X = np.round(X) if rng.random() < 0.3 else X
    y = X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(n)
    y[rng.random(n) < rng.choice([0.0, 0.2])] += 10 ** rng.uniform(0, 4)
    width = 10 ** rng.uniform(-3, 1)
    kinds = losses.SquaredLoss(), losses.HuberLoss(width), losses.SquaredHingeLoss(), losses.HuberisedHingeLoss(width)
    loss = kinds[rng.integers(4)]
    rows = Rows(X, "clip" if rng.random() < 0.5 else "normalize", 0.3)
    clip, lam = 10 ** rng.uniform(-3, 1), 10 ** rng.uniform(np.log10(least_lam), 2)
    noise = 10 ** rng.uniform(-2, 1.5) * min(clip, 1.0) * rng.standard_normal(rows.dimension)
    targets = np.where(y > 0, 1.0, -1.0) if loss.monotone else y
    return PerturbedObjective(rows, targets, lam, noise, ClippedLoss(loss, clip / rows.norms()))


def past_kinks(result):
    """Whether the steps by the gradient's norm got stuck: they alone never let it grow."""
    return bool((np.diff(result.gradient_norms) > 0).any())


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["newton", "newton-cg"])
def test_every_problem_with_a_lambda_in_use_is_solved(solver):
    results = [solve(random_problem(seed, 1e-2), tau=1e-6, solver=solver) for seed in range(150)]
    assert all(result.converged for result in results)
    assert np.median([result.iterations for result in results]) <= 6


@pytest.mark.slow
def test_a_tiny_lambda_takes_steps_past_kinks_and_nearly_always_arrives():
    results = [solve(random_problem(seed, 1e-8), tau=1e-6) for seed in range(60)]
    assert sum(past_kinks(result) for result in results) >= 5
    assert sum(result.converged for result in results) >= 58
    stuck = [result for result in results if past_kinks(result) and result.converged]
    assert len(stuck) >= 4


def test_it_arrives_where_another_method_does():
    for seed in range(20):
        problem = random_problem(seed, 1e-1)
        newton, other = (solve(problem, tau=1e-8, solver=name) for name in ("newton", "lbfgs"))
        assert newton.converged
        assert other.converged
        np.testing.assert_allclose(newton.theta, other.theta, atol=2e-8 / problem.lam)  # λ-strong convexity


def test_what_rounding_forbids_ends_soon_and_says_so():
    rng = np.random.default_rng(0)
    X, targets = rng.standard_normal((500, 8)), rng.choice([-1.0, 1.0], 500)
    for loss in (losses.LogisticLoss(), ClippedLoss(losses.SquaredHingeLoss(), 0.3)):
        problem = PerturbedObjective(Rows(X, "clip", 0.3), targets, 0.5, rng.standard_normal(9), loss)
        result = solve(problem, tau=1e-18)
        assert not result.converged
        assert result.iterations < 150
        assert result.gradient_norm < 1e-12
        assert result.gradient_norm == pytest.approx(min(result.gradient_norms), rel=1e-6)


@pytest.mark.slow
def test_iterations_are_limited_past_kinks_too():
    seed = next(s for s in range(60) if past_kinks(solve(random_problem(s, 1e-8), tau=1e-6)))
    problem = random_problem(seed, 1e-8)
    rising = int(np.argmax(np.diff(solve(problem, tau=1e-6).gradient_norms) > 0)) + 1
    result = solve(problem, tau=1e-6, max_iter=rising)
    assert not result.converged
    assert result.iterations == rising
