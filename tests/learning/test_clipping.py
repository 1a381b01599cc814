"""Clipped losses: their gradients are per-row clipped gradients; convex, continuous, as smooth, and as private."""

import numpy as np
import pytest
import scipy.sparse as sp

import objpert_core.learning as learn
from objpert_core.accounting import ObjectivePerturbation
from tests.accounting.one_dimensional import Loss as ScalarLoss
from tests.accounting.test_true_privacy import epsilons_around, exact_delta, neighbours, random_case, violations
from tests.learning.problem.every import smooth as every

SLOPES = [0.01, 0.3, 0.8, 1.0, 2**0.5, 5.0]


def problem(loss, n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 1, size=(n, 1))
    X[0] = 0.0
    targets = rng.choice([-1.0, 1.0], n) if loss.monotone else 4 * rng.standard_cauchy(n)
    return X, targets, 3 * rng.normal(size=d + 1)


def rows_by_hand(X, constant):
    """Rows of any norm with the constant appended, as `Rows` would make them of rows within the unit ball."""
    scale = np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
    return np.column_stack([X / scale, np.full(len(X), constant)])


@pytest.mark.slow
@every
@pytest.mark.parametrize("clip", SLOPES)
@pytest.mark.parametrize("constant", [0.3, 1.0])
def test_gradients_are_those_of_a_loop_that_clips_row_by_row(loss, clip, constant):
    X, targets, theta = problem(loss)
    rows = learn.Rows(X, "clip", constant)
    expected = np.zeros_like(theta)
    for x, t in zip(rows_by_hand(X, constant), targets, strict=True):
        slope, _ = loss.derivatives(np.array([x @ theta]), np.array([t]))
        gradient = slope[0] * x
        norm = np.linalg.norm(gradient)
        expected += gradient * min(1.0, clip / norm if norm > 0 else np.inf)
    clipped = learn.ClippedLoss(loss, clip / rows.norms())
    for matrix in (rows, learn.Rows(sp.csr_array(X), "clip", constant)):
        found, _ = learn.PerturbedObjective(matrix, targets, 1e-300, np.zeros_like(theta), clipped).gradient(theta)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@every
@pytest.mark.parametrize("clip", SLOPES)
def test_no_row_has_a_longer_gradient_than_the_threshold_not_even_in_the_last_digit(loss, clip):
    X, targets, theta = problem(loss, n=400)
    rows = learn.Rows(X, "clip", 0.3)
    slopes, _ = learn.ClippedLoss(loss, clip / rows.norms()).derivatives(rows.margins(1e6 * theta), targets)
    enforced = X.astype(np.longdouble) * rows.factors[:, None]
    assert np.all(np.abs(slopes) * np.sqrt((enforced**2).sum(axis=1) + np.longdouble(0.3) ** 2) <= clip)


@every
@pytest.mark.parametrize("slope", SLOPES)
def test_the_clipped_loss_is_the_loss_between_its_kinks_and_straight_beyond_continuous_and_no_less_smooth(loss, slope):
    clipped, target = learn.ClippedLoss(loss, slope), -1.0 if loss.monotone else 0.7
    low, high = clipped.kinks(targets=target)
    scores, step = np.linspace(-15, 15, 6001, retstep=True)
    values, (slopes, curvature) = clipped.value(scores, target), clipped.derivatives(scores, target)
    inside = (scores >= low) & (scores <= high)
    np.testing.assert_array_equal(values[inside], loss.value(scores, target)[inside])
    assert np.all(np.abs(slopes[~inside]) == slope)
    assert np.all(curvature[~inside] == 0)
    assert inside.all() == (loss.lipschitz <= slope)
    for kink in (low, high):
        if np.isfinite(kink):  # without the constants f(u_L), f(u_H), which Theorem E.2 misses, it would jump here
            around = np.array([np.nextafter(kink, -np.inf), kink, np.nextafter(kink, np.inf)])
            assert np.ptp(clipped.value(around, target)) <= 1e-12
    rises = np.diff(slopes)
    assert np.all((rises >= 0) & (rises <= clipped.smoothness * step * (1 + 1e-9)))
    assert np.all(np.diff(values, 2) >= -1e-12)
    assert curvature.max() <= clipped.smoothness == loss.smoothness
    assert np.abs(slopes).max() <= clipped.lipschitz == min(loss.lipschitz, slope)


@every
def test_slopes_are_derivatives_of_the_value_kinks_included(loss):
    rng = np.random.default_rng(3)
    scores, step = 4 * rng.normal(size=300), 1e-6
    targets = rng.choice([-1.0, 1.0], 300) if loss.monotone else rng.normal(size=300)
    clipped = learn.ClippedLoss(loss, rng.uniform(0.05, 1.5, size=300))
    scores[:50] = np.clip(clipped.kinks(targets=targets)[0], -20, 20)[:50]
    numeric = (clipped.value(scores + step, targets) - clipped.value(scores - step, targets)) / (2 * step)
    np.testing.assert_allclose(clipped.derivatives(scores, targets)[0], numeric, atol=2 * step)


def test_a_far_outlier_neither_overflows_nor_warns():
    clipped = learn.ClippedLoss(learn.SquaredLoss(), 1.0)
    with np.errstate(all="raise"):
        value, (slope, curvature) = clipped.value(np.array([1e200]), 0.0), clipped.derivatives(np.array([1e200]), 0.0)
    assert (value[0], slope[0], curvature[0]) == (1e200, 1.0, 0.0)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_a_slope_out_of_range_is_named(bad):
    for slope in (bad, np.array([1.0, bad])):
        with pytest.raises(ValueError, match=f"slope must be a finite number > 0, got {bad!r}"):
            learn.ClippedLoss(learn.SquaredLoss(), slope)


# True privacy, no theory: exact divergences in one dimension, where both densities are explicit. |x| ≤ 1 there, so
# that clipping f' at 1 clips every gradient at norm 1.


def scalar(loss):
    clipped = learn.ClippedLoss(loss, 1.0)
    return ScalarLoss(
        first=lambda t, y: clipped.derivatives(t, y)[0],
        second=lambda t, y: clipped.derivatives(t, y)[1],
        smoothness=clipped.smoothness,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "bounds", "least_lam"),
    [
        (learn.SquaredLoss(), ("glm", "kifer2012"), 1.01),
        (learn.SquaredHingeLoss(), ("monotone", "glm", "kifer2012"), 0.1),
    ],
    ids=repr,
)
def test_clipped_losses_stay_below_the_bounds_they_are_given(loss, bounds, least_lam):
    rng = np.random.default_rng(7)
    for _ in range(3):
        pair, sigma, lam = random_case(rng, scalar(loss), least_lam)
        for bound in bounds:
            mechanism = ObjectivePerturbation(sigma, lam, smoothness=loss.smoothness, bound=bound)
            assert violations(mechanism.delta, pair, epsilons_around(mechanism)) == 0, mechanism


def test_the_monotone_bound_does_not_hold_for_the_clipped_squared_loss():
    """Its slope follows the sign of the noise, and the loss is half-normal: why the regressor refuses that bound."""
    sigma, lam = 0.03, 0.003
    pair = neighbours(scalar(learn.SquaredLoss()), sigma, lam, [], 1.0, 0.0)
    monotone = ObjectivePerturbation(sigma, lam, smoothness=1.0, bound="monotone")
    epsilons = np.array([575.0, 590.0])
    assert (exact_delta(pair, epsilons) > 1.2 * monotone.delta(epsilons)).all()
