"""Logistic regression with more than two classes: one fit for each class against the others, under one promise."""

import copy
import dataclasses

import numpy as np
import pytest
from scipy.special import expit
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier

from objpert_core.accounting import balanced_rest, one_vs_rest
from objpert_core.estimators import (
    ObjPertLogisticRegression,
)
from objpert_core.estimators.draws import fit_many
from objpert_core.learning.certificates.base import PrivacyCertificate

FRUIT = np.array(["apple", "fig", "pear"])


def data(n=1500, d=5, seed=0, classes=3):
    """Clouds around `classes` directions."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    return 2 * np.eye(classes, d)[y] + 0.4 * rng.normal(size=(n, d)), y


def model(epsilon=2.0, classes=(0, 1, 2), **options):
    return ObjPertLogisticRegression(epsilon, classes=list(classes), **({"random_state": 0} | options))


# What it learns


@pytest.fixture(scope="module")
def fruit():
    """Rows, their names, and what was learned from the first two thirds of them."""
    X, y = data()
    return X, FRUIT[y], model(classes=FRUIT).fit(X[:1000], FRUIT[y[:1000]])


@pytest.mark.thorough
def test_each_class_has_a_model_and_all_share_one_certificate(fruit):
    X, y, fitted = fruit
    assert (fitted.coef_.shape, fitted.intercept_.shape) == ((3, 5), (3,))
    assert fitted.classes_.tolist() == FRUIT.tolist()
    np.testing.assert_array_equal(fitted.predict(X), FRUIT[fitted.decision_function(X).argmax(axis=1)])
    assert fitted.score(X[1000:], y[1000:]) > 0.9
    spent = fitted.privacy_
    assert (spent.epsilon, spent.delta, spent.fits, spent.rest_weight) == (2.0, 1e-5, 3, balanced_rest(3))
    assert spent.verify(fitted)
    assert "3, one for each class against the others" in repr(spent)
    assert PrivacyCertificate.from_json(spent.to_json()) == spent


@pytest.mark.thorough
def test_probabilities_are_right_about_how_often():
    """Classes that overlap: of the rows that get a share near 0.6 for a class, about six in ten are of it."""
    rng = np.random.default_rng(1)
    y = rng.integers(4, size=40_000)
    X = np.eye(4)[y] + 0.8 * rng.normal(size=(40_000, 4))
    fitted = model(8.0, range(4), row_norm="normalize", margin=1.5).fit(X, y)
    shares = fitted.predict_proba(X)
    for low in (0.1, 0.3, 0.5, 0.7):
        near = (shares > low) & (shares < low + 0.1)
        assert (y[:, None] == np.arange(4))[near].mean() == pytest.approx(low + 0.05, abs=0.06)


@pytest.mark.thorough
def test_a_class_without_rows_is_learned_as_well():
    X, y = data()
    fitted = model(classes=(0, 1, 2, 7)).fit(X, y)
    assert fitted.coef_.shape == (4, 5)
    assert (fitted.predict(X) != 7).mean() > 0.99
    assert fitted.privacy_.verify(fitted)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")
def test_many_copies_and_cross_validation():
    X, y = data()
    many = fit_many(model(random_state=None), X, y, [0, 1])
    for seed, fitted in enumerate(many):
        alone = model(random_state=seed).fit(X, y)
        np.testing.assert_allclose(fitted.coef_, alone.coef_, atol=1e-4)
        assert fitted.privacy_.verify(fitted)
    assert cross_val_score(model(), X, y, cv=3).mean() > 0.9


# What it promises


@pytest.mark.thorough
def test_the_noise_is_that_of_all_fits_together():
    X, y = data()
    spent = model(standardize=False, noise_ratio=None, lam=30.0).fit(X, y).privacy_
    whole = one_vs_rest(spent.rebuild(), 3, spent.rest_weight)
    assert 0.98e-5 < whole.delta(2.0) <= 1e-5
    alone = model(standardize=False, lam=30.0, classes=(0, 1)).fit(X[y < 2], y[y < 2]).privacy_
    assert spent.sigma / alone.sigma == pytest.approx(2**0.5, rel=0.05)


@pytest.mark.thorough
def test_a_certificate_of_fewer_or_shorter_fits_or_of_some_coefficients_does_not_verify(fruit):
    *_, fitted = fruit
    one = {"fits": 1, "rest_weight": 1.0}
    for forgery in ({"fits": 0}, one, {"fits": 2}, {"fits": 4}, {"rest_weight": 0.8}, {"rest_weight": 1.5}):
        assert not dataclasses.replace(fitted.privacy_, **forgery).verify(fitted), forgery
    fewer = copy.deepcopy(fitted)
    fewer.coef_ = fewer.coef_[:2]
    assert not fewer.privacy_.verify(fewer)


CLOSED = {"lam": 50.0}  # λ ≥ 2σ²: chains are closed forms


@pytest.mark.parametrize(
    ("own", "weight"),
    [
        pytest.param({"accountant": "rdp"}, balanced_rest(3), marks=pytest.mark.exhaustive),
        *(pytest.param({"bound": key}, balanced_rest(3), marks=pytest.mark.slow) for key in ("glm", "monotone")),
        pytest.param(CLOSED | {"adjacency": "replace one row"}, 1.0, marks=pytest.mark.slow),
        pytest.param(CLOSED | {"rows_per_person": 2}, 1.0, marks=pytest.mark.slow),
    ],
)
def test_other_bounds_compose_and_rows_of_other_classes_count_in_full_where_neighbours_may_have_two(own, weight):
    fitted = model(8.0, **own).fit(*data(n=300))
    assert (fitted.privacy_.fits, fitted.privacy_.rest_weight) == (3, weight)
    assert fitted.privacy_.verify(fitted)


def test_a_bound_that_does_not_compose_is_refused():
    with pytest.raises(ValueError, match="mechanism must have a privacy loss or a Rényi curve to be composed"):
        ObjPertLogisticRegression.kifer2012(8.0, classes=[0, 1, 2]).fit(*data(n=300))


# What is published


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")
@pytest.mark.parametrize("row_norm", ["normalize", "clip"])
def test_without_weights_and_margin_probabilities_are_those_of_each_class_over_their_sum(row_norm):
    X, y = data()
    full = {"margin": 0.0, "lam": 50.0, "adjacency": "replace one row"}
    fitted = model(8.0, classes=FRUIT, row_norm=row_norm, **full).fit(X, FRUIT[y])
    each = expit(fitted.decision_function(X))
    released, pipeline = fitted.release(), fitted.to_sklearn()
    assert isinstance(pipeline[-1], OneVsRestClassifier)
    assert released.privacy_.verify(released)
    for one in (fitted, released, pipeline):
        np.testing.assert_allclose(one.predict_proba(X), each / each.sum(axis=1, keepdims=True), atol=1e-9)
        np.testing.assert_array_equal(one.predict(X), FRUIT[each.argmax(axis=1)])
