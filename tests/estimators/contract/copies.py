"""Pickles, clones, released copies and pipelines of scikit-learn's are as good as the model."""

import pickle
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier

from objpert_core.exceptions import PrivacyBudgetWarning
from tests.estimators.contract.case import Case, assert_unfitted, rows_of_every_length


def pickles_and_clones_are_faithful(case: Case) -> None:
    X, y = case.data
    again = pickle.loads(pickle.dumps(case.fitted))
    np.testing.assert_array_equal(again.predict(X), case.fitted.predict(X))
    assert again.privacy_ == case.fitted.privacy_
    copy = clone(case.fit())
    assert copy.get_params() == case.fitted.get_params()
    assert_unfitted(copy)
    np.testing.assert_array_equal(copy.fit(X, y).coef_, case.fitted.coef_)


def a_released_copy_and_a_pipeline_of_scikit_learns_predict_the_same(case: Case) -> None:
    X = rows_of_every_length(case.data[0])
    for model in (case.fitted, *(case.fit(row_norm=row_norm) for row_norm in ("normalize", "clip"))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyBudgetWarning)  # the case is seeded
            released = pickle.loads(pickle.dumps(model.release()))
        for name in ("predict", "decision_function", "predict_proba", "predict_log_proba", "scores"):
            assert hasattr(released, name) is hasattr(model, name)
            for rows in (X, sp.csr_array(X)) if hasattr(model, name) else ():
                np.testing.assert_array_equal(getattr(released, name)(rows), getattr(model, name)(rows))
        assert released.privacy_ == model.privacy_.public()
        assert released.privacy_.verify(released)
        assert (is_classifier(released), is_regressor(released)) == (is_classifier(model), is_regressor(model))
        assert clone(released).fit(X) is released
        known = {"coef_", "intercept_", "n_features_in_", "privacy_", "classes_", "margin_", "center_", "scale_"}
        assert not set(vars(released)) - known - {"target_range_"}
        scores = "predict" if is_regressor(model) else "decision_function"
        for pipeline in (model.to_sklearn(probabilities=False), released.to_sklearn(probabilities=False)):
            np.testing.assert_array_equal(pipeline.predict(X), model.predict(X)) if is_classifier(model) else None
            for rows in (X, sp.csr_array(X)) if model.center_ is None else (X,):
                got, expected = (getattr(one, scores)(rows) for one in (pipeline, model))
                np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
            last = LinearRegression if is_regressor(model) else SGDClassifier
            assert type(pipeline[-1]) is (LogisticRegression if getattr(model, "margin_", None) == 0 else last)


def an_exported_pipeline_has_the_same_probabilities(case: Case) -> None:
    X, model = rows_of_every_length(case.data[0]), case.fitted
    pipeline = pickle.loads(pickle.dumps(model.to_sklearn()))
    assert hasattr(pipeline, "predict_proba") is hasattr(model, "predict_proba")
    if is_classifier(model):
        np.testing.assert_array_equal(pipeline.predict(X), model.predict(X))
    if not hasattr(model, "predict_proba"):
        return
    np.testing.assert_allclose(pipeline.predict_proba(X), model.predict_proba(X), rtol=1e-10, atol=1e-12)
    if hasattr(pipeline, "decision_function"):  # only scores that mean what the model's mean
        np.testing.assert_allclose(pipeline.decision_function(X), model.decision_function(X), rtol=1e-12, atol=1e-12)
    assert hasattr(pipeline, "decision_function") is (model.margin_ == 0)
