"""Private support vector machines: what they fit, what they promise, what they refuse."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from objpert_core.accounting import calibrate_objective_perturbation
from objpert_core.estimators import ObjPertSVC
from objpert_core.learning import SOLVERS, HuberisedHingeLoss, SquaredHingeLoss, perturb_and_solve


def data(n=2000, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=d) + 0.3 * rng.normal(size=n) > 0).astype(int)


def almost_public(**parameters):
    """So large an ε that what is left of the noise is below 1e-3; "glm" keeps λ above β there."""
    return ObjPertSVC(epsilon=1e9, bound="glm", random_state=0, noise_ratio=1.0001, **parameters)


# Learning


@pytest.mark.parametrize("loss", ["squared-hinge", "huberised-hinge"])
def test_it_learns_and_says_what_it_spent(loss):
    X, y = data()
    model = ObjPertSVC(epsilon=1.0, delta=1e-6, loss=loss).fit(X[:1500], y[:1500])
    assert model.score(X[1500:], y[1500:]) > 0.85
    spent = model.privacy_
    assert (spent.epsilon, spent.delta, spent.bound, spent.loss, spent.clip) == (1.0, 1e-6, "monotone", loss, 1.0)
    assert spent.verify()
    assert model.coef_.shape == (1, 5)
    assert model.intercept_.shape == (1,)
    assert len(model.gradient_norms_) == model.n_iter_ + 1


@pytest.mark.slow
def test_without_clipping_and_noise_it_is_scikit_learns_svm():
    """scikit-learn's squared hinge is twice ours, so its C is 1/(2λ)."""
    X, y = data(n=600)
    model = almost_public(clip=30.0, fit_intercept=False).fit(X, y)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    peer = LinearSVC(C=1 / (2 * model.privacy_.lam), fit_intercept=False, dual=False, tol=1e-10).fit(rows, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=5e-3, atol=5e-3)
    with_intercept = almost_public(clip=30.0, intercept_scaling=0.5).fit(X, y)
    peer = LinearSVC(C=1 / (2 * with_intercept.privacy_.lam), intercept_scaling=0.5, dual=False, tol=1e-10).fit(rows, y)
    np.testing.assert_allclose(with_intercept.coef_, peer.coef_, rtol=5e-3, atol=5e-3)
    np.testing.assert_allclose(with_intercept.intercept_, peer.intercept_, atol=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "clip"), [("squared-hinge", 0.6), ("huberised-hinge", 0.6), ("huberised-hinge", None)]
)
def test_the_clipped_fit_minimises_the_clipped_objective(loss, clip):
    """Against a direct convex solve that knows nothing of this package's solvers or losses."""
    X, y = data(n=600)
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
    X, y = data(n=3000)
    bad = y.copy()
    bad[X[:, 0] > 1.2] = 0
    scores = [ObjPertSVC(epsilon=4.0, clip=c, random_state=0).fit(X, bad).score(X, y) for c in (0.5, 8.0)]
    assert scores[0] > scores[1]


def test_there_are_no_probabilities():
    model = ObjPertSVC().fit(*data(n=100))
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "predict_log_proba")


@pytest.mark.slow
def test_more_privacy_costs_accuracy():
    X, y = data(n=400)
    scores = [
        np.mean([ObjPertSVC(epsilon=e, random_state=s).fit(X, y).score(X, y) for s in range(15)]) for e in (0.02, 50.0)
    ]
    assert scores[0] < scores[1] - 0.1


def test_every_solver_and_format_gives_the_same_model():
    X, y = data(n=600)
    X[np.abs(X) < 0.5] = 0.0
    reference = ObjPertSVC(clip=0.3, random_state=0).fit(X, y)
    for solver, rows in [*((name, X) for name in SOLVERS), ("newton", sp.csr_array(X)), ("newton", sp.coo_matrix(X))]:
        model = ObjPertSVC(clip=0.3, solver=solver, random_state=0).fit(rows, y)
        np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-5)


# The promise


def test_noise_is_calibrated_to_the_gradient_that_one_row_can_have():
    X, y = data(n=50)
    radius = math.sqrt(1 + 0.3**2)
    for parameters, gradient, curvature in (
        ({"clip": 0.7}, 0.7, 1.0),
        ({"loss": "huberised-hinge", "clip": None, "hinge_width": 2.0}, radius, 0.25),
        ({"loss": "huberised-hinge", "clip": 9.0}, radius, 1.0),
        ({"loss": "huberised-hinge", "clip": 0.2}, 0.2, 1.0),
    ):
        spent = ObjPertSVC(**parameters).fit(X, y).privacy_
        expected = calibrate_objective_perturbation(1.0, 1e-5, gradient, curvature * radius**2, "monotone", tau=1e-6)
        assert (spent.sigma, spent.lam) == pytest.approx((expected.objective.sigma, expected.objective.lam))


@pytest.mark.parametrize("loss", [SquaredHingeLoss(), HuberisedHingeLoss()], ids=repr)
def test_the_mechanism_refuses_the_logistic_bound(loss):
    X, y = data(n=20)
    mechanism = calibrate_objective_perturbation(1.0, 1e-5, 2.0, 2.0, "logistic", tau=1e-6)
    with pytest.raises(ValueError, match="bound must not be 'logistic' for the loss"):
        perturb_and_solve(X, 2.0 * y - 1, mechanism, delta=1e-5, loss=loss, clip=0.5)
