"""The common ground of regressors: targets in public units, coefficients in the units of the targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from objpert_core._validation import FloatArray, finite, length
from objpert_core.blocks import with_targets
from objpert_core.estimators.base import LinearModel
from objpert_core.estimators.constraints import Constraint


class Regression(RegressorMixin, LinearModel):
    """A linear model of numbers."""

    def _encoded(self, y: np.ndarray) -> FloatArray:
        with np.errstate(over="ignore"):  # of wider floats: a warning would tell of the row
            return y.astype(np.float64)

    def predict(self, X: Any) -> FloatArray:
        """The expected target of every row, in units of the targets given to `fit`.

        Arguments, shape and errors are as in `scores`.
        """
        return self.scores(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on the 200 rows scikit-learn tries: privacy hides any 200 rows
        return tags


class ScaledTargets(Regression):
    """A linear model that is fitted to (y − target_offset)/target_scale."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"target_offset": finite, "target_scale": length}

    def __init__(self, *, target_offset: float, target_scale: float, **shared: Any) -> None:
        super().__init__(**shared)
        self.target_offset = target_offset
        self.target_scale = target_scale

    def _encoded(self, y: np.ndarray) -> FloatArray:
        """(y − target_offset)/target_scale; an overflow is refused like any other infinity."""
        with np.errstate(over="ignore"):
            return (super()._encoded(y) - float(self.target_offset)) / float(self.target_scale)

    def _record_coefficients(self, coefficients: FloatArray, intercept: FloatArray) -> None:
        scale = float(self.target_scale)
        self.coef_ = scale * coefficients
        self.intercept_ = float(self.target_offset) + float(scale * intercept[0])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R², as scikit-learn's regressors have it; `y` is left out where `X` is `Blocks`."""
        return float(super().score(*with_targets(X, y), sample_weight))
