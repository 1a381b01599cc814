"""A private linear model as a pipeline of scikit-learn's own parts, which other tools read (skops, ONNX).

Dividing a row by its norm is a `Normalizer`. Clipping its norm at 1 is no part of scikit-learn, but it is made of two
normalisers. With r = √(‖x‖² + c²), c so small that it does not count where r > 1, and s the safety factor of `Rows`,

    (x, c)  →  (x, c)/r           by the norm "l2",
    (x/r, 1/r, 1/s)  →  x·min(1, s/r)   by the norm "max", whose largest entry is 1/r or 1/s, as |xⱼ| ≤ r and s < 1.

The constants come from `PolynomialFeatures` of degree 1, which puts a 1 in front, and a `StandardScaler`. Rows that are
centred and scaled go through two normalisers with a `StandardScaler` between them. Ranges of columns are a
`StandardScaler` and a `MinMaxScaler` that cuts. Answers that are cut to a range are a column: a `TruncatedSVD` of one
component makes it, a `MinMaxScaler` cuts it, and a `LinearRegression` hands it on.

Every part is one that skl2onnx converts. It takes the logarithm of a `PowerTransformer` for NaN, without a word, so the
odds of two probabilities are no difference of logarithms: `OneVsRestClassifier` divides them by their sum.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    LabelBinarizer,
    LabelEncoder,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)

from objpert_core._validation import FloatArray
from objpert_core.estimators.exported_tables import switches
from objpert_core.learning.problem.rows import safety_factor

_SMALL = 2.0**-30  # c: at r = 1 it adds 2⁻⁶¹ to the norm, and its square is a number even in single precision
_TWO = np.array([0, 1])
_NEVER = -1e4  # log-odds whose probability is 0 in double and in single precision


class Link(NamedTuple):
    """How log-odds follow from a score u: log w + log σ(k + wu) − log σ(k − u), with the margin k and the weight w."""

    margin: float
    rest_weight: float

    @property
    def is_identity(self) -> bool:
        """Whether the log-odds are the score."""
        return self.margin == 0 and self.rest_weight == 1


_LOG_ODDS = Link(0.0, 1.0)


def as_pipeline(model: Any, probabilities: Link | None) -> Pipeline:
    """Build the pipeline whose scores are those of a fitted or released model, and its probabilities by this link."""
    names = getattr(model, "feature_names_in_", None)
    if model.pieces_ is not None:
        steps, weights, intercept = switches(model)
        return _joined([*steps, *_ending(model, weights, intercept, probabilities)], names)
    coef, intercept, center, scale, ranges = (
        getattr(model, name) for name in ("coef_", "intercept_", "center_", "scale_", "feature_ranges_")
    )
    weights = (coef if coef.ndim == 2 and len(coef) > 1 else coef.ravel()).astype(np.float64)
    d = weights.shape[-1]
    if model.privacy_.row_norm == "normalize":
        steps = [("row_norm", _to_norm_1(d)), *_standardising(d, center, scale)]
        weights = weights * safety_factor(d)
    else:
        again = _standardising(d, center, scale, in_front=2)
        steps = [*_clipping(d), *again]
        weights = weights * safety_factor(d) if again else weights
        weights = np.concatenate([np.zeros((*weights.shape[:-1], 2)), weights], axis=-1)
    if ranges is not None:
        steps = [*_cutting(ranges), *steps]
    return _joined([*steps, *_ending(model, weights, intercept, probabilities)], names)


def ranges_as_pipeline(ranges: FloatArray, feature_names: np.ndarray | None = None) -> Pipeline:
    """Build the pipeline that maps ranges, shape (2, d), to [−1, 1] and cuts what is beyond."""
    return _joined(_cutting(ranges), feature_names)


def _joined(steps: list[tuple[str, Any]], feature_names: np.ndarray | None) -> Pipeline:
    """The steps, of which the first checks the columns' names."""
    if feature_names is not None:
        steps[0][1].feature_names_in_ = np.array(feature_names, dtype=object)
    for _, step in steps:
        if hasattr(step, "set_output"):  # between the steps go arrays, whatever scikit-learn is told in general
            step.set_output(transform="default")
    return Pipeline(steps)


def _ending(model: Any, weights: FloatArray, intercept: Any, probabilities: Link | None) -> list[tuple[str, Any]]:
    """The linear model, and a step that cuts its answers where there is a range of targets."""
    target_range = getattr(model, "target_range_", None)
    if target_range is None:
        return [("linear", _linear(weights, intercept, getattr(model, "classes_", None), probabilities))]
    return _cut_answers(weights, float(intercept), target_range)


def _to_norm_1(columns: int) -> Normalizer:
    return Normalizer().fit(np.zeros((1, columns)))


def _cutting(ranges: FloatArray) -> list[tuple[str, Any]]:
    d = ranges.shape[1]
    scaler = StandardScaler().fit(np.zeros((1, d)))
    low, high = ranges.astype(np.float64) / 2
    scaler.mean_, scaler.scale_ = low + high, high - low
    scaler.var_ = scaler.scale_**2
    ends = np.repeat([[-1.0], [1.0]], d, axis=1)
    return [("ranges", scaler), ("cut", MinMaxScaler(feature_range=(-1, 1), clip=True).fit(ends))]


def _cut_answers(weights: FloatArray, intercept: float, target_range: FloatArray) -> list[tuple[str, Any]]:
    linear = TruncatedSVD(1)
    linear.components_, linear.n_features_in_ = weights[None], weights.size
    low, high = target_range.tolist()
    cut = MinMaxScaler(feature_range=(low, high), clip=True).fit([[low], [high]])
    cut.scale_, cut.min_ = np.ones(1), np.array([intercept])
    return [("linear", linear), ("cut_answers", cut), ("answer", _linear(np.ones(1), 0.0, None, None))]


def _standardising(
    d: int, center: FloatArray | None, scale: FloatArray | None, *, in_front: int = 0
) -> list[tuple[str, Any]]:
    """The steps that centre and scale; constants that stand in front of the columns become 0."""
    if center is None and scale is None:
        return []
    scaler = StandardScaler(with_mean=center is not None, with_std=scale is not None or in_front > 0)
    scaler.fit(np.zeros((1, in_front + d)))
    if center is not None:
        scaler.mean_ = np.concatenate([np.zeros(in_front), center])
    if scaler.with_std:
        divisors = np.ones(d) if scale is None else 1 / scale
        scaler.scale_ = np.concatenate([np.full(in_front, np.inf), divisors])
        scaler.var_ = scaler.scale_**2
    return [("standardise", scaler), ("row_norm_again", _to_norm_1(in_front + d))]


def _clipping(d: int) -> list[tuple[str, Any]]:
    return [
        ("with_small", _one_in_front(d)),
        ("small", _times(d + 1, {0: _SMALL})),
        ("by_length", _to_norm_1(d + 1)),
        ("with_one", _one_in_front(d + 1)),
        ("one", _times(d + 2, {0: 1 / safety_factor(d), 1: 1 / _SMALL})),
        ("by_largest", Normalizer("max").fit(np.zeros((1, d + 2)))),
    ]


def _one_in_front(columns: int) -> PolynomialFeatures:
    return PolynomialFeatures(1).fit(np.zeros((1, columns)))


def _times(columns: int, factors: dict[int, float]) -> StandardScaler:
    """A scaler that multiplies some columns by a number, and was never shown any data."""
    scaler = StandardScaler(with_mean=False).fit(np.zeros((1, columns)))
    for column, factor in factors.items():
        scaler.scale_[column] = 1 / factor
    scaler.var_ = scaler.scale_**2
    return scaler


def _linear(weights: FloatArray, intercept: Any, classes: np.ndarray | None, link: Link | None) -> Any:
    model: Any
    if link is not None and weights.ndim == 2:
        assert classes is not None
        return _one_vs_rest([_linear(*one, _TWO, link) for one in zip(weights, intercept, strict=True)], classes)
    if link is not None and not link.is_identity:
        assert classes is not None
        return _with_odds(weights, float(np.ravel(intercept)[0]), classes, link)
    if classes is None:
        model = LinearRegression()
        model.coef_, model.intercept_ = weights, np.float64(np.ravel(intercept)[0])
    else:
        model = SGDClassifier() if link is None else LogisticRegression()
        model.coef_, model.intercept_ = np.atleast_2d(weights), np.array(np.ravel(intercept), dtype=np.float64)
        model.classes_ = np.array(classes)
    model.n_features_in_ = weights.shape[-1]
    return model


def _with_odds(weights: FloatArray, intercept: float, classes: np.ndarray, link: Link) -> VotingClassifier:
    """The odds wσ(k + wu) : σ(k − u): two logistic regressions, of which `OneVsRestClassifier` takes the shares."""
    k, w = link
    rest = _linear(-weights, k - intercept, _TWO, _LOG_ODDS)
    own = _linear(w * weights, k + w * intercept, _TWO, _LOG_ODDS)
    if w != 1:
        never = _linear(0 * weights, _NEVER, _TWO, _LOG_ODDS)
        own = _vote([own, never], _TWO, weights=np.array([w, 1 - w]))
    return _vote([_one_vs_rest([rest, own], classes)], classes)


def _vote(models: list[Any], classes: np.ndarray, weights: np.ndarray | None = None) -> VotingClassifier:
    """The mean of the models' probabilities; of one model its own, and no scores of another meaning."""
    named = [(f"model_{place}", model) for place, model in enumerate(models)]
    model = VotingClassifier(named, voting="soft", weights=weights, flatten_transform=False)
    model.estimators_ = models
    model.le_ = LabelEncoder().fit(classes)
    model.classes_ = model.le_.classes_
    return model


def _one_vs_rest(models: list[Any], classes: np.ndarray) -> OneVsRestClassifier:
    """The shares that the models' probabilities have in their sum; scikit-learn has no other way to divide by it."""
    model = OneVsRestClassifier(LogisticRegression())
    model.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(classes)
    if not hasattr(model, "classes_"):  # older versions of scikit-learn read it off the binarizer
        model.classes_ = model.label_binarizer_.classes_
    model.estimators_ = models
    model.n_features_in_ = models[0].n_features_in_
    return model
