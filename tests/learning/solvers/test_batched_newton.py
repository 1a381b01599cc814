"""Objectives that differ by their linear term, solved together."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from objpert_core.learning import ClippedLoss, LogisticLoss, PerturbedObjective, Rows, SquaredHingeLoss, SquaredLoss
from objpert_core.learning.problem.rounding import gradient_norm_bound, gradient_norm_bounds
from objpert_core.learning.problem.single_precision import bears_roughness, rough, roughness
from objpert_core.learning.solvers import solve_together

RNG = np.random.default_rng(8)
X = RNG.normal(size=(700, 6))
SIGNS = np.where(X[:, 0] + RNG.normal(size=700) > 0, 1.0, -1.0)


LOSS = LogisticLoss(1.0)


def several(loss=LOSS, matrix=X, targets=SIGNS, lam=0.3, size=4.0, count=5):
    rows = Rows(matrix, "clip", 0.3)
    if not np.isfinite(loss.lipschitz):
        loss = ClippedLoss(loss, rows.slopes_of_norm(1.0))
    noise = size * np.random.default_rng(1).normal(size=(count, rows.dimension))
    return [PerturbedObjective(rows, targets, lam, linear, loss) for linear in noise]


SEVERAL = [
    several(),
    several(lam=1e-4, size=1e-2),
    several(matrix=sp.csr_array(X * (np.abs(X) > 1))),
    several(matrix=X.astype(np.float32)),
    several(SquaredHingeLoss()),
    several(SquaredLoss(), targets=1e9 * X[:, 1], size=1.0),
    several(size=0.0),
]


@pytest.mark.parametrize(
    "objectives", SEVERAL, ids=["dense", "steep", "sparse", "single", "kinks", "far targets", "no noise"]
)
def test_each_comes_to_its_own_minimum(objectives):
    results = solve_together(objectives, tau=1e-7, max_iter=200)
    for objective, result in zip(objectives, results, strict=True):
        gradient, _ = objective.gradient(result.theta)
        assert result.converged
        assert np.linalg.norm(gradient) == pytest.approx(result.gradient_norm, abs=1e-10)
        assert result.gradient_norm <= 1e-7
        assert result.iterations == len(result.trace) - 1
        assert result.gradient_evaluations == result.trace[-1][0]
        bound = gradient_norm_bound(objective, result.theta)
        # The last pass has bounded the gradient, too, of this objective and at this θ alone.
        assert bound <= result.bound(objective) < bound + 1e-8 or objective.loss.lipschitz == np.inf
        assert result.bound(replace(objective)) == replace(result, theta=result.theta.copy()).bound(objective) == np.inf
        assert not result.theta.flags.writeable


@pytest.mark.parametrize("tau", [1e9, 1e-7, 1e-300], ids=["at once", "soon", "never"])
def test_what_was_found_last_belongs_together(tau):
    """Also where the start will do, and where the last passes found nothing better."""
    objectives = several()
    for objective, result in zip(objectives, solve_together(objectives, tau=tau, max_iter=200), strict=True):
        assert result.bound(objective) < np.inf
        assert result.gradient_norm == pytest.approx(np.linalg.norm(result.look.gradient), rel=1e-12)
        assert result.gradient_norm == min(result.gradient_norms[-2:])


def test_bounds_in_one_pass_are_those_one_by_one():
    objectives = several()
    thetas = RNG.normal(size=(5, 7))
    together = gradient_norm_bounds(objectives, thetas)
    np.testing.assert_allclose(
        together, [gradient_norm_bound(*pair) for pair in zip(objectives, thetas, strict=True)], rtol=1e-12
    )
    assert gradient_norm_bounds(objectives[:1], np.full((1, 7), np.nan)) == [np.inf]


def test_what_is_not_solved_says_so():
    results = solve_together(several(), tau=1e-7, max_iter=2)
    assert not any(result.converged for result in results)
    assert all(result.exhausted for result in results)
    heard = []
    solve_together(several(), tau=1e-7, max_iter=200, callback=lambda step, norm: heard.append((step, norm)))
    assert [step for step, _ in heard] == list(range(len(heard)))
    assert heard[-1][1] <= 1e-7


@pytest.mark.parametrize("loss", [LogisticLoss(1.5), SquaredHingeLoss()])
def test_a_rough_objective_is_off_by_its_roughness_and_no_more(loss):
    exact = several(loss)[0]
    theta = RNG.normal(size=7)
    off = rough(exact).gradient(theta)[0] - exact.gradient(theta)[0]
    assert 0 < np.linalg.norm(off) < roughness(exact, float(np.linalg.norm(theta)))
    _, curvature = rough(exact).gradient(theta)
    upper = np.triu_indices(7)
    np.testing.assert_allclose(
        rough(exact).hessian(curvature)[upper], exact.hessian(exact.gradient(theta)[1])[upper], rtol=1e-4, atol=1e-4
    )
    assert not bears_roughness(several(SquaredLoss(), targets=1e9 * SIGNS)[0])


@pytest.mark.parametrize("row_norm", ["clip", "normalize"])
@pytest.mark.parametrize("far", [1e-140, 1e-30, 0.0, 1e30, 1e140])
def test_rows_of_any_size_have_a_copy_in_single_precision(far, row_norm):
    sizes = np.where(np.arange(700) % 3, 1.0, far)
    rows, theta, weights = Rows(X * sizes[:, None], row_norm, 0.3), np.arange(7.0), RNG.normal(size=700)
    short = rough(PerturbedObjective(rows, SIGNS, 1.0, theta)).rows
    np.testing.assert_allclose(short.margins(theta), rows.margins(theta), atol=1e-5)
    np.testing.assert_allclose(short.combine(weights), rows.combine(weights), atol=1e-3)


def test_points_side_by_side_are_multiplied_as_one_by_one():
    thetas, weights = RNG.normal(size=(3, 7)), RNG.normal(size=(3, 700))
    for matrix in (X, X.astype(np.float32), sp.csr_array(X)):
        rows = Rows(matrix, "clip", 0.3)
        np.testing.assert_allclose(rows.margins(thetas), [rows.margins(theta) for theta in thetas], rtol=1e-12)
        np.testing.assert_allclose(rows.combine(weights), [rows.combine(line) for line in weights], rtol=1e-9)
