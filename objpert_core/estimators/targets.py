"""The common ground of regressors: targets in public units, coefficients in the units of the targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from objpert_core._validation import FloatArray, finite, length
from objpert_core.blocks import with_targets
from objpert_core.estimators.base import LinearModel
from objpert_core.estimators.constraints import Constraint, or_none, range_argument
from objpert_core.estimators.scoring import NumberScores
from objpert_core.learning.release import Release


class Regression(NumberScores, LinearModel):
    """A linear model of numbers."""

    def _range(self) -> tuple[float, float] | None:
        """The public range of the targets, which predictions are cut to; None where none is known."""
        raise NotImplementedError(f"{type(self).__name__} must say what range its targets have")

    def _record(self, release: Release[Any]) -> None:
        ends = self._range()
        self.target_range_ = None if ends is None else np.array(ends, dtype=np.float64)
        super()._record(release)

    def _record_coefficients(self, coefficients: FloatArray, intercept: FloatArray) -> None:
        self.coef_ = coefficients.copy()
        self.intercept_ = float(intercept[0])

    def _encoded(self, y: np.ndarray) -> FloatArray:
        with np.errstate(over="ignore"):  # of wider floats: a warning would tell of the row
            return y.astype(np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on the 200 rows scikit-learn tries: privacy hides any 200 rows
        return tags


class ScaledTargets(Regression):
    """A linear model that is fitted to (y − target_offset)/target_scale."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "target_offset": finite,
        "target_scale": length,
        "target_range": or_none(range_argument),
    }

    def __init__(self, *, target_offset: float, target_scale: float, target_range: Any, **shared: Any) -> None:
        super().__init__(**shared)
        self.target_offset = target_offset
        self.target_scale = target_scale
        self.target_range = target_range

    def _check_together(self, **options: Any) -> None:
        super()._check_together(**options)
        for name, default in (("target_offset", 0.0), ("target_scale", 1.0)):
            if self.target_range is not None and (given := getattr(self, name)) != default:
                raise ValueError(f"{name} must be left out where target_range is given, which decides it, got {given}")

    def _range(self) -> tuple[float, float] | None:
        return range_argument("target_range", self.target_range) if self.target_range is not None else None

    @property
    def _units(self) -> tuple[float, float]:
        """The offset and the scale of the targets: the middle of their range and half its width, where it is known."""
        if (ends := self._range()) is None:
            return float(self.target_offset), float(self.target_scale)
        low, high = ends
        return low / 2 + high / 2, high / 2 - low / 2

    def _encoded(self, y: np.ndarray) -> FloatArray:
        """(y − target_offset)/target_scale; an overflow is refused like any other infinity."""
        offset, scale = self._units
        with np.errstate(over="ignore"):
            return (super()._encoded(y) - offset) / scale

    def _record_coefficients(self, coefficients: FloatArray, intercept: FloatArray) -> None:
        offset, scale = self._units
        self.coef_ = scale * coefficients
        self.intercept_ = offset + float(scale * intercept[0])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R², as scikit-learn's regressors have it; `y` is left out where `X` is `Blocks`."""
        return float(super().score(*with_targets(X, y), sample_weight))
