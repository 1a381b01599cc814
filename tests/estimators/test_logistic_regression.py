import math
import pickle
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from objpert_core.accounting import calibrate_gaussian, calibrate_published, recommended_lam, recommended_margin
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.exceptions import ConvergenceError, PrivacyBudgetWarning


def data(n=2000, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    weights = rng.normal(size=d)
    return X, (X @ weights + 0.3 * rng.normal(size=n) > 0).astype(int)


@parametrize_with_checks(
    [
        ObjPertLogisticRegression(),
        ObjPertLogisticRegression(solver="lbfgs", row_norm="clip"),
        ObjPertLogisticRegression(solver="newton-cg", fit_intercept=False),
        ObjPertLogisticRegression.published(),
    ]
)
@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# Learning


def test_it_learns_and_says_what_it_spent():
    X, y = data()
    model = ObjPertLogisticRegression(epsilon=1.0, delta=1e-6).fit(X[:1500], y[:1500])
    assert model.score(X[1500:], y[1500:]) > 0.85
    assert (model.privacy_.epsilon, model.privacy_.delta) == (1.0, 1e-6)
    assert model.privacy_.verify()
    assert model.coef_.shape == (1, 5)
    assert model.intercept_.shape == (1,)
    assert len(model.gradient_norms_) == model.n_iter_ + 1
    assert model.gradient_norms_[-1] <= model.tau


def test_a_huge_epsilon_approaches_the_model_without_privacy():
    X, y = data()
    model = ObjPertLogisticRegression(epsilon=1000.0, noise_ratio=1.001, fit_intercept=False, random_state=0).fit(X, y)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    peer = LogisticRegression(C=1 / model.privacy_.lam, fit_intercept=False, tol=1e-10).fit(rows, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=0.02)


def test_more_privacy_costs_accuracy():
    X, y = load_breast_cancer(return_X_y=True)
    scores = [
        np.mean([ObjPertLogisticRegression(epsilon=e, random_state=s).fit(X, y).score(X, y) for s in range(20)])
        for e in (0.01, 100.0)
    ]
    assert scores[0] < scores[1] - 0.05


def test_the_intercept_follows_the_base_rate():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 2)), (rng.random(4000) < 0.9).astype(int)
    model = ObjPertLogisticRegression(epsilon=8.0, intercept_scaling=1.0).fit(X, y)
    assert model.intercept_[0] == pytest.approx(np.log(9), abs=0.4)
    assert ObjPertLogisticRegression(fit_intercept=False).fit(X, y).intercept_.tolist() == [0.0]


def test_the_published_recipe_is_the_papers():
    model = ObjPertLogisticRegression.published(epsilon=1.0, delta=1e-5).fit(*data())
    spent = model.privacy_
    assert (spent.bound, spent.accountant, spent.tau, spent.sigma_out) == ("glm", "rdp", 0.01, 0.15)
    assert spent.radius == pytest.approx(np.sqrt(2))
    assert spent.sigma == pytest.approx(1.3 * 5.276, rel=1e-3)  # design note, "Calibration in closed form"
    assert spent.lam == calibrate_published(1.0, 1e-5, 2**0.5, tau=0.01, sigma_out=0.15).objective.lam
    assert spent.lam == pytest.approx(4.02, abs=0.01)  # 3.73 in the note, which leaves tau out
    assert ObjPertLogisticRegression.published(tau=1e-3).tau == 1e-3


def test_the_default_bound_needs_less_noise_and_less_regularisation_than_the_published_one():
    X, y = data(n=50)
    tight = ObjPertLogisticRegression(intercept_scaling=1.0, lam=0.0).fit(X, y).privacy_
    published = ObjPertLogisticRegression.published().fit(X, y).privacy_
    assert tight.sigma < 0.8 * published.sigma
    assert tight.lam < 0.6 * published.lam


def test_regularisation_follows_the_rule_where_it_asks_for_more_than_privacy_does():
    X, y = data(n=60)
    spent = ObjPertLogisticRegression().fit(X, y).privacy_
    least = ObjPertLogisticRegression(lam=0.0).fit(X, y).privacy_
    assert spent.lam == recommended_lam(1.0, 1e-5, 60, 6, spent.radius) > least.lam
    assert spent.sigma < least.sigma  # a larger λ needs less noise
    assert spent.verify()
    told = ObjPertLogisticRegression(public_rows=10**6).fit(X, y).privacy_
    assert (told.lam, told.sigma, told.public_rows) == (least.lam, least.sigma, 10**6)
    chosen = ObjPertLogisticRegression(lam=50.0, noise_ratio=1.5).fit(X, y).privacy_
    assert chosen.lam == 50.0
    assert chosen.sigma == pytest.approx(1.5 * calibrate_gaussian(1.0, 1e-5, chosen.radius).sigma)
    assert chosen.verify()


def test_the_margin_follows_the_rule_and_costs_no_privacy():
    X, y = data(n=60)
    fitted = {k: ObjPertLogisticRegression(margin=k, random_state=0).fit(X, y) for k in (None, 0.0, 2.0)}
    spent = {k: model.privacy_ for k, model in fitted.items()}
    rule = recommended_margin(1.0, 1e-5, 60, 6, spent[None].radius)
    assert {k: model.margin_ for k, model in fitted.items()} == {None: rule, 0.0: 0.0, 2.0: 2.0}
    assert {k: s.loss_parameter for k, s in spent.items()} == {None: rule, 0.0: 0.0, 2.0: 2.0}
    assert {(s.epsilon, s.sigma, s.lam) for s in spent.values()} == {(1.0, spent[0.0].sigma, spent[0.0].lam)}
    assert all(s.verify() for s in spent.values())
    assert len({model.coef_[0, 0] for model in fitted.values()}) == 3
    told = ObjPertLogisticRegression(public_rows=10**6).fit(X, y)
    assert told.margin_ == recommended_margin(1.0, 1e-5, 10**6, 6, spent[None].radius)
    for parameters in ({"lam": 1.0}, {"noise_ratio": 1.1}):  # nothing then depends on the number of rows
        model = ObjPertLogisticRegression(**parameters).fit(X, y)
        assert (model.margin_, model.privacy_.public_rows) == (0.0, None)
    assert ObjPertLogisticRegression.published().fit(X, y).margin_ == 0.0
    assert ObjPertLogisticRegression.kifer2012().fit(X, y).margin_ == 0.0


def test_the_margin_makes_rows_count_where_noise_keeps_scores_small():
    X, y = data(n=400)
    scores = {
        k: np.mean([ObjPertLogisticRegression(0.1, margin=k, random_state=s).fit(X, y).score(X, y) for s in range(20)])
        for k in (0.0, None)
    }
    assert scores[None] > scores[0.0] + 0.03


def test_a_default_fit_approaches_logistic_regression_as_epsilon_grows():
    X, y = data()
    model, without = (ObjPertLogisticRegression(1e5, margin=k, random_state=0).fit(X, y) for k in (None, 0.0))
    assert 0 < model.margin_ < 1e-4
    np.testing.assert_allclose(model.coef_, without.coef_, rtol=1e-3)
    np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), atol=1e-3)


# Prediction


def test_predictions_apply_the_row_norm_of_the_fit():
    X, y = data()
    model = ObjPertLogisticRegression(random_state=0).fit(X, y)
    scores = model.decision_function(X)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(scores, rows @ model.coef_[0] + model.intercept_[0], atol=1e-9)
    np.testing.assert_allclose(model.decision_function(1000 * X), scores, atol=1e-9)
    model.set_params(row_norm="clip")  # takes effect at the next fit only
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-12)


def test_probabilities_are_consistent_and_their_logarithms_finite():
    X, y = data()
    model = ObjPertLogisticRegression(random_state=0).fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), proba.argmax(axis=1))
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(proba), atol=1e-9)
    without = ObjPertLogisticRegression(margin=0.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(without.predict_proba(X)[:, 1], 1 / (1 + np.exp(-without.decision_function(X))))
    model.coef_ = model.coef_ * 1e6
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_a_zero_row_is_scored_by_the_intercept():
    X, y = data()
    X[3] = 0.0
    model = ObjPertLogisticRegression(random_state=0).fit(X, y)
    assert model.decision_function(np.zeros((1, 5)))[0] == model.intercept_[0]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_prediction_refuses_rows_without_a_norm(bad):
    model = ObjPertLogisticRegression().fit(*data())
    with pytest.raises(ValueError, match="X must hold finite numbers"):
        model.predict(np.full((1, 5), bad))


# Input formats


@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_matrix])
def test_sparse_and_dense_input_give_the_same_model(convert):
    X, y = data()
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    dense = ObjPertLogisticRegression(random_state=0).fit(X, y)
    sparse = ObjPertLogisticRegression(random_state=0).fit(convert(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
    np.testing.assert_allclose(sparse.decision_function(convert(X)), dense.decision_function(X), atol=1e-5)


def test_sparse_input_is_never_made_dense():
    X = sp.random_array((4000, 2000), density=0.002, format="csr", rng=np.random.default_rng(0))
    y = np.arange(4000) % 2
    tracemalloc.start()
    ObjPertLogisticRegression(solver="newton-cg").fit(X, y).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4000 * 2000 * 8 / 20


def test_dense_fit_takes_little_memory_beyond_the_data():
    X, y = data(n=40_000, d=60)
    ObjPertLogisticRegression().fit(X[:100], y[:100])  # what is imported or cached on first use
    tracemalloc.start()
    ObjPertLogisticRegression().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * X.nbytes  # the issue allows 1.5


def test_data_frames_keep_their_column_names():
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = ObjPertLogisticRegression(random_state=0).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("edcba")])


def test_single_precision_data_are_fitted_in_double():
    X, y = data()
    double = ObjPertLogisticRegression(random_state=0).fit(X.astype(np.float32).astype(np.float64), y)
    single = ObjPertLogisticRegression(random_state=0).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-6)
    assert single.privacy_.gradient_norm <= 1e-6


# Labels


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True], [2.0, 7.0]])
def test_any_two_labels_work(labels):
    X, y = data()
    named = np.array(labels)[y]
    model = ObjPertLogisticRegression(random_state=0).fit(X, named)
    np.testing.assert_array_equal(model.classes_, labels)
    assert (model.predict(X) == named).mean() > 0.85
    reference = ObjPertLogisticRegression(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, reference.coef_)


def test_given_classes_need_not_all_be_seen_and_are_sorted():
    X, _ = data()
    model = ObjPertLogisticRegression(classes=["yes", "no"], epsilon=8.0).fit(X, np.full(len(X), "yes"))
    assert model.classes_.tolist() == ["no", "yes"]
    assert (model.predict(X) == "yes").mean() > 0.9


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        ([0, 1, 2], None, "Only binary classification is supported. y must hold two classes, got 3 classes: 0, 1, 2"),
        (list(range(9)), None, r"got 9 classes: 0, 1, 2, 3, 4, \.\.\."),
        ([1], None, "y must hold two classes, got one class: 1; name both with classes="),
        ([0, 2], [0, 1], r"y must hold only labels in classes=\[0, 1\], got 2"),
        (["a", "b"], ["b", "c"], r"y must hold only labels in classes=\['b', 'c'\], got 'a'"),
        ([0, 1], [0, 1, 2], r"classes must be None or two different labels, got \[0, 1, 2\]"),
        ([0, 1], [1, 1], "classes must be None or two different labels"),
        ([0.5, 1.7], None, "Unknown label type"),
    ],
)
def test_labels_that_are_not_two_classes_are_refused(labels, classes, message):
    X, _ = data(n=90)
    y = np.resize(labels, 90)
    with pytest.raises(ValueError, match=message):
        ObjPertLogisticRegression(classes=classes).fit(X, y)


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0.0}, "epsilon must be a finite number > 0, got 0.0"),
        ({"epsilon": -1.0}, "epsilon must be a finite number > 0, got -1.0"),
        ({"epsilon": math.nan}, "epsilon must be a finite number > 0, got nan"),
        ({"epsilon": math.inf}, "epsilon must be a finite number > 0, got inf"),
        ({"delta": 0.0}, "delta must be a number strictly between 0 and 1, got 0.0"),
        ({"delta": 1.0}, "delta must be a number strictly between 0 and 1, got 1.0"),
        ({"bound": "tight"}, "bound must be one of 'logistic'.*got 'tight'"),
        ({"bound": "kifer2012", "accountant": "rdp"}, "'kifer2012' has a profile only"),
        ({"bound": "non-glm"}, "'non-glm' .*needs accountant='rdp'"),
        ({"noise_ratio": 0.9}, "noise_ratio must be a finite number >= 1, got 0.9"),
        ({"margin": -1.0}, "margin must be a finite number >= 0, got -1.0"),
        ({"lam": -1.0}, "lam must be a finite number >= 0, got -1.0"),
        ({"public_rows": 0}, "public_rows must be a whole number >= 1, got 0"),
        ({"tau": 0.0}, "tau must be a finite number > 0, got 0.0"),
        ({"tau": None}, "tau must be a finite number > 0, got None"),
        ({"sigma_out": -0.1}, "sigma_out must be a finite number > 0, got -0.1"),
        ({"solver": "adam"}, "solver must be one of .*got 'adam'"),
        ({"fit_intercept": "yes"}, "fit_intercept must be True or False, got 'yes'"),
        ({"intercept_scaling": 0.0}, "intercept_scaling must be a finite number > 0, got 0.0"),
        ({"row_norm": "l2"}, "row_norm must be one of 'normalize', 'clip', got 'l2'"),
        ({"random_state": -3}, "random_state must be None, an integer >= 0.*got -3"),
        ({"accountant": "gdp"}, "accountant must be one of .*got 'gdp'"),
        ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
    ],
)
def test_parameters_out_of_range_are_named_before_the_data_are_touched(parameters, message):
    model = ObjPertLogisticRegression(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(*data(n=20))
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix, pd.DataFrame])
def test_rows_with_nan_or_infinity_are_refused(value, convert):
    X, y = data(n=20)
    X[4, 2] = value
    with pytest.raises(ValueError, match=r"X must hold finite numbers \(no NaN, no inf.*row 4"):
        ObjPertLogisticRegression().fit(convert(X), y)


def test_empty_data_mismatched_lengths_and_weights_are_refused():
    X, y = data(n=20)
    with pytest.raises(ValueError, match="0 sample"):
        ObjPertLogisticRegression().fit(X[:0], y[:0])
    with pytest.raises(ValueError, match=r"0 feature"):
        ObjPertLogisticRegression().fit(X[:, :0], y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ObjPertLogisticRegression().fit(X, y[:-1])
    with pytest.raises(TypeError, match="sample_weight"):
        ObjPertLogisticRegression().fit(X, y, sample_weight=np.ones(20))


# Failure


def test_a_fit_that_does_not_converge_raises_and_leaves_nothing_behind():
    X, y = data()
    model = ObjPertLogisticRegression(random_state=0).fit(X, y)
    model.set_params(max_iter=1)
    with pytest.raises(ConvergenceError, match="nothing was released"):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not {"coef_", "intercept_", "privacy_", "n_iter_", "gradient_norms_", "classes_"} & set(vars(model))


def test_stopping_from_the_callback_leaves_the_estimator_unfitted():
    heard = []

    def stop(iteration, norm):
        heard.append((iteration, norm))
        if iteration == 2:
            raise KeyboardInterrupt

    model = ObjPertLogisticRegression()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data(), callback=stop)
    assert [iteration for iteration, _ in heard] == [0, 1, 2]
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


# Randomness


def test_the_operating_systems_noise_differs_from_fit_to_fit():
    X, y = data()
    a, b = ObjPertLogisticRegression().fit(X, y), ObjPertLogisticRegression().fit(X, y)
    assert not np.allclose(a.coef_, b.coef_)
    assert (a.privacy_.noise_source, a.privacy_.reproducible) == ("operating system", False)


@pytest.mark.parametrize("make", [lambda: 3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3)])
def test_seeded_fits_repeat_and_their_certificate_says_so(make):
    X, y = data()
    a = ObjPertLogisticRegression(random_state=make()).fit(X, y)
    b = ObjPertLogisticRegression(random_state=make()).fit(X, y)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert a.privacy_.reproducible


def test_a_random_state_shared_by_two_fits_moves_on():
    X, y = data()
    state = np.random.RandomState(3)
    a = ObjPertLogisticRegression(random_state=state).fit(X, y)
    b = ObjPertLogisticRegression(random_state=state).fit(X, y)
    assert not np.allclose(a.coef_, b.coef_)


# Life among other estimators


def test_pickle_and_clone():
    X, y = data()
    model = ObjPertLogisticRegression(epsilon=2.0, classes=[0, 1]).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.privacy_ == model.privacy_
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "coef_")


@pytest.mark.filterwarnings("error::objpert_core.exceptions.PrivacyBudgetWarning")
def test_one_fit_at_a_time_does_not_warn():
    X, y = data()
    model = ObjPertLogisticRegression()
    model.fit(X, y).fit(X, y)
    clone(model).fit(X, y)
    pipeline = make_pipeline(FunctionTransformer(), ObjPertLogisticRegression())
    clone(pipeline).fit(X, y).predict(X)


@pytest.mark.parametrize(
    "spend",
    [
        lambda model, X, y: GridSearchCV(model, {"epsilon": [0.5, 2.0]}, cv=2).fit(X, y),
        lambda model, X, y: GridSearchCV(model, {"epsilon": [0.5]}, cv=2, n_jobs=2).fit(X, y),
        lambda model, X, y: cross_val_score(model, X, y, cv=2),
        lambda model, X, y: CalibratedClassifierCV(model, cv=2).fit(X, y),
        lambda model, X, y: GridSearchCV(
            make_pipeline(FunctionTransformer(), model), {"objpertlogisticregression__epsilon": [1.0, 2.0]}, cv=2
        ).fit(X, y),
    ],
    ids=["grid search", "grid search in two processes", "cross-validation", "calibration", "pipeline"],
)
def test_fitting_several_copies_warns_that_each_spends_budget(spend):
    with pytest.warns(PrivacyBudgetWarning, match=r"Every fit spends its own \(epsilon, delta\)"):
        spend(ObjPertLogisticRegression(), *data(n=200))


def test_a_search_still_finds_its_winner():
    X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyBudgetWarning)
        search = GridSearchCV(ObjPertLogisticRegression(random_state=0), {"epsilon": [1e-3, 50.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"epsilon": 50.0}
    assert search.best_estimator_.privacy_.epsilon == 50.0


def test_importing_it_imports_neither_the_app_nor_its_plots():
    code = "import sys, objpert_core.estimators; print({'streamlit', 'plotly'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"
