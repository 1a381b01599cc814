"""The comparison behind the training page: its numbers are the estimators' own, and it stops when asked."""

import gc
import itertools
import math
import time
import weakref
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from objpert_core.datasets import load
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.experiments.compare import (
    MAX_REPEATS,
    METHODS,
    NON_PRIVATE,
    NON_PRIVATE_C,
    PUBLISHED,
    ROC_GRID,
    TIGHT,
    Settings,
    compare,
)
from objpert_core.experiments.summary import mean_interval


@pytest.fixture(scope="module")
def data():
    return load("breast-cancer", split_seed=3)


@pytest.fixture(scope="module")
def settings():
    return Settings(epsilon=2.0, delta=1e-4, bound="monotone", repeats=3, intercept_scaling=0.5, seed=11)


@pytest.fixture(scope="module")
def steps(data, settings):
    return list(compare(data, settings))


def test_one_value_after_each_fit_in_a_fair_order(steps, settings):
    assert [len(step.fits) for step in steps] == list(range(settings.fits + 1)) == list(range(8))
    assert [step.complete for step in steps] == [False] * 7 + [True]
    assert [(fit.method, fit.seed) for fit in steps[-1].fits] == [
        (NON_PRIVATE, None),
        (PUBLISHED, 11),
        (TIGHT, 11),
        (PUBLISHED, 12),
        (TIGHT, 12),
        (PUBLISHED, 13),
        (TIGHT, 13),
    ]
    for before, after in itertools.pairwise(steps):
        assert after.fits[: len(before.fits)] == before.fits


def test_tight_is_the_estimator_with_these_parameters_and_seeds(steps, data):
    for fit in steps[-1].of(TIGHT):
        model = ObjPertLogisticRegression(
            epsilon=2.0, delta=1e-4, bound="monotone", intercept_scaling=0.5, classes=(0, 1), random_state=fit.seed
        ).fit(data.X_train, data.y_train)
        np.testing.assert_array_equal(fit.coef, model.coef_[0])
        assert fit.intercept == model.intercept_[0]
        assert fit.accuracy == model.score(data.X_test, data.y_test)
        assert fit.auc == roc_auc_score(data.y_test, model.decision_function(data.X_test))
        assert fit.gradient_norms == tuple(model.gradient_norms_)
        assert fit.privacy == model.privacy_


def test_published_is_the_papers_recipe(steps, data):
    for fit in steps[-1].of(PUBLISHED):
        model = ObjPertLogisticRegression.published(epsilon=2.0, delta=1e-4, classes=(0, 1), random_state=fit.seed)
        model.fit(data.X_train, data.y_train)
        np.testing.assert_array_equal(fit.coef, model.coef_[0])
        privacy = fit.privacy
        assert (privacy.bound, privacy.accountant, privacy.tau, privacy.sigma_out) == ("glm", "rdp", 0.01, 0.15)
        assert privacy.lipschitz == pytest.approx(math.sqrt(2))


def test_both_private_methods_promise_the_same_and_say_they_were_seeded(steps):
    for fit in steps[-1].fits[1:]:
        assert (fit.privacy.epsilon, fit.privacy.delta) == (2.0, 1e-4)
        assert fit.privacy.reproducible
        assert fit.privacy.verify()
        assert fit.gradient_norms[-1] <= fit.privacy.tau < fit.gradient_norms[0]


def test_the_reference_is_scikit_learns_without_privacy(steps, data):
    (fit,) = steps[-1].of(NON_PRIVATE)
    model = LogisticRegression(C=NON_PRIVATE_C, solver="newton-cg", tol=1e-10, max_iter=10_000).fit(
        data.X_train, data.y_train
    )
    assert fit.accuracy == model.score(data.X_test, data.y_test)
    np.testing.assert_allclose(fit.coef, model.coef_[0], rtol=1e-5, atol=1e-5)
    assert (fit.privacy, fit.seed, fit.gradient_norms) == (None, None, ())


def test_baseline_always_answers_the_training_rows_majority(steps, data):
    majority = np.bincount(data.y_train).argmax()
    assert steps[0].baseline == np.mean(data.y_test == majority)


def test_summaries(steps):
    last = steps[-1]
    for method in METHODS:
        fits = last.of(method)
        expected = mean_interval([fit.accuracy for fit in fits])
        assert repr(last.accuracy(method)) == repr(expected)  # one value has NaN ends, which differ by ==
        assert last.auc(method).mean == pytest.approx(np.mean([fit.auc for fit in fits]))
    assert all(steps[0].accuracy(method) is None and steps[0].roc(method) is None for method in METHODS)
    assert steps[1].accuracy(NON_PRIVATE).count == 1
    assert steps[1].accuracy(TIGHT) is None
    with pytest.raises(ValueError, match="method must be one of"):
        last.of("magic")


def test_roc_curves_rise_from_the_origin_side_to_one_and_enclose_the_area(steps):
    for fit in steps[-1].fits:
        assert fit.roc.shape == ROC_GRID.shape
        assert (np.diff(fit.roc) >= 0).all()
        assert fit.roc[-1] == 1.0
        assert np.trapezoid(fit.roc, ROC_GRID) == pytest.approx(fit.auc, abs=0.01)
    mean = steps[-1].roc(TIGHT)
    np.testing.assert_allclose(mean, np.mean([fit.roc for fit in steps[-1].of(TIGHT)], axis=0))


def test_largest_coefficients_are_ordered_by_the_non_private_size(steps):
    last = steps[-1]
    chosen = last.largest_coefficients(5)
    sizes = np.abs(last.of(NON_PRIVATE)[0].coef)
    assert list(sizes[chosen]) == sorted(sizes, reverse=True)[:5]
    assert len(steps[0].largest_coefficients()) == 0


def test_what_the_test_rows_leave_open_is_wilsons_interval(steps, data):
    rows = len(data.y_test)
    for step, share in ((steps[-1], steps[-1].fits[0].accuracy), (steps[0], steps[0].baseline)):
        expected = stats.binomtest(round(share * rows), rows).proportion_ci(0.95, "wilson")
        assert step.test_interval == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_stops_between_fits_and_keeps_what_there_is(data, settings):
    made = []

    def enough():
        return len(made) >= 4

    for step in compare(data, settings, enough):
        made.append(step)
    assert len(made[-1].fits) == 3
    assert not made[-1].complete


def test_stops_inside_a_solver_and_drops_that_fit(data):
    asked = []

    def at_the_tenth_question():
        asked.append(1)
        return len(asked) >= 10

    *_, last = compare(data, Settings(repeats=3), at_the_tenth_question)
    assert len(asked) == 10  # questions before fits and in every iteration; none after the first yes
    assert len(last.fits) < 1 + len(asked) / 2
    assert not last.complete


def test_stops_fast_on_wide_data():
    data = load("digits-4-9")
    began = time.perf_counter()
    stop_at = began + 0.1
    for _ in compare(data, Settings(repeats=MAX_REPEATS), lambda: time.perf_counter() > stop_at):
        pass
    assert time.perf_counter() - began < 0.5


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("epsilon", 0.0, r"epsilon must be .* got 0\.0"),
        ("epsilon", math.nan, "epsilon must be .* got nan"),
        ("delta", 1.0, r"delta must be .* got 1\.0"),
        ("bound", "kifer2012", "bound must be one of 'logistic', 'monotone', 'glm', got 'kifer2012'"),
        ("repeats", 0, "repeats must be a whole number >= 1, got 0"),
        ("repeats", MAX_REPEATS + 1, "repeats must be a whole number from 1 to 50, got 51"),
        ("intercept_scaling", -1.0, r"intercept_scaling must be .* got -1\.0"),
        ("seed", -1, "seed must be a whole number >= 0, got -1"),
    ],
)
def test_refuses_bad_settings_before_any_work(name, value, message):
    with pytest.raises(ValueError, match=message):
        Settings(**{name: value})


def test_results_do_not_keep_the_rows_alive():
    data = load("digits-4-9", split_seed=77)
    data = replace(data, X_train=data.X_train.copy(), X_test=data.X_test.copy())  # not the loader's shared ones
    rows = weakref.ref(data.X_train), weakref.ref(data.X_test)
    *_, last = compare(data, Settings(repeats=1))
    assert last.complete
    assert (last.data.train_rows, last.data.test_rows, last.data.columns) == (288, 73, 64)
    del data
    gc.collect()
    assert [ref() for ref in rows] == [None, None]
