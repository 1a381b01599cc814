"""Labels, probabilities and numbers to predict."""

import pickle

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags

from tests.estimators.contract.case import Case, assert_unfitted


def any_two_labels_work(case: Case) -> None:
    if not is_classifier(case.new()) or len(case.labels) > 2:
        return
    X, y = case.data
    for labels in (["no", "yes"], [-1, 1], [False, True], [2.0, 7.0]):
        model = case.new(random_state=0, classes=None).fit(X, np.array(labels)[y])
        assert model.classes_.tolist() == labels
        np.testing.assert_array_equal(model.coef_, case.fit(classes=None).coef_)
        scores = model.decision_function(X)
        np.testing.assert_array_equal(model.predict(X), np.array(labels)[(scores > 0).astype(int)])


def a_class_that_was_named_need_not_be_seen(case: Case) -> None:
    if not is_classifier(case.new()):
        return
    X, y = case.data
    model = case.new(random_state=0, classes=["yes", "no"]).fit(X, np.full(len(y), "yes"))
    assert model.classes_.tolist() == ["no", "yes"]


def labels_that_are_not_two_classes_are_refused(case: Case) -> None:
    if not is_classifier(case.new()):
        return
    too_many = (
        ([0, 1, 2], None, "Only binary classification is supported. y must hold two classes, got 3 classes: 0, 1, 2"),
        (list(range(9)), None, r"got 9 classes: 0, 1, 2, 3, 4, \.\.\."),
    )
    for labels, classes, message in (
        *(() if get_tags(case.new()).classifier_tags.multi_class else too_many),
        ([1], None, "y must hold two classes, got one class: 1; name both with classes="),
        ([0, 2], [0, 1], r"y must hold only labels in classes=\[0, 1\], got 2"),
        (["a", "b"], ["b", "c"], r"y must hold only labels in classes=\['b', 'c'\], got 'a'"),
        ([0.5, 1.7], None, "Unknown label type"),
    ):
        model = case.new(classes=classes)
        with pytest.raises(ValueError, match=message):
            model.fit(case.data[0], np.resize(labels, len(case.data[1])))
        assert_unfitted(model)


def probabilities_are_consistent_and_their_logarithms_finite(case: Case) -> None:
    if not hasattr(case.new(), "predict_proba"):
        return
    X, model = case.data[0], pickle.loads(pickle.dumps(case.fitted))
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(proba), atol=1e-9)
    model.coef_ = model.coef_ * 1e6
    assert np.isfinite(model.predict_log_proba(X)).all()


def targets_that_are_no_finite_numbers_are_refused(case: Case) -> None:
    if not is_regressor(case.new()):
        return
    for value in (np.nan, np.inf, -np.inf):
        y = case.data[1].copy()
        y[3] = value
        with pytest.raises(ValueError, match=r"NaN|infinity|finite"):
            case.new().fit(case.data[0], y)
