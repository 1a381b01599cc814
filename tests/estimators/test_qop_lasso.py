"""The private lasso by quadratic perturbation: what is its own beside the contract."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Lasso

from objpert_core.accounting import QuadraticPerturbation, TiltAndBend
from objpert_core.estimators import QOPLasso
from objpert_core.estimators.cautions import forget_cautions
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.solvers.lasso import LASSO_SOLVERS
from tests.estimators.contract.case import assert_unfitted


def lasso(**parameters):
    """Where rows are added: that is calibrated at once."""
    return QOPLasso(**({"adjacency": "add/remove one row"} | parameters))


rng = np.random.default_rng(1)
TRUTH = np.array([0.7, 0.0, -0.4, 0.2])
X = rng.uniform(-0.5, 0.5, size=(3000, 4))
Y = X @ TRUTH + 0.05 * rng.normal(size=3000)


@pytest.fixture(scope="module")
def model():
    return lasso(random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def anchored():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return lasso(anchor=TRUTH, use_labels=False, alpha=20.0, random_state=0).fit(X, Y)


def minimum(model, alpha, low=-np.inf, high=np.inf, positive=False):
    """scikit-learn's solution of the released problem."""
    gram, anchor, noise = model.noisy_gram_, model.noisy_sums_.anchor, model.privacy_
    if model.debias:
        d, m = len(gram), noise.degrees_of_freedom
        room = np.linalg.eigvalsh(gram)[0] - 2 * noise.scale * np.sqrt(m * d)
        gram = gram - np.clip(room, 0, m * noise.scale) * np.eye(d)
    root = np.linalg.cholesky(gram)
    targets = root.T @ anchor - np.linalg.solve(root, model.noisy_tilt_)
    lasso = Lasso(alpha=alpha / len(gram), fit_intercept=False, positive=positive, tol=1e-14, max_iter=100_000)
    return lasso.fit(root.T, targets).coef_


@pytest.mark.parametrize("solver", ["coordinate-descent", "davis-yin"])
@pytest.mark.parametrize("alpha", [0.5, 30.0, 1e4])
def test_it_is_the_lasso_of_what_was_released(model, solver, alpha):
    other = lasso(alpha=alpha, solver=solver, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(other.noisy_gram_, model.noisy_gram_)  # the noise does not go by them
    np.testing.assert_allclose(other.coef_, minimum(model, alpha), atol=1e-9)


def test_the_mean_of_the_noise_is_taken_off_as_far_as_the_release_allows(model):
    plain = lasso(alpha=0.0, debias=False, random_state=0).fit(X, Y)
    taken = plain.resolve()
    taken.set_params(advanced__debias=True)
    taken = taken.resolve()
    np.testing.assert_allclose(plain.coef_, minimum(plain, 1e-12), atol=1e-9)
    np.testing.assert_allclose(taken.coef_, minimum(taken, 1e-12), atol=1e-9)
    least = np.linalg.lstsq(X, Y, rcond=None)[0]
    assert np.linalg.norm(taken.coef_ - least) < 0.8 * np.linalg.norm(plain.coef_ - least)
    few = lasso(alpha=0.0, degrees_of_freedom=5, random_state=0).fit(X[:5], Y[:5])  # the least eigenvalue is near 0
    without = few.resolve()
    without.set_params(advanced__debias=False)
    np.testing.assert_array_equal(few.coef_, without.resolve().coef_)


@pytest.mark.thorough
def test_many_rows_and_a_wide_budget_give_what_they_give_without_privacy():
    many = lasso(epsilon=50.0, delta=1e-3, alpha=40.0, random_state=0).fit(np.tile(X, (20, 1)), np.tile(Y, 20))
    plain = Lasso(alpha=40.0 / (20 * len(X)), fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(many.coef_, plain.coef_, atol=0.02)


def test_a_path_is_solved_from_one_release(model):
    released = pickle.dumps(model)
    alphas = [1e5, 30.0, 0.5]
    path = model.path(alphas)
    assert path.shape == (3, 4)
    for alpha, coefficients in zip(alphas, path, strict=True):
        np.testing.assert_allclose(coefficients, minimum(model, alpha), atol=1e-9)
        np.testing.assert_allclose(model.resolve(alpha=alpha).coef_, coefficients, atol=1e-12)
    assert not path[0].any()
    assert pickle.dumps(model) == released


def test_another_box_is_solved_from_the_same_release(model):
    boxed = model.resolve(alpha=0.5, bounds=(0.0, np.inf))
    np.testing.assert_allclose(boxed.coef_, minimum(model, 0.5, positive=True), atol=1e-9)
    assert boxed.get_params()["bounds"] == (0.0, np.inf)
    assert boxed.noisy_sums_ is model.noisy_sums_
    assert boxed.privacy_.verify(boxed)
    assert not model.privacy_.verify(boxed)
    assert boxed.predict(X[:2]).tolist() == (X[:2] @ boxed.coef_).tolist()
    np.testing.assert_array_equal(boxed.resolve(bounds=None).coef_, model.resolve(alpha=0.5).coef_)
    asked = lasso(bounds=(-0.1, np.full(4, 0.2)), random_state=0).fit(X, Y)  # at once
    np.testing.assert_array_equal(asked.coef_, model.resolve(bounds=(-0.1, 0.2)).coef_)
    assert np.abs(asked.coef_).max() > 0.09
    low, high = np.array([-1, 0, -0.1, 0.3]), np.array([0.1, 0.0, 0.0, 0.3])
    narrow = model.resolve(bounds=(low, high)).coef_
    assert ((low <= narrow) & (narrow <= high)).all()
    with pytest.raises(ValueError, match="bounds must be None or two numbers"):
        model.resolve(bounds=(1.0, 0.0))
    with pytest.raises(ValueError, match="alpha must be a finite number >= 0, got -1"):
        model.resolve(alpha=-1)
    with pytest.raises(ValueError, match="alphas must be a finite number >= 0, got"):
        model.path([1.0, -2.0])


def test_the_mechanism_is_bend_and_tilt_or_the_bend_alone(model, anchored):
    both, alone = model.privacy_.rebuild(), anchored.privacy_.rebuild()
    assert isinstance(both, TiltAndBend)
    assert isinstance(alone, QuadraticPerturbation)
    assert (model.privacy_.residual_bound, anchored.privacy_.residual_bound) == (1.0, 0.0)
    assert alone.scale < both.bend.scale
    assert anchored.noisy_tilt_.tolist() == [0.0] * 4
    fixed = lasso(degrees_of_freedom=30, tilt_share=0.2).fit(X, Y).privacy_
    assert (fixed.degrees_of_freedom, fixed.adjacency, fixed.verify()) == (30, "add/remove one row", True)
    assert fixed.sigma != model.privacy_.sigma


def test_with_an_anchor_that_fits_everything_labels_are_not_used(anchored):
    forget_cautions()
    with pytest.warns(UserWarning, match="labels are not used") as told:
        other = clone(anchored).fit(X, np.zeros(len(X)))
    assert told[0].filename == __file__
    np.testing.assert_array_equal(other.coef_, anchored.coef_)
    np.testing.assert_allclose(anchored.resolve(alpha=0.0).coef_, TRUTH, atol=1e-12)
    assert np.linalg.norm(anchored.coef_ - TRUTH) > 1e-3


def test_residuals_are_those_at_the_anchor():
    near = lasso(anchor=TRUTH + 0.05, target_range=(-0.2, 0.2), alpha=0.0, random_state=0).fit(X, Y)
    far = lasso(target_range=(-1.0, 1.0), alpha=0.0, random_state=0).fit(X, Y)
    assert near.privacy_.sigma == pytest.approx(0.2 * far.privacy_.sigma, rel=1e-6)
    assert np.linalg.norm(near.coef_ - TRUTH) < np.linalg.norm(far.coef_ - TRUTH)


@pytest.mark.thorough
def test_an_intercept_is_neither_penalised_nor_bounded():
    moved = lasso(epsilon=8.0, alpha=1e6, fit_intercept=True, intercept_scaling=1.0, random_state=0)
    moved.fit(X, Y + 0.8)
    assert not moved.coef_.any()
    assert moved.intercept_ == pytest.approx(0.8, abs=0.1)
    assert moved.noisy_gram_.shape == (5, 5)
    np.testing.assert_array_equal(moved.predict(X[:3]), np.full(3, moved.intercept_))
    boxed = moved.resolve(alpha=0.0, bounds=(-0.01, 0.01))
    assert (np.abs(boxed.coef_) <= 0.01).all()
    assert boxed.intercept_ == pytest.approx(0.8, abs=0.1)
    assert boxed.privacy_.verify(boxed)


CONTRADICTIONS = [
    ({"use_labels": False}, "use_labels must be True without an anchor, got False"),
    ({"anchor": [1.0, 2.0]}, "anchor must have one number for each of X's 4 features, got 2"),
    ({"bounds": ([0.0] * 3, 1.0)}, "bounds must have one number for each of X's 4 features, got 3"),
    ({"degrees_of_freedom": 4}, r"degrees_of_freedom must be at least dimension \+ 1 = 5, got 4"),
    ({"anchor": [[1.0, 2.0], [3.0]]}, "anchor must be None or an array of numbers"),
    ({"bounds": (np.inf, np.inf)}, "bounds must be None or two numbers"),
    ({"epsilon": 1e5}, "epsilon must be a number from"),
]


@pytest.mark.parametrize(("parameters", "message"), CONTRADICTIONS, ids=str)
def test_what_does_not_go_together_is_refused(parameters, message):
    model = lasso(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert_unfitted(model)


def test_a_fitted_model_is_resolved_and_the_copy_can_be_fitted_and_cloned(model):
    for call in (lambda: lasso().path([1.0]), lambda: lasso().resolve(alpha=1.0)):
        with pytest.raises(ValueError, match="not fitted"):
            call()
    other = model.resolve(alpha=7.0)
    assert clone(other).get_params()["alpha"] == 7.0
    assert model.alpha == 1.0
    other.fit(X[:100], Y[:100])
    assert other.noisy_sums_ is not model.noisy_sums_


@pytest.mark.parametrize("scale", [2.0**-100, 2.0**20, 2.0**100])
def test_targets_of_any_size_are_fitted(scale):
    one = lasso(epsilon=5.0, target_range=(-scale, scale), alpha=0.0, random_state=0).fit(X, scale * Y)
    other = lasso(epsilon=5.0, alpha=0.0, random_state=0).fit(X, Y)
    np.testing.assert_allclose(one.coef_ / scale, other.coef_, atol=1e-6)
    assert one.privacy_.verify(one)


@pytest.mark.thorough
def test_rows_are_replaced_unless_told_otherwise():
    spent = QOPLasso().fit(X, Y).privacy_
    assert (spent.adjacency, spent.verify()) == ("replace one row", True)
    added = lasso().fit(X, Y).privacy_
    assert spent.scale > added.scale
    assert spent.sigma > 1.9 * added.sigma


def test_a_solver_that_does_not_arrive_leaves_the_estimator_unfitted(monkeypatch):
    monkeypatch.setitem(LASSO_SOLVERS, "davis-yin", lambda problem, theta, report: theta + 1.0)
    model = lasso(solver="davis-yin", random_state=0)
    with pytest.raises(ConvergenceError, match="reached a residual of"):
        model.fit(X, Y)
    assert_unfitted(model)
