"""What every estimator promises, as functions of one `Case`: to be run on this package's estimators and on any other.

>>> @parametrize_with_contract([Case("my estimator", MyEstimator)])
... def test_my_estimator_keeps_the_contract(case, promise):
...     promise(case)
"""

import dataclasses
import math
import pickle
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from inspect import isfunction, signature
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from objpert_core.accounting import Standardisation
from objpert_core.estimators import PrivacyCertificate, PublicRangeScaler
from objpert_core.estimators.cautions import forget_cautions
from objpert_core.exceptions import ConvergenceError, PrivacyBudgetWarning, ReleaseRefusedError, UncoveredDataWarning
from objpert_core.learning import SOLVERS, Refused
from objpert_core.learning.certificates.shown import adjacency_words, neighbours_in_words

ABOVE_ZERO, FROM_ZERO, COUNT = "a finite number > 0", "a finite number >= 0", "a whole number >= 1"
NOT_ABOVE_ZERO = (0.0, -1.0, math.nan, math.inf, None, "1", True)
RANGES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "epsilon": (ABOVE_ZERO, NOT_ABOVE_ZERO),
    "delta": ("a number strictly between 0 and 1", (0.0, 1.0, math.nan, None)),
    "tau": (ABOVE_ZERO, NOT_ABOVE_ZERO),
    "sigma_out": (ABOVE_ZERO, (-0.1, 0.0)),
    "noise_ratio": ("a finite number >= 1", (0.9, math.inf)),
    "solver": (f"one of {', '.join(map(repr, SOLVERS))}", ("adam", None)),
    "fit_intercept": ("True or False", ("yes", 1, None)),
    "intercept_scaling": (ABOVE_ZERO, NOT_ABOVE_ZERO),
    "row_norm": ("one of 'normalize', 'clip'", ("l2", None)),
    "random_state": ("None, an integer >= 0, or a numpy RandomState or Generator", (-3, 0.5, "seed")),
    "accountant": ("one of 'profile', 'rdp'", ("gdp", None)),
    "clip": (ABOVE_ZERO, (0.0, -1.0, math.inf)),
    "margin": (FROM_ZERO, (-1.0, math.nan)),
    "public_rows": (COUNT, (0, 1.5)),
    "classes": ("None or two different labels", ([0, 1, 2], [1, 1], [1])),
    "max_iter": (COUNT, (0, 1.5, None)),
    "on_error": ("one of 'raise', 'release'", ("ignore", None)),
    "adjacency": ("one of 'add/remove one row', 'replace one row'", ("add/remove", "swap", None)),
    "rows_per_person": (COUNT, (0, 1.5, True, None)),
    "class_weight": (
        "None, 'balanced' or a dict of labels and finite numbers > 0",
        ("Balanced", {}, 2.0, [1.0, 2.0], {1: 0.0}, {1: math.inf}),
    ),
    "standardize": ("'auto', True, False or a Standardisation", ("yes", 1, 0, None, np.array(True))),
}
"""By a parameter's name: what it may be, in the error's words, and values that it may not have."""


NEIGHBOURS = ((1, "add/remove one row"), (1, "replace one row"), (3, "add/remove one row"), (3, "replace one row"))
"""Rows of one person, and adjacency; from one to the next more noise is needed."""


@dataclass(frozen=True, eq=False)
class Case:
    """One estimator and what to expect of it where estimators differ.

    Parameters
    ----------
    name : str
    make : callable
        Takes keyword parameters and gives an unfitted estimator: a class, or a preset such as a class method.
    parameters : mapping, optional
        Given to `make` in every fit, unless a promise needs another value.
    ranges : mapping, optional
        Entries that join or replace those of `RANGES`.
    first_step : int, default=0
        The first number that the callback hears.
    slow, thorough : bool, default=False
        Whether only the long test run has this case, and whether the loop for every day has not.
    reads_rows : bool, default=True
        Whether a rule reads the number of rows where `public_rows`, `lam` and `noise_ratio` are None.
    composes : bool, default=True
        Whether its bound composes with private sums, so that it can standardise rows.
    labels : tuple, default=(0, 1)
        Of a classifier's rows.
    weighs : bool, default=False
        Whether `fit` takes each row's own weight.
    """

    name: str
    make: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    ranges: Mapping[str, tuple[str, tuple[Any, ...]]] = field(default_factory=dict)
    first_step: int = 0
    slow: bool = False
    thorough: bool = False
    reads_rows: bool = True
    composes: bool = True
    labels: tuple[int, ...] = (0, 1)
    weighs: bool = False

    def new(self, **parameters: Any) -> Any:
        """An unfitted estimator."""
        return self.make(**{**self.parameters, **parameters})

    def fit(self, X: Any = None, **parameters: Any) -> Any:
        """An estimator fitted to `data`, or to the rows `X` in place of these; seeded unless told otherwise."""
        return self.new(**{"random_state": 0, **parameters}).fit(self.data[0] if X is None else X, self.data[1])

    def of(self, **wished: Any) -> dict[str, Any]:
        """Those of the parameters that it has."""
        return {name: value for name, value in wished.items() if name in self.new().get_params()}

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """300 rows of four features, and labels or numbers."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 4)).astype(np.float32).astype(np.float64)
        scores = X @ np.array([1.0, -2.0, 0.5, 1.5]) / 3 + 0.1 * rng.normal(size=300)
        edges = [0.0] if len(self.labels) == 2 else [-0.4, 0.4]
        return X, scores if is_regressor(self.new()) else np.digitize(scores, edges)

    @cached_property
    def fitted(self) -> Any:
        """A seeded fit that promises read and none changes."""
        return self.fit()


Promise = Callable[[Case], None]


def bounded_rows(X: np.ndarray, row_norm: str) -> np.ndarray:
    """Rows of norm 1, zero rows as they are; or of norm 1 at most."""
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms == 0, 1, norms) if row_norm == "normalize" else X / np.maximum(norms, 1)


def as_the_model_has_them(model: Any, X: np.ndarray) -> np.ndarray:
    """The rows that `coef_` applies to."""
    rows = bounded_rows(X, model.privacy_.row_norm)
    if model.center_ is None and model.scale_ is None:
        return rows
    rows = rows - (0 if model.center_ is None else model.center_)
    return bounded_rows(rows * (1 if model.scale_ is None else model.scale_), "normalize")


def linear(model: Any, rows: np.ndarray) -> np.ndarray:
    """The scores of rows as the model has them."""
    return rows @ np.squeeze(model.coef_.T) + model.intercept_


def scores_of(model: Any) -> Callable[..., np.ndarray]:
    """What a model makes of rows in numbers."""
    return model.predict if is_regressor(model) else model.decision_function


def assert_unfitted(model: Any) -> None:
    """Nothing of any fit is left, and predicting says so."""
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        model.predict(np.zeros((2, 4)))
    assert not [name for name in vars(model) if name.endswith("_")]


class Untouchable:
    """Data that no one may look at."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"the data were touched: {name}")


# Parameters


def every_parameter_has_a_constraint(case: Case) -> None:
    model = case.new()
    assert set(model.constraints()) == set(model.get_params())
    model.check_parameters()


def a_value_out_of_range_is_named_before_the_data_are_touched(case: Case) -> None:
    ranges = RANGES | dict(case.ranges)
    for name in case.new().get_params():
        allowed, values = ranges.get(name, ("", ()))
        for value in (object(), *values):
            model = pickle.loads(pickle.dumps(case.fitted)).set_params(**{name: value})
            with pytest.raises(ValueError, match=f"^{name} must be ") as raised:
                model.fit(Untouchable(), Untouchable())
            if value in values:
                assert str(raised.value) == f"{name} must be {allowed}, got {value!r}"
            assert str(raised.value).endswith(f", got {value!r}")
            assert_unfitted(model)


# Certificates


def the_certificate_states_what_was_asked_and_verifies(case: Case) -> None:
    model, spent = case.fitted, case.fitted.privacy_
    assert (spent.epsilon, spent.delta) == (model.epsilon, model.delta)
    constant = model.intercept_scaling if model.fit_intercept else 0.0
    assert (spent.row_norm, spent.intercept_scaling) == (model.row_norm, constant)
    assert spent.verify()
    assert f"({spent.epsilon:g}, {spent.delta:g})-differential privacy, {neighbours_in_words(spent.adjacency)}" in repr(
        spent
    )
    asked = case.fit(epsilon=2.0, delta=1e-6).privacy_
    assert (asked.epsilon, asked.delta) == (2.0, 1e-6)
    assert asked.verify()


def the_certificate_survives_json_and_its_public_part_hides_the_diagnostics(case: Case) -> None:
    spent = case.fitted.privacy_
    assert PrivacyCertificate.from_json(spent.to_json()) == spent
    assert PrivacyCertificate.from_dict(spent.to_dict()) == spent
    public = PrivacyCertificate.from_json(spent.public().to_json())
    assert public == spent.public()
    assert public.verify()
    assert "diagnostics" not in public.to_dict()
    if spent.DIAGNOSTICS:
        assert set(spent.to_dict()["diagnostics"]) == {"note", *spent.DIAGNOSTICS}
        assert all(getattr(spent, name) is not None for name in spent.DIAGNOSTICS)
        assert all(getattr(public, name) is None for name in spent.DIAGNOSTICS)


def the_fit_records_its_shape_and_its_trace(case: Case) -> None:
    model = case.fitted
    assert model.n_features_in_ == 4
    fits = () if is_regressor(model) else (1 if len(case.labels) == 2 else len(case.labels),)
    assert model.coef_.shape == (*fits, 4)
    assert np.shape(model.intercept_) == fits
    assert model.n_iter_ >= 1
    if hasattr(model, "gradient_norms_"):
        assert len(model.gradient_norms_) == model.n_iter_ + np.size(model.intercept_)
        assert model.gradient_norms_[-1] <= model.tau


# Randomness


def seeded_fits_repeat_and_the_certificate_says_so(case: Case) -> None:
    for make in (lambda: 3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3)):
        one, other = (case.fit(random_state=make()) for _ in range(2))
        np.testing.assert_array_equal(one.coef_, other.coef_)
        np.testing.assert_array_equal(one.intercept_, other.intercept_)
        assert one.privacy_.reproducible is True
        assert "whoever knows the seed" in repr(one.privacy_)


def a_random_state_shared_by_two_fits_moves_on(case: Case) -> None:
    state = np.random.RandomState(3)
    one, other = (case.fit(random_state=state) for _ in range(2))
    assert not np.allclose(one.coef_, other.coef_, rtol=1e-9, atol=0)


def the_operating_systems_noise_differs_from_fit_to_fit(case: Case) -> None:
    one, other = (case.fit(random_state=None) for _ in range(2))
    assert not np.allclose(one.coef_, other.coef_, rtol=1e-9, atol=0)
    assert (one.privacy_.noise_source, one.privacy_.reproducible) == ("operating system", False)


# Failure


def a_fit_that_does_not_converge_raises_and_leaves_nothing_behind(case: Case) -> None:
    model = case.fit()
    if "max_iter" not in model.get_params():
        return
    with pytest.raises(ConvergenceError, match="nothing was released"):
        model.set_params(max_iter=1, tau=1e-12).fit(*case.data)
    assert_unfitted(model)


def a_refused_release_raises_with_its_certificate_and_leaves_nothing_behind(case: Case) -> None:
    model = case.fit()
    model._release = lambda *arguments, **options: Refused(case.fitted.privacy_, "the noisy test said no")
    with pytest.raises(ReleaseRefusedError, match="the noisy test said no") as raised:
        model.fit(*case.data)
    assert raised.value.certificate == case.fitted.privacy_
    assert_unfitted(model)


def stopping_from_the_callback_leaves_the_estimator_unfitted(case: Case) -> None:
    heard: list[int] = []

    def stop(step: int, norm: float) -> None:
        assert norm >= 0
        heard.append(step)
        if len(heard) == 3:
            raise KeyboardInterrupt("enough")

    model = case.fit()
    with pytest.raises(KeyboardInterrupt, match="enough"):
        model.fit(*case.data, callback=stop)
    assert heard == [case.first_step + step for step in range(3)]
    assert_unfitted(model)


def the_callback_hears_every_iteration(case: Case) -> None:
    heard: list[tuple[int, float]] = []
    model = case.new(random_state=0).fit(*case.data, callback=lambda step, norm: heard.append((step, norm)))
    np.testing.assert_array_equal(model.coef_, case.fitted.coef_)  # listening changes nothing
    if hasattr(model, "gradient_norms_"):
        assert [norm for _, norm in heard] == list(model.gradient_norms_)
        assert [step for step, _ in heard] == list(range(len(heard))) or np.size(model.intercept_) > 1


def an_estimator_that_was_not_fitted_says_so(case: Case) -> None:
    assert_unfitted(case.new())
    for name in {"decision_function", "predict_proba", "predict_log_proba"} & set(dir(case.new())):
        with pytest.raises(NotFittedError):
            getattr(case.new(), name)(case.data[0])


# Rows


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


def frame(X: np.ndarray) -> pd.DataFrame:
    """The rows with named columns."""
    return pd.DataFrame(X, columns=list("abcd"))


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
            released = model.release(feature_names=True)
            assert not hasattr(model.release(), "feature_names_in_")
        for one in (released, model.to_sklearn()):
            np.testing.assert_allclose(one.predict(rows), model.predict(rows), atol=1e-9)
        for one in (model, released):
            with pytest.raises(ValueError, match="feature names"):
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
    assert set(np.ravel(model.intercept_)) == {getattr(model, "target_offset", 0.0)}
    assert model.privacy_.intercept_scaling == 0.0


def rows_with_nan_or_infinity_are_refused(case: Case) -> None:
    for value in (np.nan, np.inf, -np.inf):
        for convert in (np.asarray, sp.csr_matrix, frame):
            X = case.data[0].copy()
            X[4, 2] = value
            model = case.new()
            with pytest.raises(ValueError, match=r"X must hold finite numbers \(no NaN, no inf.*row 4"):
                model.fit(convert(X), case.data[1])
            assert_unfitted(model)
        with pytest.raises(ValueError, match="X must hold finite numbers"):
            case.fitted.predict(np.full((1, 4), value))


def empty_data_and_mismatched_lengths_are_refused(case: Case) -> None:
    X, y = case.data
    for rows, labels, message in (
        (X[:0], y[:0], "0 sample"),
        (X[:, :0], y, "0 feature"),
        (X, y[:-1], "inconsistent numbers of samples"),
    ):
        with pytest.raises(ValueError, match=message):
            case.new().fit(rows, labels)
    with pytest.raises(ValueError, match="X has 3 features"):
        case.fitted.predict(X[:, :3])


def invalid_rows_count_as_none_where_errors_must_not_tell(case: Case) -> None:
    X, y = case.data
    known = case.of(on_error="release", public_rows=len(y), classes=[0, 1])
    alone = case.fit(**known)
    bad = [[np.nan, 0, 0, 0], [0, np.inf, 0, 0], [1e200, 0, 0, 0], ["no", 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]
    labels = [0, 1, 0, 1, math.nan, math.inf if is_regressor(alone) else "another"]
    rows, targets = X.astype(object).tolist() + bad, y.tolist() + labels
    numbers = np.vstack([X, bad[:3]]), np.append(y, labels[:3])
    for data in ((rows, targets), (frame(np.array(rows, dtype=object)), pd.Series(targets)), numbers):
        model = case.new(random_state=0, **known).fit(*data)
        np.testing.assert_array_equal(model.coef_, alone.coef_)
        np.testing.assert_array_equal(model.intercept_, alone.intercept_)
        assert model.privacy_.public() == alone.privacy_.public()
        assert model.privacy_.verify()
    assert alone.privacy_.on_error == "release"
    assert "invalid rows are ignored" in repr(alone.privacy_)
    assert case.fitted.privacy_.on_error == "raise"


class Warns:
    """An entry that warns, or raises, whatever it is asked."""

    def __float__(self) -> float:
        warnings.warn("this entry is there", stacklevel=1)
        return 0.5

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("this entry is there")

    __hash__ = None  # type: ignore[assignment]


NO_NUMBERS: tuple[Any, ...] = (
    np.longdouble("1e4000"), np.complex128(1 + 2j), np.clongdouble(1 + 2j), 1j, np.ma.masked, math.inf, -math.inf, None,
    "no", "1e4000", "9" * 5_000, 10**400, Fraction(10**400), Decimal("1e4000"), Decimal("sNaN"), pd.NA, pd.NaT,
    np.array([1.0, 2.0]), np.array([]), np.ma.array([1.0], mask=True), [1.0], {}, b"\xff", Warns(),
)  # fmt: skip
NUMBERS: tuple[Any, ...] = (
    True, np.True_, 1, Fraction(1, 1), Decimal(1), np.longdouble(1), np.complex128(1), "1", b"1",
)  # fmt: skip
"""Entries that are the number 1, however they are written."""


def no_entry_makes_a_fit_warn_or_raise_where_errors_must_not_tell(case: Case) -> None:
    """With warnings as errors, and errors of floating-point numbers, too: either would say that the row is there."""
    X, y = case.data
    known = case.of(on_error="release", public_rows=len(y), classes=case.labels, random_state=0)
    ones = np.ones((len(NUMBERS), 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = case.new(**known).fit(X, y)
        sparse = case.new(**known).fit(sp.csr_array(X), y)  # rows are not centred
        beside = case.new(**known).fit(np.vstack([X, ones]), np.append(y, np.ones(len(ones))))
    good = [1 if is_classifier(alone) and isinstance(one, (str, bytes)) else one for one in NUMBERS]  # another label
    bad = [[0.1, entry, 0.1, 0.1] for entry in NO_NUMBERS]
    fits: list[tuple[Any, Any, Any]] = [
        ([*X.tolist(), *bad], [*y.tolist(), *[1] * len(bad)], alone),
        ([*X.tolist(), *np.ones((len(bad), 4)).tolist()], [*y.tolist(), *NO_NUMBERS], alone),
        ([*X.tolist(), *[[1, 1, one, 1.0] for one in NUMBERS]], [*y.tolist(), *good], beside),
        (np.vstack([X, X[:1] + 2j]), np.append(y, 1), alone),
        (np.vstack([X, np.full((1, 4), np.longdouble("1e4000"))]), np.append(y, 1), alone),
        (np.ma.vstack([X, np.ma.array(X[:1], mask=True)]), np.append(y, 1), alone),
        ([*X.tolist(), np.ma.array([1.0] * 4, mask=[0, 1, 0, 0])], np.append(y, 1), alone),
        (sp.csr_array(np.vstack([X, X[:1] + 2j])), np.append(y, 1), sparse),
        (np.vstack([X, X[:1]]), np.ma.array(np.append(y, 1), mask=[*[False] * len(y), True]), alone),
        *((np.vstack([X, X[:1]]), np.append(y, one), alone) for one in (1 + 2j, np.longdouble("1e4000"))),
    ]
    for rows, targets, expected in fits:
        model = case.new(**known)
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("error")
            for public in (PrivacyBudgetWarning, UncoveredDataWarning):  # of parameters, and of a second fit
                warnings.simplefilter("ignore", public)
            model.fit(rows, targets)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        np.testing.assert_array_equal(model.intercept_, expected.intercept_)


def without_any_valid_row_there_is_an_answer(case: Case) -> None:
    known = case.of(on_error="release", public_rows=300, classes=[0, 1])
    none = case.new(random_state=0, **known).fit(np.zeros((0, 4)), [])
    invalid = case.new(random_state=0, **known).fit(np.full((5, 4), np.nan), np.zeros(5))
    np.testing.assert_array_equal(none.coef_, invalid.coef_)
    assert np.isfinite(none.coef_).all()
    assert none.privacy_.verify()


def labels_must_be_declared_where_errors_must_not_tell(case: Case) -> None:
    if not is_classifier(case.new()):
        return
    with pytest.raises(ValueError, match="classes must be the labels that can occur where on_error='release'"):
        case.new(on_error="release", classes=None).fit(Untouchable(), Untouchable())


# Neighbours


def the_promise_is_about_the_neighbours_asked_for(case: Case, asked: Iterable[tuple[int, str]] = NEIGHBOURS) -> None:
    """Not among the rest: some calibrations for several rows take seconds."""
    known = case.of(public_rows=300, classes=[0, 1])
    ratios = []
    for rows, adjacency in asked:
        spent = case.fit(**known, adjacency=adjacency, rows_per_person=rows).privacy_
        words = adjacency if rows == 1 else adjacency.replace("one row", f"up to {rows} rows of one person")
        assert (spent.adjacency, spent.rows_per_person, spent.mechanism_adjacency) == (words, rows, adjacency)
        assert words in repr(spent)
        assert spent.verify()
        assert PrivacyCertificate.from_json(spent.to_json()) == spent
        assert not dataclasses.replace(spent, rows_per_person=rows + 1).verify()
        more = adjacency_words(adjacency, rows_per_person=rows + 1)
        assert not dataclasses.replace(spent, adjacency=more, rows_per_person=rows + 1).verify()
        if adjacency == "add/remove one row":
            more = adjacency_words("replace one row", rows_per_person=rows)
            assert not dataclasses.replace(spent, adjacency=more).verify()
        ratios.append(getattr(spent, "noise_multiplier", None) or spent.sigma * spent.lam**0.5)
    assert ratios == sorted(ratios)


# Labels and targets


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


# Life among other estimators


def pickles_and_clones_are_faithful(case: Case) -> None:
    X, y = case.data
    again = pickle.loads(pickle.dumps(case.fitted))
    np.testing.assert_array_equal(again.predict(X), case.fitted.predict(X))
    assert again.privacy_ == case.fitted.privacy_
    copy = clone(case.fit())
    assert copy.get_params() == case.fitted.get_params()
    assert_unfitted(copy)
    np.testing.assert_array_equal(copy.fit(X, y).coef_, case.fitted.coef_)


def rows_of_every_length(X: np.ndarray) -> np.ndarray:
    """The rows from next to nothing to 1e100, a zero row and one of norm 1 among them."""
    rows = X * np.resize([1.0, 1e-6, 0.1, 100.0], (len(X), 1))
    rows[0], rows[1], rows[2] = 0.0, rows[1] / np.linalg.norm(rows[1]), rows[2] * 1e100
    return rows


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
        assert not set(vars(released)) - known
        scores = "predict" if is_regressor(model) else "decision_function"
        for pipeline in (model.to_sklearn(probabilities=False), released.to_sklearn(probabilities=False)):
            np.testing.assert_array_equal(pipeline.predict(X), model.predict(X)) if is_classifier(model) else None
            for rows in (X, sp.csr_array(X)) if model.center_ is None else (X,):
                got, expected = (getattr(one, scores)(rows) for one in (pipeline, model))
                np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
            last = LinearRegression if is_regressor(model) else LinearSVC
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
    odds, scores = pipeline.decision_function(X), model.decision_function(X)
    np.testing.assert_array_equal(np.sign(odds), np.sign(scores)) if scores.ndim == 1 else None
    np.testing.assert_array_equal(np.argsort(odds, axis=-1), np.argsort(scores, axis=-1)) if scores.ndim == 2 else None


def one_fit_at_a_time_does_not_warn(case: Case) -> None:
    X, y = case.data
    known = case.of(classes=case.labels, public_rows=len(y))
    forget_cautions()
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyBudgetWarning)
        model = case.new(**known)
        model.fit(X, y).fit(2 * X, y)  # other data
        clone(model).fit(X, y)
        for step in (FunctionTransformer(), PublicRangeScaler(-9.0, 9.0)):
            clone(make_pipeline(step, case.new(**known))).fit(X, y).predict(X)


def what_the_promise_does_not_cover_is_told_once(case: Case) -> None:
    X, y = case.data
    forget_cautions()
    unknown = case.of(classes=None, public_rows=None, lam=None, noise_ratio=None)
    pipeline = make_pipeline(StandardScaler(), case.new(**unknown))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UncoveredDataWarning)
        pipeline.fit(X, y)
        pipeline.fit(X, y)
    texts = [str(one.message) for one in told if one.category is UncoveredDataWarning]
    read = {"classes", "public_rows"} & unknown.keys() - (set() if case.reads_rows else {"public_rows"})
    for name in ("classes", "public_rows"):
        assert sum(text.startswith(f"{name}=None: ") for text in texts) == (name in read)
    assert sum("pipeline fits StandardScaler on the data" in text for text in texts) == 1
    assert len(texts) == 1 + len(read)


def fitting_the_same_data_again_is_told_once(case: Case) -> None:
    X, y = case.data
    forget_cautions()
    model = case.fit()
    with pytest.warns(PrivacyBudgetWarning, match="fitted again to the same data") as told:
        model.fit(X.copy(), y.copy()).fit(X, y)
    again = [one for one in told if "fitted again" in str(one.message)]
    assert [one.filename for one in again] == [__file__]


def what_was_fitted_before_is_in_no_pickle(case: Case) -> None:
    model = case.fit()
    known = set(vars(case.fit()))
    assert set(vars(model)) == known
    again = pickle.loads(pickle.dumps(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyBudgetWarning)
        warnings.simplefilter("ignore", UncoveredDataWarning)
        again.fit(*case.data)


def fitting_several_copies_warns_that_each_spends_budget(case: Case) -> None:
    forget_cautions()
    with pytest.warns(PrivacyBudgetWarning, match=r"Every fit spends its own \(epsilon, delta\)") as told:
        cross_val_score(case.new(), *case.data, cv=3)
    assert sum("Several copies" in str(one.message) for one in told) == 1  # once a process
    forget_cautions()
    model = case.new()
    clones = clone(model), clone(model)
    with pytest.warns(PrivacyBudgetWarning, match=f"Several copies of one {type(model).__name__}") as told:
        clones[1].fit(*case.data)
    assert told[0].filename == __file__  # it points at the line that fits


CONTRACT: tuple[Promise, ...] = tuple(
    one for one in list(globals().values()) if isfunction(one) and list(signature(one).parameters) == ["case"]
)
"""Every function above that takes a case and nothing else."""


SLOW = (no_entry_makes_a_fit_warn_or_raise_where_errors_must_not_tell,)
"""Promises that take seconds."""


def parametrize_with_contract(cases: Iterable[Case]) -> pytest.MarkDecorator:
    """Run a test with `case` and `promise` once for every case and every promise."""
    return pytest.mark.parametrize(
        ("case", "promise"),
        [
            pytest.param(
                case,
                promise,
                id=f"{case.name}-{promise.__name__}",
                marks=[pytest.mark.slow] if case.slow or promise in SLOW else [pytest.mark.thorough] * case.thorough,
            )
            for case in cases
            for promise in CONTRACT
        ],
    )
