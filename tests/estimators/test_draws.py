"""Several draws fitted together: each is what a fit by itself gives, or nothing is released."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import objpert_core.estimators as est
from objpert_core.estimators.cautions import forget_cautions
from objpert_core.estimators.draws import fit_each, fit_many
from objpert_core.exceptions import ConvergenceError, PrivacyBudgetWarning
from objpert_core.learning import draws
from objpert_core.learning.problem.rounding import gradient_norm_bound

pytestmark = pytest.mark.filterwarnings("ignore:Several copies")
PRIVATE = {"classes": (0, 1)}
SHARED = (
    est.ObjPertLogisticRegression(epsilon=1.0, public_rows=569, **PRIVATE),
    est.ObjPertLogisticRegression(epsilon=1.5, public_rows=569, standardize=False, **PRIVATE),
    est.ObjPertLogisticRegression(epsilon=8.0, lam=0.0, on_error="release", **PRIVATE),
    est.ObjPertLogisticRegression.published(epsilon=0.5, **PRIVATE, advanced={"row_norm": "clip"}),
    est.ObjPertLogisticRegression.kifer2012(epsilon=2.0, fit_intercept=False, **PRIVATE),
    est.ObjPertLogisticRegression(epsilon=4.0, public_rows=569, class_weight="balanced", **PRIVATE),
    est.ObjPertSVC(epsilon=1.0, **PRIVATE),
    est.ObjPertSVC(epsilon=1.5, standardize=True, **PRIVATE),
    est.ObjPertRegressor(epsilon=1.0, loss="huber"),
    est.OutputPerturbationLogisticRegression(epsilon=1.0, public_rows=569, **PRIVATE),
    est.OutputPerturbationLogisticRegression(epsilon=1.5, public_rows=569, standardize=False, **PRIVATE),
)
RAW = {"public_rows": 569, "standardize": False, **PRIVATE}  # rows that all draws share
MAPPED = {"epsilon": 8.0, "public_rows": 569, **PRIVATE}


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture
def watched(monkeypatch):
    """The objectives, results and bounds of every solve that draws shared."""
    seen = []
    solve_together = draws.solve_together

    def watching(objectives, **told):
        results = solve_together(objectives, **told)
        seen.append((objectives, results))
        return results

    monkeypatch.setattr(draws, "solve_together", watching)
    return seen


def alone(estimator, seed, X, y):
    return clone(estimator).set_params(random_state=seed).fit(X, y)


def anyhow(certificate):
    """What a certificate says besides how the solver got there."""
    return replace(certificate, coefficients_sha256=None, gradient_norm=None, n_iter=None)


@pytest.mark.thorough
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("estimator", SHARED, ids=lambda one: f"{type(one).__name__}-{one.epsilon}")
def test_every_draw_is_the_fit_by_itself_with_its_certificate(estimator, sparse, data, watched):
    X, y = data
    X = sp.csr_array(X) if sparse else X
    seeds = [3, np.random.default_rng(4), 3, None]
    models = fit_many(estimator, X, y, seeds)
    for model, seed in zip(models[:3], [3, np.random.default_rng(4), 3], strict=True):
        one = alone(estimator, seed, X, y)
        # Both stop within τ of the minimum; the noise added is the same, on the same lattice.
        near = 2 * (one.privacy_.tau / one.privacy_.lam + one.privacy_.lattice) * np.sqrt(one.coef_.size + 1)
        np.testing.assert_allclose(model.coef_, one.coef_, rtol=0, atol=near)
        np.testing.assert_allclose(model.intercept_, one.intercept_, rtol=0, atol=near)
        assert anyhow(model.privacy_) == anyhow(one.privacy_)
        assert model.privacy_.verify(model)
        assert vars(model).keys() == vars(one).keys()
        np.testing.assert_array_equal(model.center_, one.center_)
        np.testing.assert_array_equal(model.scale_, one.scale_)
        assert getattr(model, "class_weight_", None) == getattr(one, "class_weight_", None)
    np.testing.assert_array_equal(models[0].coef_, models[2].coef_)
    if models[0].scale_ is not None:
        assert not np.shares_memory(models[0].scale_, models[2].scale_)
        assert np.abs(models[0].scale_ - models[1].scale_).max() > 1e-3
    assert not models[0].privacy_.verify(models[1])
    assert not models[3].privacy_.reproducible
    assert np.abs(models[3].coef_ - models[0].coef_).max() > 1e-3
    for model in models:
        assert model.gradient_norms_[-1] <= model.privacy_.gradient_norm <= model.privacy_.tau
    for objectives, results in watched:
        exact = [gradient_norm_bound(one, result.theta) for one, result in zip(objectives, results, strict=True)]
        assert max(exact) <= models[0].privacy_.tau


SPOILT = [
    ("solve_together", RAW, 1.0),
    *(pytest.param("solve_family", MAPPED, wrong, marks=pytest.mark.thorough) for wrong in (1.0, np.nan)),
]


@pytest.mark.parametrize(("solver", "options", "wrong"), SPOILT)
def test_where_a_solver_for_several_draws_fails_a_draw_is_solved_by_itself(solver, options, wrong, data, monkeypatch):
    solve_several, seen = getattr(draws, solver), []

    def spoiling(several, **told):
        results = solve_several(several, **told)
        seen.extend(results)
        return [replace(results[0], theta=results[0].theta + wrong, gradient_norm=0.0), results[1]]

    monkeypatch.setattr(draws, solver, spoiling)
    one = est.ObjPertLogisticRegression(**options)
    first, second = fit_many(one, *data, [0, 1])
    assert all(result.converged for result in seen)
    expected = alone(one, 0, *data)
    np.testing.assert_array_equal(first.coef_, expected.coef_)  # whatever the solver had claimed
    assert first.privacy_ == expected.privacy_
    assert second.n_iter_ == seen[1].iterations


@pytest.mark.parametrize("limit", [0, 2**26])
def test_many_numbers_are_not_copied_to_be_shared(limit, data, monkeypatch):
    made = []
    of_several = draws.solve_family
    monkeypatch.setattr(draws, "_MOST_NUMBERS", limit)
    monkeypatch.setattr(draws, "solve_family", lambda *given, **told: made.append(0) or of_several(*given, **told))
    fit_many(est.ObjPertLogisticRegression(**MAPPED), *data, [0, 1])
    assert len(made) == (limit > 0)


def test_a_draw_that_cannot_be_solved_is_named_and_nothing_is_released(data, monkeypatch):
    one = est.ObjPertLogisticRegression(public_rows=569, **PRIVATE, advanced={"max_iter": 2})
    models = [clone(one).set_params(random_state=seed) for seed in (7, 8)]
    with pytest.raises(ConvergenceError, match=r"with random_state=7: .* needs tau = 1e-6"):
        fit_each(models, *data)
    assert not any(model.__sklearn_is_fitted__() for model in models)
    alone = est.ObjPertSCOClassifier(radius=1.0, public_rows=569, **PRIVATE)
    in_turn = [clone(alone).set_params(random_state=seed, max_iter=most) for seed, most in ((6, 1000), (7, 1))]
    with pytest.raises(ConvergenceError, match=r"with random_state=7: "):
        fit_each(in_turn, *data)
    assert not any(model.__sklearn_is_fitted__() for model in in_turn)
    with pytest.raises(ConvergenceError, match=r"with random_state=7: "):
        fit_many(est.ObjPertSCOClassifier(radius=1.0, public_rows=569, max_iter=1, **PRIVATE), *data, [7, 8])


def test_invalid_rows_and_no_rows_at_all_count_as_none_where_errors_must_not_tell(data):
    X, y = data[0].copy(), data[1]
    X[::50] = np.nan
    one = est.ObjPertLogisticRegression(public_rows=569, on_error="release", **PRIVATE)
    for given in ((X, y), (X[:0], y[:0])):
        for model, seed in zip(fit_many(one, *given, [0, 1]), [0, 1], strict=True):
            expected = alone(one, seed, *given)
            np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=1e-5)
            assert anyhow(model.privacy_) == anyhow(expected.privacy_)


NOISE = 1e-9 * np.random.default_rng(0).normal(size=(400, 5))


@pytest.mark.thorough
@pytest.mark.filterwarnings("error", "ignore:Several copies", "ignore:X has one column")
@pytest.mark.parametrize("X", [np.zeros((400, 5)), 1 + NOISE, np.ones((400, 1))], ids=["zero", "alike", "one column"])
@pytest.mark.parametrize("epsilon", [1.0, 500.0])
def test_rows_that_cannot_be_told_from_their_centre_raise_nothing(X, epsilon):
    wanted = {"epsilon": epsilon, "on_error": "release", "public_rows": 400, "standardize": True, **PRIVATE}
    for model in (est.ObjPertLogisticRegression(**wanted), est.OutputPerturbationLogisticRegression(**wanted)):
        for draw in fit_many(model, X, np.arange(400) % 2, [0, 1, 2]):
            alone = clone(draw).fit(X, np.arange(400) % 2)
            np.testing.assert_array_equal(draw.scale_, alone.scale_)
            np.testing.assert_allclose(draw.coef_, alone.coef_, rtol=0, atol=2 * draw.tau / draw.privacy_.lam)
            assert draw.privacy_.verify(draw)


def test_one_solution_serves_all_draws_of_output_perturbation(data):
    heard = []
    one = est.OutputPerturbationLogisticRegression(**RAW)
    models = fit_many(one, *data, range(4), callback=lambda step, norm: heard.append(step))
    assert heard == list(range(models[0].n_iter_ + 1))
    for seed, model in enumerate(models):
        np.testing.assert_array_equal(model.coef_, alone(one, seed, *data).coef_)


ONE_BY_ONE = [
    est.ObjPertSCOClassifier(radius=1.0, public_rows=569, **PRIVATE),
    est.ObjPertLogisticRegression(public_rows=569, **PRIVATE, advanced={"solver": "lbfgs"}),
]


@pytest.mark.parametrize("estimator", ONE_BY_ONE, ids=lambda one: type(one).__name__)
def test_what_shares_no_solver_is_fitted_one_by_one(estimator, data):
    models = fit_many(estimator, *data, np.array([2, 3]))
    for seed, model in zip((2, 3), models, strict=True):
        one = alone(estimator, seed, *data)
        np.testing.assert_array_equal(model.coef_, one.coef_)
        assert model.privacy_ == one.privacy_


def test_one_generator_for_all_draws_is_used_as_by_one_fit_after_the_other(data):
    one = est.ObjPertLogisticRegression(public_rows=569, **PRIVATE)
    shared = np.random.default_rng(1)
    models = fit_many(one, *data, [shared, shared])
    again = np.random.default_rng(1)
    for model in models:
        np.testing.assert_array_equal(model.coef_, alone(one, again, *data).coef_)


NONSENSE = [
    (SHARED[0], 3, "random_states must be a sequence"),
    (SHARED[0], "12", "random_states must be a sequence"),
    (SHARED[0], [0, -1], r"random_states\[1\] must be None, an integer >= 0"),
    (LogisticRegression(), [0], "estimator must be a private estimator"),
    (est.ObjPertLogisticRegression(epsilon=-1.0), [0, 1], "epsilon must be"),
]


@pytest.mark.parametrize(("estimator", "states", "message"), NONSENSE)
def test_nonsense_is_refused_before_the_data_are_touched(estimator, states, message):
    with pytest.raises(ValueError, match=message):
        fit_many(estimator, object(), object(), states)


def test_copies_spend_budgets_of_their_own_and_say_so(data):
    assert fit_many(SHARED[0], *data, []) == []
    one = est.ObjPertLogisticRegression(public_rows=569, **PRIVATE)
    forget_cautions()
    with pytest.warns(PrivacyBudgetWarning, match="Several copies of one ObjPertLogisticRegression"):
        first, second = fit_many(one, *data, [0, 1])
    assert not np.shares_memory(first.classes_, second.classes_)
    with pytest.warns(PrivacyBudgetWarning, match="fitted again to the same data"):
        first.fit(*data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_each([clone(est.ObjPertLogisticRegression(public_rows=569, **PRIVATE)) for _ in range(2)], *data)
