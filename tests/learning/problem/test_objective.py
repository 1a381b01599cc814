from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from objpert_core.learning import ClippedLoss, PerturbedObjective, Rows, SquaredLoss

THETA = np.array([0.5, -2.0, 0.1, 1.0, 3.0])


def definite(dimension, seed=2):
    root = np.random.default_rng(seed).normal(size=(dimension, dimension))
    return root @ root.T + 0.1 * np.eye(dimension)


@pytest.fixture(params=["dense", "sparse"])
def objective(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.7)
    targets = rng.choice([-1.0, 1.0], size=60)
    rows = Rows(sp.csr_array(X) if request.param == "sparse" else X, "normalize", 0.3)
    return PerturbedObjective(rows, targets, lam=0.7, linear=rng.normal(size=5))


@pytest.fixture(params=["a number", "a matrix"])
def either(request, objective):
    """The objective, and the same with a matrix in place of λ."""
    return objective if request.param == "a number" else replace(objective, lam=definite(5))


def quadratic(objective):
    """Λ as a matrix."""
    return objective.lam * np.eye(5) if np.isscalar(objective.lam) else objective.lam


def hessian_of(objective, curvature):
    """Both triangles."""
    upper = np.triu(objective.hessian(curvature))
    return upper + np.triu(upper, 1).T


def test_the_value_is_the_sum_in_the_conventions(either):
    rows, total = either.rows, 0.0
    dense = rows.matrix.toarray() if sp.issparse(rows.matrix) else rows.matrix
    for x, t in zip(dense, either.targets, strict=True):
        norm = np.linalg.norm(x)
        tilde = np.append(x / norm if norm else x, 0.3)
        total += np.log1p(np.exp(-t * tilde @ THETA))
    total += THETA @ quadratic(either) @ THETA / 2 + either.linear @ THETA
    assert either.value_gradient(THETA)[0] == pytest.approx(total, rel=1e-12)


def test_gradient_and_hessian_match_finite_differences(either):
    gradient, curvature = either.gradient(THETA)
    hessian = hessian_of(either, curvature)
    step = 1e-5
    for i, unit in enumerate(np.eye(5)):
        up, down = THETA + step * unit, THETA - step * unit
        rise = either.value_gradient(up)[0] - either.value_gradient(down)[0]
        assert gradient[i] == pytest.approx(rise / (2 * step), abs=1e-7)
        slope = (either.gradient(up)[0] - either.gradient(down)[0]) / (2 * step)
        np.testing.assert_allclose(hessian[i], slope, atol=1e-7)


def test_the_fused_gradient_its_parts_and_the_hessian_product_agree_with_the_separate_ones(either):
    gradient, curvature = either.gradient(THETA)
    np.testing.assert_array_equal(either.value_gradient(THETA)[1], gradient)
    vector = np.arange(5.0)
    expected = hessian_of(either, curvature) @ vector
    np.testing.assert_allclose(either.hessian_product(curvature, vector), expected, rtol=1e-11)
    np.testing.assert_allclose(either.combine(either.slopes(THETA)) + either.tilt(THETA), gradient, rtol=1e-12)
    np.testing.assert_allclose(either.tilt(THETA), quadratic(either) @ THETA + either.linear, rtol=1e-12)


def test_it_is_strongly_convex_and_smooth_with_the_promised_constants(either):
    least, *_, greatest = np.linalg.eigvalsh(quadratic(either))
    assert either.strong_convexity == pytest.approx(least)
    assert either.tilt_smoothness == pytest.approx(greatest)
    _, curvature = either.gradient(THETA * 100)  # where the losses are nearly flat
    assert np.linalg.eigvalsh(hessian_of(either, curvature))[0] >= least * (1 - 1e-12)
    assert np.linalg.eigvalsh(hessian_of(either, np.full(60, 0.25)))[-1] <= either.smoothness


@pytest.mark.parametrize("size", [1, 7, 60, 100])
def test_parts_cover_every_row_once_and_add_up_to_the_gradient(objective, size):
    parts = objective.parts(size)
    covered = np.concatenate([np.arange(60)[part.where] for part in parts])
    np.testing.assert_array_equal(covered, np.arange(60))
    assert [part.where.stop - part.where.start for part in parts[:-1]] == [size] * (len(parts) - 1)
    slopes = objective.slopes(THETA)
    for part in parts:
        np.testing.assert_allclose(part.slopes(THETA), slopes[part.where], rtol=1e-13)
    total = sum(part.combine(part.slopes(THETA)) for part in parts) + objective.tilt(THETA)
    np.testing.assert_allclose(total, objective.gradient(THETA)[0], rtol=1e-12)


def test_parts_of_a_loss_clipped_row_by_row_have_their_own_thresholds():
    rng = np.random.default_rng(1)
    targets = rng.normal(size=30)
    loss = ClippedLoss(SquaredLoss(), rng.uniform(0.1, 0.5, size=30))
    objective = PerturbedObjective(Rows(rng.normal(size=(30, 3)), "clip"), targets, 1.0, np.zeros(3), loss)
    theta = np.ones(3)
    for part in objective.parts(8):
        np.testing.assert_allclose(part.slopes(theta), objective.slopes(theta)[part.where], rtol=1e-13)
    scalar = ClippedLoss(SquaredLoss(), 0.2)
    objective = PerturbedObjective(objective.rows, targets, 1.0, np.zeros(3), scalar)
    assert max(abs(part.slopes(theta)).max() for part in objective.parts(8)) == 0.2


def test_the_smoothness_bounds_of_rows_and_parts_hold(objective):
    everywhere = hessian_of(objective, np.full(60, 0.25))
    assert objective.smoothness <= 60 * objective.row_smoothness + 0.7 + 1e-9
    assert objective.row_smoothness == pytest.approx(0.25 * (1 + 0.3**2), rel=1e-9)
    np.testing.assert_allclose(objective.greatest_hessian_product(THETA), everywhere @ THETA, rtol=1e-12)
    for part in objective.parts(9):
        weights = np.zeros(60)
        weights[part.where] = 0.25
        hessian = objective.hessian(weights) - 0.7 * np.eye(5)
        exact = np.linalg.eigvalsh(hessian, UPLO="U")[-1]
        assert exact * (1 - 1e-12) <= part.smoothness() <= exact * 9 ** (1 / 8)


NO_TILTS = {
    "of another shape": (np.eye(4), r"a number > 0 or .*matrix of shape \(5, 5\), got shape \(4, 4\)"),
    "crooked": (np.eye(5) + np.eye(5, k=1), "a number > 0 or .*not symmetric"),
    "not finite": (np.full((5, 5), np.nan), "a number > 0 or .*not finite"),
    "indefinite": (np.diag([1.0, 1.0, 1.0, 1.0, -1.0]), "a number > 0 or .*not positive definite"),
    "singular": (np.ones((5, 5)), "a number > 0 or .*not positive definite"),
    **{f"{lam!r}": (lam, "") for lam in (0.0, -1.0, np.nan, np.inf, np.array(-1.0), [[1.0, 0.0], [0.0, -20.0]])},
}


@pytest.mark.parametrize(("lam", "message"), NO_TILTS.values(), ids=NO_TILTS)
def test_what_is_no_positive_definite_quadratic_term_or_no_linear_one_is_refused(objective, lam, message):
    with pytest.raises(ValueError, match=f"lam must be {message}"):
        PerturbedObjective(objective.rows, objective.targets, lam, objective.linear)
    for linear in (np.ones(1), np.array(1.0)):
        with pytest.raises(ValueError, match="linear must be"):
            PerturbedObjective(objective.rows, objective.targets, 1.0, linear)


# A public quadratic in place of λI (docs/theorems.md, T53): the loss at every outcome, by the densities themselves


SIGMA, LEAST = 1.5, 0.4
GRID = np.linspace(0, 1, 20_001)


def largest(v, lam, norm=1.0):
    """T(v) of T1, for a row of this norm."""
    a, kappa = norm / SIGMA, norm**2 / lam
    return float(np.max(a**2 * GRID**2 / 2 + a * GRID * v + np.log1p(kappa * GRID * (1 - GRID))))


def losses(X, y, x, label, quadratic, linear, theta):
    """The log ratio of the densities of θ with the row (x, label) and without, and both b that lead to θ."""
    pull = lambda rows, labels: -labels * expit(-labels * (rows @ theta))  # noqa: E731
    bend = lambda rows: (w := expit(rows @ theta) * expit(-rows @ theta), rows.T @ (w[:, None] * rows))[1]  # noqa: E731
    b = -(pull(X, y) @ X + quadratic @ theta + linear)
    gradient = pull(x[None], np.array([label]))[0] * x
    without = bend(X) + quadratic
    ratio = np.linalg.slogdet(without + bend(x[None]))[1] - np.linalg.slogdet(without)[1]
    ratio += (b @ b - (b - gradient) @ (b - gradient)) / (2 * SIGMA**2)
    return ratio, b, b - gradient


def a_quadratic(rng):
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return turn @ np.diag([LEAST, 5.0, 80.0]) @ turn.T, turn[:, 0]


def test_no_loss_exceeds_the_bound_of_the_least_curvature_and_that_of_more_is_too_small():
    rng = np.random.default_rng(0)
    for trial in range(300):
        quadratic, along = a_quadratic(rng)
        X, y = rng.normal(size=(trial % 4, 3)), rng.choice([-1.0, 1.0], trial % 4)
        x = along if trial % 2 else rng.normal(size=3)
        norm, label = float(np.linalg.norm(x)), rng.choice([-1.0, 1.0])
        theta, linear = 2 * rng.normal(size=3), 3 * rng.normal(size=3)
        ratio, b, other = losses(X, y, x, label, quadratic, linear, theta)
        unit = label * x / (SIGMA * norm)
        assert ratio <= largest(-unit @ other, LEAST, norm) + 1e-7  # θ from the data with the row
        assert -ratio <= largest(unit @ b, LEAST, norm) + 1e-7
    # One row alone, along the least curvature; a public linear term keeps θ = 0 where its curvature is largest.
    quadratic, x = a_quadratic(rng)
    other = x / 2  # v = −a/2, where the largest curvature is the worst
    linear = -other + x / 2
    ratio, _, found = losses(np.empty((0, 3)), np.empty(0), x, 1.0, quadratic, linear, np.zeros(3))
    np.testing.assert_allclose(found, other, atol=1e-12)
    v = -x @ other / SIGMA
    assert ratio <= largest(v, LEAST) + 1e-7
    assert ratio > largest(v, 1.01 * LEAST) + 1e-4
