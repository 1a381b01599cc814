"""Models that are safe to publish: coefficients, labels, the rule for rows and the public certificate, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.base import is_regressor

from objpert_core.estimators.scoring import ClassScores, LinearScores, NumberScores
from objpert_core.learning.steps.stated import fingerprinted

Copy = TypeVar("Copy", bound="Released")


class Released(LinearScores):
    """A released model: a fitted estimator's `release` makes it, and nothing changes it."""

    n_features_in_: int
    feature_names_in_: np.ndarray

    def fit(self, X: Any = None, y: Any = None, *args: Any, **others: Any) -> Self:
        """Do nothing: whatever the arguments, the model stays as it was released."""
        return self

    def __sklearn_clone__(self) -> Self:
        return self


class ReleasedClassifier(ClassScores, Released):
    """A released classifier."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = len(getattr(self, "classes_", ())) > 2
        return tags


class ReleasedProbabilisticClassifier(ReleasedClassifier):
    """A released classifier with probabilities, and the public margin of its loss."""

    has_probabilities = True


class ReleasedRegressor(NumberScores, Released):
    """A released regressor."""


def released(model: LinearScores, *, feature_names: bool = True) -> Released:
    """Copy what may be published of a fitted `model`; see `LinearModel.release`."""
    if is_regressor(model):
        return _filled(ReleasedRegressor(), model, feature_names)
    if not getattr(model, "has_probabilities", False):
        return _filled(ReleasedClassifier(), model, feature_names)
    found = _filled(ReleasedProbabilisticClassifier(), model, feature_names)
    found.margin_ = float(model.margin_)
    return found


def with_names(model: Copy, names: Sequence[str]) -> Copy:
    """A released copy that knows its columns' names: `predict` refuses a frame whose columns are others."""
    named = copy(model)
    named.feature_names_in_ = np.array(names, dtype=object)
    return named


def _filled(found: Copy, model: Any, feature_names: bool) -> Copy:
    """`found` with what all have; arrays are new ones, which share no memory with the model's."""
    found.coef_ = np.array(model.coef_, dtype=np.float64, order="C")
    scalar = np.ndim(model.intercept_) == 0
    found.intercept_ = float(model.intercept_) if scalar else np.array(model.intercept_, dtype=np.float64)
    for name in (*fingerprinted(), "target_range_"):
        if (values := getattr(model, name, None)) is not None:
            setattr(found, name, np.array(values, dtype=np.float64))
    found.n_features_in_ = int(model.n_features_in_)
    found.privacy_ = model.privacy_.public()
    if model.columns_ is not None:
        found.columns_ = model.columns_ if feature_names else replace(model.columns_, names=None)
    if isinstance(found, ClassScores):
        found.classes_ = np.array(model.classes_)
    if feature_names and hasattr(model, "feature_names_in_"):
        found.feature_names_in_ = np.array(model.feature_names_in_, dtype=object)
    return found
