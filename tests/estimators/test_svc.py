"""Private support vector machines: what they fit, what they promise, what they refuse."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from objpert_core.estimators import ObjPertSVC
from tests.estimators.rows import labelled


def almost_public(**parameters):
    """So large an ε that what is left of the noise is below 1e-3; "glm" keeps λ above β there."""
    return ObjPertSVC(epsilon=1e9, bound="glm", random_state=0, noise_ratio=1.0001, **parameters)


# Learning


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [False, True])
def test_without_clipping_and_noise_it_is_scikit_learns_svm(intercept):
    """scikit-learn's squared hinge is twice ours, so its C is 1/(2λ)."""
    X, y = labelled(n=600)
    model = almost_public(clip=30.0, fit_intercept=intercept, intercept_scaling=0.5).fit(X, y)
    rows, own = X / np.linalg.norm(X, axis=1, keepdims=True), {"fit_intercept": intercept, "intercept_scaling": 0.5}
    peer = LinearSVC(C=1 / (2 * model.privacy_.lam), **own, dual=False, tol=1e-10).fit(rows, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=5e-3, atol=5e-3)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "clip"), [("squared-hinge", 0.6), ("huberised-hinge", 0.6), ("huberised-hinge", None)]
)
def test_the_clipped_fit_minimises_the_clipped_objective(loss, clip):
    """Against a direct convex solve that knows nothing of this package's solvers or losses."""
    X, y = labelled(n=600)
    y = np.where(np.random.default_rng(1).random(600) < 0.15, 1 - y, y)
    model = almost_public(loss=loss, clip=clip, fit_intercept=False, hinge_width=0.4).fit(X, y)
    rows, signs = X / np.linalg.norm(X, axis=1, keepdims=True), 2 * y - 1
    lam, steepest = model.privacy_.lam, np.inf if clip is None else clip

    def objective(theta):
        short = 1 - signs * (rows @ theta)
        if loss == "squared-hinge":
            bend, width, top = short, 1.0, steepest
        else:
            bend, width, top = (short + 0.4) / 0.8, 0.8, min(1.0, steepest)
        inside = np.clip(bend, 0, top)
        value = width * np.sum(inside * (np.maximum(bend, 0) - inside / 2)) + lam / 2 * theta @ theta
        return value, -rows.T @ (signs * inside) + lam * theta

    direct = minimize(objective, np.zeros(5), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    np.testing.assert_allclose(model.coef_[0], direct, rtol=5e-3, atol=5e-3)


def test_clipping_bounds_what_wrong_labels_can_do():
    X, y = labelled(n=3000)
    bad = y.copy()
    bad[X[:, 0] > 1.2] = 0
    scores = [ObjPertSVC(epsilon=4.0, clip=c, random_state=0).fit(X, bad).score(X, y) for c in (0.5, 8.0)]
    assert scores[0] > scores[1]


# The promise
