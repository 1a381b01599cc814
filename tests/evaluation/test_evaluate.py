"""An evaluation's counts are exact but for their noise, its texts come back, and nothing is released of bad rows."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import confusion_matrix, mean_absolute_error, root_mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from objpert_core.accounting import Gaussian
from objpert_core.estimators import ObjPertLogisticRegression, ObjPertRegressor, PublicRangeScaler
from objpert_core.evaluation import Evaluation, ManyClasses, Numbers, TwoClasses, evaluate, together
from objpert_core.learning import NoiseSource

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 3))
y = (X[:, 0] + 0.5 * rng.normal(size=3000) > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
WITHOUT_NOISE = {"epsilon": 1e6, "delta": 0.5}


@pytest.fixture(scope="module")
def model():
    return ObjPertLogisticRegression(classes=[0, 1], public_rows=3000, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def scores(model):
    return evaluate(model, X, y, random_state=0)


@pytest.mark.thorough
def test_counts_without_noise_are_those_of_the_model(model):
    found = evaluate(model, X, y, **WITHOUT_NOISE)
    assert sum(found.counts) == len(y)
    assert found.accuracy().value == model.score(X, y)
    assert found.confusion()["rows"].tolist() == confusion_matrix(y, model.predict(X)).ravel().tolist()
    probabilities = model.predict_proba(X)[:, 1]
    for threshold in found.roc()["threshold"].iloc[[5, 16, 30]]:
        row = found.roc().set_index("threshold").loc[threshold]
        assert row["tpr"] == pytest.approx((probabilities[y == 1] > threshold).mean())
        assert row["fpr"] == pytest.approx((probabilities[y == 0] > threshold).mean())
        assert found.recall(threshold).value == row["tpr"]
    bins = found.calibration()
    assert bins["rows"].sum() == len(y)
    inside = (probabilities > bins["from"][20]) & (probabilities <= bins["to"][20])
    assert bins["value"][20] == pytest.approx(y[inside].mean())
    shares = found.class_shares().set_index("class")["value"]
    assert shares["1"] == y.mean()
    assert found.precision().value == pytest.approx(y[model.predict(X) == 1].mean())


def test_estimates_are_inside_their_intervals_and_names_are_shown(scores):
    for name, one in scores.estimates().items():
        assert 0 <= one.low <= one.value <= one.high <= 1, name
    assert [row["score"] for row in scores.statement()] == list(scores.estimates())
    assert "95 % interval" in scores.to_markdown()
    assert r"\begin{tabular}" in scores.to_latex()
    wider = scores.at_level(0.99).accuracy()
    assert wider.high - wider.low > scores.accuracy().high - scores.accuracy().low
    assert wider.value == scores.accuracy().value


@pytest.mark.thorough
def test_many_classes_have_a_confusion_matrix():
    model = LogisticRegression().fit(X, THREE)
    found = evaluate(model, X, THREE, **WITHOUT_NOISE)
    assert isinstance(found, ManyClasses)
    assert found.confusion()["rows"].tolist() == confusion_matrix(THREE, model.predict(X)).ravel().tolist()
    assert found.accuracy().value == model.score(X, THREE)
    assert found.balanced_accuracy().value == pytest.approx(found.recalls()["value"].mean())
    assert found.verify(model)
    assert Evaluation.from_json(found.to_json()).counts == found.counts


def test_a_regression_has_errors_cut_at_the_largest():
    target = X[:, 0] + 0.3 * X[:, 1]
    model = ObjPertRegressor(target_range=(-3.0, 3.0), random_state=0).fit(X, target)
    found = evaluate(model, X, target, **WITHOUT_NOISE, largest_error=2.0, random_state=0)
    assert isinstance(found, Numbers)
    errors = np.clip(target - model.predict(X), -2.0, 2.0)
    zero = np.zeros(len(errors))
    assert found.mean_absolute_error().value == pytest.approx(mean_absolute_error(zero, errors), abs=0.005)
    assert found.mean_error().value == pytest.approx(errors.mean(), abs=0.005)
    rmse = found.root_mean_squared_error()
    assert rmse.value == pytest.approx(root_mean_squared_error(zero, errors), abs=0.01)
    assert rmse.low < rmse.value < rmse.high
    for share in (0.1, 0.5, 0.9):
        quantile = found.quantile(share)
        assert quantile.low <= np.quantile(errors, share) <= quantile.high
        assert quantile.high - quantile.low < 0.6
    small = evaluate(model, X, target, **WITHOUT_NOISE, largest_error=0.1, random_state=0)
    assert small.beyond().value == (np.abs(target - model.predict(X)) > 0.1).mean()
    assert small.histogram()["rows"].sum() == len(X)
    again = Evaluation.from_json(found.to_json())
    assert again.verify(model)
    assert again.estimates() == found.estimates()


@pytest.mark.thorough
def test_the_noise_keeps_the_promise_and_no_more(scores):
    own = scores.certificate
    assert own.rebuild().epsilon(own.delta) <= 1.0
    assert Gaussian(own.sigma * (1 - 1e-6)).epsilon(own.delta) > 1.0
    for changes, kind in (({"adjacency": "replace one row"}, np.sqrt(2)), ({"rows_per_person": 3}, 3.0)):
        other = evaluate(LogisticRegression().fit(X, y), X, y, random_state=0, **changes).certificate
        assert other.sigma / own.sigma == pytest.approx(kind, rel=1e-6)
        assert other.verify()
        assert not dataclasses.replace(other, sigma=other.sigma * 0.999).verify()


def test_texts_come_back_and_changed_counts_are_noticed(model, scores):
    again = Evaluation.from_json(scores.to_json())
    assert isinstance(again, TwoClasses)
    assert again.to_json() == scores.to_json()
    assert again.verify()
    assert again.verify(model)
    other = ObjPertLogisticRegression(classes=[0, 1], public_rows=3000, random_state=1).fit(X, y)
    assert not again.verify(other)
    assert not again.verify(3)
    better = (scores.counts[0] + 1, *scores.counts[1:])
    assert not dataclasses.replace(scores, counts=better).verify()
    assert not dataclasses.replace(scores, counts=scores.counts[:-1]).verify()


def test_a_strangers_text_is_read_or_refused(scores):
    values = json.loads(scores.to_json())
    for changes in (
        {"format": "objpert evaluation 2"},
        {"kind": "three classes"},
        {"kind": ["two classes"]},
        {"kind": "regression"},
        {"counts": values["counts"][:-1]},
        {"counts": [1.0] * 64},
        {"counts": [2**70] * 64},
        {"counts": []},
        {"classes": ["a", "a"]},
        {"classes": [0, 1]},
        {"level": 1},
        {"level": 2.0},
        {"more": 1},
        {"certificate": None},
    ):
        with pytest.raises(ValueError, match="must"):
            Evaluation.from_json(json.dumps(values | changes))
    for text in ("", "[]", "{", '{"a": 1, "a": 2}', "x" * 10_000_001):
        with pytest.raises(ValueError, match="must"):
            Evaluation.from_json(text)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"y": np.where(np.arange(3000) == 7, 2, y)}, "among the model's classes"),
        ({"y": y[:10]}, "one entry for each row"),
        ({"y": y[:, None]}, "one label for each row"),
        ({"X": np.where(np.arange(9000).reshape(3000, 3) == 5, np.nan, X)}, "NaN"),
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"delta": 1.0}, "delta must be"),
        ({"level": 1.5}, "level must be"),
        ({"adjacency": "any"}, "adjacency must be"),
        ({"rows_per_person": 0}, "rows_per_person must be"),
        ({"largest_error": 1.0}, "None for a classifier"),
        ({"model": object()}, "model must be"),
        ({"random_state": -1}, "random_state must be"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_what_cannot_be_evaluated_is_refused_before_any_noise(model, monkeypatch, changes, said):
    def no_noise(*_):
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(NoiseSource, "rounded_normal", no_noise)
    with pytest.raises(ValueError, match=said):
        evaluate(**{"model": model, "X": X, "y": y} | changes)


def test_a_regression_needs_a_largest_error_and_finite_targets():
    plain = LinearRegression().fit(X, X[:, 0])
    for target, largest, said in ((X[:, 0], None, "largest_error must"), (np.full(3000, np.inf), 1.0, "finite")):
        with pytest.raises(ValueError, match=said):
            evaluate(plain, X, target, largest_error=largest)


def test_no_rows_are_counts_of_noise(model):
    """Coins may put nobody aside, and an error would say that nobody is there."""
    for one, labels, more in (
        (model, [], {}),
        (LogisticRegression().fit(X, THREE), np.empty(0, dtype=int), {}),
        (LinearRegression().fit(X, X[:, 0]), np.empty(0), {"largest_error": 1.0}),
    ):
        found = evaluate(one, X[:0], labels, random_state=0, **more)
        assert found.verify()
        assert any(found.counts)


@pytest.mark.thorough
def test_any_model_can_be_scored():
    """Frames, sparse rows, pipelines, models without probabilities, labels that are texts."""
    frame = pd.DataFrame(X, columns=list("abc"))
    words = np.array(["no", "yes"])[y]
    plain = LogisticRegression().fit(X, words)
    piped = make_pipeline(PublicRangeScaler([-5.0] * 3, [5.0] * 3), ObjPertLogisticRegression(classes=[0, 1]))
    piped.fit(frame, y)
    for model, rows, labels in (
        (plain, X, words),
        (LinearSVC().fit(X, y), sp.csr_array(X), y),
        (piped, frame, pd.Series(y)),
    ):
        found = evaluate(model, rows, labels, **WITHOUT_NOISE)
        assert found.accuracy().value == pytest.approx(model.score(rows, labels), abs=1e-12)
        assert found.verify(model[-1] if model is piped else model)
    assert evaluate(plain, X, words).classes == ("no", "yes")


def test_a_seed_is_admitted_and_noise_is_else_the_operating_systems(model, scores):
    assert scores.certificate.reproducible
    assert evaluate(model, X, y, random_state=0).counts == scores.counts
    fresh = evaluate(model, X, y)
    assert fresh.certificate.noise_source == "operating system"
    assert fresh.counts != scores.counts


def on_a_boundary(columns, classes):
    """A model, and a row whose score is 0, or whose classes' scores are equal, but for the last digits."""
    model = ObjPertLogisticRegression(classes=list(range(classes)), standardize=False, public_rows=60, random_state=0)
    own = np.random.default_rng(columns)
    model.fit(own.normal(size=(60, columns)), np.arange(60) % classes)
    row = own.normal(size=columns)
    model.intercept_ = -np.atleast_2d(model.decision_function(row[None]))[0] + model.intercept_
    return model, row


@pytest.mark.thorough
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("columns", [11, 30, 100, 300])
def test_one_row_more_moves_one_count_by_one_and_no_other(columns, classes):
    """BLAS sums the last rows of a matrix in another order: up to three rows went to another cell."""
    model, row = on_a_boundary(columns, classes)
    for kind in (np.array, np.asfortranarray, np.float32):
        rows = kind(np.tile(row, (34, 1)))
        found = [evaluate(model, rows[:k], [0] * k, **WITHOUT_NOISE).counts for k in range(1, 34)]
        assert (np.abs(np.diff(found, axis=0)).sum(axis=1) == 1).all()


@pytest.mark.parametrize("more", [{"intervals": True}, {"feature_ranges": (-4.0, 4.0)}], ids=["intervals", "ranges"])
def test_an_evaluation_of_a_model_with_intervals_or_ranges_is_about_that_model(more):
    own = ObjPertLogisticRegression(
        classes=[0, 1], public_rows=3000, random_state=0, **more, advanced={"row_norm": "clip"}
    ).fit(X, y)
    found = evaluate(own, X, y, random_state=0)
    assert found.verify(own)
    assert together(own.privacy_, found, split="same rows").verify(own)
