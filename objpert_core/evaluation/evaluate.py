"""Scores of a model on test rows, released once with noise; and what fit and scores cost together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.pipeline import Pipeline

from objpert_core._validation import FloatArray, IntArray, choice, in_open_unit, positive, positive_integer
from objpert_core.accounting import ADD_REMOVE, Gaussian, calibrate_gaussian
from objpert_core.accounting.mechanisms.base import ADJACENCIES
from objpert_core.blocks import Blocks, with_targets
from objpert_core.evaluation import classes, numbers
from objpert_core.evaluation.evaluation import Evaluation, counts_sha256
from objpert_core.learning import (
    EvaluationCertificate,
    NoiseSource,
    PrivacyCertificate,
    TogetherCertificate,
    noise_source,
)
from objpert_core.learning.certificates.as_given import AS_GIVEN
from objpert_core.learning.certificates.evaluated import (
    BY_COIN,
    SPLITS,
    WHOLE,
    counts_sensitivity,
    disagreement,
    fingerprint,
)
from objpert_core.learning.noise import with_noise
from objpert_core.learning.problem.rows import each_row_by_itself


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    epsilon: float = 1.0,
    delta: float = 1e-5,
    *,
    largest_error: float | None = None,
    level: float = 0.95,
    adjacency: str = ADD_REMOVE,
    rows_per_person: int = 1,
    random_state: Any = None,
) -> Any:
    """Score a released model on test rows, with (ε, δ)-differential privacy for the people in these rows.

    One release answers everything: the number of rows in each cell, with lattice noise. A cell is a bin of the score
    and a class, for more than two classes a pair of class and predicted class, for a regression a bin of the error. All
    scores and intervals are computed from these counts and cost nothing more.

    The model's own promise is not touched. On rows that `split_by_coin` put aside, fit and evaluation cost the larger
    of both budgets (`together`). On rows that the model was trained on, the two budgets are composed.

    Parameters
    ----------
    model : fitted classifier or regressor, or a pipeline
        A classifier of two classes is scored by `predict_proba` where it has one, else by `decision_function`. That
        another library's model scores each row by itself, to the last digit, is taken on trust.
    X : array-like, sparse matrix, data frame, `Blocks` or Dask collection, shape (n, d)
    y : array-like, shape (n,)
        Left out where `X` is `Blocks`. Labels among the model's ``classes_``, or numbers.
    epsilon, delta : float
        The budget of this release.
    largest_error : float > 0
        For a regression, and only there: larger errors count as this number. A public number, in the target's units.
    level : float
        The level of the intervals; another level later costs nothing (`Evaluation.at_level`).
    adjacency : {"add/remove one row", "replace one row"}
    rows_per_person : int
        How many rows of one person the promise covers together.
    random_state : None, int, numpy RandomState or Generator
        None takes the noise from the operating system. A seed is for teaching and tests: the certificate then says so.

    Returns
    -------
    TwoClasses, ManyClasses or Numbers
        An `Evaluation` with its `certificate`.

    Raises
    ------
    ValueError
        For a label that the model does not know, or a target that is no number; nothing is released then, and no
        noise was drawn. The promise does not cover the fact that there was such a row.

    Examples
    --------
    >>> from objpert_core.estimators import ObjPertLogisticRegression
    >>> from objpert_core.evaluation import split_by_coin, together
    >>> X = np.linspace([-1.0, 1.0], [1.0, 1.0], 5000)
    >>> y = (X[:, 0] > 0).astype(int)
    >>> X_train, X_test, y_train, y_test = split_by_coin(X, y, test_share=0.3, random_state=0)
    >>> model = ObjPertLogisticRegression(classes=[0, 1], public_rows=3500, random_state=0).fit(X_train, y_train)
    >>> scores = evaluate(model, X_test, y_test, epsilon=1.0, random_state=0)
    >>> scores.accuracy().low > 0.9
    True
    >>> together(model.privacy_, scores.certificate).epsilon
    1.0
    """
    in_open_unit("level", level)
    mechanism = _mechanism(epsilon, delta, adjacency, rows_per_person)
    source = noise_source(random_state)
    X, y = with_targets(X, y)
    if isinstance(X, Blocks) and not len(y):
        X = np.empty((0, 1))
    own, cells, of = _cells(model, X, y, largest_error, source)
    exact = np.bincount(cells, minlength=own["cells"]).astype(np.int64)
    counts = tuple(with_noise(exact, source.rounded_normal(mechanism.sigma / WHOLE, own["cells"])).tolist())
    certificate = EvaluationCertificate.from_mechanism(
        mechanism,
        epsilon=float(epsilon),
        delta=float(delta),
        accountant="profile",
        row_norm=AS_GIVEN,
        intercept_scaling=0.0,
        **source.provenance,
        coefficients_sha256=fingerprint(model[-1] if isinstance(model, Pipeline) else model),
        rows_per_person=int(rows_per_person),
        cells=own["cells"],
        counts_sha256=counts_sha256(counts),
    )
    return own["kind"](counts, certificate, level=float(level), **of)


def together(
    fit: PrivacyCertificate, evaluation: EvaluationCertificate | Evaluation, split: str = BY_COIN
) -> TogetherCertificate:
    """Certify a fit and the evaluation of its model as one release.

    `ValueError` if one of the certificates does not verify, or if they are about different models or neighbours.

    Parameters
    ----------
    fit : PrivacyCertificate
        The model's `privacy_`.
    evaluation : EvaluationCertificate or Evaluation
    split : {"coin", "same rows"}
        "coin": `split_by_coin` told training and test rows apart, and all rows of a person are in one part; fit and
        evaluation cost the larger of the two budgets (docs/theorems.md, T49). **This is taken on trust.** "same rows":
        any other way, training rows included; the budgets are composed, and the δs add up.
    """
    choice("split", split, SPLITS)
    own = evaluation.certificate if isinstance(evaluation, Evaluation) else evaluation
    if not isinstance(fit, PrivacyCertificate):
        raise ValueError(f"fit must be a certificate, privacy_ of a fitted model, got a {type(fit).__name__}")
    if problem := disagreement(fit, own):
        raise ValueError(problem)
    return TogetherCertificate.of(fit, own, split)


def _mechanism(epsilon: float, delta: float, adjacency: str, rows_per_person: int) -> Gaussian:
    """The noise on counts that keeps the promise."""
    sensitivity = counts_sensitivity(choice("adjacency", adjacency, ADJACENCIES))
    rows = positive_integer("rows_per_person", rows_per_person)
    sigma = calibrate_gaussian(positive("epsilon", epsilon), in_open_unit("delta", delta), rows * sensitivity).sigma
    return Gaussian(sigma, sensitivity, adjacency=adjacency)


def _cells(
    model: Any, X: Any, y: Any, largest_error: float | None, source: NoiseSource
) -> tuple[dict[str, Any], IntArray, dict[str, Any]]:
    """The kind of evaluation with its number of cells, the cell of every row, and the kind's own fields."""
    if not hasattr(model, "predict"):
        raise ValueError(f"model must be a fitted classifier or regressor, got a {type(model).__name__}")
    if not hasattr(model, "classes_"):
        return _by_error(model, X, y, largest_error, source)
    if largest_error is not None:
        raise ValueError(f"largest_error must be None for a classifier, got {largest_error!r}")
    known = np.asarray(model.classes_)
    true = _places(known, y)
    names = {"classes": tuple(map(str, known.tolist()))}
    if len(known) != 2:
        predicted = _places(known, _asked(model.predict, X, known[:0]), "the model's predictions")
        _as_many(true, predicted)
        own = {"kind": classes.ManyClasses, "cells": len(known) ** 2}
        return own, true * len(known) + predicted, names
    scores = _log_odds(model, X)
    _as_many(true, scores)
    return {"kind": classes.TwoClasses, "cells": 2 * classes.BINS}, true * classes.BINS + classes.bins_of(scores), names


def _by_error(
    model: Any, X: Any, y: Any, largest_error: float | None, source: NoiseSource
) -> tuple[dict[str, Any], IntArray, dict[str, Any]]:
    if largest_error is None:
        raise ValueError(
            "largest_error must be a number > 0, beyond which errors are cut, where the model is no fitted classifier, "
            "got None"
        )
    largest = positive("largest_error", largest_error)
    targets = _finite("y", y)
    predicted = _finite("the model's predictions", _asked(model.predict, X, np.empty(0)))
    _as_many(targets, predicted)
    cells = numbers.cells_of(targets - predicted, largest, source)
    return {"kind": numbers.Numbers, "cells": numbers.CELLS}, cells, {"largest_error": largest}


def _log_odds(model: Any, X: Any) -> FloatArray:
    """Log-odds of the second class."""
    if hasattr(model, "predict_proba"):
        with np.errstate(divide="ignore"):
            return np.asarray(logit(_probabilities(_asked(model.predict_proba, X, np.empty((0, 2))))))
    if not hasattr(model, "decision_function"):
        raise ValueError(f"model must have predict_proba or decision_function, got a {type(model).__name__}")
    return _finite("the model's scores", _asked(model.decision_function, X, np.empty(0)))


def _probabilities(both: Any) -> FloatArray:
    second = np.asarray(both, dtype=np.float64)[:, 1]
    if not ((second >= 0) & (second <= 1)).all():
        raise ValueError("the model's probabilities must be numbers from 0 to 1")
    return second


def _finite(name: str, values: Any) -> FloatArray:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iufb" or not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite numbers, one for each row")
    return array.astype(np.float64)


def _asked(answer: Callable[[Any], Any], X: Any, nothing: np.ndarray) -> Any:
    """What a model answers for rows; `nothing` where there are none, which a model might refuse: coins may do that."""
    rows = 1 if isinstance(X, Blocks) else X.shape[0] if hasattr(X, "shape") else len(X)
    with each_row_by_itself():
        return answer(X) if rows else nothing


def _places(known: np.ndarray, y: Any, name: str = "y") -> IntArray:
    """The place of every label among the classes; `ValueError` for a label that is none of them."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"{name} must have one label for each row, got an array of shape {labels.shape}")
    found = labels[:, None] == known[None, :]
    if found.shape != (len(labels), len(known)) or not found.any(axis=1).all():
        raise ValueError(f"{name} must have labels among the model's classes, {known.tolist()!r}, and has another one")
    return np.asarray(found.argmax(axis=1))


def _as_many(targets: Any, scores: Any) -> None:
    if len(targets) != len(scores):
        raise ValueError(f"y must have one entry for each row of X, got {len(targets)} for {len(scores)} rows")
