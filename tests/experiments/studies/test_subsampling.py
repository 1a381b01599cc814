"""Accuracy against the number of rows: the fits are the estimators' own, rows are never repeated, stopping works."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from objpert_core import datasets
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.experiments.learners import reference_parameters
from objpert_core.experiments.studies import subsampling
from objpert_core.experiments.studies.subsampling import Plan, learning_curve
from objpert_core.experiments.summary import mean_interval


def last(plan):
    *_, curve = learning_curve(plan)
    return curve


@pytest.mark.thorough
def test_the_fits_are_the_estimators_own_on_nested_rows_of_a_split():
    plan = Plan("breast-cancer", epsilon=2.0, sizes=(100, 400), draws=2, seed=3)
    curve = last(plan)
    assert [(fit.draw, fit.rows) for fit in curve.fits] == [(0, 100), (0, 400), (1, 100), (1, 400)]
    data = datasets.load("breast-cancer", split_seed=4)
    order = np.random.default_rng(4).permutation(len(data.y_train))
    X, y = data.X_train[order][:100], data.y_train[order][:100]
    private = ObjPertLogisticRegression(epsilon=2.0, classes=(0, 1), random_state=plan.noise_seed(1, 100)).fit(X, y)
    reference = LogisticRegression(**reference_parameters(30)).fit(X, y)
    assert curve.fits[2].private == private.score(data.X_test, data.y_test)
    assert curve.fits[2].reference == reference.score(data.X_test, data.y_test)
    assert curve.fits[2].baseline == np.mean(data.y_test == 1)  # benign is more frequent
    assert private.privacy_.epsilon == 2.0


def test_the_cost_is_paired_over_the_draws():
    curve = last(Plan("synthetic-l", sizes=(300,), draws=4))
    differences = [fit.reference - fit.private for fit in curve.fits]
    assert curve.cost(300) == mean_interval(differences)
    assert curve.private(300).mean == pytest.approx(np.mean([fit.private for fit in curve.fits]))
    assert curve.reference(300).count == 4
    assert curve.cost(500) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", subsampling.GENERATED)
def test_generated_rows_are_fresh_and_none_is_repeated(monkeypatch, name):
    seen = []
    fit = ObjPertLogisticRegression.fit
    monkeypatch.setattr(
        ObjPertLogisticRegression, "fit", lambda self, X, y, **kw: seen.append(X) or fit(self, X, y, **kw)
    )
    curve = last(Plan(name, sizes=(50, 3000), draws=2))
    assert curve.complete
    assert (curve.available, curve.left_out) == (3000, ())
    assert [len(X) for X in seen] == [50, 3000, 50, 3000]
    np.testing.assert_array_equal(seen[0], seen[1][:50])
    assert not np.array_equal(seen[1], seen[3])
    if name == "synthetic-l":  # continuous: equal rows would be copies
        assert len(np.unique(seen[1], axis=0)) == 3000


def test_sizes_beyond_the_rows_are_left_out_not_made_up():
    curve = last(Plan("digits-4-9", sizes=(100, 500, 5000), draws=2))
    assert (curve.sizes, curve.left_out, curve.available) == ((100,), (500, 5000), 288)
    assert curve.complete
    assert len(curve.fits) == 2
    none = last(Plan("digits-4-9", sizes=(5000,), draws=2))
    assert none.complete
    assert (none.fits, none.baseline) == ((), None)


def test_equal_seeds_repeat_and_others_do_not():
    plan = Plan("synthetic-l", sizes=(100,), draws=1)
    assert last(plan) == last(plan)
    assert last(plan) != last(Plan("synthetic-l", sizes=(100,), draws=1, seed=1))
    seeds = {plan.noise_seed(draw, rows) for draw in range(20) for rows in subsampling.SIZES}
    assert len(seeds) == 100


def test_rows_of_one_class_are_answered_with_it(monkeypatch):
    rows = np.eye(4)
    labels = np.array([1, 1, 0, 1])
    monkeypatch.setattr(subsampling, "_rows", lambda plan, draw: ("tiny", rows, labels, rows, labels))
    assert last(Plan("synthetic-l", sizes=(2,), draws=1)).fits[0].reference == 0.75
