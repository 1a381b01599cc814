"""Whatever is published of a model answers as the model does: every recipe of the guides, every learner."""

import json
import pickle
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import objpert_core.estimators as est
from objpert_core.accounting import Standardisation
from objpert_core.datasets import Categories, Number, NumericTarget, SeveralValues, TableSchema, TwoValues
from objpert_core.estimators import own_table
from objpert_core.exceptions import PrivacyBudgetWarning
from tests.estimators.test_contract import CASES

RNG = np.random.default_rng(0)
NAMES = ["age", "hours", "height", "weight"]
X = RNG.normal(size=(300, 4)) * RNG.choice([0.1, 1.0, 10.0], size=(300, 1))
X = X.astype(np.float32).astype(np.float64)  # what ONNX takes in single precision is then the same
SCORES = X @ np.array([1.0, -2.0, 0.5, 1.5])
TWO, THREE = (SCORES > 0).astype(int), np.digitize(SCORES, [-1.0, 1.0])
WIDE = (-5.0, 5.0)
NUMBERS = np.clip(SCORES, *WIDE)
WIDER = Standardisation(20.0, 20.0)

plain = {"classes": [0, 1], "public_rows": 300}
several = {"classes": [0, 1, 2], "public_rows": 300}
MADE: dict[str, tuple[Callable[..., Any], dict[str, Any], Any]] = {
    "margin": (est.ObjPertLogisticRegression, plain, TWO),
    "a large margin": (est.ObjPertLogisticRegression, plain | {"margin": 6.0, "epsilon": 1e3}, TWO),
    "no margin": (est.ObjPertLogisticRegression, plain | {"margin": 0.0}, TWO),
    "clipped rows": (est.ObjPertLogisticRegression, plain | {"row_norm": "clip"}, TWO),
    "intervals": (est.ObjPertLogisticRegression, plain | {"row_norm": "clip", "intervals": True, "epsilon": 20.0}, TWO),
    "standardised": (est.ObjPertLogisticRegression, plain | {"standardize": WIDER}, TWO),
    "ranges": (est.ObjPertLogisticRegression, plain | {"feature_ranges": WIDE}, TWO),
    "words": (est.ObjPertLogisticRegression, plain | {"classes": ["no", "yes"]}, np.array(["no", "yes"])[TWO]),
    "truth": (est.ObjPertLogisticRegression, plain | {"classes": [False, True]}, TWO == 1),
    "signs": (est.ObjPertLogisticRegression, plain | {"classes": [-1, 1]}, 2 * TWO - 1),
    "three classes with margins": (est.ObjPertLogisticRegression, several, THREE),
    "three classes without a margin": (est.ObjPertLogisticRegression, several | {"margin": 0.0}, THREE),
    "three classes in ranges": (
        est.ObjPertLogisticRegression,
        several | {"row_norm": "clip", "feature_ranges": WIDE},
        THREE,
    ),
    "three words": (
        est.ObjPertLogisticRegression,
        several | {"classes": ["a", "b", "c"], "standardize": WIDER},
        np.array(["a", "b", "c"])[THREE],
    ),
    "svc of words": (est.ObjPertSVC, {"classes": ["no", "yes"]}, np.array(["no", "yes"])[TWO]),
    "svc on clipped rows": (est.ObjPertSVC, {"classes": [0, 1], "row_norm": "clip", "feature_ranges": WIDE}, TWO),
    "output perturbation with a margin": (est.OutputPerturbationLogisticRegression, plain | {"margin": 2.0}, TWO),
    "DP-SGD with a margin": (est.DPSGDLogisticRegression, plain | {"epochs": 1, "margin": 2.0}, TWO),
    "a range of targets": (est.ObjPertRegressor, {"target_range": WIDE}, NUMBERS),
    "a range, standardised": (
        est.ObjPertRegressor,
        {"target_range": (0.0, 1.5), "row_norm": "normalize", "standardize": WIDER, "feature_ranges": WIDE},
        NUMBERS,
    ),
    "robust in a range": (est.NoisySGDRegressor, {"target_range": (-1.0, 1.0), "radius": 9.0}, NUMBERS),
    "sco in a range": (est.ObjPertSCORegressor, {"target_range": (-1.0, 1.0), "lam": 5.0}, NUMBERS),
}


def fitted(name):
    if name not in MADE:
        return next(case for case in CASES if case.name == name).fitted
    kind, parameters, y = MADE[name]
    return kind(**parameters).fit(X, y)


def skops_file(model):
    skops = pytest.importorskip("skops.io", reason="skops is an extra of the tests")
    return skops.loads(skops.dumps(model.to_sklearn()), trusted=[])


def onnx(model, **options):
    """What a stranger has of ``to_onnx(model.to_sklearn(), rows)``: answers, probabilities, nothing else."""
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is an extra of the tests")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is an extra of the tests")
    pipeline = model.to_sklearn(**options)
    graph = skl2onnx.to_onnx(pipeline, X[:1].astype(np.float32))
    settings = runtime.SessionOptions()
    settings.log_severity_level = 3
    session = runtime.InferenceSession(graph.SerializeToString(), settings, providers=["CPUExecutionProvider"])

    def told(rows):
        return session.run(None, {"X": np.asarray(rows, dtype=np.float32)})

    def probabilities(rows):
        return np.array([list(row.values()) for row in told(rows)[1]])

    answers = SimpleNamespace(predict=lambda rows: told(rows)[0].reshape(len(rows)))
    if hasattr(pipeline, "predict_proba"):
        answers.predict_proba = probabilities
    return answers


def released(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyBudgetWarning)  # of a contract's seed
        return pickle.loads(pickle.dumps(model.release()))


def read_back(model):
    """The model in the file that ``objpert fit`` writes."""
    columns = dict.fromkeys(NAMES, Number(-9.0, 9.0))
    if is_regressor(model):
        target, labels = NumericTarget("y", *model.target_range_), None
    else:
        labels = np.array([str(label) for label in model.classes_])
        target = TwoValues("y", *labels) if len(labels) == 2 else SeveralValues("y", tuple(labels))
    ask = own_table.Ask(TableSchema(columns, target).to_json(), 1.0, 1e-5)
    text = own_table.model_json(own_table.Made(ask, released(model), tuple(NAMES))).decode()
    found = own_table.read_model(text)
    if labels is None:
        return SimpleNamespace(predict=lambda rows: np.array(found.predict(rows)))
    places = {label: place for place, label in enumerate(labels)}
    return SimpleNamespace(
        predict=lambda rows: model.classes_[[places[label] for label in found.predict(rows)]],
        predict_proba=found.predict_proba,
    )


RECIPES = {
    "release": released,
    "to_sklearn": lambda model: model.to_sklearn(),
    "to_sklearn of the release": lambda model: released(model).to_sklearn(),
    "skops": skops_file,
    "onnx": onnx,
    "onnx of the release": lambda model: onnx(released(model)),
    "onnx without probabilities": lambda model: onnx(model, probabilities=False),
    "model.json": read_back,
}
IN_FILES = (est.ObjPertLogisticRegression, est.ObjPertRegressor)
EVERY = [
    *(pytest.param(name, marks=pytest.mark.thorough) for name in MADE),
    *(pytest.param(case.name, marks=pytest.mark.slow if case.slow else pytest.mark.thorough) for case in CASES),
]


@pytest.mark.parametrize("name", EVERY)
def test_what_is_published_answers_as_the_model_does(name):
    model = fitted(name)
    size = np.linalg.norm(model.coef_)
    for recipe, publish in RECIPES.items():
        if recipe == "model.json" and (type(model) not in IN_FILES or getattr(model, "target_range_", 0) is None):
            continue
        published, loose = publish(model), 1e-6 if "onnx" in recipe else 1e-12
        tolerance = loose * (1 + size) + 1e-12
        expected, got = model.predict(X), published.predict(X)
        if not is_classifier(model):
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * scale, err_msg=recipe)
            continue
        scores = model.decision_function(X)
        two = np.sort(scores, axis=1)[:, -2:] if scores.ndim == 2 else np.column_stack([0 * scores, scores])
        clear = np.abs(two[:, 1] - two[:, 0]) > 10 * tolerance
        assert clear.mean() > 0.9
        np.testing.assert_array_equal(np.asarray(got)[clear], expected[clear], err_msg=recipe)
        if recipe != "onnx without probabilities":
            assert hasattr(published, "predict_proba") == hasattr(model, "predict_proba"), recipe
        if hasattr(published, "predict_proba"):
            chances = published.predict_proba(X)
            np.testing.assert_allclose(chances, model.predict_proba(X), rtol=0, atol=tolerance, err_msg=recipe)


def test_the_guides_recipe_for_a_pipeline_scales_the_rows_as_well():
    skops = pytest.importorskip("skops.io", reason="skops is an extra of the tests")
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is an extra of the tests")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is an extra of the tests")
    private = est.ObjPertLogisticRegression(8.0, **plain)
    pipeline = make_pipeline(est.PublicRangeScaler([-1.0, -2.0, -3.0, 0.0], 2.0), private).fit(X, TWO)
    exported = make_pipeline(*(step.to_sklearn() for step in pipeline))
    read = skops.loads(skops.dumps(exported), trusted=[])
    graph = skl2onnx.to_onnx(exported, X[:1].astype(np.float32), options={"zipmap": False})
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = pipeline.predict_proba(X)
    np.testing.assert_allclose(read.predict_proba(X), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(session.run(None, {"X": X.astype(np.float32)})[1], expected, rtol=0, atol=1e-4)
    rows = pd.DataFrame(X, columns=NAMES)
    named = est.PublicRangeScaler(-9.0, 9.0).fit(rows).to_sklearn()
    np.testing.assert_allclose(named.transform(rows), X.clip(-9, 9) / 9, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        named.transform(rows[NAMES[::-1]])
    with pytest.raises(NotFittedError):
        est.PublicRangeScaler().to_sklearn()


def test_what_onnx_cannot_say_in_double_precision_is_refused_and_not_wrong():
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is an extra of the tests")
    with pytest.raises(NotImplementedError, match="Normalization not implemented for norm 'MAX'"):
        skl2onnx.to_onnx(fitted("clipped rows").to_sklearn(), X[:1])


# Tables


@pytest.mark.parametrize("intervals", [False, True])
def test_a_model_of_a_table_is_the_same_in_single_precision_and_where_many_rows_share_a_number(intervals):
    skops = pytest.importorskip("skops.io", reason="skops is an extra of the tests")
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is an extra of the tests")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is an extra of the tests")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"gain": np.where(rng.random(5000) < 0.7, 0.0, rng.exponential(1e4, 5000)).round()})
    table["age"] = rng.integers(17, 91, 5000).astype(float)
    table["job"] = rng.choice(["cook", "smith", "None", ""], 5000)
    table.loc[::7, "age"] = np.nan
    likes = rng.random(5000) < np.where((table.gain > 0) | (table.job == "cook"), 0.9, 0.2)
    known = {"job": Categories(["cook", "smith", "None"]), "age": Number(17, 90)}
    options = {"columns": known, "classes": [False, True], "public_rows": 5000, "random_state": 0}
    model = est.ObjPertAdditiveClassifier(20.0, intervals=intervals, **options)
    rows = table.assign(gain=table.gain.astype(np.float32), age=table.age.astype(np.float32))
    expected = model.fit(table, likes).predict_proba(rows)
    assert (
        model.shapes_.query("column == 'gain'")["to"] == np.nextafter(0.0, 1.0)
    ).any()  # 0 is told from all above it
    pipeline = model.to_sklearn()
    read = skops.loads(skops.dumps(pipeline), trusted=[])
    graph = skl2onnx.to_onnx(pipeline, rows[:1], options={"zipmap": False})
    settings = runtime.SessionOptions()
    settings.log_severity_level = 3
    session = runtime.InferenceSession(graph.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    given = {name: rows[[name]].to_numpy(dtype=object if name == "job" else np.float32) for name in rows}
    np.testing.assert_allclose(read.predict_proba(table), model.predict_proba(table), rtol=0, atol=1e-12)
    np.testing.assert_allclose(session.run(None, given)[1], expected, rtol=0, atol=1e-5)


# Names of columns


def test_a_file_refuses_exchanged_columns_of_a_frame_and_takes_a_matrix_as_it_is():
    ask = own_table.Ask(
        TableSchema(dict.fromkeys(NAMES, Number(-9.0, 9.0)), TwoValues("y", "0", "1")).to_json(), 1.0, 1e-5
    )
    text = own_table.model_json(own_table.Made(ask, released(fitted("margin")), tuple(NAMES))).decode()
    found = own_table.read_model(text)
    rows = pd.DataFrame(X, columns=NAMES)
    assert found.predict(rows) == found.predict(X)
    np.testing.assert_array_equal(found.predict_proba(rows), found.predict_proba(X))
    for ask_for in (found.predict, found.predict_proba):
        with pytest.raises(ValueError, match="feature names should match"):
            ask_for(rows[NAMES[::-1]])


# Answers outside of the range


@pytest.mark.parametrize(
    ("make", "low", "high"),
    [
        (lambda: est.ObjPertRegressor(8.0, target_range=(0.0, 3.0)), 0.0, 3.0),
        (lambda: est.ObjPertSCORegressor(8.0, target_range=(0.0, 3.0), radius=9.0, lam=5.0), 0.0, 3.0),
        (lambda: est.NoisySGDRegressor(8.0, target_range=(0.0, 3.0), radius=9.0), 0.0, 3.0),
        (lambda: est.AdaSSPRegressor(8.0, target_range=(-0.01, 0.01)), -0.01, 0.01),
        (lambda: est.AdaOPSRegressor(8.0, target_range=(-0.01, 0.01)), -0.01, 0.01),
        (lambda: est.OPSPTRRegressor(8.0, target_range=(-0.01, 0.01)), -0.01, 0.01),
        (lambda: est.QOPLasso(8.0, target_range=(-0.5, 0.5)), -0.5, 0.5),
    ],
    ids=["regressor", "sco", "noisy sgd", "AdaSSP", "AdaOPS", "OPS-PTR", "lasso"],
)
def test_no_answer_lies_outside_of_the_public_range(make, low, high):
    model = make().fit(X, NUMBERS)
    model.coef_ = 100.0 * (high - low) * np.array([1.0, -1.0, 0.5, 2.0])
    scores = model.scores(X)
    assert scores.min() < low
    assert scores.max() > high
    for published in (model, released(model), model.to_sklearn(), skops_file(model)):
        np.testing.assert_allclose(published.predict(X), scores.clip(low, high), rtol=0, atol=1e-9)
    assert model.target_range_.tolist() == [low, high]


def test_answers_are_cut_to_a_range_and_not_where_none_is_known():
    known = est.ObjPertRegressor(target_range=WIDE, random_state=0).fit(X, NUMBERS)
    low, high = WIDE
    np.testing.assert_array_equal(known.predict(X), known.scores(X).clip(low, high))
    free = est.ObjPertRegressor(random_state=0).fit(X, NUMBERS / high)
    assert free.target_range_ is None
    np.testing.assert_array_equal(free.predict(X), free.scores(X))
    assert est.QOPLasso(anchor=[0.0, 1.0, 0.0, 0.0]).fit(X, NUMBERS).target_range_ is None
    for wrong in ((1.0, 1.0), (2.0, -2.0)):
        with pytest.raises(ValueError, match="half the width of target_range must be a finite number > 0"):
            est.ObjPertRegressor(target_range=wrong).fit(X, NUMBERS)
    for name in ("target_offset", "target_scale", "target_bound", "residual_bound"):
        with pytest.raises(TypeError, match=f"^ObjPertRegressor has no parameter '{name}': .*`target_range`"):
            est.ObjPertRegressor(**{name: 2.0})


def test_a_file_of_the_form_before_ranges_is_read_and_answers_as_it_did():
    ask = own_table.Ask(
        TableSchema(dict.fromkeys(NAMES, Number(-9.0, 9.0)), NumericTarget("y", *WIDE)).to_json(), 1.0, 1e-5
    )
    model = released(fitted("a range of targets"))
    values = json.loads(own_table.model_json(own_table.Made(ask, model, tuple(NAMES))))
    assert values.pop("target_range") == list(WIDE)
    found = own_table.read_model(json.dumps(values))
    np.testing.assert_array_equal(found.predict(100.0 * X), model.scores(100.0 * X))
    assert not hasattr(found, "predict_proba")
    for wrong in ([1.0, 1.0], [5.0, -5.0], [0.0], "0 to 1"):
        with pytest.raises(ValueError, match="the model's target_range must"):
            own_table.read_model(json.dumps(values | {"target_range": wrong}))
