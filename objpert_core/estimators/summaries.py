"""Standard errors, intervals and p-values of a private model's coefficients, as statsmodels names them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm
from sklearn.utils.validation import check_is_fitted

from objpert_core._validation import FloatArray, choice, in_open_unit
from objpert_core.accounting import IntervalNoise
from objpert_core.estimators.scoring import LinearScores
from objpert_core.learning.intervals.curvature import Curvature, curvature_noise
from objpert_core.learning.intervals.estimates import Estimates, Noises, estimate
from objpert_core.learning.ranges import Ranges

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


class WithSummary(LinearScores):
    """A fitted or released classifier of two classes whose coefficients may have intervals."""

    def summary(self, level: float = 0.95, *, together: str = "each", scaler: Scaler | None = None) -> Any:
        """Coefficients with standard errors, z, p-values and intervals, a row for each feature.

        Parameters
        ----------
        level : float strictly between 0 and 1, default=0.95
        together : {"each", "bonferroni", "simultaneous"}, default="each"
            Whether each interval by itself has this level, or all d together: "bonferroni" for d intervals,
            "simultaneous" for every linear combination of coefficients as well (Scheffé's χ²).
        scaler : PublicRangeScaler or TableSchema, optional
            What the rows went through before the fit: coefficients are then in the columns' own units, as they are
            with `feature_ranges`. A schema also names the features.

        Returns
        -------
        pandas.DataFrame
            Index: the features' names, or x0, x1, …; columns coef, std err, z, P>|z|, [0.025, 0.975]. Where effects
            are strong for the noise, intervals reach farther away from 0 than towards it; ``attrs["caution"]`` is then
            a sentence that says so, and otherwise None.

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError
            Before `fit`; for a model that was fitted without intervals.

        Examples
        --------
        >>> from objpert_core.estimators import ObjPertLogisticRegression
        >>> X = np.random.default_rng(0).uniform(-0.5, 0.5, size=(4000, 2))
        >>> y = np.random.default_rng(1).random(4000) < 1 / (1 + np.exp(-4 * X[:, 0]))
        >>> model = ObjPertLogisticRegression(
        ...     intervals=True, row_norm="clip", classes=[False, True], public_rows=4000, random_state=0
        ... )
        >>> table = model.fit(X, y).summary()
        >>> list(table.index), bool(table.loc["x0", "[0.025"] < 4.0 < table.loc["x0", "0.975]"])
        (['x0', 'x1'], True)
        """
        low, high = self.conf_int(level, together=together, scaler=scaler).T
        coef, errors = self._in_units(scaler)
        tail = f"{(1 - level) / 2:.6g}", f"{(1 + level) / 2:.6g}"
        table = pd.DataFrame(
            {
                "coef": coef,
                "std err": errors,
                "z": coef / errors,
                "P>|z|": self.pvalues,
                f"[{tail[0]}": low,
                f"{tail[1]}]": high,
            },
            index=pd.Index(self._names(scaler)),
        )
        table.attrs["caution"] = CAUTION if self._estimates().rough(self._reach(level, together)) else None
        return table

    def conf_int(self, level: float = 0.95, *, together: str = "each", scaler: Scaler | None = None) -> FloatArray:
        """Lower and upper ends, shape (d, 2), without the intercept; arguments and errors as for `summary`."""
        reach, units = self._reach(level, together), self._units(scaler)
        return np.asarray(self._estimates().ends(reach)[: len(units)] / units[:, None])

    def _reach(self, level: float, together: str) -> float:
        """By how many standard errors an interval reaches to either side, but for strong effects."""
        outside, features = 1 - in_open_unit("level", level), self.n_features_in_
        if choice("together", together, TOGETHER) == "simultaneous":
            return float(np.sqrt(chi2.isf(outside, features)))
        return float(norm.isf(outside / 2 / (features if together == "bonferroni" else 1)))

    @property
    def bse(self) -> FloatArray:
        """Standard errors of the coefficients, shape (d,), in units of the rows as the model takes them."""
        return self._in_units(None)[1]

    @property
    def pvalues(self) -> FloatArray:
        """Two-sided p-values of the coefficients, shape (d,), each by itself."""
        coef, errors = self._in_units(None)
        return np.asarray(2 * norm.sf(np.abs(coef / errors)))

    def _names(self, scaler: Scaler | None) -> list[str]:
        own = getattr(self, "feature_names_in_", getattr(scaler, "feature_names", None))
        return [f"x{j}" for j in range(self.n_features_in_)] if own is None else list(own)

    def _in_units(self, scaler: Scaler | None) -> tuple[FloatArray, FloatArray]:
        found, units = self._estimates(), self._units(scaler)
        return found.theta[: len(units)] / units, found.errors[: len(units)] / units

    def _units(self, scaler: Scaler | None) -> FloatArray:
        units = np.ones(self.n_features_in_) if scaler is None else scaler.half_widths(self.n_features_in_)
        return units if self.feature_ranges_ is None else units * Ranges(*self.feature_ranges_).half_widths

    def _estimates(self) -> Estimates:
        check_is_fitted(self)
        if self.hessian_ is None:
            raise ValueError("intervals must be True in the fit of a model whose summary is asked for, got False")
        told: Any = getattr(self.privacy_, "fit_certificate", self.privacy_)  # a search's has its fit's
        hessian, outer = curvature_noise(told.terms.step(IntervalNoise), told.radius)
        assert hessian is not None
        constant = told.intercept_scaling
        theta = np.append(self.coef_.ravel(), self.intercept_ / constant if constant else [])
        noises = Noises(told.lam, told.sigma, told.tau, told.sigma_out, hessian, outer, constant or 0.0)
        return estimate(theta, Curvature(self.hessian_, self.outer_), noises)
