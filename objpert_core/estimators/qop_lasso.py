"""The private lasso by quadratic perturbation: one noisy Gram matrix, and every penalty and every box from it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from objpert_core._validation import FloatArray, boolean, in_open_unit, nonnegative, positive_integer
from objpert_core.accounting import calibrate_quadratic_perturbation, calibrate_tilt_and_bend
from objpert_core.accounting.mechanisms.base import REPLACE_ONE
from objpert_core.accounting.mechanisms.group import calibrate_group
from objpert_core.accounting.terms import Terms
from objpert_core.estimators.base import LinearRegressor
from objpert_core.estimators.cautions import Caution
from objpert_core.estimators.constraints import one_of, or_none
from objpert_core.estimators.documented import documented
from objpert_core.estimators.objective import constant_of
from objpert_core.estimators.parameters import Advanced, Together
from objpert_core.estimators.recipe import Data, Learned, Public, Recipe
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.fit import Seed
from objpert_core.learning.quadratic.certificate import QuadraticCertificate, row_smoothness
from objpert_core.learning.quadratic.release import LARGEST_ANCHOR, NoisyGram, noisy_gram
from objpert_core.learning.release import Release
from objpert_core.learning.solvers import Callback, SolverResult
from objpert_core.learning.solvers.lasso import LASSO_SOLVERS, solve_lasso

_ANCHORS = f"None or an array of numbers of size at most {LARGEST_ANCHOR:g}, one a feature"
_BOXES = "None or two numbers, or arrays of numbers, the first of them nowhere above the second"


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
class QOPLasso(LinearRegressor):
    """The lasso, least squares or least squares in a box under (ε, δ)-differential privacy, by quadratic perturbation.

    The problem is to minimise ½Σ(yᵢ − x̃ᵢᵀθ)² + α‖θ‖₁ over the box, a sum and not a mean: α is n times scikit-learn's
    `alpha`. The fit releases the Gram matrix with a Wishart matrix added, B = Σx̃x̃ᵀ + σ²W, and the gradient at a
    public anchor θ̃ with normal noise. The fit solves the problem from these two alone, so a solution for another α or
    another box costs no more privacy (`path`, `resolve`). The noise pulls towards the anchor, as a ridge of about mσ²
    would; the part of this pull that is known beforehand is taken off (`debias`).

    Parameters
    ----------
    %(epsilon delta)s
    alpha : float >= 0, default=1.0
        α, in units of the sum of losses.
    anchor : array of shape (n_features,) or None, default=None
        θ̃, a public guess of the coefficients: from other data, or a model published before. None is 0.
    target_range : pair of float or None, default=None
        The possible range of the targets, (low, high), known without these `y`; None takes (−1, 1). Its middle counts
        as 0, and residuals at the anchor are clipped to half its width, to which the gradient's noise is proportional.
        Without an anchor the residuals are the targets, and `predict` cuts its answers to the range. With one, it is
        the range of y − x̃ᵀθ̃.
    bounds : pair of numbers or of arrays of shape (n_features,), or None, default=None
        The box: every coefficient is kept between the first and the second. None sets no bounds.
    fit_intercept : bool, default=False
        The intercept's anchor is 0, and the intercept is neither penalised nor bounded.
    adjacency : {"replace one row", "add/remove one row"}, default="replace one row"
        Whether neighbouring data sets differ by one row replaced by another, or by one row more or less.
    %(rows_per_person on_error_by_row random_state advanced)s

    Other Parameters
    ----------------
    degrees_of_freedom : int or None, default=None
        m >= D + 1 of the Wishart matrix, for D coefficients with the intercept. None takes the m of least noise.
    tilt_share : float strictly between 0 and 1, default=0.5
        The gradient's part of the squared ratio of sensitivity to noise that a Gaussian mechanism may have at (ε, δ).
        The Gram matrix gets the rest.
    use_labels : bool, default=True
        False leaves out the gradient and its noise, for an anchor that fits every record that can occur: **labels are
        then not used**, a warning says so, and only the penalty or the box leads away from the anchor.
    debias : bool, default=True
        Take the mean of the Wishart matrix, mσ²·I, off B before a problem is solved, as far as B's least eigenvalue
        allows. The step looks at the release only, and costs no privacy.
    solver : {"coordinate-descent", "davis-yin"}, default="coordinate-descent"
        See `objpert_core.learning.solvers.lasso`. Both go as near to the minimum as doubles allow; the choice does not
        touch privacy.
    %(clipped_rows squared_intercept_scaling)s

    Attributes
    ----------
    coef_ : ndarray, shape (n_features_in_,)
        Private. Applies to rows after `row_norm`, not to raw ones.
    intercept_ : float
        Private; the middle of `target_range` without an intercept.
    target_range_ : ndarray, shape (2,), or None
        Without an anchor `target_range`, to which `predict` cuts its answers.
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

    CONSTRAINTS: ClassVar = {
        "alpha": nonnegative,
        "anchor": _anchor_argument,
        "bounds": _box_argument,
        "degrees_of_freedom": or_none(positive_integer),
        "tilt_share": in_open_unit,
        "use_labels": boolean,
        "debias": boolean,
        "solver": one_of(*LASSO_SOLVERS),
    }
    ADVANCED: ClassVar = {
        "degrees_of_freedom": None,
        "tilt_share": 0.5,
        "use_labels": True,
        "debias": True,
        "solver": "coordinate-descent",
        "row_norm": "clip",
        "intercept_scaling": 0.3,
    }
    TOGETHER: ClassVar = (
        Together(
            "use_labels",
            lambda s: s.use_labels or s.anchor is not None,
            "be True",
            "without an anchor",
            ": no label would be used, and nothing but 0 could come out",
        ),
    )
    clips_targets = True

    noisy_sums_: NoisyGram
    privacy_: QuadraticCertificate

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, alpha: float = 1.0, anchor: Any = None, *,
        target_range: Any = None, bounds: Any = None, fit_intercept: bool = False, adjacency: str = REPLACE_ONE,
        rows_per_person: int = 1, on_error: str = "raise", random_state: Seed = None, advanced: Advanced = None,
        **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    def keep_coefficients(self, coefficients: FloatArray, intercept: FloatArray) -> None:
        """See `LinearRegressor.keep_coefficients`; with an anchor the range is that of residuals: nothing is cut."""
        super().keep_coefficients(coefficients, intercept)
        if self.anchor is not None:
            self.target_range_ = None

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
        result = other._solved(other.settings.alpha)
        other.keep(Learned(Release(result.theta, self.privacy_, ()), {"n_iter_": result.iterations}), {})
        return other

    # Fitting

    def recipe(self, public: Public) -> Recipe:
        s = self.settings
        if s.anchor is not None:
            _one_a_feature("anchor", s.anchor, public.columns)
        self._box(public.columns)
        told: dict[str, Any] = {
            "dimension": public.columns + s.fit_intercept,
            "smoothness": row_smoothness(constant_of(s)),
            "degrees_of_freedom": s.degrees_of_freedom,
            "adjacency": s.adjacency,
        }
        bound = self.largest_target if s.use_labels else 0.0
        tilt = {"residual_bound": bound, "tilt_share": s.tilt_share} if s.use_labels else {}
        calibrate: Any = calibrate_tilt_and_bend if s.use_labels else calibrate_quadratic_perturbation
        rule = partial(calibrate, delta=s.delta, **told, **tilt)
        mechanism = calibrate_group(rule, s.epsilon, s.delta, s.rows_per_person)
        how = {"row_norm": s.row_norm, "intercept_scaling": constant_of(s), "on_error": s.on_error}
        how |= {"epsilon": s.epsilon, "delta": s.delta, "rows_per_person": s.rows_per_person}

        def run(data: Data, random_states: Sequence[Seed], callback: Callback | None) -> Iterator[Learned]:
            asked: dict[str, Any] = {"residual_bound": bound, "anchor": s.anchor, **how}
            for state in random_states:
                sums = noisy_gram(data.X, data.targets, mechanism, random_state=state, **asked)
                result = self._solution(sums, s.alpha, callback)
                also = {"noisy_sums_": sums, "n_iter_": result.iterations}
                yield Learned(Release(result.theta, sums.certificate, ()), also)

        terms = Terms(s.epsilon, s.delta, s.adjacency, s.rows_per_person)
        sums = ("noisy Gram matrix", *(("noisy gradient at the anchor",) if s.use_labels else ()))
        cautions = () if s.use_labels else (_NO_LABELS,)
        seen: dict[str, Any] = {"row_norm": s.row_norm, "released": sums, "cautions": cautions}
        return Recipe("quadratic perturbation", terms, mechanism, public, run, **seen)

    def _solved(self, alpha: float, start: FloatArray | None = None) -> SolverResult:
        return self._solution(self.noisy_sums_, alpha, start=start)

    def _solution(
        self, sums: NoisyGram, alpha: float, callback: Callback | None = None, start: FloatArray | None = None
    ) -> SolverResult:
        """The solution for this α and the box; `ConvergenceError` says something of released numbers only."""
        s, features, dimension = self.settings, self.n_features_in_, len(sums.tilt)
        penalty, low, high = np.zeros(dimension), np.full(dimension, -np.inf), np.full(dimension, np.inf)
        penalty[:features] = alpha
        low[:features], high[:features] = self._box(features)
        problem = sums.problem(penalty, low, high, s.debias)
        result = solve_lasso(problem, solver=s.solver, start=start, callback=callback)
        if not result.converged:
            raise ConvergenceError(
                f"solver {s.solver!r} reached a residual of {result.gradient_norm:.3g} in {result.iterations} "
                "iterations, and double precision allows a smaller residual; try the other solver"
            )
        return result

    def _box(self, features: int) -> tuple[FloatArray, FloatArray]:
        box = _box_argument("bounds", self.bounds)
        if box is None:
            return np.array(-np.inf), np.array(np.inf)
        for end in box:
            if end.ndim:
                _one_a_feature("bounds", end, features)
        return box


_NO_LABELS = Caution(
    "labels",
    "use_labels=False: labels are not used. The anchor is taken to fit every record that can occur; only the penalty "
    "and the box lead away from it.",
    UserWarning,
)
