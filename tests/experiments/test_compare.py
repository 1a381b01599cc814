"""The comparison behind the training page: its numbers are the estimators' own, and it stops when asked."""

import gc
import itertools
import weakref
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from objpert_core.datasets import load
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.evaluation import together
from objpert_core.experiments.compare import METHODS, ROC_GRID, Settings, compare
from objpert_core.experiments.learners import (
    COMPARABLE,
    COVERS_ALL,
    HONEST,
    KIFER,
    NON_PRIVATE,
    NON_PRIVATE_C,
    OUTPUT,
    PUBLISHED,
    ROUNDED,
    SGD,
    SVC,
    TIGHT,
    TIGHT_CENTRED,
    TIGHT_RAW,
    UNPAID_STANDARDISED,
    reference_parameters,
)
from objpert_core.experiments.learners import DISHONEST_PLD as DISHONEST
from objpert_core.experiments.learners import LIVE as LEARNERS
from objpert_core.experiments.preprocessed import Prepared, prepared, slopes
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


@pytest.mark.thorough
def test_one_value_after_each_method_whose_draws_are_made_together(steps, settings):
    assert [len(step.fits) for step in steps] == [0, 1, 4, 7]
    assert [step.complete for step in steps] == [False] * 3 + [True]
    assert [(fit.method, fit.seed) for fit in steps[-1].fits] == [
        (NON_PRIVATE, None),
        *((PUBLISHED, seed) for seed in (11, 12, 13)),
        *((TIGHT, seed) for seed in (11, 12, 13)),
    ]
    for before, after in itertools.pairwise(steps):
        assert after.fits[: len(before.fits)] == before.fits


def test_more_than_ten_draws_come_in_parts_and_what_shares_nothing_draw_by_draw(data):
    sizes = [len(step.fits) for step in compare(data, Settings(repeats=12, methods=(TIGHT,)))]
    assert sizes == [0, 10, 12]
    slow = Settings(repeats=2, methods=(TIGHT, PUBLISHED), solver="lbfgs")
    *_, last = compare(data, slow)
    assert [fit.method for fit in last.fits] == [PUBLISHED, TIGHT] * 2


def assert_same(fit, model, data):
    """The comparison's fit is the estimator's by itself, as exactly as τ asks for."""
    expected = slopes(Prepared(model, data.X_train, data.X_test))[0]
    stretch = np.max(expected / model.coef_[0])  # from the mapped rows to the given ones
    np.testing.assert_allclose(fit.coef, expected, atol=2 * stretch * fit.privacy.tau / fit.privacy.lam, rtol=0)
    assert fit.accuracy == pytest.approx(model.score(data.X_test, data.y_test), abs=0.01)
    assert fit.auc == pytest.approx(roc_auc_score(data.y_test, model.decision_function(data.X_test)), abs=0.01)
    assert fit.gradient_norms[-1] <= fit.privacy.tau
    own = {"coefficients_sha256": None, "gradient_norm": None, "n_iter": None}
    assert replace(fit.privacy, **own) == replace(model.privacy_, **own)


@pytest.mark.thorough
def test_tight_is_the_estimator_with_these_parameters_and_seeds(steps, data):
    for fit in steps[-1].of(TIGHT):
        model = ObjPertLogisticRegression(
            epsilon=2.0,
            delta=1e-4,
            bound="monotone",
            intercept_scaling=0.5,
            classes=(0, 1),
            public_rows=len(data.y_train),  # a published data set's
            random_state=fit.seed,
        ).fit(data.X_train, data.y_train)
        assert_same(fit, model, data)


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


def test_what_is_kept_of_the_coefficients_is_the_main_methods_share(steps):
    last = steps[-1]
    chosen = last.largest_coefficients(5)
    private = np.mean([fit.coef[chosen] for fit in last.of(last.settings.main)], axis=0)
    reference = last.of(NON_PRIVATE)[0].coef[chosen]
    assert last.kept(chosen) == pytest.approx(np.abs(private).sum() / np.abs(reference).sum())
    assert steps[0].kept(chosen) is None


def test_what_the_test_rows_leave_open_is_wilsons_interval(steps, data):
    rows = len(data.y_test)
    for step, share in ((steps[-1], steps[-1].fits[0].accuracy), (steps[0], steps[0].baseline)):
        expected = stats.binomtest(round(share * rows), rows).proportion_ci(0.95, "wilson")
        assert step.test_interval == pytest.approx((expected.low, expected.high), rel=1e-12)


@pytest.mark.slow
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


PRIVATE = tuple(name for name in LEARNERS if name != NON_PRIVATE)


@pytest.fixture(scope="module")
def everything(data):
    """Every method once, DP-SGD briefly; what `compare` told meanwhile."""
    settings = Settings(
        repeats=1,
        seed=4,
        methods=tuple(reversed(LEARNERS)),
        epochs=3,
        learning_rates=(0.03, 0.3),
        fine_learning_rates=(0.2, 0.5),
        mean_runs=3.0,
    )
    told = []
    *_, last = compare(data, settings, tell=lambda method, where: told.append((method, *where)))
    return settings, last, told


@pytest.mark.slow
@pytest.mark.parametrize("method", PRIVATE)
def test_every_method_is_its_estimator_with_a_certificate_that_verifies(everything, data, method):
    settings, last, _ = everything
    (fit,) = last.of(method)
    ready = prepared(LEARNERS[method], settings.estimator(method, 0), data.X_train, data.X_test)
    model = ready.model.fit(ready.X_train, data.y_train)
    np.testing.assert_array_equal(fit.coef, slopes(ready)[0])
    assert fit.accuracy == model.score(ready.X_test, data.y_test)
    assert (fit.privacy, fit.seed) == (model.privacy_, 4)
    own = model.epsilon  # of DP-SGD on mapped rows, what is left of 1
    assert own < 1.0 if LEARNERS[method].standardised else own == 1.0
    assert (fit.privacy.epsilon, fit.privacy.delta, fit.privacy.reproducible) == (own, 1e-5, True)
    assert fit.privacy.verify()
    for name in LEARNERS[method].certificate:
        assert hasattr(fit.privacy, name)
    if method in SGD:
        assert fit.gradient_norms == ()
        assert fit.learning_rate in (*settings.learning_rates, *settings.fine_learning_rates)
    else:
        assert fit.gradient_norms[-1] <= fit.privacy.tau
        assert (fit.runs, fit.learning_rate) == (1, None)


@pytest.mark.slow
def test_each_method_is_the_mechanism_that_its_name_says(everything):
    _, last, _ = everything
    privacy = {method: last.of(method)[0].privacy for method in PRIVATE}
    assert (privacy[SVC].loss, privacy[SVC].bound) == ("squared-hinge", "monotone")
    assert (privacy[ROUNDED].loss, privacy[ROUNDED].bound) == ("huberised-hinge", "monotone")
    assert privacy[OUTPUT].mechanism == "OutputPerturbation"
    assert privacy[KIFER].bound == "kifer2012"
    assert (privacy[DISHONEST].tuning, privacy[DISHONEST].choice_covered) == ("dishonest", False)
    assert (privacy[HONEST].tuning, privacy[HONEST].mean_runs) == ("honest", 3.0)
    assert privacy[HONEST].noise_multiplier > privacy[DISHONEST].noise_multiplier
    assert last.of(DISHONEST)[0].runs == 2  # all candidates
    assert len({value.radius for value in privacy.values()}) == 1  # the same constant for all


@pytest.mark.slow
def test_tells_where_every_private_fit_is(everything):
    _, last, told = everything
    assert list(dict.fromkeys(method for method, *_ in told)) == list(PRIVATE)
    steps = [step for method, step, _ in told if method == DISHONEST]
    assert steps == list(range(1, last.of(DISHONEST)[0].privacy.steps + 1))
    of_runs = [step for method, step, _ in told if method == HONEST]
    assert of_runs == list(range(1, last.of(HONEST)[0].privacy.steps + 1)) * last.of(HONEST)[0].runs


@pytest.mark.slow
@pytest.mark.parametrize("method", SGD)
def test_stops_inside_a_run_of_dp_sgd_and_drops_it(data, method):
    asked = []

    def soon():
        asked.append(1)
        return len(asked) > 7

    made = list(compare(data, Settings(methods=(method,), epochs=8, learning_rates=(0.1,), mean_runs=9.0), soon))
    assert [len(step.fits) for step in made] == [0]
    assert len(asked) == 8  # a step at most after the first yes


def test_a_subset_has_a_main_method_and_needs_no_reference(data):
    assert Settings().main == TIGHT
    assert Settings(methods=(NON_PRIVATE,)).main is None
    settings = Settings(methods=(KIFER, OUTPUT), repeats=2)
    assert (settings.main, settings.private, settings.fits) == (OUTPUT, (OUTPUT, KIFER), 4)
    *_, last = compare(data, settings)
    assert [fit.method for fit in last.fits] == [OUTPUT, OUTPUT, KIFER, KIFER]
    assert last.accuracy(NON_PRIVATE) is None
    assert list(last.largest_coefficients(3)) == list(np.argsort(-np.abs(last.fits[0].coef), kind="stable")[:3])


def test_differences_pair_draws_of_one_seed_and_the_reference_stands_beside_each(data):
    *steps, last = compare(data, Settings(repeats=3))
    shares = {method: [fit.accuracy for fit in last.of(method)] for method in METHODS}
    gaps = [a - b for a, b in zip(shares[TIGHT], shares[PUBLISHED], strict=True)]
    assert last.difference(TIGHT, PUBLISHED) == mean_interval(gaps)
    lost = last.difference(NON_PRIVATE, TIGHT)
    assert lost.count == 3
    assert lost.mean == pytest.approx(shares[NON_PRIVATE][0] - np.mean(shares[TIGHT]))
    assert lost.half_width == pytest.approx(last.accuracy(TIGHT).half_width)
    assert steps[1].difference(TIGHT, NON_PRIVATE) is None
    some = replace(last, fits=(*last.of(PUBLISHED)[:2], *last.of(TIGHT)[:1]))
    assert some.difference(TIGHT, PUBLISHED).count == 1


def test_what_explains_differences_can_be_compared_but_is_not_offered(data):
    assert [name for name in COMPARABLE if name not in LEARNERS] == [TIGHT_CENTRED, "tight-no-margin"]
    settings = Settings(repeats=2, methods=(TIGHT_CENTRED, TIGHT_RAW, TIGHT))
    assert settings.methods == (TIGHT, TIGHT_RAW, TIGHT_CENTRED)
    *_, last = compare(data, settings)
    steps = {name: last.of(name)[0].privacy for name in settings.methods}
    assert [(one.center_noise is None, one.scale_noise is None) for one in steps.values()] == [
        (False, False),
        (True, True),
        (False, True),
    ]


def test_every_draw_of_dp_sgd_on_mapped_rows_has_a_map_of_its_own(data):
    quick = Settings(repeats=2, methods=(UNPAID_STANDARDISED,), epochs=2, fine_learning_rates=(0.1,))
    *_, last = compare(data, quick)
    one, two = last.fits
    assert one.privacy.epsilon == two.privacy.epsilon < 1.0
    assert (one.coef != two.coef).any()


@pytest.fixture(scope="module")
def digits():
    return load("digits", split_seed=3)


@pytest.fixture(scope="module")
def ten(digits):
    *_, last = compare(digits, Settings(epsilon=8.0, repeats=2, methods=(NON_PRIVATE, TIGHT)))
    return last


@pytest.mark.thorough
def test_ten_classes_are_judged_by_the_largest_score(ten, digits):
    reference, *private = ten.fits
    model = LogisticRegression(**reference_parameters(64)).fit(digits.X_train, digits.y_train)
    assert reference.accuracy == model.score(digits.X_test, digits.y_test) > 0.9
    assert ten.baseline == np.mean(digits.y_test == np.bincount(digits.y_train).argmax())
    assert len(ten.data.classes) == 10
    own = ObjPertLogisticRegression(
        epsilon=8.0, classes=range(10), public_rows=len(digits.y_train), random_state=private[0].seed
    ).fit(digits.X_train, digits.y_train)
    assert private[0].accuracy == pytest.approx(own.score(digits.X_test, digits.y_test), abs=0.01)
    assert private[0].privacy.verify()


@pytest.mark.thorough
def test_curves_and_coefficients_of_ten_classes(ten, digits):
    for fit in ten.fits:
        assert (fit.coef.shape, fit.intercept.shape, fit.roc.shape) == ((10, 64), (10,), ROC_GRID.shape)
        assert (np.diff(fit.roc) >= 0).all()
        assert np.trapezoid(fit.roc, ROC_GRID) == pytest.approx(fit.auc, abs=0.01)
    model = LogisticRegression(**reference_parameters(64)).fit(digits.X_train, digits.y_train)
    scores = model.decision_function(digits.X_test)
    areas = [roc_auc_score(digits.y_test == label, scores[:, label]) for label in range(10)]
    assert ten.fits[0].auc == pytest.approx(np.mean(areas))
    chosen = ten.largest_coefficients(5)
    sizes = np.linalg.norm(ten.fits[0].coef, axis=0)
    assert list(sizes[chosen]) == sorted(sizes, reverse=True)[:5]
    mean = np.mean([fit.coef[:, chosen] for fit in ten.of(TIGHT)], axis=0)
    assert ten.kept(chosen) == pytest.approx(np.abs(mean).sum() / np.abs(ten.fits[0].coef[:, chosen]).sum())


@pytest.mark.parametrize("method", [SVC, OUTPUT, KIFER, HONEST])
def test_what_learns_two_classes_only_is_refused_before_any_fit(digits, method):
    with pytest.raises(ValueError, match=f"methods must be among those that learn 10 classes, got '{method}'"):
        next(compare(digits, Settings(methods=(NON_PRIVATE, method))))


@pytest.mark.thorough
@pytest.mark.parametrize("method", [TIGHT, OUTPUT, SVC, UNPAID_STANDARDISED])
def test_scores_that_may_be_published_are_those_of_evaluate_after_a_coins_split(data, method):
    chosen = Settings(methods=(NON_PRIVATE, method), repeats=2, epochs=1, seed=4, publishable=True)
    *_, last = compare(data, chosen)
    assert last.data.train_rows + last.data.test_rows == len(data.y_train) + len(data.y_test)
    assert last.data.test_rows != len(data.y_test)
    assert last.evaluation(NON_PRIVATE) is None
    for fit in last.of(method):
        assert fit.evaluation.verify()
        assert fit.accuracy == fit.evaluation.accuracy().value
        assert fit.auc == fit.evaluation.auc().value
        assert (np.diff(fit.roc) >= 0).all()
        assert fit.evaluation.certificate.epsilon == 1.0
        if COMPARABLE[method].covers == COVERS_ALL:
            assert together(fit.privacy, fit.evaluation).epsilon <= 1.0
        assert getattr(fit.privacy, "public_rows", 455) in (455, None)  # four fifths of all: not what coins left
    one, two = last.of(method)
    assert one.evaluation.counts != two.evaluation.counts
