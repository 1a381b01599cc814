"""The common ground of regressors by posterior draws and noisy sums: targets clipped to a public bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from objpert_core._validation import FloatArray, length
from objpert_core.estimators.base import LinearModel
from objpert_core.estimators.constraints import Constraint
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.posterior.certificate import RegressionCertificate
from objpert_core.learning.posterior.sums import RegressionSums, regression_sums
from objpert_core.learning.release import Release
from objpert_core.learning.solvers import Callback

STAGES = 3
"""How often a callback is called."""


class BoundedTargets(RegressorMixin, LinearModel):
    """A private linear regression on targets that are clipped to [−target_bound, target_bound]."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"target_bound": length}

    privacy_: RegressionCertificate

    def __init__(self, *, target_bound: float, accounting: str, **shared: Any) -> None:
        super().__init__(**shared)
        self.target_bound = target_bound
        self.accounting = accounting

    def _encoded(self, y: np.ndarray) -> FloatArray:
        with np.errstate(over="ignore"):  # of wider floats: a warning would tell of the row
            return y.astype(np.float64)

    def _sums(self, X: Any, targets: FloatArray) -> RegressionSums:
        return regression_sums(
            X,
            targets,
            target_bound=float(self.target_bound),
            row_norm=self.row_norm,
            intercept_scaling=self._constant,
            on_error=self.on_error,
        )

    def _facts(self, source: NoiseSource) -> dict[str, Any]:
        """The facts of every certificate that no mechanism decides."""
        return {
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "accountant": "profile",
            "row_norm": self.row_norm,
            "intercept_scaling": self._constant,
            "noise_source": source.origin,
            "reproducible": source.reproducible,
            "on_error": self.on_error,
            "target_bound": float(self.target_bound),
        }

    def _record(self, release: Release[Any]) -> None:
        super()._record(release)
        self.n_iter_ = 1

    def _record_coefficients(self, coefficients: FloatArray, intercept: FloatArray) -> None:
        self.coef_ = coefficients.copy()
        self.intercept_ = float(intercept[0])

    def predict(self, X: Any) -> FloatArray:
        """The expected target of every row; arguments, shape and errors are as in `scores`."""
        return self.scores(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on the 200 rows scikit-learn tries: privacy hides any 200 rows
        return tags


def tell(callback: Callback | None, stage: int) -> None:
    """Call a callback after a stage; the callback learns nothing of the data."""
    if callback is not None:
        callback(stage, 0.0)
