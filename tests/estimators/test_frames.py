"""What frames of pandas and polars may hold, and what scikit-learn's output and routing do with private estimators."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from objpert_core.estimators import (
    ObjPertLogisticRegression,
    OutputPerturbationLogisticRegression,
    PublicRangeScaler,
)
from objpert_core.estimators.cautions import forget_cautions
from objpert_core.exceptions import PrivacyBudgetWarning
from objpert_core.learning.screening import as_numbers

RNG = np.random.default_rng(0)
ROWS = RNG.uniform(-1, 1, size=(200, 3))
LABELS = (ROWS[:, 0] > 0).astype(int)
NAMES = ["age", "hours", "job"]
PANDAS, POLARS = pd.DataFrame(ROWS, columns=NAMES), pl.DataFrame(ROWS, schema=NAMES)
WORDS = ["cook", "smith"] * 100
ignoring_budgets = pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")


def private(**parameters):
    return ObjPertLogisticRegression(**{"random_state": 0, "classes": [0, 1], "public_rows": 200} | parameters)


REFERENCE = private().fit(ROWS, LABELS)


FRAMES_OF_NUMBERS = [
    PANDAS.convert_dtypes(dtype_backend="pyarrow"),
    PANDAS.astype("Float64"),
    PANDAS.astype(object),
    POLARS,
    POLARS.with_columns(pl.col("job").cast(pl.Float64)),
]


@pytest.mark.parametrize("on_error", ["raise", "release"])
@pytest.mark.parametrize("rows", FRAMES_OF_NUMBERS, ids=["pyarrow", "nullable", "object", "polars", "polars again"])
def test_any_type_of_number_gives_the_same_coefficients(rows, on_error):
    model = private(on_error=on_error).fit(rows, LABELS)
    np.testing.assert_array_equal(model.coef_, REFERENCE.coef_)


YES_OR_NO = ["yes" if label else "no" for label in LABELS]
TRUE_OR_FALSE = [bool(label) for label in LABELS]


LABELLED = [
    (["no", "yes"], pd.Series(YES_OR_NO, dtype="category")),
    (["no", "yes"], pd.Series(YES_OR_NO, dtype="string[pyarrow]", index=range(200, 0, -1))),
    (["no", "yes"], pd.DataFrame({"y": YES_OR_NO})),
    (["no", "yes"], pl.Series(YES_OR_NO, dtype=pl.Categorical)),
    (["no", "yes"], pl.DataFrame({"y": YES_OR_NO}, schema={"y": pl.Enum(["no", "yes"])})),
    ([False, True], pd.Series(TRUE_OR_FALSE, dtype="boolean")),
    ([False, True], pd.Series(TRUE_OR_FALSE, dtype="bool[pyarrow]")),
    ([False, True], pl.Series(TRUE_OR_FALSE)),
    ([0, 1], pd.Series(LABELS, dtype="Int64")),
]


@pytest.mark.parametrize("on_error", ["raise", "release"])
@pytest.mark.parametrize(
    ("classes", "labels"),
    LABELLED,
    ids=["category", "index", "frame", "categorical", "enum", "boolean", "arrow", "bool", "nullable"],
)
def test_labels_may_be_words_categories_and_truth_values(classes, labels, on_error):
    model = private(classes=classes, on_error=on_error).fit(PANDAS, labels)
    np.testing.assert_array_equal(model.coef_, REFERENCE.coef_)
    assert model.classes_.tolist() == classes


def with_column(values):
    return PANDAS.assign(job=values)


NO_NUMBERS = [
    (with_column(WORDS), "str|object"),
    (with_column(pd.Categorical([1, 2] * 100)), "category"),
    (with_column(pd.Timestamp("2020-01-01")), "datetime64"),
    (with_column(np.array([1, "two"] * 100, dtype=object)), "object"),
    (POLARS.with_columns(job=pl.Series(WORDS)), "String"),
    (POLARS.with_columns(job=pl.Series(WORDS, dtype=pl.Enum(["cook", "smith"]))), "Enum"),
    (POLARS.with_columns(job=pl.date(2020, 1, 1)), "Date"),
    (POLARS.with_columns(job=pl.concat_list("age", "hours")), "List"),
]


@pytest.mark.parametrize(("rows", "kind"), NO_NUMBERS, ids=lambda value: value if isinstance(value, str) else "rows")
def test_a_column_that_holds_no_numbers_is_named_and_its_entries_are_not(rows, kind):
    for use in (private().fit, REFERENCE.predict, PublicRangeScaler().fit):
        with pytest.raises(ValueError, match=f"^X must .* numbers, got column 'job' of type ({kind}).*") as refused:
            use(rows, *([LABELS] if use.__name__ == "fit" else []))
        assert "cook" not in str(refused.value)


def test_where_errors_must_not_tell_such_entries_count_as_none():
    rows = POLARS.with_columns(job=pl.when(pl.col("age") > 0.5).then(pl.lit("none")).otherwise(pl.col("job")))
    kept = ROWS[:, 0] <= 0.5
    released = private(on_error="release").fit(rows, LABELS)
    expected = private(on_error="release").fit(ROWS[kept], LABELS[kept])
    np.testing.assert_array_equal(released.coef_, expected.coef_)
    nested = pl.DataFrame({"a": [[1.0, 2.0], [3.0, 4.0]], "b": [None, "2.5"]})
    np.testing.assert_array_equal(as_numbers(nested).to_numpy(), [[np.nan, np.nan], [np.nan, 2.5]])


@pytest.mark.parametrize("on_error", ["raise", "release"])
def test_lazy_frames_and_names_that_stand_twice_are_refused(on_error):
    model = private(on_error=on_error)
    for rows, labels, why in (
        (POLARS.lazy(), LABELS, "X must hold rows, got a LazyFrame"),
        (POLARS, pl.DataFrame({"y": LABELS}).lazy(), "y must hold rows, got a LazyFrame"),
        (PANDAS.set_axis(["a", "a", "b"], axis=1), LABELS, "different names, got 'a' more than once"),
    ):
        with pytest.raises(ValueError, match=why):
            model.fit(rows, labels)


@pytest.mark.parametrize(
    "labels",
    [pd.Series([None, "no"] * 100), pl.Series([None, 1] * 100), np.array([None, "no"] * 100, dtype=object)],
    ids=["pandas", "polars", "numpy"],
)
def test_missing_labels_and_numbers_are_refused(labels):
    with pytest.raises(ValueError, match="finite numbers"):
        private().fit(POLARS.with_columns(job=pl.lit(None, dtype=pl.Float64)), LABELS)
    with pytest.raises(ValueError, match=r"^y must hold no missing entries"):
        private(classes=None).fit(PANDAS, labels)


# --- set_output -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"row_norm": "clip"}, {"standardize": True}], ids=str)
@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_an_exported_pipeline_scores_the_same_whatever_scikit_learn_puts_out(parameters, output):
    model = private(**parameters).fit(PANDAS, LABELS)
    expected = model.decision_function(PANDAS)
    with sklearn.config_context(transform_output=output), warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(
            model.to_sklearn(probabilities=False).decision_function(PANDAS), expected, atol=1e-12
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # names between steps that were never shown any
        told = model.to_sklearn(probabilities=False).set_output(transform=output)
        np.testing.assert_allclose(told.decision_function(PANDAS), expected, atol=1e-12)
        with sklearn.config_context(transform_output=output):
            likely = model.to_sklearn().predict_proba(PANDAS)
        np.testing.assert_allclose(likely, model.predict_proba(PANDAS), atol=1e-12)


# --- metadata routing -----------------------------------------------------------------------------------------------


@ignoring_budgets
def test_weights_reach_a_fit_where_it_is_asked_for_them_and_no_other():
    weights = np.where(LABELS == 1, 1.0, 0.5)
    own = private().fit(ROWS, LABELS, sample_weight=weights).coef_
    step = {"objpertlogisticregression__sample_weight": weights}
    piped = make_pipeline(Normalizer(), private()).fit(ROWS, LABELS, **step)
    np.testing.assert_array_equal(piped[-1].coef_, own)
    assert GridSearchCV(private(), {}, cv=2).fit(ROWS, LABELS, sample_weight=weights).best_estimator_.privacy_.weighted
    with pytest.raises(ValueError, match="how far one row moves the sum"):
        GridSearchCV(OutputPerturbationLogisticRegression(), {}, cv=2).fit(ROWS, LABELS, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        assert not hasattr(OutputPerturbationLogisticRegression(), "set_fit_request")
        with pytest.raises(TypeError, match="sample_weight"):
            make_pipeline(PublicRangeScaler(-1.0, 1.0), private()).fit(ROWS, LABELS, sample_weight=weights)
        asked = make_pipeline(Normalizer(), private().set_fit_request(sample_weight=True))
        np.testing.assert_array_equal(asked.fit(ROWS, LABELS, sample_weight=weights)[-1].coef_, own)


def test_an_ensemble_that_seeds_the_noise_is_told_once():
    forget_cautions()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        ensemble = BaggingClassifier(make_pipeline(private(random_state=None)), n_estimators=2, random_state=0)
        ensemble.fit(ROWS, LABELS)
    told = [str(one.message) for one in given if one.category is PrivacyBudgetWarning]
    assert sum(text.startswith("An ensemble gives its copies of ObjPertLogisticRegression") for text in told) == 1
    assert sum(text.startswith("Several copies of one ObjPertLogisticRegression") for text in told) == 1
    assert [one[-1].privacy_.reproducible for one in ensemble.estimators_] == [True, True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        private(random_state=None).set_params(random_state=3)
