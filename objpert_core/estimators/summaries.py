"""Standard errors, intervals and p-values of a private model's coefficients, as statsmodels names them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd
from scipy.linalg import block_diag
from scipy.stats import chi2, norm
from sklearn.utils.validation import check_is_fitted

from objpert_core._validation import FloatArray, choice, in_open_unit
from objpert_core.accounting import IntervalNoise
from objpert_core.learning.intervals.estimates import Estimates, Noises, estimate
from objpert_core.learning.steps.curvature import Curvature, curvature_noise
from objpert_core.learning.steps.ranges import Ranges

TOGETHER = ("each", "bonferroni", "simultaneous")
"""Of which intervals together the level is: of each by itself, of d, or of those of all linear combinations."""


CAUTION = (
    "Effects are strong for this much noise: of each interval the end farther from 0 is rough, and may be much too "
    "near or too far."
)
"""What `summary` says beside such intervals, by released numbers alone."""


class Scaler(Protocol):
    """What maps columns to those of a fit by public ranges: `PublicRangeScaler`, `TableSchema`."""

    def half_widths(self, features: int) -> FloatArray:
        """By what a coefficient is divided in a column's own units, shape (features,)."""
        ...


@dataclass(frozen=True)
class Summary:
    """The coefficients of a fitted or released classifier of two classes, in a scaler's units, with their errors."""

    model: Any
    scaler: Scaler | None = None

    def table(self, level: float, together: str) -> pd.DataFrame:
        """See `ClassScores.summary`."""
        low, high = self.ends(level, together).T
        tail = f"{(1 - level) / 2:.6g}", f"{(1 + level) / 2:.6g}"
        coef, errors = self.coefficients, self.errors
        columns = {
            "coef": coef,
            "std err": errors,
            "z": coef / errors,
            "P>|z|": Summary(self.model).pvalues,
            f"[{tail[0]}": low,
            f"{tail[1]}]": high,
        }
        table = pd.DataFrame(columns, index=pd.Index(self.names))
        table.attrs["caution"] = CAUTION if self._found.rough(self._reach(level, together)) else None
        return table

    def ends(self, level: float, together: str) -> FloatArray:
        """Lower and upper ends of the intervals, shape (d, 2)."""
        reach = self._reach(level, together)
        return np.asarray(self._found.ends(reach)[: len(self._units)] / self._units[:, None])

    @property
    def coefficients(self) -> FloatArray:
        """Without the intercept, shape (d,)."""
        return np.asarray(self._found.theta[: len(self._units)] / self._units)

    @property
    def errors(self) -> FloatArray:
        """Their standard errors, shape (d,)."""
        return np.asarray(self._found.errors[: len(self._units)] / self._units)

    @property
    def pvalues(self) -> FloatArray:
        """Their two-sided p-values, shape (d,), each by itself."""
        return np.asarray(2 * norm.sf(np.abs(self.coefficients / self.errors)))

    @property
    def names(self) -> list[str]:
        """The features' names; x0, x1, … where they have none."""
        own = getattr(self.model, "feature_names_in_", getattr(self.scaler, "feature_names", None))
        return [f"x{j}" for j in range(self.model.n_features_in_)] if own is None else list(own)

    def _reach(self, level: float, together: str) -> float:
        """By how many standard errors an interval reaches to either side, but for strong effects."""
        outside, features = 1 - in_open_unit("level", level), self.model.n_features_in_
        if choice("together", together, TOGETHER) == "simultaneous":
            return float(np.sqrt(chi2.isf(outside, features)))
        return float(norm.isf(outside / 2 / (features if together == "bonferroni" else 1)))

    @cached_property
    def _units(self) -> FloatArray:
        features, ranges = self.model.n_features_in_, self.model.feature_ranges_
        units = np.ones(features) if self.scaler is None else self.scaler.half_widths(features)
        return units if ranges is None else units * Ranges(*ranges).half_widths

    @cached_property
    def _found(self) -> Estimates:
        if self.model.pieces_ is not None:
            raise ValueError("a summary is of a linear model: effects of an additive one, and bands, stand in shapes_")
        return self.among(np.eye(self.model.coef_.shape[-1]))

    def among(self, basis: FloatArray) -> Estimates:
        """The estimates of coefficients in a basis, of shape (d, r) with orthonormal columns, and of the intercept."""
        model = self.model
        check_is_fitted(model)
        if model.hessian_ is None:
            raise ValueError("intervals must be True in the fit of a model whose summary is asked for, got False")
        told: Any = getattr(model.privacy_, "fit_certificate", model.privacy_)  # a search's has its fit's
        hessian, outer = curvature_noise(told.terms.step(IntervalNoise), told.radius)
        assert hessian is not None
        constant = told.intercept_scaling
        theta = np.append(model.coef_.ravel() @ basis, model.intercept_ / constant if constant else [])
        whole = block_diag(basis, np.eye(1 if constant else 0))
        gradients = None if model.outer_ is None else whole.T @ model.outer_ @ whole
        sums = Curvature(whole.T @ model.hessian_ @ whole, gradients)
        noises = Noises(told.lam, told.sigma, told.tau, told.sigma_out, hessian, outer, constant or 0.0)
        return estimate(theta, sums, noises)
