"""The private lasso by quadratic perturbation: one noisy Gram matrix, and every penalty and every box from it."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from objpert_core._validation import FloatArray, boolean, in_open_unit, length, nonnegative, positive_integer
from objpert_core.accounting import calibrate_quadratic_perturbation, calibrate_tilt_and_bend
from objpert_core.accounting.mechanisms.base import ADJACENCIES, REPLACE_ONE
from objpert_core.estimators.cautions import CALLERS_OF_FIT
from objpert_core.estimators.constraints import Constraint, one_of, or_none
from objpert_core.estimators.documented import documented
from objpert_core.estimators.former import Regression, Seed
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.quadratic.certificate import QuadraticCertificate, row_smoothness
from objpert_core.learning.quadratic.release import LARGEST_ANCHOR, NoisyGram, noisy_gram
from objpert_core.learning.release import Release
from objpert_core.learning.solvers import Callback, SolverResult
from objpert_core.learning.solvers.lasso import LASSO_SOLVERS, BoxedLasso, solve_lasso

RESIDUAL_BOUND = 1.0
"""What residuals at the anchor are clipped to, unless told."""


_ANCHORS = f"None or an array of numbers of size at most {LARGEST_ANCHOR:g}, one a feature"
_BOXES = "None or two numbers, or arrays of numbers, the first of them nowhere above the second"


def _zero_or_length(name: str, value: Any) -> float:
    return nonnegative(name, value) and length(name, value)


def _anchor_argument(name: str, value: Any) -> FloatArray | None:
    if value is None:
        return None
    found = _numbers(value)
    if found is None or found.ndim != 1 or not (np.abs(found) <= LARGEST_ANCHOR).all():
        raise ValueError(f"{name} must be {_ANCHORS}, got {value!r}")
    return found


def _box_argument(name: str, value: Any) -> tuple[FloatArray, FloatArray] | None:
    if value is None:
        return None
    ends = [_numbers(end) for end in value] if isinstance(value, (tuple, list)) and len(value) == 2 else []
    numbers = [end for end in ends if end is not None and end.ndim <= 1]
    if len(numbers) != 2 or not _ends_of_a_box(*numbers):
        raise ValueError(f"{name} must be {_BOXES}, got {value!r}")
    return numbers[0], numbers[1]


def _ends_of_a_box(low: FloatArray, high: FloatArray) -> bool:
    alike = not (low.ndim and high.ndim) or low.shape == high.shape
    return alike and bool(np.all(low <= high) and np.all(low < np.inf) and np.all(high > -np.inf))


def _numbers(value: Any) -> FloatArray | None:
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        return None
    return found.astype(np.float64) if found.dtype.kind in "iuf" else None


def _one_a_feature(name: str, values: FloatArray, features: int) -> None:
    if values.shape != (features,):
        raise ValueError(f"{name} must have one number for each of X's {features} features, got {len(values)}")


@documented
class QOPLasso(Regression):
    """The lasso, least squares or least squares in a box under (ε, δ)-differential privacy, by quadratic perturbation.

    The problem is to minimise ½Σ(yᵢ − x̃ᵢᵀθ)² + α‖θ‖₁ over the box, a sum and not a mean: α is n times scikit-learn's
    `alpha`. The fit releases the Gram matrix with a Wishart matrix added, B = Σx̃x̃ᵀ + σ²W, and the gradient at a
    public anchor θ̃ with normal noise. The fit solves the problem from these two alone, so a solution for another α or
    another box costs no more privacy (`path`, `resolve`). The noise pulls towards the anchor, as a ridge of about mσ²
    would; the part of this pull that is known beforehand is taken off (`debias`).

    Parameters
    ----------
    epsilon : float, default=1.0
        ε > 0 of one fit and of all problems solved from it together; `adjacency` says which data sets are neighbours.
    %(delta)s
    alpha : float >= 0, default=1.0
        α, in units of the sum of losses.
    anchor : array of shape (n_features,) or None, default=None
        θ̃, a public guess of the coefficients: from other data, or a model published before. None is 0.
    residual_bound : float >= 0 or None, default=None
        R, a public number: residuals y − x̃ᵀθ̃ at the anchor are clipped to R, and the gradient's noise is proportional
        to R. Take R from what is known of the targets in general. None takes 1.0, which suits targets of that size. 0,
        for an anchor that fits every record that can occur, leaves out the gradient and its noise: **labels are then
        not used**, a warning says so, and only the penalty or the box leads away from the anchor.
    bounds : pair of numbers or of arrays of shape (n_features,), or None, default=None
        The box: every coefficient is kept between the first and the second. None sets no bounds.
    degrees_of_freedom : int or None, default=None
        m >= D + 1 of the Wishart matrix, for D coefficients with the intercept. None takes the m of least noise.
    adjacency : {"replace one row", "add/remove one row"}, default="replace one row"
        Whether neighbouring data sets differ by one row replaced by another, or by one row more or less.
    tilt_share : float strictly between 0 and 1, default=0.5
        The gradient's part of the squared ratio of sensitivity to noise that a Gaussian mechanism may have at (ε, δ).
        The Gram matrix gets the rest.
    debias : bool, default=True
        Take the mean of the Wishart matrix, mσ²·I, off B before a problem is solved, as far as B's least eigenvalue
        allows. The step looks at the release only, and costs no privacy.
    %(clipped_rows)s
    fit_intercept : bool, default=False
    intercept_scaling : float, default=0.3
        The constant s > 0 appended to every row when an intercept is fitted (scikit-learn's name). A row's squared norm
        becomes 1 + s², and noise grows with it. The intercept's anchor is 0, and the intercept is neither penalised nor
        bounded.
    %(random_state)s
    solver : {"coordinate-descent", "davis-yin"}, default="coordinate-descent"
        See `objpert_core.learning.solvers.lasso`. Both go as near to the minimum as doubles allow; the choice does not
        touch privacy.
    %(on_error_by_row)s

    Attributes
    ----------
    coef_ : ndarray, shape (n_features_in_,)
        Private. Applies to rows after `row_norm`, not to raw ones.
    intercept_ : float
        Private; 0.0 without an intercept.
    target_range_ : ndarray, shape (2,), or None
        Without an anchor (−R, R), to which `predict` cuts its answers.
    noisy_sums_ : NoisyGram
        What was released. Covered by the promise: it may be published.
    noisy_gram_ : ndarray, shape (D, D)
        B. With an intercept its last row and column are the constant's.
    noisy_tilt_ : ndarray, shape (D,)
        The noisy gradient at the anchor; 0 where labels were not used.
    privacy_ : QuadraticCertificate
        What was promised and how. `release` gives a copy of the model that may be published.
    n_iter_ : int
        The solver's iterations. They depend on released numbers only, and may be published.
    %(fitted_features)s

    Notes
    -----
    Cortild and Cartis (2026), "Quadratic Objective Perturbation", who assume that the anchor fits every record. Here
    rows and residuals are clipped instead, and privacy is accounted for exactly: docs/theorems.md, T31, T34 and T35.
    `ObjPertRegressor` is more accurate as a rule; the gain here is one release for every α and every box.
    %(weights)s

    Examples
    --------
    %(example_rows)s
    >>> model = QOPLasso(epsilon=2.0, alpha=30.0, adjacency="add/remove one row", random_state=0).fit(X, y)
    >>> model.privacy_.verify(), model.score(X, y) > 0.5
    (True, True)
    >>> model.path([1e-3, 1e6]).shape, bool(model.path([1e6]).any())
    ((2, 3), False)
    """

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "alpha": nonnegative,
        "anchor": _anchor_argument,
        "residual_bound": or_none(_zero_or_length),
        "bounds": _box_argument,
        "degrees_of_freedom": or_none(positive_integer),
        "adjacency": one_of(*ADJACENCIES),
        "tilt_share": in_open_unit,
        "debias": boolean,
        "solver": one_of(*LASSO_SOLVERS),
    }

    noisy_sums_: NoisyGram
    privacy_: QuadraticCertificate

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, alpha: float = 1.0, anchor: Any = None,
        residual_bound: float | None = None, bounds: Any = None, *, degrees_of_freedom: int | None = None,
        adjacency: str = REPLACE_ONE, tilt_share: float = 0.5, debias: bool = True, row_norm: str = "clip",
        fit_intercept: bool = False, intercept_scaling: float = 0.3, random_state: Seed = None,
        solver: str = "coordinate-descent", on_error: str = "raise",
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling,
            row_norm=row_norm, random_state=random_state, on_error=on_error,
        )  # fmt: skip
        self.alpha = alpha
        self.anchor = anchor
        self.residual_bound = residual_bound
        self.bounds = bounds
        self.degrees_of_freedom = degrees_of_freedom
        self.adjacency = adjacency
        self.tilt_share = tilt_share
        self.debias = debias
        self.solver = solver

    # What was released

    @property
    def noisy_gram_(self) -> FloatArray:
        """B = Σx̃x̃ᵀ + σ²W, shape (D, D)."""
        return self.noisy_sums_.gram

    @property
    def noisy_tilt_(self) -> FloatArray:
        """The noisy gradient at the anchor, shape (D,)."""
        return self.noisy_sums_.tilt

    def path(self, alphas: Any) -> FloatArray:
        """Coefficients for other α, shape (n_alphas, n_features_in_), from what was released, at no cost in privacy.

        The box is that of `bounds`; `resolve` gives a model with its intercept. `ValueError` for an α that is no number
        >= 0, `NotFittedError` before a successful `fit`.
        """
        check_is_fitted(self)
        values = [nonnegative("alphas", alpha) for alpha in np.ravel(alphas)]
        found = np.empty((len(values), self.n_features_in_))
        theta = None
        for place, alpha in enumerate(values):
            theta = self._solved(alpha, start=theta).theta
            found[place] = theta[: self.n_features_in_]
        return found

    def resolve(self, *, alpha: float | None = None, bounds: Any = "same") -> Self:
        """A fitted copy for another α or another box, from what was released, at no cost in privacy.

        An argument that is left out keeps its value. The certificate is this model's, with the copy's fingerprint of
        coefficients. `NotFittedError` before a successful `fit`.
        """
        check_is_fitted(self)
        other = copy.copy(self)
        if alpha is not None:
            other.alpha = nonnegative("alpha", alpha)
        if not isinstance(bounds, str) or bounds != "same":
            _box_argument("bounds", bounds)
            other.bounds = bounds
        result = other._solved(float(other.alpha))
        other.n_iter_ = result.iterations
        other._record(Release(result.theta, self.privacy_, ()))
        return other

    # Fitting

    def _check_together(self, **options: Any) -> None:
        super()._check_together(**options)
        if self.residual_bound != 0:
            return
        if self.anchor is None:
            raise ValueError(
                f"residual_bound must be a number > 0 without an anchor, got {self.residual_bound!r}: no label would "
                "be used, and nothing but 0 could come out"
            )
        warnings.warn(
            "residual_bound=0: labels are not used. The anchor is taken to fit every record that can occur; only the "
            "penalty and the box lead away from it.",
            UserWarning,
            stacklevel=CALLERS_OF_FIT,
        )

    def _release(self, X: Any, targets: FloatArray, callback: Callback | None, **options: Any) -> Release[Any]:
        bound = self._residual_bound
        told: dict[str, Any] = {
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "dimension": X.shape[1] + bool(self.fit_intercept),
            "smoothness": row_smoothness(self._constant),
            "degrees_of_freedom": self.degrees_of_freedom,
            "adjacency": self.adjacency,
        }
        anchor = _anchor_argument("anchor", self.anchor)
        if anchor is not None:
            _one_a_feature("anchor", anchor, X.shape[1])
        self._box(X.shape[1])
        mechanism = (
            calibrate_tilt_and_bend(**told, residual_bound=bound, tilt_share=float(self.tilt_share))
            if bound
            else calibrate_quadratic_perturbation(**told)
        )
        self.noisy_sums_ = noisy_gram(
            X,
            targets,
            mechanism,
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            residual_bound=bound,
            anchor=anchor,
            row_norm=self.row_norm,
            intercept_scaling=self._constant,
            random_state=self.random_state,
            on_error=self.on_error,
        )
        result = self._solved(float(self.alpha), callback)
        self.n_iter_ = result.iterations
        return Release(result.theta, self.noisy_sums_.certificate, ())

    def _solved(self, alpha: float, callback: Callback | None = None, start: FloatArray | None = None) -> SolverResult:
        """The solution for this α and the box; `ConvergenceError` says something of released numbers only."""
        result = solve_lasso(self._problem(alpha), solver=self.solver, start=start, callback=callback)
        if not result.converged:
            raise ConvergenceError(
                f"solver {self.solver!r} reached a residual of {result.gradient_norm:.3g} in {result.iterations} "
                "iterations, and double precision allows a smaller residual; try the other solver"
            )
        return result

    def _problem(self, alpha: float) -> BoxedLasso:
        sums, features = self.noisy_sums_, self.n_features_in_
        dimension = len(sums.tilt)
        penalty, low, high = np.zeros(dimension), np.full(dimension, -np.inf), np.full(dimension, np.inf)
        penalty[:features] = alpha
        low[:features], high[:features] = self._box(features)
        return sums.problem(penalty, low, high, bool(self.debias))

    def _box(self, features: int) -> tuple[FloatArray, FloatArray]:
        box = _box_argument("bounds", self.bounds)
        if box is None:
            return np.array(-np.inf), np.array(np.inf)
        for end in box:
            if end.ndim:
                _one_a_feature("bounds", end, features)
        return box

    @property
    def _residual_bound(self) -> float:
        return RESIDUAL_BOUND if self.residual_bound is None else float(self.residual_bound)

    def _range(self) -> tuple[float, float] | None:
        """Without an anchor the targets themselves are clipped to ±`residual_bound`."""
        return (-self._residual_bound, self._residual_bound) if self.anchor is None else None
