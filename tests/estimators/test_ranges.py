"""Estimators on raw columns, and a scaler: public and private ranges, their cost, who is told, what is published."""

import dataclasses
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

import objpert_core.accounting as acc
import objpert_core.estimators as est
from benchmarks.ranges import DRAWN
from objpert_core.blocks import Blocks
from objpert_core.datasets import Number, NumericTarget, TableSchema, TwoValues
from objpert_core.estimators import PublicRangeScaler, own_table
from objpert_core.estimators.cautions import forget_cautions
from objpert_core.learning import PrivacyCertificate

LABELS = {"classes": [0, 1]}
SIZES, MIDDLES = 10.0 ** np.arange(-2, 3), np.array([0.0, 0.05, 30.0, -20.0, 4000.0])


def data(n=3000, seed=0):
    """Five columns of scales from 0.01 to 100, some far from 0; all count."""
    z = np.random.default_rng(seed).normal(size=(n, 5))
    return z * SIZES + MIDDLES, (z.sum(axis=1) > 0.3).astype(int)


KNOWN = (MIDDLES - 3 * SIZES, MIDDLES + 3 * SIZES)
LEARNERS = {
    "logistic": est.ObjPertLogisticRegression(**LABELS, random_state=0, public_rows=3000),
    "svc": est.ObjPertSVC(**LABELS, random_state=0, public_rows=3000),
    "output": est.OutputPerturbationLogisticRegression(**LABELS, random_state=0, public_rows=3000),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", LEARNERS)
def test_raw_columns_are_learned_from_with_private_ranges_as_with_known_ones(name):
    (X, y), (new, y_new) = data(), data(seed=1)
    raw, private, known = (
        LEARNERS[name].set_params(feature_ranges=given).fit(X, y).score(new, y_new)
        for given in (None, "private", KNOWN)
    )
    assert private > known - 0.02
    assert private > raw + 0.05


@pytest.mark.thorough
def test_one_column_is_clipped_and_not_made_a_sign():
    x = np.random.default_rng(0).integers(18, 91, (6000, 1)).astype(float)
    y = (x[:, 0] > 50).astype(int)
    model = est.ObjPertLogisticRegression(**LABELS, random_state=0, public_rows=6000)
    assert model.fit(x, y).score(x, y) < 0.7
    for given in ("private", (0, 120), ([18.0], [90])):
        model.set_params(feature_ranges=given).fit(x, y)
        assert model.score(x, y) > 0.97
        assert (model.privacy_.row_norm, model.center_) == ("clip", None)
        assert model.privacy_.verify(model)
    model.set_params(standardize=True).fit(x, y)
    assert (model.privacy_.row_norm, model.center_ is None) == ("clip", False)  # until the row is centred


@pytest.mark.thorough
def test_ranges_and_all_that_follows_share_one_promise():
    X, y = data()
    model = est.ObjPertLogisticRegression(**LABELS, random_state=0, public_rows=3000, feature_ranges="private").fit(
        X, y
    )
    spent = model.privacy_
    noise = acc.recommended_ranges(1.0, 1e-5, 3000, 5)
    assert spent.terms.step(acc.RangeNoise) == noise
    assert (spent.epsilon, spent.feature_ranges) == (1.0, "private")
    before = (*noise.mechanisms(), *spent.terms.step(acc.Standardisation).mechanisms())
    assert len(before) == 4
    whole = acc.composed_fit(spent.rebuild(), before)
    assert 0.98e-5 <= whole.delta(1.0) <= 1e-5
    assert spent.verify(model)
    assert "columns cut to ranges from noisy counts" in repr(spent)
    for less in (
        {"magnitudes_noise": noise.magnitudes * 0.99},
        {"quantiles_noise": noise.quantiles / 2},
        {"range_columns": 6},
        {"range_columns": 4},  # private enough, and not of this model
        {"feature_ranges": "public"},
        {"feature_ranges": None},
        {"public_rows": None, "rows_declared": None},
    ):
        assert not dataclasses.replace(spent, **less).verify(model)
    assert dataclasses.replace(spent, quantiles_noise=noise.quantiles * 2).verify()


@pytest.mark.thorough
def test_public_ranges_are_those_of_a_scaler_in_front_and_cost_nothing():
    X, y = data()
    model = est.ObjPertLogisticRegression(**LABELS, random_state=0, public_rows=3000)
    scaler = PublicRangeScaler(*KNOWN)
    scaled = model.set_params(standardize=False).fit(scaler.fit_transform(X), y)
    coef, spent = scaled.coef_, scaled.privacy_
    model.set_params(feature_ranges=KNOWN, standardize=False).fit(X, y)
    np.testing.assert_array_equal(model.coef_, coef)
    np.testing.assert_array_equal(model.feature_ranges_, KNOWN)
    assert (
        dataclasses.replace(model.privacy_, feature_ranges=None, coefficients_sha256=spent.coefficients_sha256) == spent
    )
    assert model.privacy_.verify(model)
    assert "declared ranges" in repr(model.privacy_)


@pytest.mark.thorough
@pytest.mark.parametrize("given", ["private", KNOWN])
def test_what_is_published_has_the_ranges(given):
    X, y = data()
    model = est.ObjPertLogisticRegression(**LABELS, public_rows=3000, feature_ranges=given).fit(X, y)
    released = model.release()
    again = PrivacyCertificate.from_json(released.privacy_.to_json())
    np.testing.assert_array_equal(released.feature_ranges_, model.feature_ranges_)
    assert again.verify(released)
    for one in (released, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(one.decision_function(X), model.decision_function(X))
    wild = np.vstack([X, X * 1e6])  # what is far beyond is cut, here and there
    assert np.mean(model.to_sklearn().predict(wild) == model.predict(wild)) > 0.999
    released.feature_ranges_ = released.feature_ranges_ * 1.1
    assert not again.verify(released)
    del released.feature_ranges_
    assert not again.verify(released)
    with pytest.raises(ValueError, match="NaN in row 0"):
        model.predict(np.full((1, 5), np.nan))
    with pytest.raises(ValueError, match="X must be dense where columns are cut to ranges"):
        model.predict(sp.csr_array(X))


@pytest.mark.parametrize(
    ("given", "said"), [("private", "the ranges of the features"), (KNOWN, "author says were known")]
)
def test_a_model_card_names_the_ranges(given, said):
    pytest.importorskip("skops")
    from objpert_core.estimators.cards import model_card

    model = est.ObjPertLogisticRegression(**LABELS, public_rows=3000, feature_ranges=given).fit(*data())
    assert said in model_card(model).render()


@pytest.mark.thorough
def test_where_rows_are_few_no_ranges_are_taken_nothing_is_spent_and_it_is_said_once():
    X, y = data(n=100)
    forget_cautions()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for seed in (0, 1):
            model = est.ObjPertLogisticRegression(**LABELS, random_state=0, public_rows=100, feature_ranges="private")
            model.fit(X + seed, y)
    said = [str(one.message) for one in heard if "feature_ranges" in str(one.message)]
    assert len(said) == 1
    assert "100 rows are too few for private ranges of 5 columns at epsilon=1" in said[0]
    plain = est.ObjPertLogisticRegression(**LABELS, random_state=0, public_rows=100).fit(X + 1, y)
    assert model.feature_ranges_ is None
    assert model.privacy_ == plain.privacy_
    assert "feature_ranges" not in model.privacy_.to_dict()
    np.testing.assert_array_equal(model.coef_, plain.coef_)


@pytest.mark.thorough
@pytest.mark.parametrize("given", ["private", KNOWN])
def test_draws_together_are_draws_one_by_one(given):
    X, y = data()
    model = est.ObjPertLogisticRegression(**LABELS, public_rows=3000, feature_ranges=given)
    for seed, one in enumerate(est.fit_many(model, X, y, [0, 1])):
        alone = est.ObjPertLogisticRegression(**model.get_params() | {"random_state": seed}).fit(X, y)
        np.testing.assert_allclose(one.coef_, alone.coef_, atol=1e-4)
        np.testing.assert_array_equal(one.feature_ranges_, alone.feature_ranges_)
        assert one.privacy_.verify(one)


@pytest.mark.thorough
def test_several_classes_and_a_regression_have_ranges_too():
    X, y = data()
    several = y + (X[:, 2] > 40)
    model = est.ObjPertLogisticRegression(
        epsilon=4.0, classes=[0, 1, 2], public_rows=3000, feature_ranges="private", random_state=0
    ).fit(X, several)
    assert model.privacy_.verify(model)
    assert model.score(X, several) > 0.75
    weighing = est.ObjPertLogisticRegression(
        **LABELS, public_rows=3000, feature_ranges="private", class_weight="balanced", random_state=0
    ).fit(X, y)
    assert weighing.privacy_.verify(weighing)
    assert len(weighing.privacy_.terms.beside()) == 5
    target = (X[:, 0] - MIDDLES[0]) / SIZES[0] / 10
    line = est.ObjPertRegressor(feature_ranges="private", public_rows=3000, random_state=0).fit(X, target)
    assert line.privacy_.verify(line)
    assert line.score(X, target) > 0.8
    assert line.to_sklearn().score(X, target) == pytest.approx(line.score(X, target))


WRONG = [
    ({"feature_ranges": "public"}, "feature_ranges must be None, 'private' or a pair"),
    ({"feature_ranges": (0.0, 1.0, 2.0)}, "feature_ranges must be None, 'private' or a pair"),
    ({"feature_ranges": (1.0, 1.0)}, r"feature_ranges\[0\] must be below feature_ranges\[1\]"),
    ({"feature_ranges": (0.0, np.nan)}, r"feature_ranges\[1\] must be finite numbers"),
    ({"feature_ranges": ([0.0] * 4, 1.0)}, "must be a number or one for each of 5 features"),
    ({"feature_ranges": "private", "bound": "kifer2012"}, "where feature_ranges='private', got 'kifer2012'"),
]


@pytest.mark.parametrize(("parameters", "said"), WRONG)
def test_ranges_that_cannot_be_are_refused_in_one_sentence(parameters, said):
    with pytest.raises(ValueError, match=said):
        est.ObjPertLogisticRegression(**LABELS, public_rows=3000, **parameters).fit(*data(n=50))


@pytest.mark.parametrize("given", ["private", (0.0, 1.0)])
def test_sparse_rows_are_refused(given):
    X, y = data(n=50)
    with pytest.raises(ValueError, match="feature_ranges must be None for sparse rows"):
        est.ObjPertLogisticRegression(**LABELS, public_rows=3000, feature_ranges=given).fit(sp.csr_array(X), y)


WIDE = {
    "logistic": est.ObjPertLogisticRegression(**LABELS, public_rows=4000),
    "svc": est.ObjPertSVC(**LABELS, public_rows=4000),
    "output": est.OutputPerturbationLogisticRegression(**LABELS, public_rows=4000),
    "regressor": est.ObjPertRegressor(target_range=(0.0, 1.0), public_rows=4000),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", WIDE)
def test_wide_ranges_that_are_known_cost_no_accuracy_beside_private_ones(name):
    draw, rows, (low, high) = DRAWN["wide ranges"]
    (X, y), (new, y_new) = draw(np.random.default_rng(5), rows), draw(np.random.default_rng(6), rows)
    known = np.broadcast_to(low, 5), high
    private, typed = (
        np.mean([roc_auc_score(y_new, line_of(model)(new)) for model in est.fit_many(one, X, y, range(3))])
        for one in (clone(WIDE[name]).set_params(feature_ranges=given) for given in ("private", known))
    )
    assert typed > private - 0.005


@pytest.mark.thorough
def test_a_table_of_ones_own_has_the_same_default_where_ranges_are_typed():
    draw, rows, (low, high) = DRAWN["wide ranges"]
    X, y = draw(np.random.default_rng(5), rows)
    columns = {f"x{j}": Number(0, end) for j, end in enumerate(high)}
    for target in (TwoValues("y", "0", "1"), NumericTarget("y", 0, 1)):
        schema = TableSchema(columns, target)
        encoded = schema.encode(pd.DataFrame(X, columns=list(columns)))
        model = own_table.estimator(own_table.Ask(schema.to_json(), 1.0, 1e-5, rows=rows, seed=0)).fit(encoded, y)
        assert (model.privacy_.row_norm, model.privacy_.feature_ranges) == ("clip", "private within public")
        assert model.privacy_.terms.step(acc.RangeNoise) == acc.ranges_within_limits(1.0, 1e-5, rows, 5)
        known = np.broadcast_to(low, 5), high
        alone = clone(model).set_params(feature_ranges=known).fit(X, y)
        np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-5)


def line_of(model):
    """What scores the rows of a classifier, or of a regressor."""
    return model.predict if hasattr(model, "target_range") else model.decision_function


@pytest.mark.thorough
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_in_wide_ranges_keep_their_lengths_until_they_are_centred(classes):
    (draw, _, (low, high)), rows = DRAWN["wide ranges"], 1900  # too few for closer ranges of five columns
    X, y = draw(np.random.default_rng(5), rows)
    y = np.where(X[:, 4] > 30, classes - 1, y)
    known, shared = (np.broadcast_to(low, 5).astype(float), np.array(high, dtype=float)), {"public_rows": rows}
    model = est.ObjPertLogisticRegression(**shared, classes=range(classes), random_state=0, feature_ranges=known)
    spent, plan = model.fit(X, y).privacy_, acc.standardisation_of_lengths(1.0, 1e-5, rows, 5)
    assert (spent.terms.step(acc.Standardisation), spent.row_norm, spent.feature_ranges) == (plan, "clip", "public")
    assert spent.terms.step(acc.RangeNoise) is None
    middle, half = (known[0] + known[1]) / 2, (known[1] - known[0]) / 2 * np.sqrt(5)
    np.testing.assert_allclose(model.feature_ranges_, [middle - half, middle + half])
    assert "rows centred, noise on Σu" in repr(spent)
    again, wild = PrivacyCertificate.from_json(spent.public().to_json()), np.vstack([X, X * 30])
    assert again.verify(model.release())
    np.testing.assert_allclose(model.to_sklearn().predict_proba(wild), model.predict_proba(wild), atol=1e-9)
    u = (X - middle) / half
    z = (u - model.center_) * model.scale_
    scores = z / np.linalg.norm(z, axis=1, keepdims=True) @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores if classes > 2 else scores[:, 0], atol=1e-9)
    walked = Blocks(lambda: iter([(X[:999], y[:999]), (X[999:], y[999:])]))
    np.testing.assert_array_equal(clone(model).fit(walked).center_, model.center_)
    few = clone(model).set_params(public_rows=150).fit(X[:150], y[:150])
    assert (few.privacy_.row_norm, few.privacy_.center_noise is None) == ("normalize", False)
    np.testing.assert_array_equal(few.feature_ranges_, known)
    assert not dataclasses.replace(spent, feature_ranges=None).verify()


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*WIDE, "three classes"])
def test_many_rows_have_closer_ranges_within_typed_ones_and_the_certificate_says_so(name):
    draw, rows, (_, high) = DRAWN["wide ranges"]
    X, y = draw(np.random.default_rng(5), rows)
    model = clone(WIDE.get(name, WIDE["logistic"])).set_params(feature_ranges=(np.zeros(5), high), random_state=0)
    if name == "three classes":
        y = np.where(X[:, 4] > 30, 2, y)
        model.set_params(classes=range(3))
    spent, noise = model.fit(X, y).privacy_, acc.ranges_within_limits(1.0, 1e-5, rows, 5)
    assert (spent.terms.step(acc.RangeNoise), spent.magnitudes_noise) == (noise, None)
    assert spent.feature_ranges == "private within public"
    lengths = name not in ("svc", "regressor")  # which are for rows as they are, unless told
    plan = acc.standardisation_of_lengths(1.0, 1e-5, rows, 5) if lengths else None
    assert (spent.terms.step(acc.Standardisation), spent.row_norm) == (plan, "clip" if lengths else model.row_norm)
    width = (model.feature_ranges_[1] - model.feature_ranges_[0]) / (np.sqrt(5) if lengths else 1)
    assert np.all(width < 0.9 * np.array(high))
    assert spent.terms.beside() == (*noise.mechanisms(), *(plan.mechanisms() if plan else ()))
    assert f"columns cut to ranges from noisy counts, noise {noise.quantiles:.6g}: part of the promise" in repr(spent)
    assert "counted within declared limits" in repr(spent)
    again = PrivacyCertificate.from_json(spent.public().to_json())
    assert again.verify(model.release())
    assert again.feature_ranges == spent.feature_ranges
    for less in (
        {"quantiles_noise": noise.quantiles / 2},
        {"quantiles_noise": None},
        {"range_columns": 4},
        {"magnitudes_noise": 70.0},
        {"feature_ranges": "private"},
        {"feature_ranges": "public and private"},
        {"feature_ranges": "public"},
        {"public_rows": None, "rows_declared": None},
    ):
        assert not dataclasses.replace(spent, **less).verify(model)
    np.testing.assert_allclose(model.to_sklearn().predict(X), model.predict(X), atol=1e-9)
    if name != "output":
        walked = clone(model).fit(Blocks(lambda: iter([(X[:999], y[:999]), (X[999:], y[999:])])))
        np.testing.assert_array_equal(walked.feature_ranges_, model.feature_ranges_)
    told = clone(model).set_params(standardize=False).fit(X, y).privacy_
    assert (told.feature_ranges, told.terms.step(acc.RangeNoise)) == ("public", None)


@pytest.mark.thorough
def test_outliers_are_cut_in_wide_ranges():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.standard_t(1.2, 6000) * 20, *rng.normal(size=(2, 6000))])
    y = (np.clip(X[:, 0], -60, 60) / 20 + X[:, 1] + rng.logistic(size=6000) > 0).astype(int)
    given = np.array([-5000.0, -9, -9]), np.array([5000.0, 9, 9])
    model = est.ObjPertLogisticRegression(**LABELS, public_rows=6000, random_state=0, feature_ranges=given)
    scores = model.fit(X, y).decision_function(X)
    assert np.ptp(model.feature_ranges_[:, 0]) / np.sqrt(3) < 2000
    plain = clone(model).set_params(standardize=False).fit(X, y).decision_function(X)
    assert roc_auc_score(y, scores) > roc_auc_score(y, plain) + 0.005


def test_ranges_that_are_known_cost_nothing_beside_private_ones():
    X, y = data()
    low, high = (np.broadcast_to(np.asarray(end, dtype=float), 5).copy() for end in KNOWN)
    low[[1, 3]] = high[[1, 3]] = np.nan
    shared = LABELS | {"random_state": 0, "public_rows": 3000}
    for learner in (est.ObjPertLogisticRegression, est.OutputPerturbationLogisticRegression):
        model = learner(**shared, feature_ranges=(low, high), standardize=False).fit(X, y)
        spent, found = model.privacy_, model.feature_ranges_
        assert spent.terms.step(acc.RangeNoise) == acc.recommended_ranges(1.0, 1e-5, 3000, 2)
        assert (spent.feature_ranges, spent.range_columns) == ("public and private", 2)
        np.testing.assert_array_equal(found[:, [0, 2, 4]], np.array([low, high])[:, [0, 2, 4]])
        assert np.isfinite(found).all()
        assert spent.verify(model)
        assert "2 of the columns cut to ranges from noisy counts" in repr(spent)
        for lie in ({"feature_ranges": "private"}, {"feature_ranges": "public"}, {"range_columns": 5}):
            assert not dataclasses.replace(spent, **lie).verify(model)
    unknown = learner(**shared, feature_ranges=(low * np.nan, high * np.nan)).fit(X, y)
    assert (unknown.privacy_.feature_ranges, unknown.privacy_.range_columns) == ("private", 5)
    with pytest.raises(ValueError, match=r"feature_ranges\[0\] must be finite numbers, or NaN beside NaN, got "):
        learner(**shared, feature_ranges=(low, KNOWN[1])).fit(X, y)


# A scaler in front that goes by public ranges alone


SOME = np.array([[0.0, -4.0], [30.0, 6.0], [120.0, 1.0], [150.0, -9.0]])


def test_ranges_become_minus_one_to_one_and_what_is_outside_is_clipped():
    scaler = PublicRangeScaler(low=[0, -4], high=[120, 6])
    assert scaler.fit_transform(SOME).tolist() == [[-1.0, -1.0], [-0.5, 1.0], [1.0, 0.0], [1.0, -1.0]]


def test_a_row_is_scaled_alike_whatever_the_others_are():
    scaler = PublicRangeScaler(low=-5.0, high=130.0)
    together = scaler.fit_transform(SOME)
    alone = np.vstack([PublicRangeScaler(low=-5.0, high=130.0).fit_transform(SOME[[i]]) for i in range(len(SOME))])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(PublicRangeScaler(low=-5.0, high=130.0).transform(SOME), together)  # without any fit


def test_nan_stays_infinity_is_clipped_ranges_may_be_as_wide_as_doubles_go_and_sparse_rows_are_refused():
    rows = np.array([[np.nan, np.inf], [-np.inf, 0.5]])
    np.testing.assert_array_equal(PublicRangeScaler().fit_transform(rows), [[np.nan, 1.0], [-1.0, 0.0]])
    assert PublicRangeScaler(-1e308, 1e308).fit_transform([[1e308], [0.0], [-1e308]]).tolist() == [
        [1.0],
        [0.0],
        [-1.0],
    ]
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        PublicRangeScaler().fit(sp.csr_array(SOME))


NO_RANGES = [
    (0.0, [1.0, 0.0], r"low must be below high, got 0.0 and 0.0 \(column 1\)"),
    (2.0, 1.0, "low must be below high, got 2.0 and 1.0"),
    (0.0, 5e-324, "low must be below high, got 0.0 and 5e-324"),  # half of it is 0, and 0/0 no number
    (0.0, [1.0, 1.0, 1.0], r"high must be a number or one for each of 2 features, got \(3,\)"),
    (np.nan, 1.0, "low must be finite numbers, got nan"),
    (0.0, "max", "high must be finite numbers, got 'max'"),
]


@pytest.mark.parametrize(("low", "high", "message"), NO_RANGES)
def test_ranges_that_are_none_are_refused(low, high, message):
    with pytest.raises(ValueError, match=message):
        PublicRangeScaler(low, high).fit(SOME)
