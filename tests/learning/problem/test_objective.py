import numpy as np
import pytest
import scipy.sparse as sp

from objpert_core.learning import ClippedLoss, PerturbedObjective, Rows, SquaredLoss


@pytest.fixture(params=["dense", "sparse"])
def objective(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.7)
    targets = rng.choice([-1.0, 1.0], size=60)
    rows = Rows(sp.csr_array(X) if request.param == "sparse" else X, "normalize", 0.3)
    return PerturbedObjective(rows, targets, lam=0.7, linear=rng.normal(size=5))


THETA = np.array([0.5, -2.0, 0.1, 1.0, 3.0])


def test_the_value_is_the_sum_in_the_conventions(objective):
    rows, total = objective.rows, 0.0
    dense = rows.matrix.toarray() if sp.issparse(rows.matrix) else rows.matrix
    for x, t in zip(dense, objective.targets, strict=True):
        norm = np.linalg.norm(x)
        tilde = np.append(x / norm if norm else x, 0.3)
        total += np.log1p(np.exp(-t * tilde @ THETA))
    total += 0.7 / 2 * THETA @ THETA + objective.linear @ THETA
    assert objective.value_gradient(THETA)[0] == pytest.approx(total, rel=1e-12)


def test_gradient_and_hessian_match_finite_differences(objective):
    gradient, curvature = objective.gradient(THETA)
    hessian = objective.hessian(curvature)
    hessian = np.triu(hessian) + np.triu(hessian, 1).T
    step = 1e-5
    for i, unit in enumerate(np.eye(5)):
        up, down = THETA + step * unit, THETA - step * unit
        rise = objective.value_gradient(up)[0] - objective.value_gradient(down)[0]
        assert gradient[i] == pytest.approx(rise / (2 * step), abs=1e-7)
        slope = (objective.gradient(up)[0] - objective.gradient(down)[0]) / (2 * step)
        np.testing.assert_allclose(hessian[i], slope, atol=1e-7)


def test_the_fused_gradient_and_the_hessian_product_agree_with_the_separate_ones(objective):
    gradient, curvature = objective.gradient(THETA)
    np.testing.assert_array_equal(objective.value_gradient(THETA)[1], gradient)
    hessian = objective.hessian(curvature)
    hessian = np.triu(hessian) + np.triu(hessian, 1).T
    vector = np.arange(5.0)
    np.testing.assert_allclose(objective.hessian_product(curvature, vector), hessian @ vector, rtol=1e-12)


def test_it_is_strongly_convex_with_the_promised_constant(objective):
    _, curvature = objective.gradient(THETA * 100)  # where the losses are nearly flat
    hessian = objective.hessian(curvature)
    hessian = np.triu(hessian) + np.triu(hessian, 1).T
    assert np.linalg.eigvalsh(hessian)[0] >= 0.7 * (1 - 1e-12)


def test_slopes_combine_and_tilt_make_up_the_gradient(objective):
    slopes = objective.slopes(THETA)
    assert slopes.shape == (60,)
    np.testing.assert_array_equal(objective.combine(slopes) + objective.tilt(THETA), objective.gradient(THETA)[0])
    np.testing.assert_array_equal(objective.tilt(THETA), 0.7 * THETA + objective.linear)


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


def test_the_smoothness_bounds_hold(objective):
    everywhere = objective.hessian(np.full(60, 0.25))
    everywhere = np.triu(everywhere) + np.triu(everywhere, 1).T
    greatest = np.linalg.eigvalsh(everywhere)[-1]
    assert greatest <= objective.smoothness <= 60 * objective.row_smoothness + 0.7 + 1e-9
    assert objective.row_smoothness == pytest.approx(0.25 * (1 + 0.3**2), rel=1e-9)
    np.testing.assert_allclose(objective.greatest_hessian_product(THETA), everywhere @ THETA, rtol=1e-12)
    for part in objective.parts(9):
        weights = np.zeros(60)
        weights[part.where] = 0.25
        hessian = objective.hessian(weights) - 0.7 * np.eye(5)
        exact = np.linalg.eigvalsh(hessian, UPLO="U")[-1]
        assert exact * (1 - 1e-12) <= part.smoothness() <= exact * 9 ** (1 / 8)


# A matrix in place of λ


def definite(dimension, seed=2):
    root = np.random.default_rng(seed).normal(size=(dimension, dimension))
    return root @ root.T + 0.1 * np.eye(dimension)


def with_matrix(objective):
    matrix = definite(5)
    bare = PerturbedObjective(objective.rows, objective.targets, 1e-300, objective.linear)
    return matrix, bare, PerturbedObjective(objective.rows, objective.targets, matrix, objective.linear)


def test_a_matrix_enters_value_gradient_hessian_and_products(objective):
    matrix, bare, bent = with_matrix(objective)
    np.testing.assert_allclose(
        bent.value_gradient(THETA)[0], bare.value_gradient(THETA)[0] + THETA @ matrix @ THETA / 2, rtol=1e-12
    )
    gradient, curvature = bent.gradient(THETA)
    np.testing.assert_allclose(gradient, bare.gradient(THETA)[0] + matrix @ THETA, rtol=1e-12)
    np.testing.assert_array_equal(bent.value_gradient(THETA)[1], gradient)
    hessian = np.triu(bent.hessian(curvature))
    np.testing.assert_allclose(hessian, np.triu(bare.hessian(curvature) + matrix), rtol=1e-12)
    full = hessian + np.triu(hessian, 1).T
    np.testing.assert_allclose(bent.hessian_product(curvature, THETA), full @ THETA, rtol=1e-11)
    np.testing.assert_allclose(bent.combine(bent.slopes(THETA)) + bent.tilt(THETA), gradient, rtol=1e-12)


def test_its_eigenvalues_say_how_convex_and_how_smooth_the_objective_is(objective):
    matrix, _, bent = with_matrix(objective)
    least, *_, greatest = np.linalg.eigvalsh(matrix)
    assert bent.strong_convexity == pytest.approx(least)
    assert bent.tilt_smoothness == pytest.approx(greatest)
    assert objective.strong_convexity == objective.tilt_smoothness == objective.lam
    everywhere = np.triu(bent.hessian(np.full(60, 0.25)))
    assert np.linalg.eigvalsh(everywhere, UPLO="U")[-1] <= bent.smoothness


def test_a_multiple_of_the_identity_is_the_number(objective):
    other = PerturbedObjective(objective.rows, objective.targets, 0.7 * np.eye(5), objective.linear)
    np.testing.assert_allclose(other.gradient(THETA)[0], objective.gradient(THETA)[0], rtol=1e-13)
    assert other.value_gradient(THETA)[0] == pytest.approx(objective.value_gradient(THETA)[0], rel=1e-14)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(4), r"matrix of shape \(5, 5\), got shape \(4, 4\)"),
        (np.eye(5) + np.eye(5, k=1), "not symmetric"),
        (np.full((5, 5), np.nan), "not finite"),
        (np.diag([1.0, 1.0, 1.0, 1.0, -1.0]), "not positive definite"),
        (np.ones((5, 5)), "not positive definite"),
    ],
)
def test_a_matrix_that_is_not_positive_definite_is_refused(objective, matrix, message):
    with pytest.raises(ValueError, match=f"lam must be a number > 0 or .*{message}"):
        PerturbedObjective(objective.rows, objective.targets, matrix, objective.linear)
