"""A private linear model as a pipeline of scikit-learn's own parts, which other tools read (skops, ONNX).

Dividing a row by its norm is a `Normalizer`. Clipping its norm at 1 is no part of scikit-learn, but it is made of two
normalisers. With r = √(‖x‖² + c²), c so small that it does not count where r > 1, and s the safety factor of `Rows`,

    (x, c)  →  (x, c)/r           by the norm "l2",
    (x/r, 1/r, 1/s)  →  x·min(1, s/r)   by the norm "max", whose largest entry is 1/r or 1/s, as |xⱼ| ≤ r and s < 1.

The constants come from `PolynomialFeatures` of degree 1, which puts a 1 in front, and a `StandardScaler`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC

from objpert_core._validation import FloatArray
from objpert_core.learning.problem.rows import safety_factor

_SMALL = 2.0**-30  # c: at r = 1 it adds 2⁻⁶¹ to the norm, and its square is a number even in single precision


def as_pipeline(
    coef: FloatArray,
    intercept: Any,
    row_norm: str,
    *,
    classes: np.ndarray | None = None,
    probabilities: bool = False,
    feature_names: np.ndarray | None = None,
) -> Pipeline:
    """Build the pipeline whose scores are x̃ᵀcoef + intercept.

    Parameters
    ----------
    coef : ndarray of d numbers
    intercept : float or ndarray of one number
    row_norm : {"normalize", "clip"}
    classes : ndarray of two labels, optional
        A regressor has none.
    probabilities : bool
        Whether the logistic function of a score is a probability.
    feature_names : ndarray of str, optional
        For the first step to compare columns with.

    Returns
    -------
    Pipeline

    Examples
    --------
    >>> pipeline = as_pipeline(np.array([1.0, 2.0]), 0.5, "clip")
    >>> pipeline.predict([[0.3, 0.4], [30.0, 40.0]]).round(12).tolist()
    [1.6, 2.7]
    """
    weights = coef.ravel().astype(np.float64)
    d = len(weights)
    if row_norm == "normalize":
        steps = [("row_norm", Normalizer().fit(np.zeros((1, d))))]
        weights = weights * safety_factor(d)
    else:
        steps = _clipping(d)
        weights = np.concatenate([np.zeros(2), weights])
    if feature_names is not None:
        steps[0][1].feature_names_in_ = np.array(feature_names, dtype=object)
    return Pipeline([*steps, ("linear", _linear(weights, intercept, classes, probabilities))])


def _clipping(d: int) -> list[tuple[str, Any]]:
    """The steps that make (…, x·min(1, s/‖x‖)) of x, with two constants in front."""
    return [
        ("with_small", _one_in_front(d)),
        ("small", _times(d + 1, {0: _SMALL})),
        ("by_length", Normalizer().fit(np.zeros((1, d + 1)))),
        ("with_one", _one_in_front(d + 1)),
        ("one", _times(d + 2, {0: 1 / safety_factor(d), 1: 1 / _SMALL})),
        ("by_largest", Normalizer("max").fit(np.zeros((1, d + 2)))),
    ]


def _one_in_front(columns: int) -> PolynomialFeatures:
    return PolynomialFeatures(1).fit(np.zeros((1, columns)))


def _times(columns: int, factors: dict[int, float]) -> StandardScaler:
    """What multiplies some columns by a number: a scaler that was never shown any data."""
    scaler = StandardScaler(with_mean=False).fit(np.zeros((1, columns)))
    for column, factor in factors.items():
        scaler.scale_[column] = 1 / factor
    scaler.var_ = scaler.scale_**2
    return scaler


def _linear(weights: FloatArray, intercept: Any, classes: np.ndarray | None, probabilities: bool) -> Any:
    """A fitted linear model of scikit-learn's with these coefficients."""
    model: Any
    if classes is None:
        model = LinearRegression()
        model.coef_, model.intercept_ = weights, np.float64(np.ravel(intercept)[0])
    else:
        model = LogisticRegression() if probabilities else LinearSVC()
        model.coef_, model.intercept_ = weights.reshape(1, -1), np.array(np.ravel(intercept), dtype=np.float64)
        model.classes_ = np.array(classes)
    model.n_features_in_ = len(weights)
    return model
