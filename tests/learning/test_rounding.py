"""The bound on a gradient's rounding errors, against exact arithmetic."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from objpert_core.estimators import ObjPertRegressor
from objpert_core.learning import AbsoluteLoss, MoreauEnvelope, PerturbedObjective, Rows
from objpert_core.learning.problem import rounding
from objpert_core.learning.problem.derived import ClippedLoss, RestWeighted, WeightedLoss
from objpert_core.learning.problem.fine import fine
from objpert_core.learning.problem.losses import HuberisedHingeLoss, HuberLoss, LogisticLoss, SquaredLoss
from objpert_core.learning.problem.single_precision import rough
from tests.learning.problem.exact import exact_gradient, exact_norm

mpmath.mp.dps = 60


def rest_slope(u, t, margin=1.5, weight=1 / 3):
    sign = 1 if t > 0 else -mpmath.mpf(weight)
    return -sign / (1 + mpmath.exp(sign * u - mpmath.mpf(margin)))


CASES = {
    "logistic": (LogisticLoss(), lambda u, t: -t / (1 + mpmath.exp(t * u))),
    "margin": (LogisticLoss(1.5), lambda u, t: -t / (1 + mpmath.exp(t * u - mpmath.mpf(1.5)))),
    "one against the rest": (RestWeighted(1.5, 1 / 3), rest_slope),
    "squares": (SquaredLoss(), lambda u, t: u - t),
    "huber": (HuberLoss(0.5), lambda u, t: max(min(u - t, mpmath.mpf(0.5)), -mpmath.mpf(0.5))),
    "huberised hinge": (
        HuberisedHingeLoss(0.5),
        lambda u, t: -t * max(0, min(1, (1 + mpmath.mpf(0.5) - t * u) / (2 * mpmath.mpf(0.5)))),
    ),
    "sharp hinge": (
        HuberisedHingeLoss(1 / 16),
        lambda u, t: -t * max(0, min(1, 8 * (1 + mpmath.mpf(1) / 16 - t * u))),
    ),
}


def bounds(objective, theta, size=1024):
    """By what rows bring, and by the most that they could bring."""
    return rounding.gradient_norm_bound(objective, theta), rounding.looks([objective], theta[None], size)[0].bound


def exactly(X, targets, rows, theta, lam, b, slope):
    return exact_norm(exact_gradient(X, targets, rows, theta, lam, slope), b)


def problem(seed, loss, n=40, d=6, constant=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, size=d)
    targets = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    rows = Rows(X, "normalize", constant)
    theta = rng.normal(size=d + 1) * 10 ** rng.uniform(-1, 2)
    lam = 10 ** rng.uniform(-3, 2)
    exact = -PerturbedObjective(rows, targets, lam, np.zeros(d + 1), loss).gradient(theta)[0]  # a gradient near 0
    return X, targets, rows, theta, lam, exact


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_holds_against_exact_arithmetic(case, seed):
    """Where b cancels all but the last digits, nothing is left of the gradient but its rounding."""
    loss, slope = CASES[case]
    X, targets, rows, theta, lam, b = problem(seed, loss)
    found, most = bounds(PerturbedObjective(rows, targets, lam, b, loss), theta)
    exact = exactly(X, targets, rows, theta, lam, b, slope)
    assert exact <= found <= most
    size = len(X) * (1 + np.linalg.norm(theta)) + np.linalg.norm(b)
    assert found < 1e-13 * size  # and is no wild guess
    assert most < 1e-12 * size or case == "squares"  # whose slopes have no largest


@pytest.mark.parametrize("look", [lambda objective: objective, fine], ids=["first", "second"])
@pytest.mark.parametrize("light", [1 / 3, 1e-12])
def test_the_bound_holds_for_rows_with_weights(light, look):
    """A weight multiplies a slope that is already rounded, and rounds it once more."""
    X, targets, rows, theta, lam, _ = problem(2, LogisticLoss())
    loss = WeightedLoss(LogisticLoss(), np.where(targets > 0, light, 0.77))
    b = -PerturbedObjective(rows, targets, lam, np.zeros(7), loss).gradient(theta)[0]
    found = rounding.gradient_norm_bound(look(PerturbedObjective(rows, targets, lam, b, loss)), theta)
    slope = CASES["logistic"][1]
    exact = exactly(X, targets, rows, theta, lam, b, lambda u, t: slope(u, t) * mpmath.mpf(light if t > 0 else 0.77))
    assert exact <= rounding.looks([PerturbedObjective(rows, targets, lam, b, loss)], theta[None], 1024)[0].bound
    assert exact <= found < 1e-13 * (len(X) * (1 + np.linalg.norm(theta)) + np.linalg.norm(b))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_each_of_several_gradients_has_a_bound_of_its_own(kind, monkeypatch):
    """Of objectives whose own b cancels all but the rounding at their own θ, and of nobody else's."""
    monkeypatch.setattr(rounding, "_BLOCK", 7)
    X, targets, _, theta, lam, _ = problem(4, LogisticLoss(), n=20)
    rows, points = Rows(kind(X), "normalize", 0.3), np.outer([1.0, -3.0, 1e-9], theta)
    plain = PerturbedObjective(rows, targets, lam, np.zeros(7), LogisticLoss())
    several = [replace(plain, linear=-plain.gradient(point)[0]) for point in points]
    for one, point, found in zip(several, points, rounding.gradient_norm_bounds(several, points), strict=True):
        assert exactly(X, targets, rows, point, lam, one.linear, CASES["logistic"][1]) <= found
        assert found < 1e-13 * (len(X) * (1 + np.linalg.norm(point)) + np.linalg.norm(one.linear))


@pytest.mark.parametrize("block", [1, 3, 7])
def test_the_bound_holds_for_a_sum_in_lanes(block, monkeypatch):
    """Up to 40 blocks in four lanes; by more than the rounding of one block (docs/theorems.md, T51)."""
    monkeypatch.setattr(rounding, "_BLOCK", block)
    for seed in range(3):
        X, targets, rows, theta, lam, b = problem(seed + 10, LogisticLoss())
        found, most = bounds(PerturbedObjective(rows, targets, lam, b, LogisticLoss()), theta, block)
        assert exactly(X, targets, rows, theta, lam, b, CASES["logistic"][1]) <= found <= most
        assert most < 1e-12 * (len(X) * (1 + np.linalg.norm(theta)) + np.linalg.norm(b))


@pytest.mark.parametrize("constant", [0.0, 85.3])
@pytest.mark.parametrize(("kind", "block"), [(sp.csr_array, 1000), (np.asarray, 1)], ids=["block", "blocks"])
def test_the_bound_holds_where_roundings_add_up(kind, block, constant, monkeypatch):
    """Equal rows with the slope −1/2, added one after the other: many sums are rounded the same way."""
    monkeypatch.setattr(rounding, "_BLOCK", block)
    rows, targets = Rows(kind(np.full((1000, 1), 0.93)), "clip", constant), np.ones(1000)
    theta = np.zeros(rows.dimension)
    b = -rounding.looks([PerturbedObjective(rows, targets, 1.0, theta)], theta[None], block)[0].gradient
    pull = [-500 * mpmath.mpf(one) for one in (0.93, constant)]
    found, most = bounds(PerturbedObjective(rows, targets, 1.0, b), theta, block)
    assert exact_norm(pull[: len(theta)], b) <= min(found, most)


def test_the_bound_holds_where_the_penalty_is_all_that_is_rounded():
    rng = np.random.default_rng(0)
    rows, targets, scatter = Rows(np.zeros((1, 3)), "clip"), np.ones(1), rng.normal(size=(3, 9))
    for lam in (1e9, 1e9 * (scatter @ scatter.T)):
        for theta in rng.normal(size=(9, 3)):
            b = -PerturbedObjective(rows, targets, lam, np.zeros(3), LogisticLoss()).gradient(theta)[0]
            bend = mpmath.matrix(np.eye(3) * lam if np.ndim(lam) == 0 else lam) * mpmath.matrix(theta)
            assert exact_norm(bend, b) <= min(bounds(PerturbedObjective(rows, targets, lam, b, LogisticLoss()), theta))


def test_a_look_keeps_where_it_looked():
    _, targets, rows, theta, lam, b = problem(1, LogisticLoss())
    thetas = theta[None].copy()
    (look,) = rounding.looks([PerturbedObjective(rows, targets, lam, b, LogisticLoss())], thetas, 7)
    thetas += 1  # a solver goes on in place
    np.testing.assert_array_equal(look.theta, theta)


@pytest.mark.parametrize("seed", range(3))
def test_an_enormous_target_is_no_enormous_error(seed):
    """A bound in proportion to it would let one row decide whether a fit fails."""
    X, _, rows, theta, lam, _ = problem(seed, HuberLoss(0.5))
    rng = np.random.default_rng(seed)
    scores = rows.margins(theta)
    near = scores + rng.choice([-0.5, 0.0, 0.5], len(X)) + rng.normal(size=len(X)) * 10.0 ** rng.uniform(-17, 1, len(X))
    targets = np.where(rng.random(len(X)) < 0.7, near, 10.0 ** rng.uniform(3, 300, len(X)))
    targets[0] = 1.7e308
    loss, slope = CASES["huber"]
    b = -PerturbedObjective(rows, targets, lam, np.zeros(7), loss).gradient(theta)[0]
    found, most = bounds(PerturbedObjective(rows, targets, lam, b, loss), theta)
    assert exactly(X, targets, rows, theta, lam, b, slope) <= found <= most
    assert most < 1e-13 * (len(X) * (1 + np.linalg.norm(theta)) + np.linalg.norm(b))
    each = np.geomspace(0.01, 0.5, len(X))  # rows of their own slope or curvature
    for other in (
        ClippedLoss(SquaredLoss(), 0.5),
        ClippedLoss(SquaredLoss(), each),
        MoreauEnvelope(AbsoluteLoss(), each),
    ):
        b = -PerturbedObjective(rows, targets, lam, np.zeros(7), other).gradient(theta)[0]
        found, most = bounds(PerturbedObjective(rows, targets, lam, b, other), theta)
        assert found <= most < 1e-8


@pytest.mark.parametrize("loss", ["huber", "squared"])
def test_no_target_makes_a_fit_fall_back_on_the_answer_for_no_data(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = X @ [1.0, -1.0]
    y[0] = 1e200
    model = ObjPertRegressor(epsilon=50.0, loss=loss, clip=1.0, on_error="release", random_state=0).fit(X, y)
    assert model.coef_[0] > 0.5
    assert model.coef_[1] < -0.5


@pytest.mark.parametrize("digits", [fine, rough], ids=["more", "fewer"])
def test_a_pass_bounds_nothing_where_rows_have_other_digits_than_a_double(digits):
    _, targets, rows, theta, lam, b = problem(1, LogisticLoss())
    objective = PerturbedObjective(rows, targets, lam, b, LogisticLoss())
    (plain,), (other,) = (rounding.looks([one], theta[None], 7) for one in (objective, digits(objective)))
    assert plain.bound < 1e-9
    assert other.bound == np.inf
    np.testing.assert_allclose(other.gradient, plain.gradient, atol=1e-4)


def test_sparse_rows_clipped_losses_and_many_blocks_have_a_bound_and_a_gradient_that_overflows_has_none(monkeypatch):
    overflowing = PerturbedObjective(Rows(np.eye(2), "clip"), np.array([1.0, -1.0]), 1e200, np.zeros(2), SquaredLoss())
    with np.errstate(all="ignore"):
        assert rounding.gradient_norm_bound(overflowing, np.full(2, 1e200)) == np.inf
    X, targets, rows, theta, lam, b = problem(1, LogisticLoss())
    whole = rounding.gradient_norm_bound(PerturbedObjective(rows, targets, lam, b, LogisticLoss()), theta)
    monkeypatch.setattr(rounding, "_BLOCK", 7)
    sparse = Rows(sp.csr_array(X), "normalize", 0.3)
    for kind in (rows, sparse):
        bound = rounding.gradient_norm_bound(PerturbedObjective(kind, targets, lam, b, LogisticLoss()), theta)
        assert bound == pytest.approx(whole, rel=0.9)
    clipped = ClippedLoss(LogisticLoss(), rows.slopes_of_norm(0.1))
    objective = PerturbedObjective(rows, targets, lam, b, clipped)
    bound = rounding.gradient_norm_bound(objective, theta)
    assert np.linalg.norm(objective.gradient(theta)[0]) <= bound <= np.linalg.norm(objective.gradient(theta)[0]) + 1e-9


@pytest.mark.parametrize("function", [expit, np.tanh, np.exp])
def test_the_functions_are_as_accurate_as_the_bound_takes_them_to_be(function):
    exact = {expit: lambda x: 1 / (1 + mpmath.exp(-x)), np.tanh: mpmath.tanh, np.exp: mpmath.exp}[function]
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-40, 40, 500), rng.normal(size=500), rng.normal(size=200) * 1e-6])
    for value, found in zip(x, function(x), strict=True):
        truth = exact(mpmath.mpf(value))
        assert abs(found - truth) <= 8 * 2.0**-53 * abs(truth)
