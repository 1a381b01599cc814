"""What rows may weigh in a private fit: each row's own number, and a number for each class (docs/theorems.md, T48)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from objpert_core._validation import FloatArray, positive
from objpert_core.estimators.base import LinearClassifier
from objpert_core.estimators.cautions import warn_of_one_answer
from objpert_core.estimators.constraints import Constraint
from objpert_core.estimators.frames import as_column
from objpert_core.learning.problem.derived import members_of, weights_by_class
from objpert_core.learning.release import Release
from objpert_core.learning.screening import as_numbers, without_masks

BALANCED = "balanced"
_MANY_SPREADS = 1.8  # fewer than 4 per cent of normal numbers are beyond


def class_weights(name: str, value: Any) -> Any:
    """`value`; `ValueError` unless it is None, "balanced" or a mapping of labels to finite numbers > 0."""
    if value is None or (isinstance(value, str) and value == BALANCED):
        return value
    weights = list(value.values()) if isinstance(value, Mapping) else []
    try:
        good = bool(weights) and all(positive(name, weight) for weight in weights)
    except ValueError:
        good = False
    if not good:
        raise ValueError(f"{name} must be None, 'balanced' or a dict of labels and finite numbers > 0, got {value!r}")
    return value


def own_weights(value: Any, rows: int, *, releases: bool) -> FloatArray:
    """Each row's own weight, shape (n,); with `releases` 0 where an entry is no weight: its row counts as none."""
    column = without_masks(as_column(value))
    if not isinstance(column, np.ndarray) and np.iterable(column):
        entries = list(column)
        column = np.empty(len(entries), dtype=object)
        column[:] = entries
    if np.shape(column) != (rows,):
        raise ValueError(f"sample_weight must be one number for each of X's {rows} rows, got shape {np.shape(column)}")
    weights = np.asarray(as_numbers(column), dtype=np.float64)
    good = (weights >= 0) & (weights <= 1)
    if releases:
        return np.where(good, weights, 0.0)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(
            "sample_weight must hold numbers from 0 to 1, each by its own row alone (divide by a public maximum), got "
            f"{weights[row]:g} in row {row}"
        )
    return weights


class WeighsClasses(LinearClassifier):
    """A linear classifier whose classes may have weights: public ones, or by noisy counts that the promise pays for."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"class_weight": class_weights}

    def __init__(self, *, class_weight: Any, **shared: Any) -> None:
        super().__init__(**shared)
        self.class_weight = class_weight

    def _check_walked(self, **options: Any) -> None:
        super()._check_walked(**options)
        self._encoded(np.asarray(self.classes))  # names of classes are looked at before any row
        self._shares_of_classes()

    @property
    def _counts_classes(self) -> bool:
        return isinstance(self.class_weight, str)

    def _shares_of_classes(self) -> FloatArray | None:
        """The public weights in the order of `classes_`, the largest 1; a label that is not named weighs 1 first."""
        if self.class_weight is None or self._counts_classes:
            return None
        labels = self.classes_.tolist()
        if strangers := [label for label in self.class_weight if label not in labels]:
            raise ValueError(f"class_weight must name labels in classes={labels!r} only, got {strangers[0]!r}")
        weights = np.array([float(self.class_weight.get(label, 1.0)) for label in labels])
        return np.asarray(weights / weights.max())

    def _record(self, release: Release[Any]) -> None:
        super()._record(release)
        shares = release.published.get("class_weights_", self._shares_of_classes())
        labels = self.classes_.tolist()
        self.class_weight_ = dict(zip(labels, [1.0] * len(labels) if shares is None else shares.tolist(), strict=True))

    def warn_of_release(self) -> None:
        """Warn where the model has one answer for nearly every row."""
        if self.class_weight is None and (place := only_answer(self)) is not None:
            warn_of_one_answer(self, self.classes_.tolist()[place])

    def _weights_of_classes(self, targets: FloatArray, own: FloatArray | None) -> FloatArray | None:
        members = members_of(targets)
        if own is not None and self.classes is None and not (members & (own > 0)).any(axis=1).all():
            raise ValueError(
                "sample_weight must be above 0 for a row of every class in y, got none for one class; name all with "
                "classes= to fit all the same"
            )
        if (shares := self._shares_of_classes()) is None:
            return None
        return weights_by_class(targets, shares)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on the 50 weighted rows scikit-learn tries: privacy hides them
        return tags


def only_answer(model: Any) -> int | None:
    """The place of the class that a model of two classes gives nearly every row, by its released numbers; None where
    few directions of a row outweigh the intercept, or nothing is known of the rows' centre.

    Rows that are centred and of norm 1 have scores that are spread by ‖w‖/√d about the intercept.
    """
    if len(model.classes_) != 2 or model.center_ is None:
        return None
    spread = float(np.linalg.norm(model.coef_)) / math.sqrt(model.n_features_in_)
    intercept = float(model.intercept_[0])
    return int(intercept > 0) if abs(intercept) > _MANY_SPREADS * spread else None
