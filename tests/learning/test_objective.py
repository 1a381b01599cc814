import numpy as np
import pytest
import scipy.sparse as sp

from objpert_core.learning import PerturbedObjective, Rows


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
