"""Private regression and support vector machines: what they fit, what they promise, what they refuse."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from objpert_core.estimators import ObjPertRegressor, ObjPertSVC
from tests.estimators.rows import labelled, numbered


def almost_public(kind=ObjPertRegressor, **parameters):
    """So large an ε that next to nothing is left of the noise; λ stays above β, as the bound needs."""
    return kind(epsilon=1e9, random_state=0, noise_ratio=1.0001, **parameters)


# Learning


@pytest.mark.slow
def test_without_clipping_and_noise_it_is_ridge_regression():
    X, y = numbered()
    for constant in (0.0, 0.5):
        model = almost_public(clip=10.0, fit_intercept=constant > 0, intercept_scaling=constant or 1.0).fit(X, y)
        rows = np.column_stack([X, np.full(len(X), constant)])
        peer = Ridge(alpha=model.privacy_.lam, fit_intercept=False, tol=1e-12).fit(rows, y)
        assert model.privacy_.lam > 1
        np.testing.assert_allclose(model.coef_, peer.coef_[:-1], atol=2e-3)
        assert model.intercept_ == pytest.approx(constant * peer.coef_[-1], abs=2e-3)


@pytest.mark.parametrize(
    ("parameters", "threshold"),
    [({"loss": "squared", "clip": 0.2}, None), ({"loss": "huber", "clip": 0.15, "huber_threshold": 0.3}, 0.3)],
)
def test_the_clipped_fit_minimises_the_clipped_objective(parameters, threshold):
    """Against a direct convex solve that knows nothing of this package's solvers or losses."""
    X, y = numbered(noise=0.3)
    y[::10] -= 8.0
    model = almost_public(fit_intercept=False, **parameters).fit(X, y)
    kink = parameters["clip"] / np.linalg.norm(X, axis=1)
    kink = kink if threshold is None else np.minimum(kink, threshold)
    lam = model.privacy_.lam

    def objective(theta):
        residual = X @ theta - y
        inner = np.clip(residual, -kink, kink)
        value = np.sum(inner * (residual - inner / 2)) + lam / 2 * theta @ theta
        return value, X.T @ inner + lam * theta

    direct = minimize(objective, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    np.testing.assert_allclose(model.coef_, direct, atol=2e-3)
    assert np.mean(np.abs(y - X @ direct) > kink) > 0.2  # much is clipped


def test_clipping_keeps_outliers_from_tearing_the_fit_away():
    X, y = numbered(n=4000)
    clean = ObjPertRegressor(epsilon=4.0, random_state=0).fit(X, y)
    y_bad = y.copy()
    y_bad[::20] = 1e6
    clipped = ObjPertRegressor(epsilon=4.0, random_state=0).fit(X, y_bad)
    assert np.abs(clipped.predict(X) - clean.predict(X)).max() < 0.25
    assert Ridge().fit(X, y_bad).predict(X).min() > 1e4


def test_the_range_of_the_targets_only_changes_the_units():
    X, y = numbered()
    plain = ObjPertRegressor(random_state=1).fit(X, y)
    scaled = ObjPertRegressor(random_state=1, target_range=(46.0, 54.0)).fit(X, 50.0 + 4.0 * y)
    np.testing.assert_allclose(scaled.coef_, 4.0 * plain.coef_, rtol=1e-5)
    np.testing.assert_allclose(scaled.scores(X), 50.0 + 4.0 * plain.scores(X), rtol=1e-7)
    assert scaled.privacy_.sigma == plain.privacy_.sigma
    flat = ObjPertRegressor(fit_intercept=False, target_range=(49.0, 51.0)).fit(X, y)
    assert flat.intercept_ == 50.0


# The promise


def test_a_row_moves_no_fit_further_than_its_clipped_gradient_allows():
    """λ-strong convexity: one row of gradient norm ≤ C moves the minimiser by at most C/λ."""
    X, y = numbered(n=200)
    seeded = {"random_state": 5, "fit_intercept": False, "clip": 0.5, "sigma_out": 1e-12, "tau": 1e-9}
    without = ObjPertRegressor(**seeded).fit(X, y)
    far = np.append(y, 1e5)  # whose rounding τ can pay for
    worst = ObjPertRegressor(**seeded).fit(np.vstack([X, [[0.5] * 4]]), far)
    moved = np.linalg.norm(worst.coef_ - without.coef_)
    assert 0 < moved <= 0.5 / without.privacy_.lam


def test_targets_that_overflow_when_scaled_are_refused():
    X, y = numbered(n=20)
    y[3] = 1e308
    with pytest.raises(ValueError, match="finite"):
        ObjPertRegressor(target_range=(-1e-3, 1e-3)).fit(X, y)


# Support vector machines


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "clip"), [("squared-hinge", 0.6), ("huberised-hinge", 0.6), ("huberised-hinge", None)]
)
def test_the_clipped_svm_minimises_the_clipped_objective(loss, clip):
    """Against a direct convex solve that knows nothing of this package's solvers or losses."""
    X, y = labelled(n=600)
    y = np.where(np.random.default_rng(1).random(600) < 0.15, 1 - y, y)
    model = almost_public(ObjPertSVC, bound="glm", loss=loss, clip=clip, fit_intercept=False, hinge_width=0.4).fit(X, y)
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
