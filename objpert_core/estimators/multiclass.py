"""Classifiers of more than two classes: one model for each class, which tells it from all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from objpert_core._validation import FloatArray
from objpert_core.estimators.base import LinearClassifier, check_known, refuse_other_type
from objpert_core.estimators.constraints import Constraint, several_labels
from objpert_core.learning.screening import labels_as_rows


class SeveralClasses(LinearClassifier):
    """A linear classifier that learns several rows of targets at once, one row for each class."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"classes": several_labels}

    def _encoded(self, y: np.ndarray) -> FloatArray:
        """As `LinearClassifier` for two classes; for K > 2 an array (K, n): +1.0 where a row is of the class."""
        classes = several_labels("classes", self.classes)
        if classes is None:
            check_classification_targets(y)
            classes = np.unique(y)
        if len(classes) <= 2:
            return super()._encoded(y)
        self.classes_ = classes
        if self._releases:
            refuse_other_type(y, classes)
            return labels_as_rows(y, classes)
        check_classification_targets(y)
        check_known(np.unique(y), classes)
        return np.where(y == classes[:, None], 1.0, -1.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags
