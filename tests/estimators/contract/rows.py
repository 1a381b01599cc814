"""What becomes of rows: containers, precision, norms, weights, maps."""

import dataclasses
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import is_regressor
from sklearn.metrics import r2_score

from objpert_core.accounting import Standardisation
from objpert_core.exceptions import PrivacyBudgetWarning
from tests.estimators.contract.case import (
    Case,
    Untouchable,
    as_the_model_has_them,
    assert_unfitted,
    bounded_rows,
    frame,
    linear,
    scores_of,
)


def the_container_of_the_rows_does_not_matter(case: Case) -> None:
    X = np.where(np.abs(case.data[0]) < 0.5, 0.0, case.data[0])
    sparse = (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix)
    dense = (np.asarray, np.asfortranarray, np.float32, frame)
    raw = case.of(standardize=False)
    groups: list[tuple[tuple[Any, ...], dict[str, Any]]] = [((*dense, *sparse), raw)]
    if raw and case.composes:  # sparse rows are not centred
        asked = {"standardize": True, "row_norm": "normalize"}
        groups += [(dense, asked), (sparse, asked)]
    for (first, *others), asked in groups:
        model = case.fit(first(X), **asked)
        for convert in others:
            other = case.fit(convert(X), **asked)
            np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-5)
            for name in ("center_", "scale_"):
                np.testing.assert_array_equal(getattr(other, name), getattr(model, name))
            np.testing.assert_allclose(scores_of(other)(convert(X)), scores_of(model)(X), atol=1e-4)


def single_precision_data_are_fitted_in_double(case: Case) -> None:
    X = case.data[0]  # exact in single precision
    model = case.fit(X.astype(np.float32))
    np.testing.assert_allclose(model.coef_, case.fitted.coef_, atol=1e-6)
    if hasattr(model, "gradient_norms_"):
        assert model.gradient_norms_[-1] <= model.tau


def frames_give_the_same_fit_and_keep_their_column_names(case: Case) -> None:
    X, y = case.data
    nullable = frame(X).astype("Float64").set_index(np.arange(len(X))[::-1])  # an index does not count
    columns = list("abcd")
    for rows, targets, wrong in (
        (nullable, pd.Series(y).convert_dtypes(), nullable[columns[::-1]]),
        (pl.DataFrame(X, schema=columns), pl.Series(y), pl.DataFrame(X, schema=columns[::-1])),
    ):
        model = case.new(random_state=0).fit(rows, targets)
        np.testing.assert_allclose(model.coef_, case.fitted.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.predict(rows), case.fitted.predict(X), atol=1e-9)
        assert model.feature_names_in_.tolist() == columns
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyBudgetWarning)  # of the seed
            released = model.release()
            assert not hasattr(model.release(feature_names=False), "feature_names_in_")
        assert released.feature_names_in_.tolist() == columns
        for one in (released, model.to_sklearn()):
            np.testing.assert_allclose(one.predict(rows), model.predict(rows), atol=1e-9)
        for one in (model, released, model.to_sklearn(), released.to_sklearn()):
            with pytest.raises(ValueError, match=r"feature names|columns of the fit"):
                one.predict(wrong)


def weights_are_taken_or_refused_with_the_reason(case: Case) -> None:
    model = pickle.loads(pickle.dumps(case.fitted))
    assert model.get_metadata_routing().fit.requests == ({"sample_weight": False} if case.weighs else {})
    if case.weighs:
        wrong: tuple[tuple[Any, str], ...] = (
            (np.full(300, 1.5), "sample_weight must hold numbers from 0 to 1, .*, got 1.5 in row 0"),
            (np.append(np.ones(299), np.nan), ".*, got nan in row 299"),
            (np.ones(299), r"sample_weight must be one number for each of X's 300 rows, got shape \(299,\)"),
            (0.5, r"sample_weight must be one number for each of X's 300 rows, got shape \(\)"),
        )
        for weights, message in wrong:
            with pytest.raises(ValueError, match=message):
                model.fit(*case.data, sample_weight=weights)
            assert_unfitted(model)
        np.testing.assert_allclose(
            case.new(random_state=0).fit(*case.data, sample_weight=np.ones(300)).coef_, case.fitted.coef_, atol=1e-9
        )
        own = np.where(np.arange(300) < 290, 0.5, 0.0)
        light = case.new(random_state=0, public_rows=300).fit(*case.data, sample_weight=own)
        fewer = case.new(random_state=0, public_rows=300)
        fewer.fit(case.data[0][:290], case.data[1][:290], sample_weight=own[:290])
        np.testing.assert_allclose(light.coef_, fewer.coef_, atol=1e-9)
        assert light.privacy_.verify(light)
        assert light.privacy_.weighted
        assert not case.fitted.privacy_.weighted
    else:
        with pytest.raises(TypeError, match=r"^sample_weight must be None .* how far one row moves the sum"):
            model.fit(Untouchable(), Untouchable(), sample_weight=np.ones(300))
        assert_unfitted(model)
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        model.fit(*case.data, weights=None)
    assert model.get_metadata_routing().score.requests == {"sample_weight": None}
    weights, truth, told = np.arange(300.0), case.data[1], case.fitted.predict(case.data[0])
    score = (
        r2_score(truth, told, sample_weight=weights)
        if is_regressor(model)
        else np.average(told == truth, None, weights)
    )
    assert case.fitted.score(*case.data, sample_weight=weights) == pytest.approx(score)


def the_norm_of_the_rows_is_enforced_in_fit_and_in_predict(case: Case) -> None:
    X = case.data[0]
    for row_norm in ("normalize", "clip"):
        model, bounded = case.fit(row_norm=row_norm), bounded_rows(X, row_norm)
        np.testing.assert_allclose(case.fit(bounded, row_norm=row_norm).coef_, model.coef_, atol=1e-6)
        scores = linear(model, as_the_model_has_them(model, X))
        predict = scores_of(model)
        np.testing.assert_allclose(predict(X), scores, atol=1e-9)
        if row_norm == "normalize":
            np.testing.assert_allclose(predict(1000 * X), scores, atol=1e-9)
        model.set_params(row_norm="clip" if row_norm == "normalize" else "normalize")  # from the next fit on
        np.testing.assert_allclose(predict(X), scores, atol=1e-9)


def standardised_rows_are_paid_for_and_the_model_maps_what_it_scores(case: Case) -> None:
    if "standardize" not in case.new().get_params():
        return
    X = case.data[0] + np.array([1.0, 0.0, -1.0, 1.0])
    X[3] = 0.0
    raw = case.fit(X, standardize=False)
    assert (raw.center_, raw.scale_, raw.privacy_.center_noise, raw.privacy_.scale_noise) == (None,) * 4
    asked = {"standardize": np.bool_(True), "row_norm": "normalize"}
    with pytest.raises(ValueError, match="row_norm must be 'normalize' where standardize=True, got 'clip'"):
        case.new(standardize=True, row_norm="clip").fit(Untouchable(), Untouchable())
    if not case.composes:
        with pytest.raises(ValueError, match="bound must have a privacy loss or a Rényi curve"):
            case.new(**asked).fit(Untouchable(), Untouchable())
        return
    model = case.fit(X, **asked)
    spent, scores = model.privacy_, "predict" if is_regressor(model) else "decision_function"
    assert model.center_.shape == model.scale_.shape == (4,)
    assert model.center_.any()
    assert min(spent.center_noise, spent.scale_noise) > 0
    assert (spent.epsilon, spent.delta, spent.public_rows, spent.rows_declared) == (raw.epsilon, raw.delta, 300, False)
    assert spent.verify(model)
    assert spent.rebuild().delta(raw.epsilon) < 0.9 * raw.delta  # the fit has what the sums leave
    expected = linear(model, as_the_model_has_them(model, X))
    if getattr(model, "target_range_", None) is not None:
        expected = expected.clip(*model.target_range_)
    np.testing.assert_allclose(getattr(model, scores)(X), expected, atol=1e-9)
    for name, value in (("scale_", 2 * model.scale_), ("scale_", None), ("center_", -model.center_), ("center_", None)):
        other = pickle.loads(pickle.dumps(model))
        setattr(other, name, value)
        assert not spent.verify(other)
    for name in ("scale_noise", "center_noise"):
        assert not dataclasses.replace(spent, **{name: None}).verify(model)  # a step that is not paid for
        assert not dataclasses.replace(spent, **{name: 0.99 * getattr(spent, name)}).verify()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyBudgetWarning)  # the case is seeded
        released = model.release()
    np.testing.assert_array_equal(released.predict(X), model.predict(X))
    assert released.privacy_.verify(released)
    np.testing.assert_allclose(getattr(model.to_sklearn(probabilities=False), scores)(X), expected, atol=1e-9)
    given = case.fit(X, **asked | {"standardize": Standardisation(None, spent.scale_noise)})
    assert (given.center_, given.privacy_.center_noise) == (None, None)
    assert given.privacy_.scale_noise == spent.scale_noise
    assert given.privacy_.verify(given)


def a_zero_row_is_scored_by_the_intercept(case: Case) -> None:
    X = case.data[0].copy()
    X[3] = 0.0
    model = case.fit(X, **case.of(standardize=False))
    np.testing.assert_array_equal(scores_of(model)(np.zeros((1, 4)))[0], np.squeeze(model.intercept_))


def without_an_intercept_there_is_none(case: Case) -> None:
    model = case.fit(fit_intercept=False)
    middle = np.mean(getattr(model, "target_range", None) or 0.0)
    assert set(np.ravel(model.intercept_)) == {middle}
    assert model.privacy_.intercept_scaling == 0.0
