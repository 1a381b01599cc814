"""What may be published of a model: a copy that holds nothing else, and a pipeline of scikit-learn's own parts."""

import pickle
import pickletools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

import objpert_core.estimators as est
from objpert_core.accounting import Standardisation
from objpert_core.exceptions import PrivacyBudgetWarning
from objpert_core.learning.problem.rows import Rows

PUBLIC = {"classes": [0, 1], "public_rows": 200}
MODELS = {
    "objective": (est.ObjPertLogisticRegression, PUBLIC),
    "objective without a margin": (est.ObjPertLogisticRegression, PUBLIC | {"margin": 0.0, "fit_intercept": False}),
    "objective on raw rows": (est.ObjPertLogisticRegression, PUBLIC | {"standardize": False}),
    "svc": (est.ObjPertSVC, {"classes": ["no", "yes"]}),
    "regressor": (est.ObjPertRegressor, {"target_range": (2.0, 8.0)}),
    "output": (est.OutputPerturbationLogisticRegression, PUBLIC),
    "DP-SGD, tuned": (
        est.DPSGDLogisticRegression,
        PUBLIC | {"epochs": 1, "learning_rates": [0.1, 0.2], "mean_runs": 30.0, "accountant": "rdp"},
    ),
}
NORMS = ("normalize", "clip")
UNCOVERED = ("n_iter_", "gradient_norms_", "candidates_", "learning_rate_", "random_state", "gradient_norm")


def data(d=4, n=200, seed=0):
    """Rows of every length, none and 1 among them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.choice([1e-6, 0.1, 1.0, 100.0], size=(n, 1))
    X[0], X[1], X[2] = 0.0, 0.0, X[2] / np.linalg.norm(X[2])
    X[1, 0], X[3] = 1.0, X[3] * 1e100
    return X, rng.normal(size=d)


def fit(name, seed=0, **options):
    kind, own = MODELS[name]
    X, direction = data(seed=seed)
    scores = X @ direction
    labels = np.array(own.get("classes", [0, 1]))
    return kind(**own, **options).fit(
        X, 0.1 * np.tanh(scores) if kind is est.ObjPertRegressor else labels[(scores > 0) * 1]
    )


def scores(model):
    return model.decision_function if is_classifier(model) else model.predict


# The copy


def graph(value, seen=None):
    """Every object that can be reached from `value`, by attributes, items and entries."""
    seen = {} if seen is None else seen
    if id(value) in seen:
        return seen
    seen[id(value)] = value
    parts = list(vars(value).items()) if hasattr(value, "__dict__") and not isinstance(value, type) else []
    if isinstance(value, dict):
        parts += list(value.items())
    elif isinstance(value, (list, tuple, set)):
        parts += list(enumerate(value))
    elif isinstance(value, np.ndarray) and value.dtype == object:
        parts += list(enumerate(value.tolist()))
    for name, part in parts:
        graph(name, seen)
        graph(part, seen)
    return seen


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_nothing_else_is_in_it(name):
    model = fit(name)
    copy = model.release()
    allowed = {
        "coef_",
        "intercept_",
        "n_features_in_",
        "privacy_",
        "classes_",
        "margin_",
        "center_",
        "scale_",
        "target_range_",
    }
    assert set(vars(copy)) <= allowed
    assert {item for item in vars(model) if item in allowed and vars(model)[item] is not None} == set(vars(copy))
    for value in graph(copy).values():
        assert not (isinstance(value, str) and value in UNCOVERED and value != "gradient_norm")
        assert not isinstance(value, (np.random.Generator, np.random.RandomState))
        if isinstance(value, np.ndarray):
            assert value.base is None  # shares no memory with anything that was fitted
    assert getattr(copy.privacy_, "gradient_norm", None) is None is getattr(copy.privacy_, "n_iter", None)
    told = {text for _, text, _ in pickletools.genops(pickle.dumps(copy)) if isinstance(text, str)}
    assert not told.intersection(UNCOVERED[:-1])
    assert set(vars(pickle.loads(pickle.dumps(copy)))) <= allowed
    copy.coef_[:] = 0.0
    assert model.coef_.any()
    assert not copy.privacy_.verify(copy)


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_fits_of_other_data_with_equal_coefficients_give_the_same_bytes(name):
    one, other = fit(name, seed=0), fit(name, seed=1)
    other.coef_ = one.coef_.copy()
    other.intercept_ = np.copy(one.intercept_) if np.ndim(one.intercept_) else one.intercept_
    other.center_, other.scale_ = one.center_, one.scale_
    other.privacy_ = other.privacy_.about(other.coef_, other.intercept_, vars(other))
    texts = [pickle.dumps(model.release()) for model in (one, other)]
    assert texts[0] == texts[1]


def test_a_seeded_fit_warns_and_an_unfitted_one_has_nothing_to_release():
    with pytest.warns(PrivacyBudgetWarning, match="whoever knows or guesses the seed can subtract the noise"):
        fit("objective", random_state=0).release()
    for export in (est.ObjPertLogisticRegression().release, est.ObjPertLogisticRegression().to_sklearn):
        with pytest.raises(NotFittedError):
            export()


# The pipeline


def test_the_pipeline_of_scaled_rows_takes_sparse_ones_and_that_of_centred_rows_does_not():
    X, direction = data()
    rows = sp.csr_array(X)
    for plan in (Standardisation(None, 4.0), Standardisation(4.0, None)):
        model = est.ObjPertLogisticRegression(**PUBLIC, standardize=plan).fit(X, X @ direction > 0)
        pipeline, expected = model.to_sklearn(probabilities=False), model.decision_function(X)
        steps = [type(step).__name__ for step in pipeline]
        assert steps == ["Normalizer", "StandardScaler", "Normalizer", "SGDClassifier"]
        np.testing.assert_allclose(pipeline.decision_function(X), expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(model.decision_function(rows), expected, rtol=1e-12, atol=1e-12)
        if plan.center_noise is None:
            np.testing.assert_allclose(pipeline.decision_function(rows), expected, rtol=1e-12, atol=1e-12)
        else:
            with pytest.raises(ValueError, match="Cannot center sparse matrices"):
                pipeline.decision_function(rows)


@pytest.mark.parametrize(("row_norm", "shortest"), [("clip", 0.0), ("normalize", 1e-14)])
def test_the_pipeline_has_the_same_scores_for_short_and_zero_rows(row_norm, shortest):
    model = fit("objective", row_norm=row_norm)
    lengths = np.array([0.0, 5e-324, 1e-160, 1e-140, 1e-20, 1e-14, 1e-9, 1.0])
    lengths = lengths[(lengths == 0) | (lengths >= shortest)]
    rows = np.outer(lengths, np.eye(data()[0].shape[1])[0])
    np.testing.assert_allclose(
        scores(model.to_sklearn(probabilities=False))(rows), scores(model)(rows), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("row_norm", NORMS)
def test_the_pipeline_keeps_the_safety_factor_of_many_columns(row_norm):
    d = 20_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, d)) / np.sqrt(d) * np.array([0.5, 0.999999, 1.0, 1.000001, 2.0])[:, None]
    X[2] /= np.linalg.norm(X[2])
    model = est.ObjPertLogisticRegression(**PUBLIC, lam=1.0, advanced={"row_norm": row_norm}).fit(X, [0, 1, 0, 1, 0])
    model.coef_ = 1e3 * rng.normal(size=(1, d)) / np.sqrt(d)
    expected = Rows(X, row_norm).margins(model.coef_[0]) + model.intercept_
    np.testing.assert_allclose(model.to_sklearn().decision_function(X), expected, rtol=1e-12, atol=1e-12)
