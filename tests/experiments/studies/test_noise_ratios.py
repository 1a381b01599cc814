"""Private fits along a frontier: every one keeps the promise, losses are what they say, the theorem holds."""

import math

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.datasets import synthetic
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.exceptions import ConvergenceError
from objpert_core.experiments.studies import noise_ratios as nr
from objpert_core.learning.problem.rows import row_radius
from objpert_core.theory.excess_risk import excess_risk_bound

SMALL = nr.Plan(rows=600, features=4, draws=3, seed=5)


def last(plan, should_stop=lambda: False):
    *_, estimate = nr.sample(plan, should_stop)
    return estimate


@pytest.mark.slow
@pytest.mark.parametrize("bound", nr.BOUNDS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_every_recipe_keeps_the_promise(bound, epsilon):
    plan = nr.Plan(epsilon=epsilon, bound=bound, rows=100, features=3)
    mechanisms = plan.mechanisms()
    assert nr.PUBLISHED in mechanisms
    assert plan.ours in mechanisms
    for recipe, mechanism in mechanisms.items():
        accounted = acc.via_rdp(mechanism) if recipe.bound == "rdp" else mechanism
        assert accounted.delta(epsilon) <= plan.delta
        gaussian = acc.calibrate_gaussian(epsilon, plan.delta, row_radius(0.3))
        assert mechanism.objective.sigma == pytest.approx(recipe.noise_ratio * gaussian.sigma, rel=1e-12)


def test_recipes_that_no_lambda_meets_are_left_out():
    assert nr.Recipe("rdp", 1.05).mechanism(1.0, 1e-5, 1.0) is None
    assert nr.Recipe("rdp", 1.3).mechanism(1.0, 1e-5, 1.0) is not None
    ratios = [r.noise_ratio for r in nr.Plan(bound="rdp", rows=100, features=3).mechanisms() if r.bound == "rdp"]
    assert ratios == [1.2, 1.3, 1.5, 2.0, 3.0]


@pytest.mark.slow
def test_the_losses_are_those_of_the_estimator_on_the_same_rows():
    estimate = last(SMALL)
    X, y = synthetic.draw(SMALL.rows + nr.TEST_ROWS, SMALL.features, decay=0.0, flipped=0.036, seed=5)
    point = estimate.of(nr.Recipe("logistic", 1.2))
    for draw in range(SMALL.draws):
        model = ObjPertLogisticRegression(classes=(0, 1), random_state=5 + draw, advanced={"noise_ratio": 1.2})
        model.fit(X[: SMALL.rows], y[: SMALL.rows])
        chosen = model.predict_log_proba(X[: SMALL.rows])[np.arange(SMALL.rows), y[: SMALL.rows]]
        assert point.excess[draw] == pytest.approx(-chosen.mean() - estimate.reference_loss, abs=1e-9)
        assert point.accuracy[draw] == pytest.approx(model.score(X[SMALL.rows :], y[SMALL.rows :]))


@pytest.mark.slow
@pytest.mark.parametrize("columns", nr.COLUMNS)
@pytest.mark.parametrize("bound", ["logistic", "rdp"])
def test_theorem_h1_holds_for_what_is_sampled(columns, bound):
    estimate = last(nr.Plan(rows=800, features=10, bound=bound, columns=columns, draws=8))
    for point in estimate.points:
        bound_here = excess_risk_bound(point.mechanism, 800, estimate.dimension, estimate.reference_norm) / 800
        measured = point.mean_excess
        assert 0 < measured.mean < measured.high < bound_here


def test_the_first_result_has_no_best_and_the_last_all_fits_that_were_planned():
    first, *_, whole = nr.sample(SMALL)
    assert first.best() is None
    assert not first.undecided()
    assert whole.fits == whole.fits_planned


def test_a_recipe_whose_solver_fails_counts_nowhere(monkeypatch):
    real = nr.perturb_and_solve

    def fail_at_three(X, targets, mechanism, **options):
        if mechanism == SMALL.mechanisms()[nr.Recipe("logistic", 3.0)]:
            raise ConvergenceError("no")
        return real(X, targets, mechanism, **options)

    monkeypatch.setattr(nr, "perturb_and_solve", fail_at_three)
    estimate = last(SMALL)
    assert [p.recipe.noise_ratio for p in estimate.points if p.failed] == [3.0]
    assert 3.0 not in [p.recipe.noise_ratio for p in estimate.along()]
    assert estimate.of(nr.Recipe("logistic", 3.0)) is None
    assert estimate.fits == estimate.fits_planned


@pytest.mark.parametrize(
    ("rows", "features", "shape"),
    [(1000, 10, (1000, 10)), (45_222, 105, (19_047, 105)), (10**6, 1, (50_000, 1)), (10**6, 5000, (10_000, 200))],
)
def test_large_plans_are_scaled_down(rows, features, shape):
    plan = nr.Plan(rows=rows, features=features)
    assert plan.sample_shape == shape
    assert plan.scaled_down == ((rows, features) != shape)
    assert math.prod(plan.sample_shape) <= nr.MAX_CELLS
