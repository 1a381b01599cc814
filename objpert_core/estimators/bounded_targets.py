"""The common ground of regressors by posterior draws and noisy sums: targets clipped to a public bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from objpert_core._validation import FloatArray, length
from objpert_core.estimators.constraints import Constraint
from objpert_core.estimators.former import Regression, Seed
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.posterior.certificate import RegressionCertificate
from objpert_core.learning.posterior.sums import RegressionSums, regression_sums
from objpert_core.learning.release import Release
from objpert_core.learning.solvers import Callback

STAGES = 3
"""How often a callback is called."""


class BoundedTargets(Regression):
    """A private linear regression on targets that are clipped to [−target_bound, target_bound]."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"target_bound": length}

    privacy_: RegressionCertificate

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, target_bound: float = 1.0, *, accounting: str = "tight",
        row_norm: str = "clip", fit_intercept: bool = False, intercept_scaling: float = 0.3,
        random_state: Seed = None, on_error: str = "raise",
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, row_norm=row_norm, fit_intercept=fit_intercept,
            intercept_scaling=intercept_scaling, random_state=random_state, on_error=on_error,
        )  # fmt: skip
        self.target_bound = target_bound
        self.accounting = accounting

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
        return {
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "accountant": "profile",
            "row_norm": self.row_norm,
            "intercept_scaling": self._constant,
            **source.provenance,
            "on_error": self.on_error,
            "target_bound": float(self.target_bound),
        }

    def _range(self) -> tuple[float, float]:
        return -float(self.target_bound), float(self.target_bound)

    def _record(self, release: Release[Any]) -> None:
        super()._record(release)
        self.n_iter_ = 1


def tell(callback: Callback | None, stage: int) -> None:
    """Call a callback after a stage; the callback learns nothing of the data."""
    if callback is not None:
        callback(stage, 0.0)
