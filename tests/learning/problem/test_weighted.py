"""Weighted losses: w times the loss, its slopes and its curvatures, row by row."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from objpert_core.learning.problem.derived import ClippedLoss, WeightedLoss
from objpert_core.learning.problem.losses import HuberLoss, LogisticLoss, SquaredLoss
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.solvers import SOLVERS, solve

RNG = np.random.default_rng(0)
WEIGHTS, SCORES = RNG.uniform(0.01, 1.0, 40), RNG.normal(size=40)
SIGNS = np.where(RNG.random(40) < 0.5, 1.0, -1.0)
LOSSES = [LogisticLoss(0.5), HuberLoss(0.5), ClippedLoss(SquaredLoss(), RNG.uniform(0.2, 1.0, 40))]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_all_that_a_loss_has_is_multiplied_by_the_weights(loss):
    weighted = WeightedLoss(loss, WEIGHTS)
    slopes, curvature = weighted.derivatives(SCORES, SIGNS)
    np.testing.assert_array_equal(slopes, WEIGHTS * loss.derivatives(SCORES, SIGNS)[0])
    np.testing.assert_array_equal(curvature, WEIGHTS * loss.derivatives(SCORES, SIGNS)[1])
    np.testing.assert_array_equal(weighted.slopes(SCORES, SIGNS), slopes)
    np.testing.assert_array_equal(weighted.value(SCORES, SIGNS), WEIGHTS * loss.value(SCORES, SIGNS))
    assert (np.abs(slopes) <= weighted.lipschitz_of_rows).all()
    assert (curvature <= weighted.smoothness_of_rows).all()
    assert (weighted.name, weighted.lipschitz, weighted.smoothness) == (loss.name, loss.lipschitz, loss.smoothness)
    low, high = weighted.kinks(0.1, SIGNS)
    for edge in (low, high):
        at = np.isfinite(edge)
        sizes = np.abs(weighted.slopes(np.where(at, edge, 0.0), SIGNS))[at]
        assert (sizes <= 0.1 + 1e-12).all()
    part = weighted.part(slice(5, 9))
    np.testing.assert_array_equal(part.slopes(SCORES[5:9], SIGNS[5:9]), slopes[5:9])


@pytest.mark.parametrize("weights", [[0.0, 1.0], [1.01], [np.nan], [-0.5], [[0.5]], 0.5])
def test_a_weight_is_above_0_and_at_most_1(weights):
    with pytest.raises(ValueError, match="weights must be one number above 0 and at most 1 for each row"):
        WeightedLoss(LogisticLoss(), weights)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_finds_the_weighted_minimum(solver):
    """Weights of 1/3 on three copies of each row are the rows themselves."""
    X = RNG.normal(size=(40, 3))
    once = PerturbedObjective(Rows(X, "normalize", 0.3), SIGNS, 0.5, np.full(4, 0.3))
    thrice = PerturbedObjective(
        Rows(np.repeat(X, 3, axis=0), "normalize", 0.3),
        np.repeat(SIGNS, 3),
        0.5,
        np.full(4, 0.3),
        WeightedLoss(LogisticLoss(), np.full(120, 1 / 3)),
    )
    options = {"solver": solver, "tau": 1e-8, "max_iter": 5000}
    np.testing.assert_allclose(solve(thrice, **options).theta, solve(once, **options).theta, atol=1e-7)


def test_value_and_gradient_belong_together():
    rows = Rows(RNG.normal(size=(40, 3)), "normalize", 0.3)
    objective = PerturbedObjective(rows, SIGNS, 0.5, np.full(4, 0.3), WeightedLoss(LogisticLoss(1.0), WEIGHTS))
    theta = RNG.normal(size=4)
    gradient = approx_fprime(theta, lambda at: objective.value_gradient(at)[0], 1e-7)
    np.testing.assert_allclose(objective.gradient(theta)[0], gradient, atol=1e-5)
